//! Repetition and definition levels become list offsets and validity.
//!
//! Levels are one byte each. A repetition level says at which depth of repetition a position goes
//! on; a definition level says how much of the path to the value is there. For a list at any depth:
//!
//! ```text
//! a list slot begins     where rep <  rep_level  and  def >= parent_element_def
//! the list is not null   where                        def >= list_def
//! an element begins      where rep <= rep_level  and  def >= element_def
//! ```
//!
//! So everything comes from comparing levels with constants: 64 positions at a time give a mask
//! each, elements before a slot are a population count, and validity is the bits of one mask at the
//! set bits of another. Levels may be handed over in blocks that end anywhere; a caller that takes
//! every depth through one block before it goes on to the next finds the levels in the cache.

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

/// Calls with the token of the best instructions.
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

/// How the levels of a leaf show one of the lists above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListPlan {
    /// Repetition level of the list's elements.
    pub rep_level: u8,
    /// Definition level from which on the list is not null.
    pub list_def: u8,
    /// Definition level from which on there is an element.
    pub element_def: u8,
    /// Definition level from which on there is a slot for the list: the `element_def` of the list
    /// around it, or zero.
    pub parent_element_def: u8,
    /// Whether the list may be null.
    pub nullable: bool,
}

/// How many levels belong to the first `max_rows` rows that start in `rep`.
///
/// **Shapes**: `(rows, levels)`: the rows that start, at most `max_rows`, and the levels up to the
/// start of the row after them, or all levels without one. Levels before the first start of a row
/// go on with an earlier row and count as levels.
pub fn row_starts(rep: &[u8], max_rows: usize) -> (usize, usize) {
    dispatch!(cpu => cpu.row_starts(rep, max_rows))
}

/// Appends the end offset of each list to `offsets`.
///
/// **Shapes**: levels in; `offsets` is not empty and ends with `count`, the elements so far (both
/// zero at the start of a batch). Every list slot appends one offset and, to `validity`, one bit,
/// set where the list is not null. Afterwards the last offset and `count` include the elements of
/// the last list so far, which the next block may go on with.
///
/// # Errors
/// [`Malformed`] where `rep` and `def` differ in length, where an element goes on with a list that is
/// not there, and where offsets of type `O` overflow. Offsets may have been appended.
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

/// Appends a bit for each slot of a leaf, a struct or a list: whether it is not null.
///
/// **Shapes**: positions with `rep <= max_rep` and `def >= slot_def` are slots, and their bit is
/// `def >= valid_def`. Without repetition `rep` may be empty, which stands for zeros. Returns how
/// many slots there are.
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

/// Appends the levels that concern a list whose elements have the repetition level `rep_level` and
/// exist from the definition level `element_def` on.
///
/// **Shapes**: positions with `rep <= rep_level` are appended, as two bits: whether the list goes on,
/// `rep == rep_level`, and whether there is an element, `def >= element_def`. Of levels of different
/// numbers, the surplus is left out.
pub fn list_levels(
    rep: &[u8],
    def: &[u8],
    rep_level: u8,
    element_def: u8,
    levels: &mut ListLevels,
) {
    dispatch!(cpu => cpu.list_levels((rep_level, element_def), rep, def, levels));
}

/// How many levels are at least `level`.
pub fn count_ge(levels: &[u8], level: u8) -> usize {
    dispatch!(cpu => cpu.count_ge(levels, level))
}

/// Whether all levels are at least `level`.
pub fn all_ge(levels: &[u8], level: u8) -> bool {
    count_ge(levels, level) == levels.len()
}

/// Which positions are slots, and which of those hold something.
#[derive(Debug, Clone, Copy)]
struct SlotPlan {
    max_rep: u8,
    slot_def: u8,
    valid_def: u8,
}

/// Whether the levels match each other and the offsets go on where `count` is.
fn check_offsets<O: OffsetSizeTrait>(
    rep: &[u8],
    def: &[u8],
    offsets: &[O],
    count: usize,
) -> Result<(), Malformed> {
    if rep.len() != def.len() {
        return Err(Malformed(
            "there are more levels of one kind than of the other",
        ));
    }
    match offsets.last() {
        Some(last) if last.as_usize() == count => {}
        _ => return Err(Malformed("list offsets do not go on where they ended")),
    }
    // No offset of this call is greater, so none of them needs a check of its own.
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
