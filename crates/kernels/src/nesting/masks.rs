//! Processes 64 levels at a time. Every comparison returns a mask, and the rest is arithmetic on masks.
//!
//! These functions are inlined into one function for each instruction set that can compute such masks fast.

use herringbone_arrow::array::OffsetSizeTrait;

use super::scalar::STRAY;
use super::{ListLevels, ListPlan, SlotPlan};
use crate::Malformed;
use crate::bitmap::{Bitmap, low_bits};

/// The number of levels in a block.
const BLOCK: usize = 64;

/// Comparisons of levels with a constant, which tokens of instruction sets implement.
pub(super) trait Masks: Copy {
    /// A vector of up to 64 levels.
    type Levels: Copy;

    /// Loads the first 64 levels. The mask bits of missing levels are unspecified.
    fn load(self, levels: &[u8]) -> Self::Levels;

    /// Returns a bit for each level, which is set if the level is at least `level`.
    fn at_least(self, levels: Self::Levels, level: u8) -> u64;

    /// Returns those bits of `bits` for which `mask` has a set bit, packed together.
    fn extract(self, bits: u64, mask: u64) -> u64;
}

/// Returns a bit for each level, which is set if the level is at most `level`.
#[inline(always)]
fn at_most<M: Masks>(cpu: M, levels: M::Levels, level: u8) -> u64 {
    match level.checked_add(1) {
        Some(more) => !cpu.at_least(levels, more),
        None => u64::MAX,
    }
}

/// Implements [`super::row_starts`].
#[inline(always)]
pub(super) fn row_starts(cpu: impl Masks, rep: &[u8], max_rows: usize) -> (usize, usize) {
    let mut rows = 0;
    for (block, rep) in rep.chunks(BLOCK).enumerate() {
        let mut starts = at_most(cpu, cpu.load(rep), 0) & low_bits(rep.len());
        let here = starts.count_ones() as usize;
        if here > max_rows - rows {
            // After this, the first remaining start belongs to the row after the last one.
            (rows..max_rows).for_each(|_| starts &= starts - 1);
            return (max_rows, block * BLOCK + starts.trailing_zeros() as usize);
        }
        rows += here;
    }
    (rows, rep.len())
}

/// Implements [`super::list_offsets`], which has checked that the resulting number of elements fits into an offset.
#[inline(always)]
pub(super) fn list_offsets<O: OffsetSizeTrait>(
    cpu: impl Masks,
    plan: &ListPlan,
    (rep, def): (&[u8], &[u8]),
    offsets: &mut Vec<O>,
    count: &mut usize,
    validity: &mut Bitmap,
) -> Result<(), Malformed> {
    // If there is only one offset, then the first list has not begun.
    let mut begun = offsets.len() > 1;
    for (rep, def) in rep.chunks(BLOCK).zip(def.chunks(BLOCK)) {
        let there = low_bits(rep.len());
        let (reps, defs) = (cpu.load(rep), cpu.load(def));
        let deeper = !at_most(cpu, reps, plan.rep_level);
        let goes_on = cpu.at_least(reps, plan.rep_level) & !deeper & there;
        let has_element = cpu.at_least(defs, plan.element_def);
        let elements = has_element & !deeper & there;
        let slots = !goes_on & !deeper & cpu.at_least(defs, plan.parent_element_def) & there;
        let before_first = if begun {
            0
        } else {
            slots.wrapping_sub(1) & !slots
        };
        if goes_on & (!has_element | before_first) != 0 {
            return Err(STRAY);
        }
        if slots != 0 {
            begun = true;
            push_starts(slots, elements, *count, offsets);
            let valid = cpu.at_least(defs, plan.list_def);
            validity.append_bits(cpu.extract(valid, slots), slots.count_ones() as usize);
        }
        *count += elements.count_ones() as usize;
        if let Some(end) = offsets.last_mut() {
            *end = O::usize_as(*count);
        }
    }
    Ok(())
}

