//! Arrow's dictionary arrays, and on the way to the file runs as well: keys and what they are keys of.

mod read;
mod write;

use herringbone_arrow::schema::DataType;

pub(super) use read::dictionary_leaf_array;
pub use write::{Keyed, slots};

/// How many values keys of this type can tell apart, 2³² − 1 at most; none where it is no type of keys.
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
