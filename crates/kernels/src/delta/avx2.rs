//! Eight or four values at a time.
//!
//! Within a register, sums come about in log2(lanes) steps: each adds the register to itself, moved
//! up by 1 and 2 lanes within its halves; then the low half's sum is added to the high half. The sum
//! before the register is added last, so that registers depend on each other by one addition only.

use std::arch::x86_64::*;

use super::{DeltaDecoder, scalar};
use crate::Malformed;
use crate::lanes::avx2::{Plan32, Plan64};

/// See [`DeltaDecoder::extend`].
#[target_feature(enable = "avx2")]
pub(super) fn i32(
    decoder: &mut DeltaDecoder<i32>,
    data: &[u8],
    n: usize,
    out: &mut Vec<i32>,
) -> Result<(), Malformed> {
    let mut plan = Plan32::none();
    let top = _mm256_set1_epi32(7);
    decoder.walk(data, n, out, |run, least, last, out| {
        if run.width() > Plan32::WIDEST {
            return scalar::sum_i32(run, least, last, out);
        }
        plan.refit(run);
        let least = _mm256_set1_epi32(least);
        let mut before = _mm256_set1_epi32(last);
        let n = run.n();
        let Some(spare) = out.spare_capacity_mut().get_mut(..n) else {
            return last;
        };
        let spare = spare.as_mut_ptr().cast::<i32>();
        let (registers, rest) = (n / Plan32::LANES, n % Plan32::LANES);
        let sums = |register| prefix_sums_32(_mm256_add_epi32(plan.unpack(run, register), least));
        if run.width() == 0 {
            let sums = prefix_sums_32(least);
            let total = _mm256_permutevar8x32_epi32(sums, top);
            for register in 0..registers {
                let values = _mm256_add_epi32(before, sums);
                before = _mm256_add_epi32(before, total);
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm256_storeu_si256(spare.add(register * Plan32::LANES).cast(), values) };
            }
        } else {
            for register in 0..registers {
                let sums = sums(register);
                let values = _mm256_add_epi32(before, sums);
                before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(sums, top));
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm256_storeu_si256(spare.add(register * Plan32::LANES).cast(), values) };
            }
        }
        // SAFETY: the values of the registers have been written behind the length.
        unsafe { out.set_len(out.len() + n - rest) };
        if rest == 0 {
            return _mm256_cvtsi256_si32(before);
        }
        let mut values = [0; Plan32::LANES];
        let last = _mm256_add_epi32(before, sums(registers));
        // SAFETY: `values` has the 32 bytes that are written.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), last) };
        out.extend_from_slice(&values[..rest]);
        values[rest - 1]
    })
}

/// See [`DeltaDecoder::extend`].
#[target_feature(enable = "avx2")]
pub(super) fn i64(
    decoder: &mut DeltaDecoder<i64>,
    data: &[u8],
    n: usize,
    out: &mut Vec<i64>,
) -> Result<(), Malformed> {
    let mut plan = Plan64::none();
    decoder.walk(data, n, out, |run, least, last, out| {
        if run.width() > Plan64::WIDEST {
            return scalar::sum_i64(run, least, last, out);
        }
        plan.refit(run);
        let least = _mm256_set1_epi64x(least);
        let mut before = _mm256_set1_epi64x(last);
        let n = run.n();
        let Some(spare) = out.spare_capacity_mut().get_mut(..n) else {
            return last;
        };
        let spare = spare.as_mut_ptr().cast::<i64>();
        let (registers, rest) = (n / Plan64::LANES, n % Plan64::LANES);
        let sums = |register| prefix_sums_64(_mm256_add_epi64(plan.unpack(run, register), least));
        if run.width() == 0 {
            let sums = prefix_sums_64(least);
            let total = _mm256_permute4x64_epi64::<0b11_11_11_11>(sums);
            for register in 0..registers {
                let values = _mm256_add_epi64(before, sums);
                before = _mm256_add_epi64(before, total);
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm256_storeu_si256(spare.add(register * Plan64::LANES).cast(), values) };
            }
        } else {
            for register in 0..registers {
                let sums = sums(register);
                let values = _mm256_add_epi64(before, sums);
                before = _mm256_add_epi64(before, _mm256_permute4x64_epi64::<0b11_11_11_11>(sums));
                // SAFETY: `registers * LANES <= n` values were reserved behind the length.
                unsafe { _mm256_storeu_si256(spare.add(register * Plan64::LANES).cast(), values) };
            }
        }
        // SAFETY: the values of the registers have been written behind the length.
        unsafe { out.set_len(out.len() + n - rest) };
        if rest == 0 {
            return _mm_cvtsi128_si64(_mm256_castsi256_si128(before));
        }
        let mut values = [0; Plan64::LANES];
        let last = _mm256_add_epi64(before, sums(registers));
        // SAFETY: `values` has the 32 bytes that are written.
        unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), last) };
        out.extend_from_slice(&values[..rest]);
        values[rest - 1]
    })
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
