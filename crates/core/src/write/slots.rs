//! The slots of a leaf array, be it plain, a dictionary or runs.

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

use super::leaf_values::{Scratch, Selected, values};
use super::levels::LeafLevels;
use super::values::Slots;

/// Memory for arrays with keys that is used again for each block.
#[derive(Debug, Default)]
pub(crate) struct Keyed {
    keys: Vec<u32>,
    /// All values that there are keys for.
    whole: Range<usize>,
}

/// The slots that `levels` show of its leaf, nulls left out.
///
/// # Errors
/// Argument where a value does not fit what the file can hold.
pub(crate) fn slots<'a>(
    leaf: &WriteLeaf,
    levels: &'a LeafLevels,
    scratch: &'a mut Scratch,
    keyed: &'a mut Keyed,
) -> Result<Slots<'a>> {
    let Keyed { keys, whole } = keyed;
    let array = &levels.leaf;
    let (nulls, ranges) = (levels.nulls.as_ref(), levels.ranges.as_slice());
    let entries = match array.data_type() {
        DataType::Dictionary(key_type, _) => dictionary_keys(key_type, array, nulls, ranges, keys)?,
        DataType::RunEndEncoded(run_ends, _) => {
            run_keys(run_ends.data_type(), array, nulls, ranges, keys)?
        }
        _ => {
            let selected = Selected {
                array,
                nulls,
                ranges,
            };
            return values(leaf, selected, scratch).map(Slots::Values);
        }
    };
    *whole = 0..entries.len();
    let selected = Selected {
        array: entries,
        nulls: None,
        ranges: std::slice::from_ref(whole),
    };
    let values = values(leaf, selected, scratch)?;
    Ok(Slots::Keyed { keys, values })
}

/// Calls `visit` with each slot that is not null.
fn for_each(nulls: Option<&NullBuffer>, ranges: &[Range<usize>], mut visit: impl FnMut(usize)) {
    for range in ranges {
        match nulls {
            None => range.clone().for_each(&mut visit),
            Some(nulls) => {
                let part = nulls.slice(range.start, range.len());
                part.valid_indices()
                    .for_each(|index| visit(range.start + index));
            }
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
        let array = array.as_dictionary::<K>();
        let all = array.keys().values();
        keys.clear();
        for_each(nulls, ranges, |slot| {
            // Keys of slots that are not null are below the number of values, so they fit.
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
                // Nulls of the run's value are among `nulls`, like those of structs around it.
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

#[cold]
fn no_keys(data_type: &DataType) -> Error {
    Error::unsupported(format!("dictionary keys or run ends of type {data_type}"))
}
