//! Dictionaries under construction: each value is kept once, in the order of its first appearance,
//! and called by its ordinal, its *code*.

mod byte_arrays;
mod hash;
mod numbers;

use herringbone_format::{Result, Type};
use herringbone_kernels::plain;

use crate::encoding::values::{Slots, Values};
use crate::encoding::{length, mismatch};
use byte_arrays::ByteArrays;
use numbers::Numbers;

/// The code of a value that has none yet.
const NONE: u32 = u32::MAX;

/// The dictionary of a column chunk.
pub(crate) struct Dictionary {
    entries: Entries,
    /// By ordinal among the keyed values of one call: their codes.
    keyed: Vec<u32>,
    /// By code: whether a slot has it. `None` while there are no values but those of slots.
    used: Option<Vec<bool>>,
}

/// The values, by physical type. Floating point numbers are told apart by their bits.
enum Entries {
    Int32(Numbers<u32>),
    Int64(Numbers<u64>),
    Float(Numbers<u32>),
    Double(Numbers<u64>),
    Fixed { values: ByteArrays, width: usize },
    ByteArray(ByteArrays),
}

impl Dictionary {
    /// An empty dictionary; none for BOOLEAN, which would not gain from one.
    pub(crate) fn new(physical_type: Type, type_length: usize) -> Option<Self> {
        let entries = match physical_type {
            Type::Boolean => return None,
            Type::Int32 => Entries::Int32(Numbers::new()),
            Type::Int64 => Entries::Int64(Numbers::new()),
            Type::Float => Entries::Float(Numbers::new()),
            Type::Double => Entries::Double(Numbers::new()),
            Type::Int96 => Entries::Fixed {
                values: ByteArrays::new(false),
                width: 12,
            },
            Type::FixedLenByteArray => Entries::Fixed {
                values: ByteArrays::new(false),
                width: type_length,
            },
            Type::ByteArray => Entries::ByteArray(ByteArrays::new(true)),
        };
        Some(Self {
            entries,
            keyed: Vec::new(),
            used: None,
        })
    }

