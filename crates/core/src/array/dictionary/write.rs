//! Returns a leaf array's slots as values, or as keys if the array is dictionary or run-end encoded.
//!
//! Keys are worth keeping, because the column chunk's dictionary then looks up a value once per block instead of once
//! per slot.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{
    ArrowDictionaryKeyType, Int8Type, Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array, ArrayRef, RunArray};
use herringbone_arrow::buffer::{ArrowNativeType, NullBuffer};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};
use herringbone_schema::WriteLeaf;

use crate::array::leaf_values::{may_be_refused, values};
use crate::array::{Scratch, Selected};
use crate::encoding::physical_values::Slots;

/// Scratch memory for arrays with keys. We reuse it for each block.
#[derive(Debug, Default)]
pub struct Keyed {
    keys: Vec<u32>,
    /// The ranges of referenced values.
    named: Vec<Range<usize>>,
    /// The ordinal of a value among the referenced values, indexed by its ordinal among all values.
    ordinals: Vec<u32>,
}

impl Keyed {
    /// Returns the number of bytes held by this memory.
    pub fn heap_bytes(&self) -> usize {
        size_of::<u32>() * (self.keys.capacity() + self.ordinals.capacity())
            + size_of::<Range<usize>>() * self.named.capacity()
    }
}

/// Returns the selected slots without nulls.
///
/// # Errors
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a value does not fit the stored type.
pub fn slots<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
    keyed: &'a mut Keyed,
) -> Result<Slots<'a>> {
    let Selected {
        array,
        nulls,
        ranges,
    } = selected;
    let keys = &mut keyed.keys;
    let mut entries = match array.data_type() {
        DataType::Dictionary(key_type, _) => dictionary_keys(key_type, array, nulls, ranges, keys)?,
        DataType::RunEndEncoded(run_ends, _) => {
            run_keys(run_ends.data_type(), array, nulls, ranges, keys)?
        }
        _ => return values(leaf, selected, scratch).map(Slots::Values),
    };
    // We loop because dictionaries can be run-end encoded, and vice versa.
    loop {
        entries = match entries.data_type() {
            DataType::Dictionary(key_type, _) => keys_of_keys(key_type, entries, keys)?,
            DataType::RunEndEncoded(run_ends, _) => {
                runs_of_keys(run_ends.data_type(), entries, keys)?
            }
            _ => break,
        };
    }
    keyed.find_named(entries, may_be_refused(leaf));
    let selected = Selected {
        array: entries,
        nulls: None,
        ranges: &keyed.named,
    };
    let values = values(leaf, selected, scratch)?;
    Ok(Slots::Keyed {
        keys: &keyed.keys,
        values,
    })
}

impl Keyed {
    /// Finds the values referenced by keys. Unreferenced values can be null or arbitrary, so they must not be written.
    fn find_named(&mut self, entries: &ArrayRef, may_be_refused: bool) {
        const UNNAMED: u32 = u32::MAX;
        self.named.clear();
        if entries.nulls().is_none() && !may_be_refused && entries.len() <= self.keys.len() {
            self.named.push(0..entries.len());
            return;
        }
        self.ordinals.clear();
        self.ordinals.resize(entries.len(), UNNAMED);
        for key in &self.keys {
            if let Some(ordinal) = self.ordinals.get_mut(*key as usize) {
                *ordinal = 0;
            }
        }
        let mut next = 0;
        for (entry, ordinal) in self.ordinals.iter_mut().enumerate() {
            if *ordinal == UNNAMED {
                continue;
            }
            *ordinal = next;
            next += 1;
            match self.named.last_mut() {
                Some(range) if range.end == entry => range.end += 1,
                _ => self.named.push(entry..entry + 1),
            }
        }
        for key in &mut self.keys {
            *key = self.ordinals.get(*key as usize).copied().unwrap_or(0);
        }
    }
}

fn dictionary_keys<'a>(
    key_type: &DataType,
    array: &'a ArrayRef,
    nulls: Option<&NullBuffer>,
    ranges: &[Range<usize>],
    keys: &mut Vec<u32>,
) -> Result<&'a ArrayRef> {
    fn fill<'a, K: ArrowDictionaryKeyType>(
        array: &'a ArrayRef,
        nulls: Option<&NullBuffer>,
        ranges: &[Range<usize>],
        keys: &mut Vec<u32>,
    ) -> &'a ArrayRef {
        let selected = Selected {
            array,
            nulls,
            ranges,
        };
        let array = array.as_dictionary::<K>();
        let all = array.keys().values();
        keys.clear();
        selected.for_each(|slot| {
            // Non-null slots have keys below the number of values, so they fit.
            keys.push(all.get(slot).map_or(0, |key| key.as_usize() as u32));
        });
        array.values()
    }
    Ok(match key_type {
        DataType::Int8 => fill::<Int8Type>(array, nulls, ranges, keys),
        DataType::Int16 => fill::<Int16Type>(array, nulls, ranges, keys),
        DataType::Int32 => fill::<Int32Type>(array, nulls, ranges, keys),
        DataType::Int64 => fill::<Int64Type>(array, nulls, ranges, keys),
        DataType::UInt8 => fill::<UInt8Type>(array, nulls, ranges, keys),
        DataType::UInt16 => fill::<UInt16Type>(array, nulls, ranges, keys),
        DataType::UInt32 => fill::<UInt32Type>(array, nulls, ranges, keys),
        DataType::UInt64 => fill::<UInt64Type>(array, nulls, ranges, keys),
        other => return Err(no_keys(other)),
    })
}

