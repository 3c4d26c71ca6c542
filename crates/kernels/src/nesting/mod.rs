//! Converts repetition and definition levels to list offsets and validity.
//!
//! A level is one byte. A repetition level is the depth of repetition at which a position continues, and a definition
//! level is the defined length of the path to the value. For a list at any depth:
//!
//! ```text
//! a list slot begins     if rep <  rep_level  and  def >= parent_element_def
//! the list is not null   if                        def >= list_def
//! an element begins      if rep <= rep_level  and  def >= element_def
//! ```
//!
//! So all outputs follow from comparisons of levels with constants, and each comparison of 64 positions returns a mask.
//! The number of elements before a slot is a population count, and validity consists of one mask's bits at the set bits
//! of another. You may pass levels in blocks that end anywhere. If you process every depth for one block before the
//! next block, the levels are still in the cache.

use herringbone_arrow::array::OffsetSizeTrait;

use crate::Malformed;
use crate::bitmap::Bitmap;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod list_levels;
mod loops;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod masks;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;

pub use list_levels::ListLevels;
use loops::Loops;

/// Calls a kernel with the token of the best instruction set.
macro_rules! dispatch {
    ($cpu:ident => $call:expr) => {{
        #[cfg(target_arch = "x86_64")]
        {
            if let Some($cpu) = Avx512::detect() {
                return $call;
            }
            if let Some($cpu) = Avx2::detect() {
                return $call;
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let Some($cpu) = Neon::detect() {
            return $call;
        }
        let $cpu = Scalar;
        $call
    }};
}

/// The levels at which a list appears among the levels of one of its leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlan {
    /// The repetition level of the list's elements.
    pub rep_level: u8,
    /// The lowest definition level at which the list is not null.
    pub list_def: u8,
    /// The lowest definition level at which an element exists.
    pub element_def: u8,
    /// The lowest definition level at which a slot for the list exists, which is the `element_def` of the enclosing
    /// list, or zero.
    pub parent_element_def: u8,
    /// True if the list may be null.
    pub nullable: bool,
}

/// Returns the number of levels that belong to the first `max_rows` rows that start in `rep`.
///
/// The result is `(rows, levels)`. `rows` is the number of rows that start, which is at most `max_rows`. `levels` is
/// the number of levels before the start of the next row, or of all levels if no further row starts. Levels before the
/// first row start continue an earlier row, and are included.
pub fn row_starts(rep: &[u8], max_rows: usize) -> (usize, usize) {
    dispatch!(cpu => cpu.row_starts(rep, max_rows))
}

/// Appends the end offset of each list to `offsets`.
///
/// `offsets` must not be empty, and must end with `count`, which is the number of elements so far. Both are zero at the
/// start of a batch. Every list slot appends one offset, and to `validity` one bit, which is set if the list is not
/// null. Afterwards, the last offset and `count` include the current elements of the last list, because the next block
/// may continue it.
///
/// # Errors
/// Fails with [`Malformed`] if `rep` and `def` differ in length, if an element continues a list that does not exist, or
/// if offsets of type `O` overflow. Some offsets may already have been appended then.
pub fn list_offsets<O: OffsetSizeTrait>(
    plan: &ListPlan,
    rep: &[u8],
    def: &[u8],
    offsets: &mut Vec<O>,
    count: &mut usize,
    validity: &mut Bitmap,
) -> Result<(), Malformed> {
    check_offsets(rep, def, offsets, *count)?;
    dispatch!(cpu => cpu.list_offsets(plan, (rep, def), offsets, count, validity))
}

/// Appends a bit for each slot of a leaf, a struct or a list, which is set if the slot is not null. Returns the number
/// of slots.
///
/// Positions with `rep <= max_rep` and `def >= slot_def` are slots, and their bit is `def >= valid_def`. If there is no
/// repetition, `rep` may be empty, which stands for zeros.
pub fn slot_validity(
    rep: &[u8],
    def: &[u8],
    max_rep: u8,
    slot_def: u8,
    valid_def: u8,
    validity: &mut Bitmap,
) -> usize {
    let plan = SlotPlan {
        max_rep,
        slot_def,
        valid_def,
    };
    dispatch!(cpu => cpu.slot_validity(plan, rep, def, validity))
}

/// Appends the levels that concern a list. The list's elements have the repetition level `rep_level` and exist from the
/// definition level `element_def` on.
///
/// Positions with `rep <= rep_level` are appended as two bits: `rep == rep_level` if the level continues the list, and
/// `def >= element_def` if an element exists. If `rep` and `def` differ in length, the surplus is ignored.
pub fn list_levels(
    rep: &[u8],
    def: &[u8],
    rep_level: u8,
    element_def: u8,
    levels: &mut ListLevels,
) {
    dispatch!(cpu => cpu.list_levels((rep_level, element_def), rep, def, levels));
}

/// Returns the number of levels at or above `level`.
pub fn count_ge(levels: &[u8], level: u8) -> usize {
    dispatch!(cpu => cpu.count_ge(levels, level))
}

/// Returns true if all levels are at least `level`.
pub fn all_ge(levels: &[u8], level: u8) -> bool {
    count_ge(levels, level) == levels.len()
}

/// The conditions under which a position is a slot, and under which a slot is valid.
#[derive(Debug, Clone, Copy)]
struct SlotPlan {
    max_rep: u8,
    slot_def: u8,
    valid_def: u8,
}

/// Checks that there are as many levels of both kinds, and that the offsets end with `count`.
fn check_offsets<O: OffsetSizeTrait>(
    rep: &[u8],
    def: &[u8],
    offsets: &[O],
    count: usize,
) -> Result<(), Malformed> {
    if rep.len() != def.len() {
        return Err(Malformed(
            "the numbers of definition and repetition levels differ",
        ));
    }
    match offsets.last() {
        Some(last) if last.as_usize() == count => {}
        _ => return Err(Malformed("list offsets do not continue where they ended")),
    }
    // This call appends no offset that is greater, so none of them needs its own check.
    count
        .checked_add(rep.len())
        .and_then(O::from_usize)
        .map(drop)
        .ok_or(Malformed(
            "there are more list elements than offsets can count",
        ))
}

#[cfg(test)]
mod tests;
