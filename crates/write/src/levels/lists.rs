//! Where the elements of lists are, for every kind of list.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, OffsetSizeTrait};
use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_arrow::schema::DataType;

use super::slots::push;

/// Where the elements of the lists of one array are. Elements count from the first one that any of
/// these lists shows.
pub(super) struct Lists<'a> {
    layout: Layout<'a>,
    /// That element's ordinal in the array of elements.
    first: usize,
}

enum Layout<'a> {
    /// `List` and `Map`; one more than lists.
    Offsets32(&'a [i32]),
    /// `LargeList`; one more than lists.
    Offsets64(&'a [i64]),
    /// `ListView`: offsets and sizes.
    Views32(&'a [i32], &'a [i32]),
    /// `LargeListView`: offsets and sizes.
    Views64(&'a [i64], &'a [i64]),
    /// `FixedSizeList`: the size.
    Fixed(usize),
}

/// An array of lists, taken apart.
pub(super) struct Opened<'a> {
    pub(super) lists: Lists<'a>,
    pub(super) elements: &'a dyn Array,
    /// The elements that the lists can show.
    pub(super) window: Range<usize>,
}

/// The lists in `window` of an array; none if it is not one of lists.
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
    /// The length of each list in `ranges`, null or not, in place of what `lengths` held.
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

    /// The elements of the lists in `ranges`, in place of what `out` held. Where `hidden` is true,
    /// some of `lengths` are 0 though the array has elements there.
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

    /// The first element of a list; but for views, that behind the last element for the slot behind
    /// the last list.
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

/// The lengths of lists that follow each other.
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

/// The elements of lists that follow each other.
fn offsets_window<O: OffsetSizeTrait>(offsets: &[O]) -> Range<usize> {
    match offsets {
        [first, .., last] => first.as_usize()..last.as_usize(),
        _ => 0..0,
    }
}

/// From the first element of any list to the last one of any.
fn views_window<O: OffsetSizeTrait>(offsets: &[O], sizes: &[O]) -> Range<usize> {
    let lists = offsets.iter().zip(sizes);
    let lists = lists.filter(|(_, size)| size.as_usize() > 0);
    let bounds = lists.map(|(start, size)| (start.as_usize(), (*start + *size).as_usize()));
    let around = bounds.reduce(|(start, end), (s, e)| (start.min(s), end.max(e)));
    around.map_or(0..0, |(start, end)| start..end)
}
