//! Decodes sixteen or eight values at a time, or thirty-two.
//!
//! Within a register, the sums take log2(lanes) steps. Each step adds the register to itself, shifted up by 1, 2, 4 and
//! 8 lanes. We add the sum before the register last, so that each register depends on the previous one through only one
//! addition.
//!
//! Thirty-two 64-bit values with narrow deltas are unpacked to two registers of 32-bit lanes, one for even positions
//! and one for odd positions. The prefix sums of both registers together are the values at odd positions. If we
//! subtract the last addend, we get the values at even positions. So we sum one register instead of four. Least deltas
//! are not part of these sums, because they add up to a multiple for each position. For 32-bit values, we would have to
//! sum two registers, which is just as fast as the usual way.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{DeltaDecoder, scalar};
use crate::Malformed;
use crate::simd_lanes::Packed;
use crate::simd_lanes::avx512::{PairsPlan, Plan32, Plan64};

/// The largest bit width for which the sum of 32 values fits into 32 bits.
const WIDEST_SUMMED_IN_32: usize = 27;

macro_rules! extend {
    (
        $type:ident, plan $plan:ident, else $wider:ident, set $set:ident, first $first:expr,
        add $add:ident, permute $permute:ident, sums $sums:ident, store $store_some:ident
        $(, pairs up to $widest:ident, multiples $multiples:ident, order $in_order:ident)?
    ) => {
        /// Implements [`DeltaDecoder::extend`].
        #[target_feature(enable = "avx512f,avx512bw,avx512dq")]
        pub(super) fn $type(
            decoder: &mut DeltaDecoder<$type>,
            data: &[u8],
            n: usize,
            out: &mut Vec<$type>,
        ) -> Result<(), Malformed> {
            const LANES: usize = $plan::LANES;
            let mut plan = $plan::none();
            let top = $set(LANES as $type - 1);
            let mut before = $set(decoder.last);
            $(
                let mut pairs = PairsPlan::none();
                // The multiples of the least delta are the same in all miniblocks of a block, so we keep them.
                let (mut stepped, mut steps) = (0, $multiples($set(0)));
            )?
            let sum = |run: &Packed<'_>, least, slots: &mut [MaybeUninit<$type>]| {
                if run.width() > $plan::WIDEST {
                    before = $set(scalar::$wider(run, least, $first(before), slots));
                    return;
                }
                let (n, to) = (slots.len(), slots.as_mut_ptr().cast::<$type>());
                let mut done = 0;
                $(
                    if (1..=$widest).contains(&run.width()) && n >= PairsPlan::VALUES {
                        if stepped != least {
                            (stepped, steps) = (least, $multiples($set(least)));
                        }
                        pairs.refit(run);
                        while n - done >= PairsPlan::VALUES {
                            let (even, odd) = pairs.unpack(run, done / PairsPlan::VALUES);
                            let at_odd = prefix_sums_32(_mm512_add_epi32(even, odd));
                            let at_even = _mm512_sub_epi32(at_odd, odd);
                            let sums = $in_order(at_even, at_odd);
                            let mut last = before;
                            for register in 0..sums.len() {
                                last = $add(before, $add(sums[register], steps[register]));
                                // SAFETY: there are at least 32 more slots, as many as the registers have lanes.
                                unsafe { _mm512_storeu_si512(to.add(done).cast(), last) };
                                done += LANES;
                            }
                            before = $permute(top, last);
                        }
                        if done == n {
                            return;
                        }
                    }
                )?
                plan.refit(run);
                let least = $set(least);
                let sums = |register| $sums($add(plan.unpack(run, register), least));
                if run.width() == 0 {
                    let sums = $sums(least);
                    let total = $permute(top, sums);
                    while n - done >= LANES {
                        let values = $add(before, sums);
                        before = $add(before, total);
                        // SAFETY: there are at least `LANES` more slots.
                        unsafe { _mm512_storeu_si512(to.add(done).cast(), values) };
                        done += LANES;
                    }
                } else {
                    while n - done >= LANES {
                        let sums = sums(done / LANES);
                        let values = $add(before, sums);
                        before = $add(before, $permute(top, sums));
                        // SAFETY: there are at least `LANES` more slots.
                        unsafe { _mm512_storeu_si512(to.add(done).cast(), values) };
                        done += LANES;
                    }
                }
                let rest = n - done;
                if rest > 0 {
                    let values = $add(before, sums(done / LANES));
                    before = $permute($set(rest as $type - 1), values);
                    // SAFETY: there are `rest` more slots; masked lanes are not written.
                    unsafe { $store_some(to.add(done), (1 << rest) - 1, values) };
                }
            };
            // SAFETY: the closure writes all of its slots: whole registers first, and then the rest.
            unsafe { decoder.walk(data, n, out, sum) }?;
            decoder.last = $first(before);
            Ok(())
        }
    };
}

extend!(
    i32, plan Plan32, else sum_i32, set _mm512_set1_epi32, first _mm512_cvtsi512_si32,
    add _mm512_add_epi32, permute _mm512_permutexvar_epi32, sums prefix_sums_32,
    store _mm512_mask_storeu_epi32
);
extend!(
    i64, plan Plan64, else sum_i64, set _mm512_set1_epi64, first first_64,
    add _mm512_add_epi64, permute _mm512_permutexvar_epi64, sums prefix_sums_64,
    store _mm512_mask_storeu_epi64,
    pairs up to WIDEST_SUMMED_IN_32, multiples multiples_64, order in_order_64
);

#[inline]
#[target_feature(enable = "avx512f")]
fn first_64(values: __m512i) -> i64 {
    _mm_cvtsi128_si64(_mm512_castsi512_si128(values))
}

/// Returns the multiples of `step` for 32 positions, which are `step` for the first position, twice that for the
/// second, and so on.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn multiples_64(step: __m512i) -> [__m512i; 4] {
    let first = _mm512_mullo_epi64(step, _mm512_set_epi64(8, 7, 6, 5, 4, 3, 2, 1));
    let second = _mm512_add_epi64(first, _mm512_slli_epi64::<3>(step));
    let further = _mm512_slli_epi64::<4>(step);
    [
        first,
        second,
        _mm512_add_epi64(first, further),
        _mm512_add_epi64(second, further),
    ]
}

/// Interleaves the values at even and at odd positions, which must be unsigned.
#[inline]
#[target_feature(enable = "avx512f")]
fn in_order_64(even: __m512i, odd: __m512i) -> [__m512i; 4] {
    let first = _mm512_set_epi32(0, 19, 0, 3, 0, 18, 0, 2, 0, 17, 0, 1, 0, 16, 0, 0);
    let second = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    let third = _mm512_add_epi32(first, _mm512_set1_epi32(8));
    let fourth = _mm512_add_epi32(first, _mm512_set1_epi32(12));
    [
        _mm512_maskz_permutex2var_epi32(0x5555, even, first, odd),
        _mm512_maskz_permutex2var_epi32(0x5555, even, second, odd),
        _mm512_maskz_permutex2var_epi32(0x5555, even, third, odd),
        _mm512_maskz_permutex2var_epi32(0x5555, even, fourth, odd),
    ]
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
