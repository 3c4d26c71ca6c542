//! Reads FIXED_LEN_BYTE_ARRAY as fixed-size binaries and 16-bit floating-point numbers, whose bytes stay unchanged.

use herringbone_arrow::schema::DataType;
use herringbone_format::Result;

use crate::array::convert::Identity;
use crate::array::fixed_width::FixedWidth;
use crate::array::{LeafArray, LeafType, timestamp_96, unsupported};

/// Returns the array for a FIXED_LEN_BYTE_ARRAY or INT96 leaf whose bytes are not converted.
///
/// # Errors
/// Fails with Unsupported if the Arrow type has another length.
pub(in crate::array) fn array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    let width = match leaf.physical_type {
        herringbone_format::Type::Int96 => timestamp_96::BYTES,
        _ => leaf.type_length,
    };
    let fits = match leaf.data_type {
        DataType::FixedSizeBinary(length) => usize::try_from(length) == Ok(width),
        DataType::Float16 => width == 2,
        _ => false,
    };
    if !fits {
        return Err(unsupported(leaf));
    }
    let data_type = leaf.data_type.clone();
    // Values as wide as a number are moved as numbers. All other widths go byte by byte.
    Ok(match width {
        2 => Box::new(FixedWidth::<u16, _>::new(data_type, 1, Identity)),
        4 => Box::new(FixedWidth::<u32, _>::new(data_type, 1, Identity)),
        8 => Box::new(FixedWidth::<u64, _>::new(data_type, 1, Identity)),
        16 => Box::new(FixedWidth::<i128, _>::new(data_type, 1, Identity)),
        _ => Box::new(FixedWidth::<u8, _>::new(data_type, width, Identity)),
    })
}
