//! Converts Arrow arrays to repetition and definition levels.
//!
//! ```text
//! WriteNode → path to a leaf, + array → segments → levels, one pass per list → LeafLevels
//! ```
//!
//! We split the path wherever the slots change: at each list or map, and at dictionaries and run-end encodings of
//! nested values. Within such a `Segment`, slot `i` of a struct is slot `i` of its fields. The nulls of its structs,
//! and of the list or leaf at its end, are therefore bitmaps over the same slots. This lets us compute levels from top
//! to bottom:
//!
//! 1. At first, there is one *entry* per row. Entries with a definition level of at least the segment's `slot_def` have
//!    a slot in the segment. The others ended at an empty or null list.
//! 2. A segment's bitmaps add to its slots' levels, in words of 64 slots. Without nulls there is nothing to do, because
//!    the levels were filled in just before.
//! 3. At a list, each entry expands to one entry per element, or stays a single entry. We fill all levels with element
//!    levels, then write the previous entries to the starts of their lists.
//!
//! The module `column::nested` of `herringbone_core` does the reverse.

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

/// A leaf's levels and the positions of its values.
///
/// The column's values, in order, are those slots of `leaf` in `ranges` that are valid in `nulls`. There is one value
/// per entry with the highest definition level.
pub(crate) struct LeafLevels {
    /// The repetition levels, one per entry. Empty if the column has no lists.
    pub(crate) rep: Vec<u8>,
    /// The definition levels, one per entry.
    pub(crate) def: DefinitionLevels,
    /// The leaf's slots with an entry, in entry order. Ranges are never empty, and adjacent ranges are merged. With
    /// list views and dictionaries of nested values, slots can repeat and be in any order.
    pub(crate) ranges: Vec<Range<usize>>,
    /// The validity of each slot of `leaf`, or `None` if there are no nulls. It replaces the leaf's own validity. A
    /// slot is null if the leaf is null there, or if a struct around it is, up to the innermost list. For dictionaries
    /// and run-end encodings, the value decides.
    pub(crate) nulls: Option<NullBuffer>,
    /// The leaf, or the part of it reachable from these rows. A dictionary or run-end encoding is unchanged if its
    /// values aren't nested.
    pub(crate) leaf: ArrayRef,
    /// An empty leaf that replaces `leaf` when it is dropped.
    nothing: ArrayRef,
    scratch: Scratch,
}

/// Buffers kept for the next call.
#[derive(Default)]
struct Scratch {
    entries: Entries,
    spare: Entries,
    slot_levels: Vec<u8>,
    lengths: Vec<usize>,
    ranges: Vec<Range<usize>>,
}

impl LeafLevels {
    /// Creates levels without a leaf.
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

    /// Returns the leaf's slots with a value.
    pub(crate) fn selected(&self) -> Selected<'_> {
        Selected {
            array: &self.leaf,
            nulls: self.nulls.as_ref(),
            ranges: &self.ranges,
        }
    }

    /// Drops the arrays, keeping only the buffers.
    pub(crate) fn release(&mut self) {
        if let DefinitionLevels::Validity(_) = self.def {
            self.def = DefinitionLevels::None;
        }
        self.nulls = None;
        self.leaf = self.nothing.clone();
    }

    /// Returns the number of reserved bytes, excluding the arrays.
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

/// Computes the levels of the leaf at the end of `path` for `rows` of the top-level `array`, replacing the content of
/// `out`.
///
/// Pass about ten thousand rows per call, so that all data stays in the L2 cache. A row then takes a third of its time
/// at a million rows per call.
///
/// # Errors
/// Fails with `Argument` if the array does not match the path, has fewer rows, or has a null where the path is not
/// nullable. Nulls below a null struct, or in an element outside every list, are ignored.
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
        let message = format!("rows {start}..{end} are outside of an array with {len} rows");
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
    // If there's only one segment, its bitmap suffices.
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

/// Adds a segment's bitmaps to the levels of the entries with slots in it.
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

/// Converts levels of 0 and 1 to a bitmap, or returns `None` if all levels are 1.
fn as_bits(levels: &[u8]) -> Option<NullBuffer> {
    let nulls = NullBuffer::new(BooleanBuffer::from_iter(
        levels.iter().map(|&level| level == 1),
    ));
    (nulls.null_count() > 0).then_some(nulls)
}
