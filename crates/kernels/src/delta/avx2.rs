//! Eight or four values at a time.
//!
//! As with AVX-512, but shifts stay within halves of a register: the sum of the low half is added
//! to the high half in a step of its own.

use std::arch::x86_64::*;

use super::scalar;
use crate::lanes::Packed;
use crate::lanes::avx2::{Plan32, Plan64};

/// See [`Delta::sum`](super::Delta).
#[target_feature(enable = "avx2")]
pub(super) fn i32(run: &Packed<'_>, least: i32, last: i32, out: &mut Vec<i32>) -> i32 {
    let plan = Plan32::new(run);
    let least = _mm256_set1_epi32(least);
    let top = _mm256_set1_epi32(7);
    let mut before = _mm256_set1_epi32(last);
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let deltas = _mm256_add_epi32(plan.unpack(run, done / Plan32::LANES), least);
        let sums = prefix_sums_32(deltas);
        let values = _mm256_add_epi32(before, sums);
        before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(sums, top));
        let lanes = (n - done).min(Plan32::LANES);
        if lanes == Plan32::LANES {
            // SAFETY: eight values are written behind `len + done`, and `done + 8 <= n` values
            // were reserved behind `len`.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(len + done).cast(), values) };
        } else {
            let mut block = [0i32; Plan32::LANES];
            // SAFETY: `block` has room for eight values; `lanes` of them are copied behind
            // `len + done`, where `done + lanes == n` values were reserved.
            unsafe {
                _mm256_storeu_si256(block.as_mut_ptr().cast(), values);
                let spare = out.as_mut_ptr().add(len + done);
                std::ptr::copy_nonoverlapping(block.as_ptr(), spare, lanes);
            }
        }
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
    out.last().copied().unwrap_or(last)
}

/// See [`Delta::sum`](super::Delta).
#[target_feature(enable = "avx2")]
pub(super) fn i64(run: &Packed<'_>, least: i64, last: i64, out: &mut Vec<i64>) -> i64 {
    if run.width() > Plan64::WIDEST {
        return scalar::i64(run, least, last, out);
    }
    let plan = Plan64::new(run);
    let least = _mm256_set1_epi64x(least);
    let mut before = _mm256_set1_epi64x(last);
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let deltas = _mm256_add_epi64(plan.unpack(run, done / Plan64::LANES), least);
        let sums = prefix_sums_64(deltas);
        let values = _mm256_add_epi64(before, sums);
        before = _mm256_add_epi64(before, _mm256_permute4x64_epi64::<0b11_11_11_11>(sums));
        let lanes = (n - done).min(Plan64::LANES);
        if lanes == Plan64::LANES {
            // SAFETY: four values are written behind `len + done`, and `done + 4 <= n` values
            // were reserved behind `len`.
            unsafe { _mm256_storeu_si256(out.as_mut_ptr().add(len + done).cast(), values) };
        } else {
            let mut block = [0i64; Plan64::LANES];
            // SAFETY: `block` has room for four values; `lanes` of them are copied behind
            // `len + done`, where `done + lanes == n` values were reserved.
            unsafe {
                _mm256_storeu_si256(block.as_mut_ptr().cast(), values);
                let spare = out.as_mut_ptr().add(len + done);
                std::ptr::copy_nonoverlapping(block.as_ptr(), spare, lanes);
            }
        }
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
    out.last().copied().unwrap_or(last)
}

#[inline]
#[target_feature(enable = "avx2")]
fn prefix_sums_32(values: __m256i) -> __m256i {
    let values = _mm256_add_epi32(values, _mm256_slli_si256::<4>(values));
    let values = _mm256_add_epi32(values, _mm256_slli_si256::<8>(values));
    let sums_of_halves = _mm256_shuffle_epi32::<0b11_11_11_11>(values);
    // The low half's sum in the high half, zero in the low half.
    let below = _mm256_permute2x128_si256::<0x08>(sums_of_halves, sums_of_halves);
    _mm256_add_epi32(values, below)
}

#[inline]
#[target_feature(enable = "avx2")]
fn prefix_sums_64(values: __m256i) -> __m256i {
    let values = _mm256_add_epi64(values, _mm256_slli_si256::<8>(values));
    let low_sum = _mm256_permute4x64_epi64::<0b01_01_01_01>(values);
    let below = _mm256_blend_epi32::<0b1111_0000>(_mm256_setzero_si256(), low_sum);
    _mm256_add_epi64(values, below)
}
