//! Expands with AVX2, which takes one permutation, from a table, per eight bits of validity.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::scalar::ExpandWord;
use super::{bmi2, is_plain};
use crate::bitmap::low_bits;
use crate::cpu::{Avx2, Scalar};

impl ExpandWord for Avx2 {
    #[inline(always)]
    fn expand_word<T: Copy + Default + 'static>(
        self,
        slots: &mut [MaybeUninit<T>],
        first: usize,
        dense: usize,
        bits: u64,
    ) {
        if let (1 | 2, Some(cpu)) = (size_of::<T>(), self.bmi2())
            && is_plain::<T>()
        {
            return bmi2::expand_word(cpu, slots, first, dense, bits);
        }
        let (to, range) = (slots.as_mut_ptr(), first..slots.len());
        let from = to.cast_const();
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. Each slot has the size of a lane. The
            // slots begin with the values: at most `first` more than `bits` has ones, and all of these ones lie
            // within the slots.
            4 if is_plain::<T>() => unsafe {
                vectors_4(from.cast(), to.cast(), range, dense, bits);
            },
            // SAFETY: as for 4-byte slots.
            8 if is_plain::<T>() => unsafe {
                vectors_8(from.cast(), to.cast(), range, dense, bits);
            },
            _ => Scalar.expand_word(slots, first, dense, bits),
        }
    }

    #[inline(always)]
    unsafe fn spread_word<T: Copy + Default + 'static>(
        self,
        values: *const u8,
        dense: usize,
        slots: &mut [MaybeUninit<T>],
        bits: u64,
    ) -> bool {
        let (to, range) = (slots.as_mut_ptr(), 0..slots.len());
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. Each slot has the size of a lane. The
            // caller of this method upholds the rest.
            4 if is_plain::<T>() => unsafe {
                vectors_4(values.cast(), to.cast(), range, dense, bits);
            },
            // SAFETY: as for 4-byte slots.
            8 if is_plain::<T>() => unsafe {
                vectors_8(values.cast(), to.cast(), range, dense, bits);
            },
            _ => return false,
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
        match size_of::<O>() {
            // SAFETY: the token proves that the instructions are available; the caller of this method upholds the
            // rest.
            4 if is_plain::<O>() => unsafe {
                offsets_4(
                    slots.as_mut_ptr().cast(),
                    first..slots.len() - 1,
                    dense,
                    bits,
                );
            },
            _ => Scalar.expand_offsets_word(slots, first, dense, bits),
        }
    }
}

/// The number of set slots up to and including each slot, for each mask of eight slots.
static COUNTS: [[u8; 8]; 256] = {
    let mut counts = [[0; 8]; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut slot, mut count) = (0, 0);
        while slot < 8 {
            count += (mask >> slot & 1) as u8;
            counts[mask][slot] = count;
            slot += 1;
        }
        mask += 1;
    }
    counts
};

/// Returns eight counts in lanes of 32 bits, for the mask in the lowest eight bits of `bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn counts(bits: u64) -> __m256i {
    let counts = u64::from_le_bytes(COUNTS[(bits & 0xff) as usize]);
    _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(counts.cast_signed()))
}

/// Returns a mask of the first `n` lanes of 32 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes(n: usize) -> __m256i {
    let iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_cmpgt_epi32(_mm256_set1_epi32(n as i32), iota)
}

/// Loads the last `n` of `dense` values. Also returns how many lanes have other values before them. Masked loads are
/// slow on AMD processors up to Zen 3, so we only use one for the first values.
///
/// # Safety
/// There are `dense` values, and at least `n`. They need no alignment.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_4(values: *const i32, dense: usize, n: usize) -> (__m256i, i32) {
    if dense < 8 {
        // SAFETY: the mask selects the lanes of the last `n` values.
        let load = unsafe { _mm256_maskload_epi32(values.add(dense - n), first_lanes(n)) };
        return (load, 0);
    }
    // SAFETY: at least eight values end at `dense`.
    let load = unsafe { _mm256_loadu_si256(values.add(dense - 8).cast()) };
    (load, 8 - n as i32)
}

/// Loads the last `n` of `dense` values in four lanes of 64 bits. Also returns how many lanes have other values before
/// them.
///
/// # Safety
/// See [`load_4`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_8(values: *const i64, dense: usize, n: usize) -> (__m256i, i64) {
    if dense < 4 {
        // SAFETY: the mask selects the lanes of the last `n` values.
        let load = unsafe { _mm256_maskload_epi64(values.add(dense - n), first_lanes_8(n)) };
        return (load, 0);
    }
    // SAFETY: at least four values end at `dense`.
    let load = unsafe { _mm256_loadu_si256(values.add(dense - 4).cast()) };
    (load, 4 - n as i64)
}

/// Writes the first `n` of eight lanes of 32 bits. Masked stores are slow on AMD processors up to Zen 3, so we only use
/// one for the last slots.
///
/// # Safety
/// There is memory for these lanes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_4(slots: *mut i32, n: usize, values: __m256i) {
    // SAFETY: the caller's contract; the mask selects the lanes of the existing slots.
    unsafe {
        match n < 8 {
            true => _mm256_maskstore_epi32(slots, first_lanes(n), values),
            false => _mm256_storeu_si256(slots.cast(), values),
        }
    }
}

