//! Expands in portable Rust, 64 slots at a time from the end. Words whose bits are all equal are handled as a whole.

use std::mem::MaybeUninit;

use crate::bitmap::{Bitmap, low_bits};
use crate::cpu::Scalar;
use crate::plain::{self, Plain};

/// The expansion of words whose slots are neither all valid nor all null.
pub(super) trait ExpandWord: Copy {
    /// Fills `slots[first..]`, which are at most 64, from the values that end at `dense`.
    ///
    /// There must be at most `first` values more than `bits` has ones.
    fn expand_word<T: Copy + Default + 'static>(
        self,
        slots: &mut [MaybeUninit<T>],
        first: usize,
        dense: usize,
        bits: u64,
    );

    /// Fills `slots`, which are at most 64, from the `values` that end at `dense`. The values do not overlap the slots
    /// and need no alignment. If no instructions exist for the type, this does nothing and returns false.
    ///
    /// # Safety
    /// There are `dense` values, at least as many as `bits` has ones. All ones lie within the slots.
    unsafe fn spread_word<T: Copy + Default + 'static>(
        self,
        values: *const u8,
        dense: usize,
        slots: &mut [MaybeUninit<T>],
        bits: u64,
    ) -> bool;

    /// Fills `slots[first + 1..]`, which are at most 64, from the offsets that end with the one at `dense`.
    fn expand_offsets_word<O: Copy + 'static>(
        self,
        slots: &mut [MaybeUninit<O>],
        first: usize,
        dense: usize,
        bits: u64,
    );
}

/// Implements [`Expand::expand`], and is inlined into one function per instruction set.
#[inline(always)]
pub(super) fn expand<T: Copy + Default + 'static>(
    word: impl ExpandWord,
    slots: &mut [MaybeUninit<T>],
    mut dense: usize,
    validity: &Bitmap,
    start: usize,
) {
    let mut end = slots.len();
    // If there are as many values as slots, the rest is already in place.
    while dense < end {
        let first = (end - 1) / 64 * 64;
        let bits = validity.bits(start + first, end - first);
        if bits == 0 {
            slots[first..end].fill(MaybeUninit::new(T::default()));
        } else if bits == low_bits(end - first) {
            slots.copy_within(dense - (end - first)..dense, first);
        } else {
            word.expand_word(&mut slots[..end], first, dense, bits);
        }
        dense -= bits.count_ones() as usize;
        end = first;
    }
}

/// Implements [`Expand::spread`], and is inlined into one function per instruction set.
#[inline(always)]
pub(super) fn spread<T: Plain>(
    word: impl ExpandWord,
    values: &[u8],
    slots: &mut [MaybeUninit<T>],
    validity: &Bitmap,
    start: usize,
) {
    let mut dense = 0;
    let mut words = validity.words_from(start);
    // We go through chunks, because their length is known at compile time.
    let (chunks, tail) = slots.as_chunks_mut::<64>();
    for slots in chunks {
        spread_chunk(word, values, &mut dense, slots, words.next(64));
    }
    let bits = words.next(tail.len());
    spread_chunk(word, values, &mut dense, tail, bits);
}

/// Fills `slots`, which are at most 64, from the `values` that begin at `dense`, and advances `dense` past them. Each
/// set bit takes one value.
#[inline(always)]
fn spread_chunk<T: Plain>(
    word: impl ExpandWord,
    values: &[u8],
    dense: &mut usize,
    slots: &mut [MaybeUninit<T>],
    bits: u64,
) {
    let first = *dense;
    *dense += bits.count_ones() as usize;
    let here = &values[first * size_of::<T>()..*dense * size_of::<T>()];
    if bits == 0 {
        slots.fill(MaybeUninit::new(T::default()));
    } else if bits == low_bits(slots.len()) {
        // SAFETY: there are as many values as slots, in memory that does not overlap the slots; any bytes are a
        // valid `T`.
        unsafe {
            std::ptr::copy_nonoverlapping(here.as_ptr(), slots.as_mut_ptr().cast(), here.len());
        }
    } else {
        // SAFETY: there are as many values as set bits up to here, and they do not overlap the slots. Each bit
        // belongs to a slot.
        if !unsafe { word.spread_word(values.as_ptr(), *dense, slots, bits) } {
            place(here.chunks_exact(size_of::<T>()), slots, bits);
        }
    }
}

/// Writes one slot per bit, which is the next value or the default.
#[inline(always)]
fn place<'a, T: Plain>(
    mut values: impl Iterator<Item = &'a [u8]>,
    slots: &mut [MaybeUninit<T>],
    bits: u64,
) {
    for (i, slot) in slots.iter_mut().enumerate() {
        let value = match bits >> i & 1 {
            0 => None,
            _ => values.next().and_then(plain::read),
        };
        slot.write(value.unwrap_or_default());
    }
}

/// Implements [`Expand::expand_offsets`], and is inlined into one function per instruction set.
#[inline(always)]
pub(super) fn expand_offsets<O: Copy + 'static>(
    word: impl ExpandWord,
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
        } else if bits == low_bits(end - first) {
            slots.copy_within(dense - (end - first) + 1..=dense, first + 1);
        } else {
            word.expand_offsets_word(&mut slots[..=end], first, dense, bits);
        }
        dense -= bits.count_ones() as usize;
        end = first;
    }
}

impl ExpandWord for Scalar {
    #[inline(always)]
    fn expand_word<T: Copy + Default>(
        self,
        slots: &mut [MaybeUninit<T>],
        first: usize,
        mut dense: usize,
        bits: u64,
    ) {
        let null = MaybeUninit::new(T::default());
        if dense > first {
            // The values lie among the slots, so we move them one by one.
            for slot in (first..slots.len()).rev() {
                let valid = bits >> (slot - first) & 1 == 1;
                dense -= usize::from(valid);
                slots[slot] = if valid { slots[dense] } else { null };
            }
            return;
        }
        // This avoids a branch per slot, which would be mispredicted whenever values and nulls are mixed.
        slots[first..].fill(null);
        let mut bits = bits;
        while bits != 0 {
            let highest = 63 - bits.leading_zeros() as usize;
            dense -= 1;
            slots[first + highest] = slots[dense];
            bits ^= 1 << highest;
        }
    }

    #[inline(always)]
    unsafe fn spread_word<T: Copy + Default + 'static>(
        self,
        _: *const u8,
        _: usize,
        _: &mut [MaybeUninit<T>],
        _: u64,
    ) -> bool {
        false
    }

    #[inline(always)]
    fn expand_offsets_word<O: Copy>(
        self,
        slots: &mut [MaybeUninit<O>],
        first: usize,
        mut dense: usize,
        bits: u64,
    ) {
        for slot in (first..slots.len() - 1).rev() {
            slots[slot + 1] = slots[dense];
            dense -= (bits >> (slot - first) & 1) as usize;
        }
    }
}

/// Places the lowest bits of `bits` in order at the set bits of `mask`, and returns them with zeros elsewhere.
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
