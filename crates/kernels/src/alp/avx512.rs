//! Sixteen or eight values at a time: unpack, add, convert, multiply twice, store.

use std::arch::x86_64::*;

use crate::lanes::Packed;
use crate::lanes::avx512::{Plan32, Plan64};

/// See [`AlpFloat::decode`](super::AlpFloat).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn f32(run: &Packed<'_>, base: i32, [up, down]: [f32; 2], out: &mut Vec<f32>) {
    let plan = Plan32::new(run);
    let (base, up, down) = (
        _mm512_set1_epi32(base),
        _mm512_set1_ps(up),
        _mm512_set1_ps(down),
    );
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let integers = _mm512_add_epi32(plan.unpack(run, done / Plan32::LANES), base);
        let values = _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(integers), up), down);
        let lanes = (n - done).min(Plan32::LANES);
        let mask = (u32::MAX >> (32 - lanes)) as u16;
        // SAFETY: `lanes` values are written behind `len + done`, and `done + lanes <= n` values
        // were reserved behind `len`; masked lanes are not written.
        unsafe { _mm512_mask_storeu_ps(out.as_mut_ptr().add(len + done), mask, values) };
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
}

/// See [`AlpFloat::decode`](super::AlpFloat).
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(super) fn f64(run: &Packed<'_>, base: i64, [up, down]: [f64; 2], out: &mut Vec<f64>) {
    let plan = Plan64::new(run);
    let (base, up, down) = (
        _mm512_set1_epi64(base),
        _mm512_set1_pd(up),
        _mm512_set1_pd(down),
    );
    let n = run.n();
    out.reserve(n);
    let len = out.len();
    let mut done = 0;
    while done < n {
        let integers = _mm512_add_epi64(plan.unpack(run, done / Plan64::LANES), base);
        let values = _mm512_mul_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(integers), up), down);
        let lanes = (n - done).min(Plan64::LANES);
        let mask = (u32::MAX >> (32 - lanes)) as u8;
        // SAFETY: `lanes` values are written behind `len + done`, and `done + lanes <= n` values
        // were reserved behind `len`; masked lanes are not written.
        unsafe { _mm512_mask_storeu_pd(out.as_mut_ptr().add(len + done), mask, values) };
        done += lanes;
    }
    // SAFETY: the loop has written the `n` values behind `len`.
    unsafe { out.set_len(len + n) };
}