/// Writes the first `n` of four lanes of 64 bits.
///
/// # Safety
/// There is memory for these lanes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store_8(slots: *mut i64, n: usize, values: __m256i) {
    // SAFETY: the caller's contract; the mask selects the lanes of the existing slots.
    unsafe {
        match n < 4 {
            true => _mm256_maskstore_epi64(slots, first_lanes_8(n), values),
            false => _mm256_storeu_si256(slots.cast(), values),
        }
    }
}

/// Returns a mask that has the 32-bit lanes whose bit is set in the lowest eight bits of `bits`.
#[inline]
#[target_feature(enable = "avx2")]
fn set_lanes(bits: u64) -> __m256i {
    let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    _mm256_cmpeq_epi32(
        _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes),
        lanes,
    )
}

/// Fills the slots in `range`, which are at most 64, from the last of `dense` values.
///
/// # Safety
/// There is memory for the slots up to the end of the range, and there are `dense` values. The values need no
/// alignment, and there are at least as many as `bits` has ones. If the values lie at the beginning of the slots,
/// the surplus over these ones is at most the number of slots before the range. `bits` has no ones past the range.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn vectors_4(
    values: *const i32,
    slots: *mut i32,
    range: Range<usize>,
    mut dense: usize,
    bits: u64,
) {
    for at in (0..range.len()).step_by(8).rev() {
        let here = bits >> at & 0xff;
        let ones = here.count_ones() as usize;
        // SAFETY: at least `ones` values are left.
        let (values, front) = unsafe { load_4(values, dense, ones) };
        dense -= ones;
        let rank = _mm256_add_epi32(counts(here), _mm256_set1_epi32(front - 1));
        let values = _mm256_permutevar8x32_epi32(values, rank);
        let values = _mm256_and_si256(values, set_lanes(here));
        // SAFETY: there is memory for the slots of the range. No value still needed is overwritten: no
        // more values are left than slots before these.
        unsafe { store_4(slots.add(range.start + at), range.len() - at, values) };
    }
}

/// Fills the slots in `range`, which are at most 64, from the values that end at `dense`.
///
/// # Safety
/// See [`vectors_4`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn vectors_8(
    values: *const i64,
    slots: *mut i64,
    range: Range<usize>,
    mut dense: usize,
    bits: u64,
) {
    for at in (0..range.len()).step_by(4).rev() {
        let here = bits >> at & low_bits(4);
        let ones = here.count_ones() as usize;
        // SAFETY: at least `ones` values are left.
        let (values, front) = unsafe { load_8(values, dense, ones) };
        dense -= ones;
        // The permutation moves halves of values, which are the half at 2 × rank and the one after it.
        let counts = u64::from_le_bytes(COUNTS[here as usize]) as i64;
        let counts = _mm256_cvtepu8_epi64(_mm_cvtsi64_si128(counts));
        let rank = _mm256_add_epi64(counts, _mm256_set1_epi64x(front - 1));
        let low = _mm256_add_epi64(rank, rank);
        let high = _mm256_slli_epi64::<32>(_mm256_add_epi64(low, _mm256_set1_epi64x(1)));
        let halves = _mm256_blend_epi32::<0b1010_1010>(low, high);
        let values = _mm256_permutevar8x32_epi32(values, halves);
        let lanes = _mm256_setr_epi64x(1, 2, 4, 8);
        let set = _mm256_and_si256(_mm256_set1_epi64x(here as i64), lanes);
        let values = _mm256_and_si256(values, _mm256_cmpeq_epi64(set, lanes));
        // SAFETY: there is memory for the slots of the range. No value still needed is overwritten: no
        // more values are left than slots before these.
        unsafe { store_8(slots.add(range.start + at), range.len() - at, values) };
    }
}

/// Returns a mask of the first `n` lanes of 64 bits.
#[inline]
#[target_feature(enable = "avx2")]
fn first_lanes_8(n: usize) -> __m256i {
    _mm256_cmpgt_epi64(_mm256_set1_epi64x(n as i64), _mm256_setr_epi64x(0, 1, 2, 3))
}

/// Fills the slots in `range`, which are at most 64, shifted by one. The last offset is the one at `dense`.
///
/// # Safety
/// There is memory for one slot more than up to the end of the range, and the first `dense + 1` slots are
/// initialised. `dense` is at least the number of ones in `bits`. The surplus over these ones is at most the number
/// of slots before the range. `bits` has no ones past the range.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn offsets_4(slots: *mut i32, range: Range<usize>, mut dense: usize, bits: u64) {
    for at in (0..range.len()).step_by(8).rev() {
        let here = bits >> at & 0xff;
        let ones = here.count_ones() as usize;
        // SAFETY: the offsets up to the one at `dense` are initialised, including the one before those of the set
        // slots.
        let (values, front) = unsafe { load_4(slots, dense + 1, ones + 1) };
        dense -= ones;
        let rank = _mm256_add_epi32(counts(here), _mm256_set1_epi32(front));
        let values = _mm256_permutevar8x32_epi32(values, rank);
        // SAFETY: there is memory for the slots of the range and one more. No offset still needed is
        // overwritten: no more offsets are left than slots before these.
        unsafe { store_4(slots.add(range.start + at + 1), range.len() - at, values) };
    }
}
