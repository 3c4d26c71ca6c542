//! Dictionaries under construction.
//!
//! Each value is stored once, in order of first appearance. Its ordinal is called the *index* (Encodings, "Dictionary
//! Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY = 8)"). The values are already in the dictionary page's format, so
//! that the page needs no further encoding.

mod byte_arrays;
mod index_table;
mod numbers;
mod sort;

use herringbone_format::{Result, Type};
use herringbone_kernels::plain;

use crate::encoding::mismatch;
use crate::encoding::physical_values::{Slots, Values};
use byte_arrays::ByteArrays;
use numbers::Numbers;
pub use sort::ranks;

/// The placeholder for a value without an index.
const NONE: u32 = u32::MAX;

/// The dictionary of a column chunk.
pub struct Dictionary {
    entries: Entries,
    /// The dictionary indices of one call's keyed values, by ordinal among these values.
    keyed: Vec<u32>,
    /// Flags by index, true if a slot uses the value. `None` as long as all values were added by slots.
    used: Option<Vec<bool>>,
}

/// The values by physical type. We compare floating-point numbers by their bits.
enum Entries {
    Int32(Numbers<u32>),
    Int64(Numbers<u64>),
    Float(Numbers<u32>),
    Double(Numbers<u64>),
    Fixed { values: ByteArrays, width: usize },
    ByteArray(ByteArrays),
}

impl Dictionary {
    /// Creates an empty dictionary. Returns `None` for BOOLEAN, which would not benefit from a dictionary.
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

    /// Returns the number of values.
    pub fn num_values(&self) -> usize {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => values.values().len(),
            Entries::Int64(values) | Entries::Double(values) => values.values().len(),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.len(),
        }
    }

    /// Returns the indices of used values in ascending order.
    pub fn used(&self) -> impl Iterator<Item = u32> + '_ {
        let is_used = |dictionary_index: &u32| match &self.used {
            None => true,
            Some(used) => used.get(*dictionary_index as usize) == Some(&true),
        };
        (0..self.num_values() as u32).filter(is_used)
    }

    /// Returns the dictionary page's byte count.
    pub fn plain_bytes(&self) -> usize {
        self.plain().len()
    }

    /// Returns the values in PLAIN form. This is the body of the dictionary page.
    pub fn plain(&self) -> &[u8] {
        match &self.entries {
            Entries::Int32(values) | Entries::Float(values) => plain::bytes(values.values()),
            Entries::Int64(values) | Entries::Double(values) => plain::bytes(values.values()),
            Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.plain(),
        }
    }

    /// Returns the number of bytes held by the dictionary.
    pub fn heap_bytes(&self) -> usize {
        4 * self.keyed.capacity()
            + self.used.as_ref().map_or(0, Vec::capacity)
            + match &self.entries {
                Entries::Int32(values) | Entries::Float(values) => values.heap_bytes(),
                Entries::Int64(values) | Entries::Double(values) => values.heap_bytes(),
                Entries::Fixed { values, .. } | Entries::ByteArray(values) => values.heap_bytes(),
            }
    }

    /// Adds values before it's known which of them slots will use. New values get ascending indices in the given order,
    /// while values already present keep their indices.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::append`].
    pub fn preload(&mut self, values: &Values<'_>) -> Result<()> {
        let known = self.num_values();
        self.used.get_or_insert_with(|| vec![true; known]);
        self.append_values(values, &mut Vec::new())
    }

    /// Appends the slots' indices to `indices`, adding new values to the dictionary.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if a byte array is longer than the format allows.
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

    /// Appends the indices for keys. We only look up a value when a key first refers to it. From then on, the key maps
    /// directly to the index.
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

    /// Calls `visit` with the values at these indices.
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

/// Collects all items into a vector whose capacity we reserve up front.
fn with_room<T>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::with_capacity(items.size_hint().1.unwrap_or_default());
    all.extend(items);
    all
}
