//! Unpacks eight values at a time with AVX2 and BMI2.
//!
//! Lanes of 32 bits work as in the AVX-512 kernel: two permutations fetch the input elements that contain a value, and
//! two shifts join them. For bytes, PDEP spreads eight at a time. On processors on which PDEP is slow, portable code
//! unpacks bytes instead.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{scalar, seek};
use crate::bitmap::low_bits;
use crate::cpu::{Avx2, Bmi2};

/// Writes all of `out` with the values in `data` from value `first` on.
#[inline(always)]
pub(super) fn unpack_u8(
    cpu: Avx2,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u8>],
) {
    match cpu.bmi2() {
        Some(bmi2) => deposit_bytes(bmi2, data, first, width, out),
        None => scalar::unpack(data, first, width, out),
    }
}

/// Writes all of `out` with the values in `data` from value `first` on.
#[inline(always)]
pub(super) fn unpack_u32(
    _: Avx2,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u32>],
) {
    // SAFETY: the token proves that the instructions are available.
    unsafe { vectors_u32(data, first, width, out) }
}

/// Unpacks values of up to 8 bits. Eight of them are a single word, both of input and of output.
#[inline(always)]
fn deposit_bytes(_: Bmi2, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u8>]) {
    // SAFETY: the token proves that the instructions are available.
    unsafe { words_u8(data, first, width, out) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn words_u8(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u8>]) {
    let (data, inside) = seek(data, first, width);
    let mask = low_bits(width.into()).wrapping_mul(u64::from_le_bytes([1; 8]));
    // A single word has enough bits for eight values, because `inside` is zero if the width is 8 bits.
    let values = |word: u64| _pdep_u64(word >> inside, mask);
    let step = usize::from(width);
    let (words, tail) = out.as_chunks_mut::<8>();
    let mut at = 0;
    if loads_inside(data.len(), words.len(), step, size_of::<u64>()) {
        for to in words {
            // SAFETY: the loads of all groups stay inside `data`.
            store_word(
                to,
                values(unsafe { data.as_ptr().add(at).cast::<u64>().read_unaligned() }),
            );
            at += step;
        }
    } else {
        for to in words {
            store_word(to, values(load_word(data, at)));
            at += step;
        }
    }
    if !tail.is_empty() {
        let last = values(load_word(data, at)).to_le_bytes();
        for (to, value) in tail.iter_mut().zip(last) {
            to.write(value);
        }
    }
}

/// Writes eight bytes at once.
#[inline(always)]
fn store_word(to: &mut [MaybeUninit<u8>; 8], word: u64) {
    // SAFETY: there is room for eight bytes.
    unsafe { to.as_mut_ptr().cast::<u64>().write_unaligned(word) };
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
fn vectors_u32(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<u32>]) {
    let (data, inside) = seek(data, first, width);
    let plan = Plan::new(width, inside);
    let mut at = 0;
    for to in out.chunks_mut(8) {
        store(to, plan.values(data, at));
        at += usize::from(width);
    }
}

/// The positions of eight values that have up to 32 bits.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    element: __m256i,
    behind: __m256i,
    right: __m256i,
    left: __m256i,
    mask: __m256i,
}

impl Plan {
    /// Creates a plan for values of `width` bits. The first one begins at bit `inside` of the first byte.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn new(width: u8, inside: u32) -> Self {
        let iota = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let bit = _mm256_mullo_epi32(iota, _mm256_set1_epi32(width.into()));
        let bit = _mm256_add_epi32(bit, _mm256_set1_epi32(inside as i32));
        let element = _mm256_srli_epi32::<5>(bit);
        let right = _mm256_and_si256(bit, _mm256_set1_epi32(31));
        Self {
            element,
            behind: _mm256_add_epi32(element, _mm256_set1_epi32(1)),
            right,
            left: _mm256_sub_epi32(_mm256_set1_epi32(32), right),
            mask: _mm256_set1_epi32(low_bits(width.into()) as i32),
        }
    }

    /// Returns the eight values that begin at byte `at` of `data`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn values(&self, data: &[u8], at: usize) -> __m256i {
        self.values_of(load(data, at))
    }

    /// Returns the eight values at the beginning of `bytes`.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn values_of(&self, bytes: __m256i) -> __m256i {
        let low = _mm256_permutevar8x32_epi32(bytes, self.element);
        let high = _mm256_permutevar8x32_epi32(bytes, self.behind);
        let low = _mm256_srlv_epi32(low, self.right);
        let high = _mm256_sllv_epi32(high, self.left);
        _mm256_and_si256(_mm256_or_si256(low, high), self.mask)
    }
}

/// Returns true if `loads` loads are sure to stay inside `len` bytes. Each load has `bytes` bytes, and starts `step`
/// bytes after the previous one.
#[inline(always)]
pub(crate) fn loads_inside(len: usize, loads: usize, step: usize, bytes: usize) -> bool {
    loads.saturating_mul(step).saturating_add(bytes) <= len
}

/// Returns eight bytes from byte `at` on, with zeros past the end.
#[inline(always)]
pub(crate) fn load_word(data: &[u8], at: usize) -> u64 {
    let rest = data.get(at..).unwrap_or_default();
    match rest.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => u64::from_le_bytes(padded(rest)),
    }
}

/// Loads 32 bytes from byte `at` on, with zeros past the end.
#[inline]
#[target_feature(enable = "avx2")]
fn load(data: &[u8], at: usize) -> __m256i {
    let rest = data.get(at..).unwrap_or_default();
    match rest.first_chunk::<32>() {
        // SAFETY: `whole` has 32 bytes.
        Some(whole) => unsafe { _mm256_loadu_si256(whole.as_ptr().cast()) },
        // SAFETY: the padded array has 32 bytes.
        None => unsafe { _mm256_loadu_si256(padded::<32>(rest).as_ptr().cast()) },
    }
}

/// Returns the bytes of some data's last, incomplete vector, padded with zeros.
#[cold]
#[inline(never)]
fn padded<const N: usize>(rest: &[u8]) -> [u8; N] {
    let mut padded = [0; N];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    padded
}

/// Writes as many lanes as there are slots, which is at most one vector.
#[inline]
#[target_feature(enable = "avx2")]
fn store(to: &mut [MaybeUninit<u32>], values: __m256i) {
    if size_of_val(to) >= 32 {
        // SAFETY: the slots have room for a vector.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), values) };
        return;
    }
    let mut lanes = [0_u8; 32];
    // SAFETY: the array is as long as a vector.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), values) };
    // SAFETY: the slots have fewer than 32 bytes and do not overlap the array on the stack.
    unsafe {
        std::ptr::copy_nonoverlapping(lanes.as_ptr(), to.as_mut_ptr().cast(), size_of_val(to));
    }
}
