//! Converts array slots to byte arrays, without copying them.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use herringbone_arrow::array::{GenericByteArray, GenericByteViewArray};
use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;
use herringbone_schema::WriteLeaf;

use crate::array::Selected;
use crate::array::leaf_values::no_form;
use crate::encoding::physical_values::Values;

/// Returns the selected slots as BYTE_ARRAY.
///
/// # Errors
/// Fails with Unsupported if the Arrow type is not a byte array type.
pub(in crate::array) fn values<'a>(leaf: &WriteLeaf, selected: Selected<'a>) -> Result<Values<'a>> {
    Ok(Values::ByteArray(match &leaf.data_type {
        DataType::Utf8 => by_offsets::<Utf8Type>(selected),
        DataType::LargeUtf8 => by_offsets::<LargeUtf8Type>(selected),
        DataType::Binary => by_offsets::<BinaryType>(selected),
        DataType::LargeBinary => by_offsets::<LargeBinaryType>(selected),
        DataType::Utf8View => by_views::<StringViewType>(selected),
        DataType::BinaryView => by_views::<BinaryViewType>(selected),
        _ => return Err(no_form(leaf)),
    }))
}

fn by_offsets<T: ByteArrayType>(selected: Selected<'_>) -> Vec<&[u8]> {
    let array: &GenericByteArray<T> = selected.array.as_bytes::<T>();
    let mut out = Vec::with_capacity(selected.num_slots());
    if selected.nulls.is_some() {
        selected.for_each(|index| out.push(array.value(index).as_ref()));
        return out;
    }
    for range in selected.ranges {
        let offsets = array.value_offsets();
        let starts = offsets.get(range.clone()).unwrap_or_default();
        let ends = offsets.get(range.start + 1..=range.end).unwrap_or_default();
        out.extend(starts.iter().zip(ends).map(|(start, end)| {
            let value = array.value_data().get(start.as_usize()..end.as_usize());
            value.unwrap_or_default()
        }));
    }
    out
}

fn by_views<T: ByteViewType>(selected: Selected<'_>) -> Vec<&[u8]> {
    let array: &GenericByteViewArray<T> = selected.array.as_byte_view::<T>();
    let mut out = Vec::with_capacity(selected.num_slots());
    selected.for_each(|index| out.push(array.value(index).as_ref()));
    out
}
