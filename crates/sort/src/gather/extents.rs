//! Where byte arrays and lists begin and end.

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::data::ArrayData;
use herringbone_format::Result;

use super::{Place, too_long};

/// Byte arrays or lists that are chosen.
pub(super) struct Extents<O> {
    /// Where each of them begins and ends in its source.
    pub(super) ranges: Vec<(usize, usize)>,
    /// Where each of them begins in what is made of them, and the end.
    pub(super) offsets: Vec<O>,
}

impl<O: OffsetSizeTrait> Extents<O> {
    /// `range` says where the slot at a place begins and ends.
    fn new(
        places: &[Place],
        most: usize,
        range: impl Fn(&Place) -> Option<(O, O)>,
    ) -> Result<Self> {
        let mut ranges = Vec::with_capacity(places.len());
        let mut offsets = Vec::with_capacity(places.len() + 1);
        let mut total = 0_usize;
        offsets.push(O::default());
        for place in places {
            let range = range(place).map(|(start, end)| (start.as_usize(), end.as_usize()));
            let (start, end) = range.unwrap_or_default();
            ranges.push((start, end));
            total += end - start;
            if total > most {
                return Err(too_long(total));
            }
            offsets.push(O::from_usize(total).ok_or_else(|| too_long(total))?);
        }
        Ok(Self { ranges, offsets })
    }

    /// Of arrays with offsets, each slot ending where the next one begins.
    pub(super) fn of_offsets(data: &[ArrayData], places: &[Place], most: usize) -> Result<Self> {
        let sources: Vec<&[O]> = data.iter().map(|data| offsets(data, 0)).collect();
        Self::new(places, most, |place| {
            let source = sources.get(place.source())?;
            match source.get(place.row()..)? {
                [start, end, ..] => Some((*start, *end)),
                _ => None,
            }
        })
    }

    /// Of arrays with offsets and sizes.
    pub(super) fn of_sizes(data: &[ArrayData], places: &[Place], most: usize) -> Result<Self> {
        let starts: Vec<&[O]> = data.iter().map(|data| offsets(data, 0)).collect();
        let sizes: Vec<&[O]> = data.iter().map(|data| offsets(data, 1)).collect();
        Self::new(places, most, |place| {
            let start = *starts.get(place.source())?.get(place.row())?;
            let size = *sizes.get(place.source())?.get(place.row())?;
            Some((start, start + size))
        })
    }

    /// The elements of all lists.
    pub(super) fn elements(&self, places: &[Place]) -> Vec<Place> {
        let length = self.offsets.last().map_or(0, |end| end.as_usize());
        let mut elements = Vec::with_capacity(length);
        for (place, (start, end)) in places.iter().zip(&self.ranges) {
            elements.extend((*start..*end).map(|row| Place::new(place.source(), row)));
        }
        elements
    }
}

/// A buffer of offsets or sizes, from the first slot on; empty where there are no slots.
fn offsets<O: OffsetSizeTrait>(data: &ArrayData, buffer: usize) -> &[O] {
    match data.buffers().get(buffer) {
        Some(buffer) if !buffer.is_empty() => {
            let offsets = buffer.typed_data::<O>();
            offsets.get(data.offset()..).unwrap_or_default()
        }
        _ => &[],
    }
}
