//! Arrow arrays become repetition and definition levels.
//!
//! ```text
//! WriteNode → path to a leaf, + array → segments → levels, one pass a list → LeafLevels
//! ```
//!
//! The path is cut where the slots change: at each list (or map), and at dictionaries and run-end
//! encodings of nested values. Within such a `Segment` slot `i` of a struct is
//! slot `i` of its fields, so all that structs, the list at the end or the leaf say is in bitmaps over
//! the same slots. Hence levels come from top to bottom:
//!
//! 1. *Entries* start as one a row; those whose definition level is at least the segment's
//!    `slot_def` have a slot of the segment, the others ended at an empty or null list.
//! 2. The bitmaps of a segment add to the levels of its slots, a word of 64 slots at a time. Where
//!    nothing is null, nothing is to be done: the levels were filled in right before.
//! 3. At a list, each entry becomes as many as its list has elements, or stays one. All levels are
//!    filled with those of an element, then the entries from before go to where their lists start.
//!
//! `column/nested.rs` does the reverse.

mod encoded;
mod entries;
mod lists;
pub(crate) mod path;
mod segment;
mod slots;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, NullArray};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_format::{Error, Result};

pub(crate) use path::{LeafPath, paths};

use entries::Entries;
use herringbone_core::array::Selected;
use herringbone_core::levels::DefinitionLevels;
use segment::{End, Segment};

/// The levels of one leaf, and where its values are.
///
/// The values of the column, in order, are the slots of `leaf` in `ranges` that `nulls` calls valid:
/// one for each entry whose definition level is the highest one.
pub(crate) struct LeafLevels {
    /// One repetition level an entry; empty for a column without lists.
    pub(crate) rep: Vec<u8>,
    /// One definition level an entry.
    pub(crate) def: DefinitionLevels,
    /// The slots of the leaf that have an entry, in the order of the entries; never empty ones, and
    /// merged where one ends at the start of the next. List views and dictionaries of nested values
    /// may show a slot twice and in any order.
    pub(crate) ranges: Vec<Range<usize>>,
    /// As many bits as `leaf` has slots: null where the leaf is (for dictionaries and run-end
    /// encodings: where the value is) or a struct around it, up to the innermost list. None if there
    /// are no nulls. To be used instead of the leaf's own.
    pub(crate) nulls: Option<NullBuffer>,
    /// The leaf, or the part of it that these rows can reach. A dictionary or run-end encoding of
    /// values that are not nested is left as it is.
    pub(crate) leaf: ArrayRef,
    /// A leaf of nothing.
    nothing: ArrayRef,
    scratch: Scratch,
}

/// Buffers that the next call uses again.
#[derive(Default)]
struct Scratch {
    entries: Entries,
    spare: Entries,
    slot_levels: Vec<u8>,
    lengths: Vec<usize>,
    ranges: Vec<Range<usize>>,
}

impl LeafLevels {
    /// No levels, of no leaf.
    pub(crate) fn new() -> Self {
        let nothing: ArrayRef = Arc::new(NullArray::new(0));
        Self {
            rep: Vec::new(),
            def: DefinitionLevels::None,
            ranges: Vec::new(),
            nulls: None,
            leaf: nothing.clone(),
            nothing,
            scratch: Scratch::default(),
        }
    }

    /// The slots of the leaf that have a value.
    pub(crate) fn selected(&self) -> Selected<'_> {
        Selected {
            array: &self.leaf,
            nulls: self.nulls.as_ref(),
            ranges: &self.ranges,
        }
    }

    /// Lets go of the arrays.
    pub(crate) fn release(&mut self) {
        if let DefinitionLevels::Validity(_) = self.def {
            self.def = DefinitionLevels::None;
        }
        self.nulls = None;
        self.leaf = self.nothing.clone();
    }

    /// Bytes held, without the arrays.
    pub(crate) fn heap_bytes(&self) -> usize {
        let scratch = &self.scratch;
        let def = match &self.def {
            DefinitionLevels::Bytes(levels) => levels.capacity(),
            DefinitionLevels::None | DefinitionLevels::Validity(_) => 0,
        };
        let ranges = self.ranges.capacity() + scratch.ranges.capacity();
        self.rep.capacity()
            + def
            + scratch.entries.heap_bytes()
            + scratch.spare.heap_bytes()
            + scratch.slot_levels.capacity()
            + size_of::<usize>() * scratch.lengths.capacity()
            + size_of::<Range<usize>>() * ranges
    }
}

