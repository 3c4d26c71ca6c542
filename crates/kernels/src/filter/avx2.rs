//! Compacts with AVX2, which takes one permutation, from a table, per eight or four bits.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{Compact, SPARSE, Slot, WORD};
use crate::bitmap::low_bits;
use crate::cpu::{Avx2, Scalar};
use crate::expand::is_plain;

impl Compact for Avx2 {
    #[inline(always)]
    fn compact_word<T: Copy + 'static>(
        self,
        slots: &[Slot<T>],
        bits: u64,
        out: &mut [MaybeUninit<T>],
    ) {
        assert!(out.len() >= WORD);
        let (from, to) = (slots.as_ptr(), out.as_mut_ptr());
        let is_vectors = slots.len() == WORD && bits.count_ones() >= SPARSE;
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. There are `WORD` slots of plain data,
            // each with the size of a lane, and `WORD` slots may be written.
            4 if is_vectors && is_plain::<T>() => unsafe { word_4(from.cast(), bits, to.cast()) },
            // SAFETY: as for 4-byte slots.
            8 if is_vectors && is_plain::<T>() => unsafe { word_8(from.cast(), bits, to.cast()) },
            _ => Scalar.compact_word(slots, bits, out),
        }
    }
}

/// The indices of the set lanes, followed by arbitrary ones, for each mask of eight lanes of 32 bits.
static LANES_4: [[u8; 8]; 256] = lanes(1);
/// The indices of the set lanes' 32-bit halves, followed by arbitrary ones, for each mask of four lanes of 64 bits.
static LANES_8: [[u8; 8]; 16] = lanes(2);

const fn lanes<const MASKS: usize>(halves: usize) -> [[u8; 8]; MASKS] {
    let mut lanes = [[0; 8]; MASKS];
    let mut mask = 0;
    while mask < MASKS {
        let (mut lane, mut to) = (0, 0);
        while lane < 8 {
            if mask >> (lane / halves) & 1 == 1 {
                lanes[mask][to] = lane as u8;
                to += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    lanes
}

/// Writes the slots whose bits are set, out of `WORD` slots, to `out`.
///
/// # Safety
/// `WORD` lanes must be readable at `slots`, and writable at `out`.
#[target_feature(enable = "avx2,popcnt")]
unsafe fn word_4(slots: *const u32, bits: u64, out: *mut u32) {
    let mut to = 0;
    for at in (0..WORD).step_by(8) {
        let set = bits >> at & low_bits(8);
        let lanes = LANES_4[set as usize];
        // SAFETY: whole vectors within the `WORD` lanes are read. Of the `at` slots before, `to <= at` were
        // written, so this write ends within `WORD`.
        unsafe { permute(slots.add(at).cast(), lanes, out.add(to).cast()) };
        to += set.count_ones() as usize;
    }
}

/// Writes the slots whose bits are set, out of `WORD` slots with 64 bits each, to `out`.
///
/// # Safety
/// See [`word_4`].
#[target_feature(enable = "avx2,popcnt")]
unsafe fn word_8(slots: *const u64, bits: u64, out: *mut u64) {
    let mut to = 0;
    for at in (0..WORD).step_by(4) {
        let set = bits >> at & low_bits(4);
        let lanes = LANES_8[set as usize];
        // SAFETY: whole vectors within the `WORD` lanes are read. Of the `at` slots before, `to <= at` were
        // written, so this write ends within `WORD`.
        unsafe { permute(slots.add(at).cast(), lanes, out.add(to).cast()) };
        to += set.count_ones() as usize;
    }
}

/// Permutes the 32-bit lanes of a vector and writes the result.
///
/// # Safety
/// 32 bytes must be readable at `from`, and writable at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn permute(from: *const __m256i, lanes: [u8; 8], to: *mut __m256i) {
    let lanes = _mm_cvtsi64_si128(i64::from_le_bytes(lanes));
    // SAFETY: the contract of this function.
    unsafe {
        let values = _mm256_loadu_si256(from);
        let values = _mm256_permutevar8x32_epi32(values, _mm256_cvtepu8_epi32(lanes));
        _mm256_storeu_si256(to, values);
    }
}
