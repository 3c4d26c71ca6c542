//! Dictionaries under construction: each value is kept once, in the order of its first appearance,
//! and called by its ordinal, its *index*: Encodings, "Dictionary Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY = 8)".

mod byte_arrays;
mod index_table;
mod numbers;
mod sort;

use herringbone_format::{Result, Type};
use herringbone_kernels::plain;

use crate::encoding::mismatch;
use crate::encoding::values::{Slots, Values};
use byte_arrays::ByteArrays;
use numbers::Numbers;
pub use sort::ranks;

/// The index of a value that has none yet.
const NONE: u32 = u32::MAX;

/// The dictionary of a column chunk.
pub struct Dictionary {
    entries: Entries,
    /// By ordinal among the keyed values of one call: their indices.
    keyed: Vec<u32>,
    /// By index: whether a slot has it. `None` while there are no values but those of slots.
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
    pub fn new(physical_type: Type, type_length: usize) -> Option<Self> {
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
    pub fn num_values(&self) -> usize {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => values.values().len(),
            Entries::Int64(values) | Entries::Double(values) => values.values().len(),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.len(),
        }
    }

    /// The indices of values that slots have, ascending.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        let is_used = |dictionary_index: &u32| match &self.used {
            None => true,
            Some(used) => used.get(*dictionary_index as usize) == Some(&true),
        };
        (0..self.num_values() as u32).filter(is_used)
    }

    /// Bytes of the dictionary page.
    pub fn plain_bytes(&self) -> usize {
        self.plain().len()
    }

    /// The values in their PLAIN form: the body of the dictionary page.
    pub fn plain(&self) -> &[u8] {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => plain::bytes(values.values()),
            Entries::Int64(values) | Entries::Double(values) => plain::bytes(values.values()),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.plain(),
        }
    }

    /// Bytes held.
    pub fn heap_bytes(&self) -> usize {
        4 * self.keyed.capacity()
            + self.used.as_ref().map_or(0, Vec::capacity)
            + match &self.entries {
                Entries::Int32(values) | Entries::Float(values) => values.heap_bytes(),
                Entries::Int64(values) | Entries::Double(values) => values.heap_bytes(),
                Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.heap_bytes(),
            }
    }

    /// Takes values that slots may or may not have; their indices ascend in their order, but for those
    /// that are there already.
    ///
    /// # Errors
    /// As [`Self::append`].
    pub fn list(&mut self, values: &Values<'_>) -> Result<()> {
        let known = self.num_values();
        self.used.get_or_insert_with(|| vec![true; known]);
        self.append_values(values, &mut Vec::new())
    }

    /// Appends the indices of slots to `indices`, and values that are new to the dictionary.
    ///
    /// # Errors
    /// Limit where a byte array is longer than the format allows.
    pub fn append(&mut self, slots: &Slots<'_>, indices: &mut Vec<u32>) -> Result<()> {
        match slots {
            Slots::Values(values) => {
                let before = indices.len();
                self.append_values(values, indices)?;
                if self.used.is_some() {
                    let indices = indices.get(before..).unwrap_or_default();
                    indices
                        .iter()
                        .for_each(|dictionary_index| self.mark_used(*dictionary_index));
                }
                Ok(())
            }
            Slots::Keyed { keys, values } => self.append_keyed(keys, values, indices),
        }
    }

    fn mark_used(&mut self, dictionary_index: u32) {
        if let Some(used) = &mut self.used {
            let dictionary_index = dictionary_index as usize;
            if used.len() <= dictionary_index {
                used.resize(dictionary_index + 1, false);
            }
            if let Some(used) = used.get_mut(dictionary_index) {
                *used = true;
            }
        }
    }

    fn append_values(&mut self, values: &Values<'_>, indices: &mut Vec<u32>) -> Result<()> {
        match (&mut self.entries, values) {
            (Entries::Int32(entries), Values::Int32(values)) => {
                entries.append(values.iter().map(|value| value.cast_unsigned()), indices);
            }
            (Entries::Int64(entries), Values::Int64(values)) => {
                entries.append(values.iter().map(|value| value.cast_unsigned()), indices);
            }
            (Entries::Float(entries), Values::Float(values)) => {
                entries.append(values.iter().map(|value| value.to_bits()), indices);
            }
            (Entries::Double(entries), Values::Double(values)) => {
                entries.append(values.iter().map(|value| value.to_bits()), indices);
            }
            (
                Entries::Fixed {
                    values: entries,
                    width,
                },
                Values::Fixed { bytes, .. },
            ) => entries.append(bytes.chunks_exact((*width).max(1)), indices)?,
            (Entries::ByteArray(entries), Values::ByteArray(values)) => {
                entries.append(values.iter().copied(), indices)?;
            }
            _ => return Err(mismatch()),
        }
        Ok(())
    }

    /// Looks each value up when a key first names it; after that a key is an index.
    fn append_keyed(
        &mut self,
        keys: &[u32],
        values: &Values<'_>,
        indices: &mut Vec<u32>,
    ) -> Result<()> {
        let mut keyed = std::mem::take(&mut self.keyed);
        keyed.clear();
        keyed.resize(values.num_values(), NONE);
        indices.reserve(keys.len());
        for &key in keys {
            let index = key as usize;
            let Some(dictionary_index) = keyed.get_mut(index) else {
                return Err(mismatch());
            };
            if *dictionary_index == NONE {
                *dictionary_index = self.index_of(values, index)?;
                self.mark_used(*dictionary_index);
            }
            indices.push(*dictionary_index);
        }
        self.keyed = keyed;
        Ok(())
    }

    fn index_of(&mut self, values: &Values<'_>, index: usize) -> Result<u32> {
        let dictionary_index = match (&mut self.entries, values) {
            (Entries::Int32(entries), Values::Int32(values)) => values
                .get(index)
                .map(|v| entries.dictionary_index(v.cast_unsigned())),
            (Entries::Int64(entries), Values::Int64(values)) => values
                .get(index)
                .map(|v| entries.dictionary_index(v.cast_unsigned())),
            (Entries::Float(entries), Values::Float(values)) => values
                .get(index)
                .map(|v| entries.dictionary_index(v.to_bits())),
            (Entries::Double(entries), Values::Double(values)) => values
                .get(index)
                .map(|v| entries.dictionary_index(v.to_bits())),
            (
                Entries::Fixed {
                    values: entries,
                    width,
                },
                Values::Fixed { bytes, .. },
            ) => bytes
                .get(index * *width..(index + 1) * *width)
                .map(|value| entries.dictionary_index(value))
                .transpose()?,
            (Entries::ByteArray(entries), Values::ByteArray(values)) => values
                .get(index)
                .map(|value| entries.dictionary_index(value))
                .transpose()?,
            _ => None,
        };
        dictionary_index.ok_or_else(mismatch)
    }

    /// Calls `visit` with the values that have these indices; `scratch` is memory to be used again.
    pub fn with_values<R>(
        &self,
        indices: impl Iterator<Item = u32>,
        visit: impl FnOnce(&Values<'_>) -> R,
    ) -> R {
        match &self.entries {
            Entries::Int32(entries) => {
                let values: Vec<i32> = entries.gather(indices, u32::cast_signed);
                visit(&Values::Int32(&values))
            }
            Entries::Int64(entries) => {
                let values: Vec<i64> = entries.gather(indices, u64::cast_signed);
                visit(&Values::Int64(&values))
            }
            Entries::Float(entries) => {
                let values: Vec<f32> = entries.gather(indices, f32::from_bits);
                visit(&Values::Float(&values))
            }
            Entries::Double(entries) => {
                let values: Vec<f64> = entries.gather(indices, f64::from_bits);
                visit(&Values::Double(&values))
            }
            Entries::Fixed { values, width } => {
                let most = indices.size_hint().1.unwrap_or_default();
                let mut bytes = Vec::with_capacity(most.saturating_mul(*width));
                indices.for_each(|dictionary_index| {
                    bytes.extend_from_slice(values.get(dictionary_index))
                });
                let width = *width;
                visit(&Values::Fixed {
                    bytes: &bytes,
                    width,
                })
            }
            Entries::ByteArray(values) => visit(&Values::ByteArray(with_room(
                indices.map(|dictionary_index| values.get(dictionary_index)),
            ))),
        }
    }
}

/// All items, for which there is room at once.
fn with_room<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(items.size_hint().1.unwrap_or_default());
    all.extend(items);
    all
}
