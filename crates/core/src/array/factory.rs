//! Selects a leaf's layout by its physical type and its Arrow type.

use std::sync::Arc;

use herringbone_arrow::array::{
    ArrayRef, ArrowPrimitiveType, PrimitiveArray, downcast_primitive, make_array,
};
use herringbone_arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use herringbone_arrow::data::ArrayData;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result, Type};

use super::boolean::BooleanLeaf;
use super::byte_layouts::byte_leaf_array;
use super::dictionary::dictionary_leaf_array;
use super::null::NullLeaf;
use super::{LeafArray, LeafType, decimal, fixed_size_binary, interval, primitive, timestamp_96};

/// Returns an empty array for `leaf`.
///
/// # Errors
/// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the Arrow type cannot represent the values
/// in the file.
pub fn leaf_array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
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

/// Returns the error for a physical type without a conversion to this Arrow type.
#[cold]
pub(super) fn unsupported(leaf: &LeafType) -> Error {
    Error::unsupported(format!(
        "{} as Arrow {}",
        leaf.physical_type, leaf.data_type
    ))
}

/// Returns an array of `slots` fixed-width values.
///
/// # Errors
/// Fails with Corrupt if the number of values or nulls does not match the number of slots.
pub(super) fn finish_fixed_width(
    data_type: &DataType,
    slots: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    // We construct primitive arrays directly. A batch can have thousands of columns, and going through `ArrayData`
    // would take longer than decoding a short column.
    macro_rules! finish_primitive {
        ($primitive:ty) => {
            finish_primitive::<$primitive>(data_type, slots, values, nulls)
        };
    }
    downcast_primitive! {
        data_type => (finish_primitive),
        _ => {
            let data = ArrayData::builder(data_type.clone())
                .len(slots)
                .nulls(nulls)
                .add_buffer(values)
                .build()
                .map_err(|error| Error::corrupt(error.to_string()))?;
            Ok(make_array(data))
        }
    }
}

fn finish_primitive<T: ArrowPrimitiveType>(
    data_type: &DataType,
    slots: usize,
    values: Buffer,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let bytes = slots.checked_mul(size_of::<T::Native>());
    let is_aligned = values.as_ptr().cast::<T::Native>().is_aligned();
    if bytes.is_none_or(|bytes| bytes > values.len()) || !is_aligned {
        return Err(Error::corrupt(format!(
            "{} bytes of values for {slots} slots",
            values.len()
        )));
    }
    let values = ScalarBuffer::new(values, 0, slots);
    let array = PrimitiveArray::<T>::try_new(values, nulls)
        .map_err(|error| Error::corrupt(error.to_string()))?;
    Ok(Arc::new(array.with_data_type(data_type.clone())))
}
