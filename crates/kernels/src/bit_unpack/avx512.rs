//! Unpacks with AVX-512, which gets a vector of values from a single load.
//!
//! The values of one output vector need at most 64 bytes of input. For each lane, two permutations fetch the input
//! element in which its value begins, and the next one. Two shifts, whose counts differ between lanes, then join them:
//!
//! ```text
//! value = (input[i] >> s | input[i + 1] << (32 - s)) & mask     i, s from lane × width + start
//! ```
//!
//! A shift by 32 returns zero. If a permutation fetches an element past the last one, the shift moves it to bits that
//! the mask clears. At the end of the data we use masked loads and stores, so we need no tail loop.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::seek;
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

/// Writes all of `out` with the values in `data` from value `first` on.
///
/// AVX-512 has no shift for lanes of one byte. So we spread bytes with PDEP, just as on processors with AVX2.
#[inline(always)]
pub(super) fn unpack_u8(
    cpu: Avx512,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u8>],
) {
    super::avx2::unpack_u8(cpu.avx2(), data, first, width, out);
}

/// Writes all of `out` with the values in `data` from value `first` on.
#[inline(always)]
pub(super) fn unpack_u32(
    _: Avx512,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u32>],
) {
    // SAFETY: the token proves that the instructions are available.
    unsafe { vectors_u32(data, first, width, out) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1,bmi2,lzcnt,popcnt")]
fn vectors_u32(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u32>]) {
    let (data, inside) = seek(data, first, width);
    let iota = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let bit = _mm512_add_epi32(
        _mm512_mullo_epi32(iota, _mm512_set1_epi32(width.into())),
        _mm512_set1_epi32(inside as i32),
    );
    let element = _mm512_srli_epi32::<5>(bit);
    let behind = _mm512_add_epi32(element, _mm512_set1_epi32(1));
    let right = _mm512_and_si512(bit, _mm512_set1_epi32(31));
    let left = _mm512_sub_epi32(_mm512_set1_epi32(32), right);
    let mask = _mm512_set1_epi32(low_bits(width.into()) as i32);
    let values = |bytes: __m512i| {
        let low = _mm512_srlv_epi32(_mm512_permutexvar_epi32(element, bytes), right);
        let high = _mm512_sllv_epi32(_mm512_permutexvar_epi32(behind, bytes), left);
        _mm512_ternarylogic_epi32::<MASK_AND_EITHER>(mask, low, high)
    };
    let step = 2 * usize::from(width);
    let (vectors, tail) = out.as_chunks_mut::<16>();
    let mut at = 0;
    for to in vectors {
        let bytes = load(data, at);
        at += step;
        // SAFETY: the slots fill a whole vector.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), values(bytes)) };
    }
    if !tail.is_empty() {
        let slots = low_bits(tail.len()) as __mmask16;
        // SAFETY: the mask selects the lanes with existing slots; no other lane is stored.
        unsafe {
            _mm512_mask_storeu_epi32(tail.as_mut_ptr().cast(), slots, values(load(data, at)));
        }
    }
}

/// The truth table of `a & (b | c)`.
const MASK_AND_EITHER: i32 = 0b1110_0000;

/// Loads 64 bytes from byte `at` on, with zeros past the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(data: &[u8], at: usize) -> __m512i {
    let there = data.len().saturating_sub(at);
    if there >= 64 {
        // SAFETY: at least 64 bytes are there.
        return unsafe { _mm512_loadu_si512(data.as_ptr().add(at).cast()) };
    }
    let rest = data.get(at..).unwrap_or_default();
    // SAFETY: the mask selects the existing bytes; no other byte is loaded.
    unsafe { _mm512_maskz_loadu_epi8(low_bits(there), rest.as_ptr().cast()) }
}
