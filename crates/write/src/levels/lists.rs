//! The positions of list elements, for each kind of list.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, OffsetSizeTrait};
use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_arrow::schema::DataType;

use super::slots::push;

/// The element positions of one array's lists. Element 0 is the first element in any of these lists.
pub(super) struct Lists<'a> {
    layout: Layout<'a>,
    /// The first element's ordinal in the element array.
    first: usize,
}

enum Layout<'a> {
    /// The offsets of `List` and `Map`, one more than there are lists.
    Offsets32(&'a [i32]),
    /// The offsets of `LargeList`, one more than there are lists.
    Offsets64(&'a [i64]),
    /// The offsets and sizes of `ListView`.
    Views32(&'a [i32], &'a [i32]),
    /// The offsets and sizes of `LargeListView`.
    Views64(&'a [i64], &'a [i64]),
    /// The size of `FixedSizeList`.
    Fixed(usize),
}

/// The parts of a list array.
pub(super) struct Opened<'a> {
    pub(super) lists: Lists<'a>,
    pub(super) elements: &'a dyn Array,
    /// The range of elements that the lists can refer to.
    pub(super) window: Range<usize>,
}

/// Returns an array's lists in `window`, or `None` if it is not a list array.
pub(super) fn open<'a>(array: &'a dyn Array, window: &Range<usize>) -> Option<Opened<'a>> {
    let slots = window.clone();
    let bounds = window.start..window.end + 1;
    let (layout, elements): (_, &dyn Array) = match array.data_type() {
        DataType::List(_) => {
            let lists = array.as_list_opt::<i32>()?;
            let offsets = lists.value_offsets().get(bounds)?;
            (Layout::Offsets32(offsets), lists.values())
        }
        DataType::LargeList(_) => {
            let lists = array.as_list_opt::<i64>()?;
            let offsets = lists.value_offsets().get(bounds)?;
            (Layout::Offsets64(offsets), lists.values())
        }
        DataType::Map(..) => {
            let maps = array.as_map_opt()?;
            let offsets = maps.value_offsets().get(bounds)?;
            (Layout::Offsets32(offsets), maps.entries())
        }
        DataType::ListView(_) => {
            let lists = array.as_list_view_opt::<i32>()?;
            let offsets = lists.value_offsets().get(slots.clone())?;
            let sizes = lists.value_sizes().get(slots)?;
            (Layout::Views32(offsets, sizes), lists.values())
        }
        DataType::LargeListView(_) => {
            let lists = array.as_list_view_opt::<i64>()?;
            let offsets = lists.value_offsets().get(slots.clone())?;
            let sizes = lists.value_sizes().get(slots)?;
            (Layout::Views64(offsets, sizes), lists.values())
        }
        DataType::FixedSizeList(_, size) => {
            let lists = array.as_fixed_size_list_opt()?;
            (Layout::Fixed(usize::try_from(*size).ok()?), lists.values())
        }
        _ => return None,
    };
    let window = match layout {
        Layout::Offsets32(offsets) => offsets_window(offsets),
        Layout::Offsets64(offsets) => offsets_window(offsets),
        Layout::Views32(offsets, sizes) => views_window(offsets, sizes),
        Layout::Views64(offsets, sizes) => views_window(offsets, sizes),
        Layout::Fixed(size) => window.start * size..window.end * size,
    };
    let first = window.start;
    Some(Opened {
        lists: Lists { layout, first },
        elements,
        window,
    })
}

impl Lists<'_> {
    /// Fills `lengths` with the length of each list in `ranges`, null or not.
    pub(super) fn lengths(&self, ranges: &[Range<usize>], lengths: &mut Vec<usize>) {
        lengths.clear();
        for range in ranges {
            let slots = range.clone();
            match self.layout {
                Layout::Offsets32(offsets) => differences(offsets, slots, lengths),
                Layout::Offsets64(offsets) => differences(offsets, slots, lengths),
                Layout::Views32(_, sizes) => {
                    lengths.extend(sizes[slots].iter().map(|size| size.as_usize()))
                }
                Layout::Views64(_, sizes) => {
                    lengths.extend(sizes[slots].iter().map(|size| size.as_usize()))
                }
                Layout::Fixed(size) => lengths.resize(lengths.len() + slots.len(), size),
            }
        }
    }

    /// Fills `out` with the elements of the lists in `ranges`. `hidden` is true if some `lengths` are 0 although the
    /// array has elements for these lists.
    pub(super) fn elements(
        &self,
        ranges: &[Range<usize>],
        lengths: &[usize],
        hidden: bool,
        out: &mut Vec<Range<usize>>,
    ) {
        out.clear();
        let scattered = matches!(self.layout, Layout::Views32(..) | Layout::Views64(..));
        if !hidden && !scattered {
            for range in ranges {
                let start = self.start(range.start);
                push(out, start, self.start(range.end) - start);
            }
            return;
        }
        let slots = ranges.iter().cloned().flatten();
        for (slot, &length) in slots.zip(lengths) {
            if length > 0 {
                push(out, self.start(slot), length);
            }
        }
    }

    /// Returns a list's first element. For the slot after the last list, it returns the end of the elements, except
    /// that views have no such slot.
    fn start(&self, slot: usize) -> usize {
        let start = match self.layout {
            Layout::Offsets32(offsets) => offsets[slot].as_usize(),
            Layout::Offsets64(offsets) => offsets[slot].as_usize(),
            Layout::Views32(offsets, _) => offsets[slot].as_usize(),
            Layout::Views64(offsets, _) => offsets[slot].as_usize(),
            Layout::Fixed(size) => return slot * size,
        };
        start - self.first
    }
}

/// Appends the lengths of adjacent lists.
fn differences<O: OffsetSizeTrait>(offsets: &[O], slots: Range<usize>, lengths: &mut Vec<usize>) {
    let starts = &offsets[slots.clone()];
    let ends = &offsets[slots.start + 1..slots.end + 1];
    lengths.extend(
        starts
            .iter()
            .zip(ends)
            .map(|(start, end)| (*end - *start).as_usize()),
    );
}

/// Returns the element range of adjacent lists.
fn offsets_window<O: OffsetSizeTrait>(offsets: &[O]) -> Range<usize> {
    match offsets {
        [first, .., last] => first.as_usize()..last.as_usize(),
        _ => 0..0,
    }
}

/// Returns the range from the first element in any list to the last.
fn views_window<O: OffsetSizeTrait>(offsets: &[O], sizes: &[O]) -> Range<usize> {
    let lists = offsets.iter().zip(sizes);
    let lists = lists.filter(|(_, size)| size.as_usize() > 0);
    let bounds = lists.map(|(start, size)| (start.as_usize(), (*start + *size).as_usize()));
    let around = bounds.reduce(|(start, end), (s, e)| (start.min(s), end.max(e)));
    around.map_or(0..0, |(start, end)| start..end)
}