/// Appends, for each slot, the number of elements before it. This also becomes the end offset of the previous list,
/// which is already present.
#[inline(always)]
fn push_starts<O: OffsetSizeTrait>(
    mut slots: u64,
    elements: u64,
    count: usize,
    offsets: &mut Vec<O>,
) {
    offsets.reserve(BLOCK);
    let start = |slots: u64| {
        // These are the elements below the lowest remaining slot.
        let below = slots.wrapping_sub(1) & !slots;
        O::usize_as(count + (elements & below).count_ones() as usize)
    };
    if let Some(end) = offsets.last_mut() {
        *end = start(slots);
    }
    let more = slots.count_ones() as usize;
    let spare = offsets.spare_capacity_mut().iter_mut().take(more);
    let mut pushed = 0;
    for slot in spare {
        slots &= slots.wrapping_sub(1);
        // After the last slot, this value has no meaning, and the caller sets it to the slot's end.
        slot.write(start(slots));
        pushed += 1;
    }
    // SAFETY: `pushed` elements after the current length were written.
    unsafe { offsets.set_len(offsets.len() + pushed) };
}

/// Implements [`super::slot_validity`].
#[inline(always)]
pub(super) fn slot_validity(
    cpu: impl Masks,
    plan: SlotPlan,
    rep: &[u8],
    def: &[u8],
    validity: &mut Bitmap,
) -> usize {
    let before = validity.len();
    let levels = if rep.is_empty() {
        def.len()
    } else {
        rep.len().min(def.len())
    };
    let (mut rep, mut def) = (rep, &def[..levels]);
    // As long as all slots are valid, the bitmap is only a length, so we append to it directly.
    while !def.is_empty() && validity.words().is_none() {
        let (valid, slots) = block(cpu, plan, &mut rep, &mut def);
        validity.append_bits(valid, slots);
    }
    if !def.is_empty() {
        let mut writer = validity.write(def.len());
        while !def.is_empty() {
            let (valid, slots) = block(cpu, plan, &mut rep, &mut def);
            writer.push(valid, slots);
        }
        writer.finish(validity);
    }
    validity.len() - before
}

/// Takes a block from the levels. Returns a bit for each of its slots, and the number of slots.
#[inline(always)]
fn block(cpu: impl Masks, plan: SlotPlan, rep: &mut &[u8], def: &mut &[u8]) -> (u64, usize) {
    let n = def.len().min(BLOCK);
    let defs = cpu.load(def);
    let mut slots = cpu.at_least(defs, plan.slot_def) & low_bits(n);
    if !rep.is_empty() {
        slots &= at_most(cpu, cpu.load(rep), plan.max_rep);
        *rep = &rep[n..];
    }
    *def = &def[n..];
    let valid = cpu.extract(cpu.at_least(defs, plan.valid_def), slots);
    (valid, slots.count_ones() as usize)
}

/// Implements [`super::list_levels`].
#[inline(always)]
pub(super) fn list_levels(
    cpu: impl Masks,
    (rep_level, element_def): (u8, u8),
    rep: &[u8],
    def: &[u8],
    levels: &mut ListLevels,
) {
    for (rep, def) in rep.chunks(BLOCK).zip(def.chunks(BLOCK)) {
        let (reps, defs) = (cpu.load(rep), cpu.load(def));
        let all = low_bits(rep.len().min(def.len()));
        let concern = at_most(cpu, reps, rep_level) & all;
        let goes_on = cpu.at_least(reps, rep_level);
        let has_element = cpu.at_least(defs, element_def);
        if concern == all {
            levels.push(goes_on & all, has_element & all, all.count_ones() as usize);
        } else {
            levels.push(
                cpu.extract(goes_on, concern),
                cpu.extract(has_element, concern),
                concern.count_ones() as usize,
            );
        }
    }
}

/// Implements [`super::count_ge`].
#[inline(always)]
pub(super) fn count_ge(cpu: impl Masks, levels: &[u8], level: u8) -> usize {
    let count = |levels: &[u8]| {
        (cpu.at_least(cpu.load(levels), level) & low_bits(levels.len())).count_ones() as usize
    };
    levels.chunks(BLOCK).map(count).sum()
}

/// Returns those bits of `bits` for which `mask` has a set bit, packed together, without a dedicated instruction.
///
/// Each of six steps moves bits down by its step size. It moves the bits that have an odd number of gaps of that size
/// below them, which a prefix sum modulo two counts.
pub(super) fn extract(bits: u64, mut mask: u64) -> u64 {
    let mut bits = bits & mask;
    let mut gaps = !mask << 1;
    for step in 0..6 {
        let mut odd = gaps;
        for shift in [1, 2, 4, 8, 16, 32] {
            odd ^= odd << shift;
        }
        let moves = odd & mask;
        mask = mask ^ moves | moves >> (1 << step);
        let moved = bits & moves;
        bits = bits ^ moved | moved >> (1 << step);
        gaps &= !odd;
    }
    bits
}
