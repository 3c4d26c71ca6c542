//! The chosen slots of an array.

use herringbone_arrow::array::{Array as _, ArrayRef, make_array};
use herringbone_arrow::buffer::bit_iterator::BitSliceIterator;
use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, i256};
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_arrow::schema::{ArrowError, DataType};
use herringbone_format::{Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::filter::filter;

/// The slots of `array` whose bit is set, of which there are `chosen`.
///
/// # Errors
/// Unsupported where they are too long for the offsets of one array.
pub(crate) fn select(array: &ArrayRef, bits: &BooleanBuffer, chosen: usize) -> Result<ArrayRef> {
    if chosen == array.len() {
        return Ok(array.clone());
    }
    let data = array.to_data();
    let selected = match data.data_type().primitive_width() {
        Some(1) => fixed_width::<u8>(&data, bits, chosen),
        Some(2) => fixed_width::<u16>(&data, bits, chosen),
        Some(4) => fixed_width::<u32>(&data, bits, chosen),
        Some(8) => fixed_width::<u64>(&data, bits, chosen),
        Some(16) => fixed_width::<i128>(&data, bits, chosen),
        Some(32) => fixed_width::<i256>(&data, bits, chosen),
        _ => match data.data_type() {
            DataType::Dictionary(keys, _) => match keys.primitive_width() {
                Some(1) => fixed_width::<u8>(&data, bits, chosen),
                Some(2) => fixed_width::<u16>(&data, bits, chosen),
                Some(4) => fixed_width::<u32>(&data, bits, chosen),
                _ => fixed_width::<u64>(&data, bits, chosen),
            },
            DataType::Utf8View | DataType::BinaryView => fixed_width::<i128>(&data, bits, chosen),
            _ => None,
        },
    };
    match selected {
        Some(selected) => Ok(make_array(selected)),
        None => by_runs(&data, bits, chosen),
    }
}

/// Of arrays whose first buffer has a value of one width for each slot; none where it does not fit.
fn fixed_width<T: ArrowNativeType>(
    data: &ArrayData,
    bits: &BooleanBuffer,
    chosen: usize,
) -> Option<ArrayData> {
    let (first, others) = data.buffers().split_first()?;
    let values = first.typed_data::<T>();
    let values = values.get(data.offset()..data.offset().checked_add(data.len())?)?;
    let mut selected = Vec::with_capacity(chosen);
    filter(values, bits.values(), bits.offset(), &mut selected);
    let builder = ArrayDataBuilder::new(data.data_type().clone())
        .len(chosen)
        .add_buffer(Buffer::from_vec(selected))
        .add_buffers(others.to_vec())
        .child_data(data.child_data().to_vec())
        .nulls(data.nulls().map(|nulls| select_bits(nulls, bits, chosen)));
    builder.build().ok()
}

fn select_bits(nulls: &NullBuffer, bits: &BooleanBuffer, chosen: usize) -> NullBuffer {
    let mut selected = Bitmap::new();
    for slot in bits.set_indices() {
        selected.append_run(nulls.is_valid(slot), 1);
    }
    selected
        .finish()
        .unwrap_or_else(|| NullBuffer::new_valid(chosen))
}

fn by_runs(data: &ArrayData, bits: &BooleanBuffer, chosen: usize) -> Result<ArrayRef> {
    let mut selected = MutableArrayData::new(vec![data], false, chosen);
    for (from, to) in BitSliceIterator::new(bits.values(), bits.offset(), bits.len()) {
        selected.try_extend(0, from, to).map_err(too_long)?;
    }
    Ok(make_array(selected.freeze()))
}

/// Arrays of one type, one behind the other; none of none.
///
/// # Errors
/// Unsupported where they are too long for the offsets of one array.
pub(crate) fn concat(arrays: &[ArrayRef]) -> Result<Option<ArrayRef>> {
    if let [array] = arrays {
        return Ok(Some(array.clone()));
    }
    let data: Vec<_> = arrays.iter().map(|array| array.to_data()).collect();
    if data.is_empty() {
        return Ok(None);
    }
    let capacity = data.iter().map(ArrayData::len).sum();
    let mut all = MutableArrayData::new(data.iter().collect(), false, capacity);
    for (index, data) in data.iter().enumerate() {
        all.try_extend(index, 0, data.len()).map_err(too_long)?;
    }
    Ok(Some(make_array(all.freeze())))
}

#[cold]
fn too_long(error: ArrowError) -> Error {
    Error::unsupported(format!(
        "values of one batch are too long for an array: {error}"
    ))
}
