//! Sixteen or eight values at a time.
//!
//! Within a register, sums come about in log2(lanes) steps: each adds the register to itself, moved
//! up by 1, 2, 4 and 8 lanes. The sum before the register is added last, so that registers depend
//! on each other by one addition only.

use std::arch::x86_64::*;

use crate::lanes::Packed;
use crate::lanes::avx512::{Plan32, Plan64};

/// See [`Delta::sum`](super::Delta).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn i32(run: &Packed<'_>, least: i32, last: i32, out: &mut Vec<i32>) -> i32 {
    let plan = Plan32::new(run);
    let least = _mm512_set1_epi32(least);
    let top = _mm512_set1_epi32(15);
    let mut before = _mm512_set1_epi32(last);
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let deltas = _mm512_add_epi32(plan.unpack(run, done / Plan32::LANES), least);
        let sums = prefix_sums_32(deltas);
        let values = _mm512_add_epi32(before, sums);
        before = _mm512_add_epi32(before, _mm512_permutexvar_epi32(top, sums));
        let lanes = (n - done).min(Plan32::LANES);
        let mask = (u32::MAX >> (32 - lanes)) as u16;
        // SAFETY: `lanes` values are written behind `len + done`, and `done + lanes <= n` values
        // were reserved behind `len`; masked lanes are not written.
        unsafe { _mm512_mask_storeu_epi32(out.as_mut_ptr().add(len + done), mask, values) };
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
    out.last().copied().unwrap_or(last)
}

/// See [`Delta::sum`](super::Delta).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn i64(run: &Packed<'_>, least: i64, last: i64, out: &mut Vec<i64>) -> i64 {
    let plan = Plan64::new(run);
    let least = _mm512_set1_epi64(least);
    let top = _mm512_set1_epi64(7);
    let mut before = _mm512_set1_epi64(last);
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let deltas = _mm512_add_epi64(plan.unpack(run, done / Plan64::LANES), least);
        let sums = prefix_sums_64(deltas);
        let values = _mm512_add_epi64(before, sums);
        before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(top, sums));
        let lanes = (n - done).min(Plan64::LANES);
        let mask = (u32::MAX >> (32 - lanes)) as u8;
        // SAFETY: `lanes` values are written behind `len + done`, and `done + lanes <= n` values
        // were reserved behind `len`; masked lanes are not written.
        unsafe { _mm512_mask_storeu_epi64(out.as_mut_ptr().add(len + done), mask, values) };
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
    out.last().copied().unwrap_or(last)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn prefix_sums_32(values: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<15>(values, zero));
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<14>(values, zero));
    let values = _mm512_add_epi32(values, _mm512_alignr_epi32::<12>(values, zero));
    _mm512_add_epi32(values, _mm512_alignr_epi32::<8>(values, zero))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn prefix_sums_64(values: __m512i) -> __m512i {
    let zero = _mm512_setzero_si512();
    let values = _mm512_add_epi64(values, _mm512_alignr_epi64::<7>(values, zero));
    let values = _mm512_add_epi64(values, _mm512_alignr_epi64::<6>(values, zero));
    _mm512_add_epi64(values, _mm512_alignr_epi64::<4>(values, zero))
}
