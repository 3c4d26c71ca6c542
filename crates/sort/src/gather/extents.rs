//! The starts and ends of byte arrays and lists.

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::data::ArrayData;
use herringbone_format::Result;

use super::{RowPosition, too_long};

/// The extents of the gathered byte arrays or lists.
pub(super) struct Extents<O> {
    /// Each slot's start and end in its source.
    pub(super) ranges: Vec<(O, O)>,
    /// Each slot's start in the result, followed by the end of the last slot.
    pub(super) offsets: Vec<O>,
}

impl<O: OffsetSizeTrait> Extents<O> {
    /// Computes the extents, where `range` returns the start and end of the slot at a place.
    fn new(
        places: &[RowPosition],
        most: usize,
        range: impl Fn(&RowPosition) -> Option<(O, O)>,
    ) -> Result<Self> {
        let range = |place: &RowPosition| range(place).unwrap_or_default();
        let ranges: Vec<(O, O)> = places.iter().map(range).collect();
        let lengths = ranges.iter().map(|(start, end)| *end - *start);
        let total = lengths.clone().map(O::as_usize);
        let total = total.fold(0, usize::saturating_add);
        if total > most || O::from_usize(total).is_none() {
            return Err(too_long(total));
        }
        let mut offsets = Vec::with_capacity(places.len() + 1);
        let mut end = O::default();
        offsets.push(end);
        offsets.extend(lengths.map(|length| {
            end += length;
            end
        }));
        Ok(Self { ranges, offsets })
    }

    /// Computes extents from an offset buffer, where each slot ends at the next slot's start.
    pub(super) fn of_offsets(
        data: &[ArrayData],
        places: &[RowPosition],
        most: usize,
    ) -> Result<Self> {
        let sources: Vec<&[O]> = data.iter().map(|data| offsets(data, 0)).collect();
        Self::new(places, most, |place| {
            let source = sources.get(place.source())?;
            match source.get(place.row()..)? {
                [start, end, ..] => Some((*start, *end)),
                _ => None,
            }
        })
    }

    /// Computes extents from separate offset and size buffers.
    pub(super) fn of_sizes(
        data: &[ArrayData],
        places: &[RowPosition],
        most: usize,
    ) -> Result<Self> {
        let starts: Vec<&[O]> = data.iter().map(|data| offsets(data, 0)).collect();
        let sizes: Vec<&[O]> = data.iter().map(|data| offsets(data, 1)).collect();
        Self::new(places, most, |place| {
            let start = *starts.get(place.source())?.get(place.row())?;
            let size = *sizes.get(place.source())?.get(place.row())?;
            Some((start, start + size))
        })
    }

    /// Returns the places of all list elements.
    pub(super) fn elements(&self, places: &[RowPosition]) -> Vec<RowPosition> {
        let length = self.offsets.last().map_or(0, |end| end.as_usize());
        let mut elements = Vec::with_capacity(length);
        for (place, (start, end)) in places.iter().zip(&self.ranges) {
            let rows = start.as_usize()..end.as_usize();
            elements.extend(rows.map(|row| RowPosition::new(place.source(), row)));
        }
        elements
    }
}

/// Returns a buffer of offsets or sizes, starting at the first slot. It is empty if there are no
/// slots.
fn offsets<O: OffsetSizeTrait>(data: &ArrayData, buffer: usize) -> &[O] {
    match data.buffers().get(buffer) {
        Some(buffer) if !buffer.is_empty() => {
            let offsets = buffer.typed_data::<O>();
            offsets.get(data.offset()..).unwrap_or_default()
        }
        _ => &[],
    }
}