fn run_keys<'a>(
    end_type: &DataType,
    array: &'a ArrayRef,
    nulls: Option<&NullBuffer>,
    ranges: &[Range<usize>],
    keys: &mut Vec<u32>,
) -> Result<&'a ArrayRef> {
    fn fill<'a, R: RunEndIndexType>(
        array: &'a ArrayRef,
        nulls: Option<&NullBuffer>,
        ranges: &[Range<usize>],
        keys: &mut Vec<u32>,
    ) -> Result<&'a ArrayRef> {
        let Some(array) = array.as_any().downcast_ref::<RunArray<R>>() else {
            return Err(no_keys(array.data_type()));
        };
        let ends = array.run_ends();
        let (all, offset) = (ends.values(), ends.offset());
        keys.clear();
        for range in ranges {
            let mut run = match range.is_empty() {
                true => continue,
                false => ends.get_physical_index(range.start),
            };
            let mut at = range.start;
            while at < range.end {
                let run_end = all.get(run).map_or(usize::MAX, |end| end.as_usize());
                let end = run_end.saturating_sub(offset).min(range.end);
                // The mask `nulls` covers not only the run's value but also any enclosing structs.
                let valid = match nulls {
                    None => end - at,
                    Some(nulls) => {
                        let part = nulls.slice(at, end - at);
                        part.len() - part.null_count()
                    }
                };
                keys.resize(keys.len() + valid, run as u32);
                at = end;
                run += 1;
            }
        }
        Ok(array.values())
    }
    match end_type {
        DataType::Int16 => fill::<Int16Type>(array, nulls, ranges, keys),
        DataType::Int32 => fill::<Int32Type>(array, nulls, ranges, keys),
        DataType::Int64 => fill::<Int64Type>(array, nulls, ranges, keys),
        other => Err(no_keys(other)),
    }
}

/// Replaces keys that refer to a dictionary's slots by keys that refer to its values.
fn keys_of_keys<'a>(
    key_type: &DataType,
    array: &'a ArrayRef,
    keys: &mut [u32],
) -> Result<&'a ArrayRef> {
    fn replace<'a, K: ArrowDictionaryKeyType>(
        array: &'a ArrayRef,
        keys: &mut [u32],
    ) -> &'a ArrayRef {
        let array = array.as_dictionary::<K>();
        let all = array.keys().values();
        for key in keys {
            *key = all
                .get(*key as usize)
                .map_or(0, |key| key.as_usize() as u32);
        }
        array.values()
    }
    Ok(match key_type {
        DataType::Int8 => replace::<Int8Type>(array, keys),
        DataType::Int16 => replace::<Int16Type>(array, keys),
        DataType::Int32 => replace::<Int32Type>(array, keys),
        DataType::Int64 => replace::<Int64Type>(array, keys),
        DataType::UInt8 => replace::<UInt8Type>(array, keys),
        DataType::UInt16 => replace::<UInt16Type>(array, keys),
        DataType::UInt32 => replace::<UInt32Type>(array, keys),
        DataType::UInt64 => replace::<UInt64Type>(array, keys),
        other => return Err(no_keys(other)),
    })
}

/// Replaces keys that refer to run-end encoded slots by keys that refer to the run values.
fn runs_of_keys<'a>(
    end_type: &DataType,
    array: &'a ArrayRef,
    keys: &mut [u32],
) -> Result<&'a ArrayRef> {
    fn replace<'a, R: RunEndIndexType>(
        array: &'a ArrayRef,
        keys: &mut [u32],
    ) -> Result<&'a ArrayRef> {
        let Some(array) = array.as_any().downcast_ref::<RunArray<R>>() else {
            return Err(no_keys(array.data_type()));
        };
        for key in keys {
            *key = array.get_physical_index(*key as usize) as u32;
        }
        Ok(array.values())
    }
    match end_type {
        DataType::Int16 => replace::<Int16Type>(array, keys),
        DataType::Int32 => replace::<Int32Type>(array, keys),
        DataType::Int64 => replace::<Int64Type>(array, keys),
        other => Err(no_keys(other)),
    }
}

#[cold]
fn no_keys(data_type: &DataType) -> Error {
    Error::unsupported(format!("dictionary keys or run ends of type {data_type}"))
}
