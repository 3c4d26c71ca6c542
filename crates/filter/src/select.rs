//! Selects slots from arrays.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::{Array as _, ArrayRef, make_array};
use herringbone_arrow::buffer::bit_iterator::BitSliceIterator;
use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, i256};
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_arrow::schema::{ArrowError, DataType};
use herringbone_core::array::join::slots_of;
use herringbone_format::{Error, Result};
use herringbone_kernels::filter::arrays::{
    filter_bytes, filter_dictionary, filter_nulls, filter_views, selected,
};

/// Returns the selected slots of `array`, where `chosen` is the number of set bits.
///
/// # Errors
/// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the selected slots are too long for a
/// single array's offsets.
pub fn select(array: &ArrayRef, bits: &BooleanBuffer, chosen: usize) -> Result<ArrayRef> {
    if chosen == array.len() {
        return Ok(array.clone());
    }
    macro_rules! bytes {
        ($type:ty) => {
            array
                .as_bytes_opt::<$type>()
                .and_then(|array| filter_bytes(array, bits))
                .map(|array| Arc::new(array) as ArrayRef)
        };
    }
    macro_rules! views {
        ($type:ty) => {
            array
                .as_byte_view_opt::<$type>()
                .and_then(|array| filter_views(array, bits))
                .map(|array| Arc::new(array) as ArrayRef)
        };
    }
    macro_rules! dictionary {
        ($type:ty) => {
            array
                .as_dictionary_opt::<$type>()
                .and_then(|array| filter_dictionary(array, bits))
                .map(|array| Arc::new(array) as ArrayRef)
        };
    }
    let selected = match array.data_type() {
        DataType::Utf8 => bytes!(Utf8Type),
        DataType::LargeUtf8 => bytes!(LargeUtf8Type),
        DataType::Binary => bytes!(BinaryType),
        DataType::LargeBinary => bytes!(LargeBinaryType),
        DataType::Utf8View => views!(StringViewType),
        DataType::BinaryView => views!(BinaryViewType),
        DataType::Dictionary(keys, _) => match &**keys {
            DataType::Int8 => dictionary!(Int8Type),
            DataType::Int16 => dictionary!(Int16Type),
            DataType::Int32 => dictionary!(Int32Type),
            DataType::Int64 => dictionary!(Int64Type),
            DataType::UInt8 => dictionary!(UInt8Type),
            DataType::UInt16 => dictionary!(UInt16Type),
            DataType::UInt32 => dictionary!(UInt32Type),
            _ => dictionary!(UInt64Type),
        },
        _ => numbers(&array.to_data(), bits, chosen).map(make_array),
    };
    match selected {
        Some(selected) => Ok(selected),
        None => by_runs(&array.to_data(), bits, chosen),
    }
}

/// Selects from an array of fixed-width numbers, or returns `None` for other arrays.
fn numbers(data: &ArrayData, bits: &BooleanBuffer, chosen: usize) -> Option<ArrayData> {
    match data.data_type().primitive_width()? {
        1 => fixed_width::<u8>(data, bits, chosen),
        2 => fixed_width::<u16>(data, bits, chosen),
        4 => fixed_width::<u32>(data, bits, chosen),
        8 => fixed_width::<u64>(data, bits, chosen),
        16 => fixed_width::<i128>(data, bits, chosen),
        32 => fixed_width::<i256>(data, bits, chosen),
        _ => None,
    }
}

fn fixed_width<T: ArrowNativeType>(
    data: &ArrayData,
    bits: &BooleanBuffer,
    chosen: usize,
) -> Option<ArrayData> {
    let values = data.buffers().first()?.typed_data::<T>();
    let values = values.get(data.offset()..data.offset().checked_add(data.len())?)?;
    let builder = ArrayDataBuilder::new(data.data_type().clone())
        .len(chosen)
        .add_buffer(selected(values, bits).into_inner())
        .nulls(filter_nulls(data.nulls(), bits));
    builder.build().ok()
}

fn by_runs(data: &ArrayData, bits: &BooleanBuffer, chosen: usize) -> Result<ArrayRef> {
    let mut selected = slots_of(vec![data], false, chosen)?;
    for (from, to) in BitSliceIterator::new(bits.values(), bits.offset(), bits.len()) {
        selected.try_extend(0, from, to).map_err(too_long)?;
    }
    Ok(make_array(selected.freeze()))
}

#[cold]
fn too_long(error: ArrowError) -> Error {
    Error::unsupported(format!(
        "values of one batch are too long for an array: {error}"
    ))
}
