//! Arrow's dictionary arrays, that is, keys into an array of values. The write side also handles run-end encoded
//! arrays.

mod read;
mod write;

use herringbone_arrow::schema::DataType;

pub(super) use read::dictionary_leaf_array;
pub use write::{Keyed, slots};

/// Returns the number of values addressable by keys of this type, at most 2³² − 1. Returns `None` if `key` is not a key
/// type.
pub fn max_values(key: &DataType) -> Option<usize> {
    Some(match key {
        DataType::Int8 => 1 << 7,
        DataType::UInt8 => 1 << 8,
        DataType::Int16 => 1 << 15,
        DataType::UInt16 => 1 << 16,
        DataType::Int32 => 1 << 31,
        DataType::UInt32 | DataType::Int64 | DataType::UInt64 => u32::MAX as usize,
        _ => return None,
    })
}
