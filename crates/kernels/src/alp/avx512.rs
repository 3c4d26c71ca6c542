//! Decodes sixteen or eight values at a time: unpacks the integers, adds the base, converts, multiplies twice and
//! stores.

use std::arch::x86_64::*;

use crate::simd_lanes::Packed;
use crate::simd_lanes::avx512::{Plan32, Plan64};

/// Implements [`AlpFloat::decode`](super::AlpFloat).
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
    let spare = out.as_mut_ptr().wrapping_add(out.len());
    let values = |register| {
        let integers = _mm512_add_epi32(plan.unpack(run, register), base);
        _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(integers), up), down)
    };
    let (registers, rest) = (n / Plan32::LANES, n % Plan32::LANES);
    for register in 0..registers {
        // SAFETY: `registers * LANES <= n` values were reserved after the current length.
        unsafe { _mm512_storeu_ps(spare.add(register * Plan32::LANES), values(register)) };
    }
    if rest > 0 {
        let mask = (1 << rest) - 1;
        // SAFETY: the `rest` values after the full registers end at `n` values, which were reserved after the
        // current length. Masked lanes are not written.
        unsafe { _mm512_mask_storeu_ps(spare.add(n - rest), mask, values(registers)) };
    }
    // SAFETY: the `n` values after the current length have been written.
    unsafe { out.set_len(out.len() + n) };
}

/// Implements [`AlpFloat::decode`](super::AlpFloat).
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
    let spare = out.as_mut_ptr().wrapping_add(out.len());
    let values = |register| {
        let integers = _mm512_add_epi64(plan.unpack(run, register), base);
        _mm512_mul_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(integers), up), down)
    };
    let (registers, rest) = (n / Plan64::LANES, n % Plan64::LANES);
    for register in 0..registers {
        // SAFETY: `registers * LANES <= n` values were reserved after the current length.
        unsafe { _mm512_storeu_pd(spare.add(register * Plan64::LANES), values(register)) };
    }
    if rest > 0 {
        let mask = (1 << rest) - 1;
        // SAFETY: the `rest` values after the full registers end at `n` values, which were reserved after the
        // current length. Masked lanes are not written.
        unsafe { _mm512_mask_storeu_pd(spare.add(n - rest), mask, values(registers)) };
    }
    // SAFETY: the `n` values after the current length have been written.
    unsafe { out.set_len(out.len() + n) };
}
