//! Gathers lists element by element, and run-end encoded arrays.

use herringbone_arrow::array::types::RunEndIndexType;
use herringbone_arrow::array::{
    Array as _, ArrayRef, OffsetSizeTrait, PrimitiveArray, RunArray, make_array,
};
use herringbone_arrow::buffer::{ArrowNativeType as _, Buffer};
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_format::Result;

use super::super::unsortable;
use super::extents::Extents;
use super::{RowPosition, builder, gather, no_gather, too_long};

pub(super) fn lists<O: OffsetSizeTrait>(
    data: &[ArrayData],
    places: &[RowPosition],
    most: usize,
) -> Result<ArrayDataBuilder> {
    let extents = Extents::<O>::of_offsets(data, places, most)?;
    let elements = gather_children(data, &extents.elements(places), most)?;
    let builder = builder(data).add_buffer(Buffer::from_vec(extents.offsets));
    Ok(builder.add_child_data(elements))
}

pub(super) fn list_views<O: OffsetSizeTrait>(
    data: &[ArrayData],
    places: &[RowPosition],
    most: usize,
) -> Result<ArrayDataBuilder> {
    let extents = Extents::<O>::of_sizes(data, places, most)?;
    let elements = gather_children(data, &extents.elements(places), most)?;
    let mut offsets = extents.offsets;
    let sizes = offsets.windows(2).map(|pair| match pair {
        [start, end] => *end - *start,
        _ => O::default(),
    });
    let sizes: Vec<O> = sizes.collect();
    offsets.truncate(places.len());
    let builder = builder(data).add_buffer(Buffer::from_vec(offsets));
    let builder = builder.add_buffer(Buffer::from_vec(sizes));
    Ok(builder.add_child_data(elements))
}

pub(super) fn fixed_size_lists(
    data: &[ArrayData],
    size: usize,
    places: &[RowPosition],
    most: usize,
) -> Result<ArrayDataBuilder> {
    let length = size.saturating_mul(places.len());
    if length > most {
        return Err(too_long(length));
    }
    let mut elements = Vec::with_capacity(length);
    for place in places {
        let offset = data.get(place.source()).map_or(0, ArrayData::offset);
        let start = (offset + place.row()) * size;
        elements.extend((start..start + size).map(|row| RowPosition::new(place.source(), row)));
    }
    Ok(builder(data).add_child_data(gather_children(data, &elements, most)?))
}

fn gather_children(data: &[ArrayData], elements: &[RowPosition], most: usize) -> Result<ArrayData> {
    let children = data.iter().filter_map(|data| data.child_data().first());
    let children: Vec<ArrayRef> = children.cloned().map(make_array).collect();
    gather(&children, elements, most).map(|array| array.to_data())
}

/// Gathers run-end encoded arrays, joining adjacent slots from the same run into one run again.
pub(super) fn gather_runs<R: RunEndIndexType>(
    arrays: &[ArrayRef],
    places: &[RowPosition],
    most: usize,
) -> Result<ArrayRef> {
    let runs = arrays.iter().map(|array| array.as_any().downcast_ref());
    let runs: Vec<&RunArray<R>> = runs.collect::<Option<_>>().ok_or_else(no_gather)?;
    let mut ends = Vec::new();
    let mut values: Vec<RowPosition> = Vec::new();
    for (slot, place) in places.iter().enumerate() {
        let run = runs
            .get(place.source())
            .map_or(0, |run| run.get_physical_index(place.row()));
        let value = RowPosition::new(place.source(), run);
        if values.last() != Some(&value) {
            values.push(value);
            ends.push(R::Native::default());
        }
        if let Some(end) = ends.last_mut() {
            *end = R::Native::from_usize(slot + 1).ok_or_else(|| too_long(slot + 1))?;
        }
    }
    let all: Vec<ArrayRef> = runs.iter().map(|run| run.values().clone()).collect();
    let values = gather(&all, &values, most)?;
    let data_type = arrays.first().ok_or_else(no_gather)?.data_type().clone();
    let ends = PrimitiveArray::<R>::new(ends.into(), None);
    let builder = ArrayDataBuilder::new(data_type).len(places.len());
    let builder = builder
        .add_child_data(ends.to_data())
        .add_child_data(values.to_data());
    builder.build().map(make_array).map_err(unsortable)
}
