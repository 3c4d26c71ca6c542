//! Decodes eight or four values at a time.
//!
//! Within a register, the sums take log2(lanes) steps. Each step adds the register to itself, shifted up by 1 and 2
//! lanes within its halves. Then we add the sum of the low half to the high half. We add the sum before the register
//! last, so that each register depends on the previous one through only one addition.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{DeltaDecoder, scalar};
use crate::Malformed;
use crate::simd_lanes::Packed;
use crate::simd_lanes::avx2::{Plan32, Plan64};

macro_rules! extend {
    (
        $type:ident, plan $plan:ident, else $wider:ident, set $set:ident, first $first:expr,
        add $add:ident, top $top:ident, sums $sums:ident
    ) => {
        /// Implements [`DeltaDecoder::extend`].
        #[target_feature(enable = "avx2")]
        pub(super) fn $type(
            decoder: &mut DeltaDecoder<$type>,
            data: &[u8],
            n: usize,
            out: &mut Vec<$type>,
        ) -> Result<(), Malformed> {
            const LANES: usize = $plan::LANES;
            let mut plan = $plan::none();
            let mut before = $set(decoder.last);
            let sum = |run: &Packed<'_>, least, slots: &mut [MaybeUninit<$type>]| {
                if run.width() > $plan::WIDEST {
                    before = $set(scalar::$wider(run, least, $first(before), slots));
                    return;
                }
                plan.refit(run);
                let (n, to) = (slots.len(), slots.as_mut_ptr().cast::<$type>());
                let (registers, rest) = (n / LANES, n % LANES);
                let least = $set(least);
                let sums = |register| $sums($add(plan.unpack(run, register), least));
                if run.width() == 0 {
                    let sums = $sums(least);
                    let total = $top(sums);
                    for register in 0..registers {
                        let values = $add(before, sums);
                        before = $add(before, total);
                        // SAFETY: there are at least `registers * LANES` slots.
                        unsafe { _mm256_storeu_si256(to.add(register * LANES).cast(), values) };
                    }
                } else {
                    for register in 0..registers {
                        let sums = sums(register);
                        let values = $add(before, sums);
                        before = $add(before, $top(sums));
                        // SAFETY: there are at least `registers * LANES` slots.
                        unsafe { _mm256_storeu_si256(to.add(register * LANES).cast(), values) };
                    }
                }
                if rest > 0 {
                    let mut values = [0; LANES];
                    let sums = $add(before, sums(registers));
                    // SAFETY: `values` has room for the 32 bytes written.
                    unsafe { _mm256_storeu_si256(values.as_mut_ptr().cast(), sums) };
                    for (slot, value) in slots[n - rest..].iter_mut().zip(values) {
                        slot.write(value);
                    }
                    before = $set(values[rest - 1]);
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
    i32, plan Plan32, else sum_i32, set _mm256_set1_epi32, first _mm256_cvtsi256_si32,
    add _mm256_add_epi32, top top_32, sums prefix_sums_32
);
extend!(
    i64, plan Plan64, else sum_i64, set _mm256_set1_epi64x, first first_64,
    add _mm256_add_epi64, top top_64, sums prefix_sums_64
);

#[inline]
#[target_feature(enable = "avx2")]
fn first_64(values: __m256i) -> i64 {
    _mm_cvtsi128_si64(_mm256_castsi256_si128(values))
}

/// Broadcasts the highest lane to all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn top_32(values: __m256i) -> __m256i {
    _mm256_permutevar8x32_epi32(values, _mm256_set1_epi32(7))
}

/// Broadcasts the highest lane to all lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn top_64(values: __m256i) -> __m256i {
    _mm256_permute4x64_epi64::<0b11_11_11_11>(values)
}

#[inline]
#[target_feature(enable = "avx2")]
fn prefix_sums_32(values: __m256i) -> __m256i {
    let values = _mm256_add_epi32(values, _mm256_slli_si256::<4>(values));
    let values = _mm256_add_epi32(values, _mm256_slli_si256::<8>(values));
    let sums_of_halves = _mm256_shuffle_epi32::<0b11_11_11_11>(values);
    // The sum of the low half moves to the high half, and the low half becomes zero.
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