/// Makes the levels of the leaf at the end of `path` for `rows` of the top-level `array`, in place of
/// what `out` held.
///
/// Some ten thousand rows a call are best: then nothing leaves the second cache, and it takes a third
/// of the time that a million rows take.
///
/// **Errors**: the array is not what the path says, has fewer rows, or has a null where the path is
/// not nullable. A null below a null struct or in an element that no list shows does not count.
pub(crate) fn leaf_levels(
    path: &LeafPath,
    array: &ArrayRef,
    rows: Range<usize>,
    out: &mut LeafLevels,
) -> Result<()> {
    levels(path, array, rows, out).map_err(|error| error.in_column(path.column.join(".")))
}

fn levels(
    path: &LeafPath,
    array: &ArrayRef,
    rows: Range<usize>,
    out: &mut LeafLevels,
) -> Result<()> {
    if rows.start > rows.end || rows.end > array.len() {
        let (len, Range { start, end }) = (array.len(), rows);
        let message = format!("rows {start}..{end} of an array with {len}");
        return Err(Error::argument(message));
    }
    let num_rows = rows.len();
    let segments = segment::segments(&path.steps, array.as_ref(), rows)?;
    let scratch = &mut out.scratch;
    if let DefinitionLevels::Bytes(bytes) = std::mem::replace(&mut out.def, DefinitionLevels::None)
    {
        scratch.entries.def = bytes;
    }
    scratch.entries.rep = std::mem::take(&mut out.rep);
    let flat = path.max_rep == 0;
    // The bitmap of a single segment says it all.
    let bits = flat && path.max_def <= 1 && segments.len() == 1;
    let first_level = segments.first().map_or(0, |segment| segment.base);
    scratch.entries.fill(
        if flat { 0 } else { num_rows },
        if bits { 0 } else { num_rows },
        first_level,
    );
    out.ranges.clear();
    slots::push(&mut out.ranges, 0, num_rows);
    let mut segments = segments.into_iter().peekable();
    while let Some(segment) = segments.next() {
        segment.check_required(&out.ranges)?;
        if !bits {
            add_nulls(&segment, &out.ranges, scratch);
        }
        let next_base = segments.peek().map_or(0, |next| next.base);
        let nulls = segment.masks.last().map(|mask| &mask.valid);
        let slot_def = segment.slot_def;
        match segment.end {
            End::Lists { rep_level, lists } => {
                let Scratch {
                    entries,
                    spare,
                    lengths,
                    ranges,
                    ..
                } = scratch;
                lists.lengths(&out.ranges, lengths);
                let hidden =
                    nulls.is_some_and(|nulls| slots::clear_null(lengths, nulls, &out.ranges));
                lists.elements(&out.ranges, lengths, hidden, ranges);
                entries.expand(lengths, slot_def, rep_level, next_base, spare);
                std::mem::swap(entries, spare);
                std::mem::swap(&mut out.ranges, ranges);
            }
            End::Positions {
                positions,
                value_def,
            } => {
                slots::at_positions(&positions, nulls, &out.ranges, &mut scratch.ranges);
                scratch.entries.raise(value_def, next_base);
                std::mem::swap(&mut out.ranges, &mut scratch.ranges);
            }
            End::Leaf(leaf) => {
                out.nulls = nulls.cloned();
                out.leaf = leaf;
            }
        }
    }
    out.rep = std::mem::take(&mut scratch.entries.rep);
    let levels = &mut scratch.entries.def;
    out.def = match (flat, path.max_def) {
        (true, 0) => DefinitionLevels::None,
        (true, 1) if bits => DefinitionLevels::Validity(out.nulls.clone()),
        (true, 1) => DefinitionLevels::Validity(as_bits(levels)),
        _ => DefinitionLevels::Bytes(std::mem::take(levels)),
    };
    Ok(())
}

/// Adds what the bitmaps of a segment say to the levels of the entries that have slots there.
fn add_nulls(segment: &Segment<'_>, ranges: &[Range<usize>], scratch: &mut Scratch) {
    if segment.masks.is_empty() {
        return;
    }
    let levels = &mut scratch.slot_levels;
    levels.clear();
    for range in ranges {
        let from = levels.len();
        levels.resize(from + range.len(), segment.base);
        if let Some(levels) = levels.get_mut(from..) {
            for mask in &segment.masks {
                slots::add_bits(levels, &mask.valid, range.start, mask.levels);
            }
        }
    }
    scratch.entries.set_levels(segment.slot_def, levels);
}

/// Levels of 0 and 1 as a bitmap, none if all are 1.
fn as_bits(levels: &[u8]) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::from_iter(
        levels.iter().map(|&level| level == 1),
    ));
    (nulls.null_count() > 0).then_some(nulls)
}
