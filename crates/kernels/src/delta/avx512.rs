//! Sixteen or eight values at a time.
//!
//! Within a register, sums come about in log2(lanes) steps: each adds the register to itself, moved
//! up by 1, 2, 4 and 8 lanes. The sum before the register is added last, so that registers depend on
//! each other by one addition only.

use std::arch::x86_64::*;

use super::{DeltaDecoder, scalar};
use crate::Malformed;
use crate::lanes::avx512::{Plan32, Plan64};

/// See [`DeltaDecoder::extend`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn i32(
    decoder: &mut DeltaDecoder<i32>,
    data: &[u8],
    n: usize,
    out: &mut Vec<i32>,
) -> Result<(), Malformed> {
    let mut plan = Plan32::none();
    let top = _mm512_set1_epi32(Plan32::LANES as i32 - 1);
    decoder.walk(data, n, out, |run, least, last, out| {
        if run.width() > Plan32::WIDEST {
            return scalar::sum_i32(run, least, last, out);
        }
        plan.refit(run);
        let least = _mm512_set1_epi32(least);
        let mut before = _mm512_set1_epi32(last);
        let n = run.n();
        let Some(spare) = out.spare_capacity_mut().get_mut(..n) else {
            return last;
        };
        let spare = spare.as_mut_ptr().cast::<i32>();
        let (registers, rest) = (n / Plan32::LANES, n % Plan32::LANES);
        let sums = |register| prefix_sums_32(_mm512_add_epi32(plan.unpack(run, register), least));
        if run.width() == 0 {
            let sums = prefix_sums_32(least);
            let total = _mm512_permutexvar_epi32(top, sums);
            for register in 0..registers {
                let values = _mm512_add_epi32(before, sums);
                before = _mm512_add_epi32(before, total);
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm512_storeu_si512(spare.add(register * Plan32::LANES).cast(), values) };
            }
        } else {
            for register in 0..registers {
                let sums = sums(register);
                let values = _mm512_add_epi32(before, sums);
                before = _mm512_add_epi32(before, _mm512_permutexvar_epi32(top, sums));
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm512_storeu_si512(spare.add(register * Plan32::LANES).cast(), values) };
            }
        }
        if rest > 0 {
            let values = _mm512_add_epi32(before, sums(registers));
            before = _mm512_permutexvar_epi32(_mm512_set1_epi32(rest as i32 - 1), values);
            let mask = (1 << rest) - 1;
            // SAFETY: `rest` values behind the registers make `n`, which were reserved behind the
            // length; masked lanes are not written.
            unsafe { _mm512_mask_storeu_epi32(spare.add(n - rest), mask, values) };
        }
        // SAFETY: the `n` values behind the length have been written.
        unsafe { out.set_len(out.len() + n) };
        _mm512_cvtsi512_si32(before)
    })
}

/// See [`DeltaDecoder::extend`].
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn i64(
    decoder: &mut DeltaDecoder<i64>,
    data: &[u8],
    n: usize,
    out: &mut Vec<i64>,
) -> Result<(), Malformed> {
    let mut plan = Plan64::none();
    let top = _mm512_set1_epi64(Plan64::LANES as i64 - 1);
    decoder.walk(data, n, out, |run, least, last, out| {
        plan.refit(run);
        let least = _mm512_set1_epi64(least);
        let mut before = _mm512_set1_epi64(last);
        let n = run.n();
        let Some(spare) = out.spare_capacity_mut().get_mut(..n) else {
            return last;
        };
        let spare = spare.as_mut_ptr().cast::<i64>();
        let (registers, rest) = (n / Plan64::LANES, n % Plan64::LANES);
        let sums = |register| prefix_sums_64(_mm512_add_epi64(plan.unpack(run, register), least));
        if run.width() == 0 {
            let sums = prefix_sums_64(least);
            let total = _mm512_permutexvar_epi64(top, sums);
            for register in 0..registers {
                let values = _mm512_add_epi64(before, sums);
                before = _mm512_add_epi64(before, total);
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm512_storeu_si512(spare.add(register * Plan64::LANES).cast(), values) };
            }
        } else {
            for register in 0..registers {
                let sums = sums(register);
                let values = _mm512_add_epi64(before, sums);
                before = _mm512_add_epi64(before, _mm512_permutexvar_epi64(top, sums));
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm512_storeu_si512(spare.add(register * Plan64::LANES).cast(), values) };
            }
        }
        if rest > 0 {
            let values = _mm512_add_epi64(before, sums(registers));
            before = _mm512_permutexvar_epi64(_mm512_set1_epi64(rest as i64 - 1), values);
            let mask = (1 << rest) - 1;
            // SAFETY: `rest` values behind the registers make `n`, which were reserved behind the
            // length; masked lanes are not written.
            unsafe { _mm512_mask_storeu_epi64(spare.add(n - rest), mask, values) };
        }
        // SAFETY: the `n` values behind the length have been written.
        unsafe { out.set_len(out.len() + n) };
        _mm_cvtsi128_si64(_mm512_castsi512_si128(before))
    })
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
