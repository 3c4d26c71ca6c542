//! Gathers values of any width.

use std::ops::Range;

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::buffer::{ArrowNativeType, Buffer};
use herringbone_arrow::data::{ArrayData, ArrayDataBuilder};
use herringbone_format::Result;

use super::extents::Extents;
use super::{RowPosition, builder};

/// The approximate size limit of a view buffer, in bytes. View offsets only have 32 bits.
const VIEW_BUFFER_BYTES: usize = 1 << 28;

/// The size of the fixed-width copy used for short values, in bytes.
const WIDE: usize = 64;

/// Returns each array's first buffer as values of one width, starting at the first slot.
fn first_buffers<const N: usize>(data: &[ArrayData]) -> Vec<&[[u8; N]]> {
    data.iter()
        .map(|data| {
            let bytes = data.buffers().first().map_or(&[][..], Buffer::as_slice);
            bytes
                .as_chunks::<N>()
                .0
                .get(data.offset()..)
                .unwrap_or_default()
        })
        .collect()
}

pub(super) fn fixed_width<T: ArrowNativeType, const N: usize>(
    data: &[ArrayData],
    places: &[RowPosition],
    value: impl Fn([u8; N]) -> T,
) -> ArrayDataBuilder {
    let sources = first_buffers::<N>(data);
    let slot = |place: &RowPosition| {
        let slot = sources
            .get(place.source())
            .and_then(|source| source.get(place.row()));
        value(slot.copied().unwrap_or([0; N]))
    };
    let values: Vec<T> = places.iter().map(slot).collect();
    builder(data).add_buffer(Buffer::from_vec(values))
}

pub(super) fn fixed_size_binary(
    data: &[ArrayData],
    width: usize,
    places: &[RowPosition],
) -> ArrayDataBuilder {
    let mut values = Vec::with_capacity(width * places.len());
    for place in places {
        let source = data.get(place.source());
        let value = source.and_then(|data| {
            let start = (data.offset() + place.row()) * width;
            data.buffers().first()?.as_slice().get(start..start + width)
        });
        match value {
            Some(value) => values.extend_from_slice(value),
            None => values.resize(values.len() + width, 0),
        }
    }
    builder(data).add_buffer(Buffer::from_vec(values))
}

pub(super) fn byte_arrays<O: OffsetSizeTrait>(
    data: &[ArrayData],
    places: &[RowPosition],
    most: usize,
) -> Result<ArrayDataBuilder> {
    let extents = Extents::<O>::of_offsets(data, places, most)?;
    let length = extents.offsets.last().map_or(0, |end| end.as_usize());
    let sources = data.iter().map(|data| data.buffers().get(1));
    let sources: Vec<&[u8]> = sources.map(|it| it.map_or(&[][..], |it| it)).collect();
    let mut values = vec![0; length + WIDE];
    let mut rest = values.as_mut_slice();
    for (place, (start, end)) in places.iter().zip(extents.ranges) {
        let source = sources.get(place.source()).copied().unwrap_or_default();
        rest = copy_value(source, start.as_usize()..end.as_usize(), rest);
    }
    values.truncate(length);
    let builder = builder(data).add_buffer(Buffer::from_vec(extents.offsets));
    Ok(builder.add_buffer(Buffer::from_vec(values)))
}

/// Copies a value and returns the remaining output. Short values take a fixed copy of [`WIDE`]
/// bytes, since a constant size is faster. The next value overwrites the overshoot.
fn copy_value<'a>(source: &[u8], range: Range<usize>, out: &'a mut [u8]) -> &'a mut [u8] {
    let length = range.len();
    let wide = source.get(range.start..).and_then(<[u8]>::first_chunk);
    match (wide, out.first_chunk_mut::<WIDE>()) {
        (Some(from), Some(to)) if length <= WIDE => *to = *from,
        _ => {
            if let (Some(from), Some(to)) = (source.get(range), out.get_mut(..length)) {
                to.copy_from_slice(from);
            }
        }
    }
    out.get_mut(length..).unwrap_or_default()
}

/// Gathers views, copying their values into new buffers so that the source buffers can be freed.
pub(super) fn views(data: &[ArrayData], places: &[RowPosition]) -> Result<ArrayDataBuilder> {
    let sources = first_buffers::<16>(data);
    let mut views = Vec::with_capacity(places.len());
    let (mut full, mut bytes) = (Vec::new(), Vec::new());
    for place in places {
        let view = sources
            .get(place.source())
            .and_then(|source| source.get(place.row()));
        let view = u128::from_le_bytes(view.copied().unwrap_or_default());
        let length = (view as u32) as usize;
        if length <= 12 {
            views.push(view);
            continue;
        }
        let (buffer, start) = ((view >> 64) as u32 as usize, (view >> 96) as usize);
        let source = data.get(place.source());
        let value = source.and_then(|data| {
            let buffer = data.buffers().get(buffer + 1)?;
            buffer.as_slice().get(start..start + length)
        });
        if bytes.len() + length > VIEW_BUFFER_BYTES && !bytes.is_empty() {
            full.push(Buffer::from_vec(std::mem::take(&mut bytes)));
        }
        let place = (bytes.len() as u128) << 96 | (full.len() as u128) << 64;
        // There's no value to copy, since a null slot can hold any view.
        let Some(value) = value else {
            views.push(0);
            continue;
        };
        bytes.extend_from_slice(value);
        views.push(view & u128::from(u64::MAX) | place);
    }
    // We never add an empty buffer, because Arrow IPC rejects empty buffers in an empty array.
    if !bytes.is_empty() {
        full.push(Buffer::from_vec(bytes));
    }
    let builder = builder(data).add_buffer(Buffer::from_vec(views));
    Ok(builder.add_buffers(full))
}
