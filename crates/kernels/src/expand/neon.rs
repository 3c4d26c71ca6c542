//! Expansion with NEON: one table lookup per four slots that are mostly valid, and one store per value elsewhere.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::is_plain;
use super::scalar::ExpandWord;
use crate::cpu::{Neon, Scalar};

/// The number of slots that are filled at once.
pub(crate) const BLOCK: usize = 4;

/// The greatest number of values in a word of 64 slots that are stored one by one.
const SPARSE: u32 = 32;

impl ExpandWord for Neon {
    #[inline(always)]
    fn expand_word<T: Copy + Default + 'static>(
        self,
        slots: &mut [MaybeUninit<T>],
        first: usize,
        dense: usize,
        bits: u64,
    ) {
        let is_sparse = bits.count_ones() <= SPARSE && dense <= first;
        if is_sparse || !matches!(size_of::<T>(), 4 | 8) || !is_plain::<T>() {
            return Scalar.expand_word(slots, first, dense, bits);
        }
        let (to, range) = (slots.as_mut_ptr(), first..slots.len());
        // SAFETY: the token proves that the instructions are available. The slots begin with the values: at most `first`
        // more than `bits` has ones, and all of these ones lie within the slots.
        unsafe { vectors(to.cast_const().cast(), to, range, dense, bits) }
    }

    #[inline(always)]
    unsafe fn spread_word<T: Copy + Default + 'static>(
        self,
        values: *const u8,
        dense: usize,
        slots: &mut [MaybeUninit<T>],
        bits: u64,
    ) -> bool {
        if bits.count_ones() <= SPARSE || !matches!(size_of::<T>(), 4 | 8) || !is_plain::<T>() {
            // SAFETY: the caller's contract.
            unsafe { one_by_one(values, dense, slots, bits) };
        } else {
            let range = 0..slots.len();
            // SAFETY: the token proves that the instructions are available. The caller upholds the rest.
            unsafe { vectors(values, slots.as_mut_ptr(), range, dense, bits) };
        }
        true
    }

    #[inline(always)]
    fn expand_offsets_word<O: Copy + 'static>(
        self,
        slots: &mut [MaybeUninit<O>],
        first: usize,
        dense: usize,
        bits: u64,
    ) {
        Scalar.expand_offsets_word(slots, first, dense, bits);
    }
}

/// Fills the slots with the default, and then those of the values that end at `dense`.
///
/// # Safety
/// See [`ExpandWord::spread_word`].
#[inline(always)]
unsafe fn one_by_one<T: Copy + Default>(
    values: *const u8,
    dense: usize,
    slots: &mut [MaybeUninit<T>],
    mut bits: u64,
) {
    slots.fill(MaybeUninit::new(T::default()));
    let mut next = dense - bits.count_ones() as usize;
    while bits != 0 {
        let slot = bits.trailing_zeros() as usize;
        // SAFETY: fewer than `dense` values have been read, and the bit belongs to a slot. Neither needs alignment.
        unsafe {
            let value = values.cast::<T>().add(next).read_unaligned();
            slots.get_unchecked_mut(slot).write(value);
        }
        next += 1;
        bits &= bits - 1;
    }
}

/// Returns the number of ones in each four bits. The instruction that counts ones needs three others to move the bits to a
/// vector and back.
#[inline(always)]
pub(crate) fn counts(bits: u64) -> u64 {
    const PAIRS: u64 = u64::from_le_bytes([0x33; 8]);
    let pairs = bits - (bits >> 1 & u64::from_le_bytes([0x55; 8]));
    (pairs & PAIRS) + (pairs >> 2 & PAIRS)
}

/// For each mask of four slots, the bytes of slots of four bytes among the last four values. Bytes of other slots are past
/// them, so that the lookup makes them zero.
static BYTES_4: [[u8; 16]; 16] = bytes::<4, 16>();

/// For each mask of four slots, the bytes of slots of eight bytes.
static BYTES_8: [[u8; 32]; 16] = bytes::<8, 32>();

const fn bytes<const SIZE: usize, const ALL: usize>() -> [[u8; ALL]; 16] {
    let mut bytes = [[0xff; ALL]; 16];
    let mut mask = 0_usize;
    while mask < 16 {
        let mut value = BLOCK - mask.count_ones() as usize;
        let mut slot = 0;
        while slot < BLOCK {
            if mask >> slot & 1 == 1 {
                let mut byte = 0;
                while byte < SIZE {
                    bytes[mask][slot * SIZE + byte] = (value * SIZE + byte) as u8;
                    byte += 1;
                }
                value += 1;
            }
            slot += 1;
        }
        mask += 1;
    }
    bytes
}

/// Fills the slots in `range`, at most 64 of 4 or 8 bytes, from the last of `dense` values, which need no alignment.
///
/// # Safety
/// There is memory for the slots up to the end of the range, and there are `dense` values, at least as many as `bits` has
/// ones. If the values lie at the beginning of the slots, the surplus over these ones is at most the number of slots
/// before the range. `bits` has no ones past the range. Zeros are a valid `T`, and its default.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn vectors<T: Copy + Default>(
    values: *const u8,
    slots: *mut MaybeUninit<T>,
    range: Range<usize>,
    mut dense: usize,
    bits: u64,
) {
    let (size, counts) = (size_of::<T>(), counts(bits));
    for at in (0..range.len()).step_by(BLOCK).rev() {
        let here = (bits >> at & 0xf) as usize;
        // SAFETY: the slot is in the range.
        let to = unsafe { slots.add(range.start + at) };
        if range.len() - at < BLOCK || dense < BLOCK {
            let mut value = dense;
            for slot in (0..BLOCK.min(range.len() - at)).rev() {
                let is_valid = here >> slot & 1 == 1;
                value -= usize::from(is_valid);
                // SAFETY: the value is one of those of the set bits, and the slot is in the range. It is not before a value
                // that is still needed: no more values are left than slots before it.
                unsafe {
                    let slot = to.add(slot);
                    slot.write(match is_valid {
                        true => values.cast::<MaybeUninit<T>>().add(value).read_unaligned(),
                        false => MaybeUninit::new(T::default()),
                    });
                }
            }
        } else {
            // SAFETY: at least four values end at `dense`, and four slots start at `to`. No value that is still needed is
            // overwritten: no more values are left than slots before these, and all four are loaded first.
            unsafe {
                let from = values.add((dense - BLOCK) * size);
                match size {
                    4 => {
                        let lanes = vqtbl1q_u8(vld1q_u8(from), vld1q_u8(BYTES_4[here].as_ptr()));
                        vst1q_u8(to.cast(), lanes);
                    }
                    _ => {
                        let loaded = uint8x16x2_t(vld1q_u8(from), vld1q_u8(from.add(16)));
                        let bytes = BYTES_8[here].as_ptr();
                        let low = vqtbl2q_u8(loaded, vld1q_u8(bytes));
                        let high = vqtbl2q_u8(loaded, vld1q_u8(bytes.add(16)));
                        vst1q_u8(to.cast(), low);
                        vst1q_u8(to.cast::<u8>().add(16), high);
                    }
                }
            }
        }
        dense -= (counts >> at & 0xf) as usize;
    }
}
