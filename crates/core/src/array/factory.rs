//! Which layout a leaf gets: by what the file holds and by what Arrow is to hold.

use herringbone_arrow::array::{ArrayRef, make_array};
use herringbone_arrow::buffer::{Buffer, NullBuffer};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result, Type};

use super::boolean::BooleanLeaf;
use super::byte_layouts::byte_leaf_array;
use super::dictionary::dictionary_leaf_array;
use super::null::NullLeaf;
use super::{LeafArray, LeafType, decimal, fixed_size_binary, interval, primitive, timestamp_96};

/// An empty array for `leaf`.
///
/// # Errors
/// Unsupported where the Arrow type cannot hold what the file holds.
pub(crate) fn leaf_array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    use DataType::*;
    if let Some(array) = dictionary_leaf_array(leaf)? {
        return Ok(array);
    }
    if let Some(array) = byte_leaf_array(leaf) {
        return Ok(array);
    }
    match (leaf.physical_type, &leaf.data_type) {
        (_, Null) => Ok(Box::new(NullLeaf::default())),
        (Type::Boolean, Boolean) => Ok(Box::new(BooleanLeaf::new())),
        (Type::Int32 | Type::Int64 | Type::Float | Type::Double, _) => primitive::array(leaf),
        (Type::Int96 | Type::FixedLenByteArray, Timestamp(..)) => timestamp_96::array(leaf),
        (Type::FixedLenByteArray, Interval(_)) => interval::array(leaf),
        (
            Type::FixedLenByteArray,
            Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..),
        ) => decimal::from_fixed(leaf),
        (Type::ByteArray, Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..)) => {
            decimal::from_byte_array(leaf)
        }
        (Type::Int96 | Type::FixedLenByteArray, _) => fixed_size_binary::array(leaf),
        _ => Err(unsupported(leaf)),
    }
}

/// No layout makes this Arrow type of this physical type.
#[cold]
pub(super) fn unsupported(leaf: &LeafType) -> Error {
    Error::unsupported(format!(
        "{} as Arrow {}",
        leaf.physical_type, leaf.data_type
    ))
}

/// The array of `slots` fixed-width values.
///
/// # Errors
/// Corrupt where values and nulls are not as many as slots.
pub(super) fn finish_fixed_width(
    data_type: &DataType,
    slots: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let data = ArrayData::builder(data_type.clone())
        .len(slots)
        .nulls(nulls)
        .add_buffer(values)
        .build()
        .map_err(|error| Error::corrupt(error.to_string()))?;
    Ok(make_array(data))
}