    /// How many values there are.
    pub(crate) fn len(&self) -> usize {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => values.values().len(),
            Entries::Int64(values) | Entries::Double(values) => values.values().len(),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.len(),
        }
    }

    /// The codes of values that slots have, ascending.
    pub(crate) fn used(&self) -> impl Iterator<Item = u32> + '_ {
        let is_used = |code: &u32| match &self.used {
            None => true,
            Some(used) => used.get(*code as usize) == Some(&true),
        };
        (0..self.len() as u32).filter(is_used)
    }

    /// Bytes of the dictionary page.
    pub(crate) fn plain_bytes(&self) -> usize {
        self.plain().len()
    }

    /// The values in their PLAIN form: the body of the dictionary page.
    pub(crate) fn plain(&self) -> &[u8] {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => plain::bytes(values.values()),
            Entries::Int64(values) | Entries::Double(values) => plain::bytes(values.values()),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.plain(),
        }
    }

    /// Bytes held.
    pub(crate) fn heap_bytes(&self) -> usize {
        4 * self.keyed.capacity()
            + self.used.as_ref().map_or(0, Vec::capacity)
            + match &self.entries {
                Entries::Int32(values) | Entries::Float(values) => values.heap_bytes(),
                Entries::Int64(values) | Entries::Double(values) => values.heap_bytes(),
                Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.heap_bytes(),
            }
    }

    /// Takes values that slots may or may not have; their codes ascend in their order, but for those
    /// that are there already.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub(crate) fn list(&mut self, values: &Values<'_>) -> Result<()> {
        let known = self.len();
        self.used.get_or_insert_with(|| vec![true; known]);
        self.append_values(values, &mut Vec::new())
    }

    /// Appends the codes of slots to `codes`, and values that are new to the dictionary.
    ///
    /// # Errors
    /// Limit where a byte array is longer than the format allows.
    pub(crate) fn append(&mut self, slots: &Slots<'_>, codes: &mut Vec<u32>) -> Result<()> {
        match slots {
            Slots::Values(values) => {
                let before = codes.len();
                self.append_values(values, codes)?;
                if self.used.is_some() {
                    let codes = codes.get(before..).unwrap_or_default();
                    codes.iter().for_each(|code| self.mark_used(*code));
                }
                Ok(())
            }
            Slots::Keyed { keys, values } => self.append_keyed(keys, values, codes),
        }
    }

    fn mark_used(&mut self, code: u32) {
        if let Some(used) = &mut self.used {
            let code = code as usize;
            if used.len() <= code {
                used.resize(code + 1, false);
            }
            if let Some(used) = used.get_mut(code) {
                *used = true;
            }
        }
    }

    fn append_values(&mut self, values: &Values<'_>, codes: &mut Vec<u32>) -> Result<()> {
        match (&mut self.entries, values) {
            (Entries::Int32(entries), Values::Int32(values)) => {
                entries.append(values.iter().map(|value| value.cast_unsigned()), codes);
            }
            (Entries::Int64(entries), Values::Int64(values)) => {
                entries.append(values.iter().map(|value| value.cast_unsigned()), codes);
            }
            (Entries::Float(entries), Values::Float(values)) => {
                entries.append(values.iter().map(|value| value.to_bits()), codes);
            }
            (Entries::Double(entries), Values::Double(values)) => {
                entries.append(values.iter().map(|value| value.to_bits()), codes);
            }
            (
                Entries::Fixed {
                    values: entries,
                    width,
                },
                Values::Fixed { bytes, .. },
            ) => {
                codes.reserve(bytes.len() / (*width).max(1));
                for value in bytes.chunks_exact((*width).max(1)) {
                    codes.push(entries.code(value));
                }
            }
            (Entries::ByteArray(entries), Values::ByteArray(values)) => {
                codes.reserve(values.len());
                for value in values {
                    length(value.len())?;
                    codes.push(entries.code(value));
                }
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Looks each value up when a key first names it; after that a key is a code.
    fn append_keyed(
        &mut self,
        keys: &[u32],
        values: &Values<'_>,
        codes: &mut Vec<u32>,
    ) -> Result<()> {
        let mut keyed = std::mem::take(&mut self.keyed);
        keyed.clear();
        keyed.resize(values.len(), NONE);
        codes.reserve(keys.len());
        for &key in keys {
            let index = key as usize;
            let Some(code) = keyed.get_mut(index) else {
                return Err(mismatch());
            };
            if *code == NONE {
                *code = self.code_of(values, index)?;
                self.mark_used(*code);
            }
            codes.push(*code);
        }
        self.keyed = keyed;
        Ok(())
    }

    fn code_of(&mut self, values: &Values<'_>, index: usize) -> Result<u32> {
        let code = match (&mut self.entries, values) {
            (Entries::Int32(entries), Values::Int32(values)) => {
                values.get(index).map(|v| entries.code(v.cast_unsigned()))
            }
            (Entries::Int64(entries), Values::Int64(values)) => {
                values.get(index).map(|v| entries.code(v.cast_unsigned()))
            }
            (Entries::Float(entries), Values::Float(values)) => {
                values.get(index).map(|v| entries.code(v.to_bits()))
            }
            (Entries::Double(entries), Values::Double(values)) => {
                values.get(index).map(|v| entries.code(v.to_bits()))
            }
            (
                Entries::Fixed {
                    values: entries,
                    width,
                },
                Values::Fixed { bytes, .. },
            ) => bytes
                .get(index * *width..(index + 1) * *width)
                .map(|value| entries.code(value)),
            (Entries::ByteArray(entries), Values::ByteArray(values)) => match values.get(index) {
                Some(value) => {
                    length(value.len())?;
                    Some(entries.code(value))
                }
                None => None,
            },
            _ => None,
        };
        code.ok_or_else(mismatch)
    }

    /// Calls `visit` with the values that have these codes; `scratch` is memory to be used again.
    pub(crate) fn with_values<R>(
        &self,
        codes: impl Iterator<Item = u32>,
        visit: impl FnOnce(&Values<'_>) -> R,
    ) -> R {
        match &self.entries {
            Entries::Int32(entries) => {
                let values: Vec<i32> = entries.gather(codes, u32::cast_signed);
                visit(&Values::Int32(&values))
            }
            Entries::Int64(entries) => {
                let values: Vec<i64> = entries.gather(codes, u64::cast_signed);
                visit(&Values::Int64(&values))
            }
            Entries::Float(entries) => {
                let values: Vec<f32> = entries.gather(codes, f32::from_bits);
                visit(&Values::Float(&values))
            }
            Entries::Double(entries) => {
                let values: Vec<f64> = entries.gather(codes, f64::from_bits);
                visit(&Values::Double(&values))
            }
            Entries::Fixed { values, width } => {
                let mut bytes = Vec::new();
                codes.for_each(|code| bytes.extend_from_slice(values.get(code)));
                let width = *width;
                visit(&Values::Fixed {
                    bytes: &bytes,
                    width,
                })
            }
            Entries::ByteArray(values) => visit(&Values::ByteArray(
                codes.map(|code| values.get(code)).collect(),
            )),
        }
    }
}
