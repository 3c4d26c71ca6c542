//! Expansion in portable Rust: 64 slots at a time from the end, whole words in one go.

use std::mem::MaybeUninit;

use crate::bitmap::{Bitmap, low_bits};

/// Fills `slots`, whose first `dense` entries are the values, from the last one on.
///
/// **Shapes**: `dense` is the number of set bits in `start..start + slots.len()` of `validity`.
pub(super) fn expand<T: Copy + Default>(
    slots: &mut [MaybeUninit<T>],
    mut dense: usize,
    validity: &Bitmap,
    start: usize,
) {
    let mut end = slots.len();
    // As many values as slots: the rest is in place.
    while dense < end {
        let first = (end - 1) / 64 * 64;
        let bits = validity.bits(start + first, end - first);
        let ones = bits.count_ones() as usize;
        if bits == 0 {
            slots[first..end].fill(MaybeUninit::new(T::default()));
        } else if bits == low_bits(end - first) {
            slots.copy_within(dense - ones..dense, first);
        } else {
            expand_word(&mut slots[..end], first, dense, bits);
        }
        dense -= ones;
        end = first;
    }
}

/// Fills `slots[first..]`, at most 64, from the values that end at `dense`.
#[inline]
fn expand_word<T: Copy + Default>(
    slots: &mut [MaybeUninit<T>],
    first: usize,
    mut dense: usize,
    bits: u64,
) {
    for slot in (first..slots.len()).rev() {
        let valid = bits >> (slot - first) & 1 == 1;
        dense -= usize::from(valid);
        let value = slots[dense];
        slots[slot] = if valid {
            value
        } else {
            MaybeUninit::new(T::default())
        };
    }
}

/// Fills all but the first of `slots`, which begin with an offset and `dense` end offsets.
pub(super) fn expand_offsets<O: Copy>(
    slots: &mut [MaybeUninit<O>],
    mut dense: usize,
    validity: &Bitmap,
    start: usize,
) {
    let mut end = slots.len() - 1;
    while dense < end {
        let first = (end - 1) / 64 * 64;
        let bits = validity.bits(start + first, end - first);
        if bits == 0 {
            let offset = slots[dense];
            slots[first + 1..=end].fill(offset);
        } else {
            for slot in (first..end).rev() {
                slots[slot + 1] = slots[dense];
                dense -= (bits >> (slot - first) & 1) as usize;
            }
        }
        end = first;
    }
}

/// The lowest bits of `bits`, one after the other at the set bits of `mask`; zeros elsewhere.
pub(super) fn deposit(mut bits: u64, mut mask: u64) -> u64 {
    let mut spread = 0;
    while mask != 0 {
        let lowest = mask & mask.wrapping_neg();
        spread |= if bits & 1 == 1 { lowest } else { 0 };
        bits >>= 1;
        mask ^= lowest;
    }
    spread
}
