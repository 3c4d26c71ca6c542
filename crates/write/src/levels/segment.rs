//! Splits a leaf's path wherever the slots change.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef, NullArray};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_format::{Error, Result};

use super::lists::Lists;
use super::path::Step;
use super::{encoded, lists, slots};

/// Arrays with the same slots: structs, each a field of the previous one, and the array below them.
///
/// Slot 0 is the first slot reachable from the selected rows. If only the first `d` bitmaps in `masks` are set for a
/// slot, its definition level is `base` plus their `levels`.
pub(super) struct Segment<'a> {
    /// The minimum definition level of entries with a slot here.
    pub(super) slot_def: u8,
    /// The definition level of a slot that is null in the first mask. Without masks, it is every slot's level.
    pub(super) base: u8,
    /// The masks of the arrays with nulls, outermost first. The last one is the validity of the array at the end.
    pub(super) masks: Vec<Mask>,
    /// The null slots of non-nullable arrays. They are only allowed if no entry has them.
    forbidden: Vec<BooleanBuffer>,
    /// The end of the segment.
    pub(super) end: End<'a>,
}

/// The validity of one array's slots, combined with all arrays around it in its segment.
pub(super) struct Mask {
    pub(super) valid: NullBuffer,
    /// The number of definition levels between a null slot and a valid one. There is one for this array, and one for
    /// each nullable array below it that adds no nulls.
    pub(super) levels: u8,
}

/// The end of a segment. It leads to the next segment or is the leaf.
pub(super) enum End<'a> {
    /// A list. Its elements are the next segment's slots.
    Lists { rep_level: u8, lists: Lists<'a> },
    /// A dictionary or run-end encoding. `positions` maps each slot to the next segment's slot, arbitrarily for nulls.
    /// Valid slots have the definition level `value_def`.
    Positions {
        positions: Vec<usize>,
        value_def: u8,
    },
    /// The leaf.
    Leaf(ArrayRef),
}

impl Segment<'_> {
    /// Returns an error if non-nullable arrays have nulls in these slots.
    pub(super) fn check_required(&self, ranges: &[Range<usize>]) -> Result<()> {
        let any = |forbidden: &BooleanBuffer| {
            let mut ranges = ranges.iter();
            ranges.any(|range| {
                slots::words(forbidden, range.start, range.len()).any(|word| word != 0)
            })
        };
        match self.forbidden.iter().any(any) {
            true => Err(Error::argument(
                "a field that the schema declares as required contains a null",
            )),
            false => Ok(()),
        }
    }
}

/// Splits the path from `array` along `steps`.
///
/// A struct without fields gets one field in the file, because Parquet cannot express it. This field's leaf is an array
/// of nulls.
pub(super) fn segments<'a>(
    steps: &[Step],
    array: &'a dyn Array,
    rows: Range<usize>,
) -> Result<Vec<Segment<'a>>> {
    let mut builder = Builder::default();
    let (mut array, mut window) = (array, rows);
    for (at, &step) in steps.iter().enumerate() {
        let mismatch = || {
            let data_type = array.data_type();
            Error::argument(format!(
                "an array of type {data_type} does not fit the schema"
            ))
        };
        match step {
            Step::Struct { nullable, field } => {
                let parent = array.as_struct_opt().ok_or_else(mismatch)?;
                builder.nulls(nullable, in_window(parent.nulls(), &window));
                if parent.num_columns() == 0 {
                    let nulls = NullArray::new(window.len());
                    builder.leaf(true, Arc::new(nulls));
                    return Ok(builder.segments);
                }
                array = parent.columns().get(field).ok_or_else(mismatch)?.as_ref();
            }
            Step::List {
                nullable,
                rep_level,
            } => {
                builder.nulls(nullable, in_window(array.nulls(), &window));
                let lists::Opened {
                    lists,
                    elements,
                    window: inner,
                } = lists::open(array, &window).ok_or_else(mismatch)?;
                let element_def = builder.def_level() + 1;
                builder.end(End::Lists { rep_level, lists }, element_def);
                (array, window) = (elements, inner);
            }
            Step::RunEnd | Step::Dictionary => {
                let part = array.slice(window.start, window.len());
                let nullable = steps.iter().skip(at).find_map(|step| step.nullable());
                builder.nulls(nullable.unwrap_or(true), part.logical_nulls());
                builder.nulls_are_known = true;
                let value_def = builder.def_level();
                let positions = encoded::positions(&part).ok_or_else(mismatch)?;
                let end = End::Positions {
                    positions,
                    value_def,
                };
                builder.end(end, value_def);
                array = encoded::values(array).ok_or_else(mismatch)?;
                window = 0..array.len();
            }
            Step::Leaf { nullable } => {
                builder.leaf(nullable, array.slice(window.start, window.len()));
            }
        }
    }
    Ok(builder.segments)
}

/// A segment builder, holding the segment under construction.
#[derive(Default)]
struct Builder<'a> {
    segments: Vec<Segment<'a>>,
    slot_def: u8,
    base: u8,
    masks: Vec<Mask>,
    forbidden: Vec<BooleanBuffer>,
    /// True if the next array's nulls belong to the encoding around it and were already added.
    nulls_are_known: bool,
}

impl<'a> Builder<'a> {
    /// Returns the definition level of a slot that is valid in all arrays so far.
    fn def_level(&self) -> u8 {
        self.base + self.masks.iter().map(|mask| mask.levels).sum::<u8>()
    }

    /// Adds the nulls of the next array.
    fn nulls(&mut self, nullable: bool, nulls: Option<NullBuffer>) {
        if std::mem::take(&mut self.nulls_are_known) {
            return;
        }
        let around = self.masks.last().map(|mask| &mask.valid);
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        // Null structs hide the slots below them, so we only count nulls in visible slots.
        let valid = nulls.and_then(|nulls| {
            let valid = NullBuffer::union(around, Some(&nulls))?;
            let seen = around.map_or(0, NullBuffer::null_count);
            (valid.null_count() > seen).then_some(valid)
        });
        match (valid, nullable) {
            (None, false) => {}
            (None, true) => match self.masks.last_mut() {
                Some(mask) => mask.levels += 1,
                None => self.base += 1,
            },
            (Some(valid), true) => self.masks.push(Mask { valid, levels: 1 }),
            (Some(valid), false) => {
                let null = !valid.inner();
                self.forbidden.push(match around {
                    Some(around) => &null & around.inner(),
                    None => null,
                });
            }
        }
    }

    /// Ends the last segment at the leaf.
    fn leaf(&mut self, nullable: bool, leaf: ArrayRef) {
        self.nulls(nullable, leaf.logical_nulls());
        self.end(End::Leaf(leaf), 0);
    }

    /// Ends the segment. The next segment's slots belong to entries with a definition level of at least `slot_def`.
    fn end(&mut self, end: End<'a>, slot_def: u8) {
        self.segments.push(Segment {
            slot_def: self.slot_def,
            base: self.base,
            masks: std::mem::take(&mut self.masks),
            forbidden: std::mem::take(&mut self.forbidden),
            end,
        });
        (self.slot_def, self.base) = (slot_def, slot_def);
    }
}

/// Returns the nulls in `window`, or `None` if the array has no nulls.
fn in_window(nulls: Option<&NullBuffer>, window: &Range<usize>) -> Option<NullBuffer> {
    let nulls = nulls.filter(|nulls| nulls.null_count() > 0)?;
    Some(match *window == (0..nulls.len()) {
        true => nulls.clone(),
        false => nulls.slice(window.start, window.len()),
    })
}
