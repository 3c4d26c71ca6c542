//! Decodes eight values at a time, in registers of four or two.
//!
//! Within a register, a value's sum is that of its lane and the lanes before it: the register is added to itself, shifted
//! up by one lane and, if there are four, by two. The sum before the register is added last. Portable code decodes values
//! before the first byte boundary, values near the end of the data, and widths that are rare.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::{DeltaDecoder, scalar};
use crate::Malformed;
use crate::bit_unpack::neon::{self as unpack, Lanes};
use crate::bitmap::low_bits;
use crate::simd_lanes::Packed;

/// The number of values that start and end on byte boundaries together, for every width.
const GROUP: usize = 8;

macro_rules! extend {
    (
        $type:ident, $sum:ident, plan $plan:ty, lanes $lanes:literal, set $set:ident, add $add:ident,
        sums $sums:ident, top $top:ident, first $first:ident, store $store:ident
    ) => {
        /// Implements [`DeltaDecoder::extend`].
        #[target_feature(enable = "neon")]
        pub(super) fn $type(
            decoder: &mut DeltaDecoder<$type>,
            data: &[u8],
            n: usize,
            out: &mut Vec<$type>,
        ) -> Result<(), Malformed> {
            let (mut last, mut fitted) = (decoder.last, 1);
            let mut plan = <$plan>::new(fitted);
            let sum = |run: &Packed<'_>, least, slots: &mut [MaybeUninit<$type>]| {
                let (width, groups) = (run.width(), slots.len() / GROUP);
                let (least_lanes, mut before) = ($set(least), $set(last));
                let mut done = 0;
                let to = slots.as_mut_ptr().cast::<$type>();
                if width == 0 {
                    let sums = $sums(least_lanes);
                    let total = $top(sums);
                    done = groups * GROUP;
                    for at in (0..done).step_by($lanes) {
                        // SAFETY: there are at least `done` slots, which is a number of whole registers.
                        unsafe { $store(to.add(at), $add(before, sums)) };
                        before = $add(before, total);
                    }
                } else if let Some(bytes) = run.whole_bytes()
                    && width <= usize::from(<$plan>::WIDEST)
                {
                    if fitted != width as u8 {
                        fitted = width as u8;
                        plan = <$plan>::new(fitted);
                    }
                    let groups = plan.groups(bytes.len(), groups);
                    for group in 0..groups {
                        // SAFETY: the group is one of those that the plan may load.
                        let values = unsafe { plan.values(bytes.as_ptr().add(group * width)) };
                        for (register, deltas) in values.into_iter().enumerate() {
                            let sums = $sums($add(deltas, least_lanes));
                            let at = group * GROUP + register * $lanes;
                            // SAFETY: the groups are whole ones within the slots.
                            unsafe { $store(to.add(at), $add(before, sums)) };
                            before = $add(before, $top(sums));
                        }
                    }
                    done = groups * GROUP;
                }
                last = $first(before);
                if done < slots.len() {
                    last = scalar::$sum(&run.after(done), least, last, &mut slots[done..]);
                }
            };
            // SAFETY: the closure writes all of its slots: whole groups first, and then the rest.
            unsafe { decoder.walk(data, n, out, sum) }?;
            decoder.last = last;
            Ok(())
        }
    };
}

extend!(
    i32, sum_i32, plan Plan32, lanes 4, set vdupq_n_s32, add vaddq_s32, sums prefix_sums_32,
    top top_32, first first_32, store vst1q_s32
);
extend!(
    i64, sum_i64, plan Plan64, lanes 2, set vdupq_n_s64, add vaddq_s64, sums prefix_sums_64,
    top top_64, first first_64, store vst1q_s64
);

/// The positions of eight values of 1 to 32 bits, in lanes of 32 bits.
struct Plan32(unpack::Plan);

impl Plan32 {
    const WIDEST: u8 = unpack::Plan::WIDEST;

    #[inline]
    #[target_feature(enable = "neon")]
    fn new(width: u8) -> Self {
        Self(unpack::Plan::new(width))
    }

    #[inline(always)]
    fn groups(&self, bytes: usize, wanted: usize) -> usize {
        self.0.groups(bytes, wanted)
    }

    /// Returns the eight values of the group at `bytes`.
    ///
    /// # Safety
    /// The group is one of those that [`Self::groups`] counts.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn values(&self, bytes: *const u8) -> [int32x4_t; 2] {
        // SAFETY: the caller's contract.
        let [low, high] = unsafe { self.0.values(bytes) };
        [vreinterpretq_s32_u32(low), vreinterpretq_s32_u32(high)]
    }
}

/// The positions of eight values of 1 to [`Self::WIDEST`] bits, in lanes of 64 bits.
struct Plan64 {
    /// For each two values, the byte in which they start.
    starts: [usize; 4],
    pairs: [Lanes; 4],
    mask: uint64x2_t,
    step: usize,
}

impl Plan64 {
    /// The widest values, in bits, that lie within eight bytes wherever in the first of them they start.
    const WIDEST: u8 = 57;

    #[inline]
    #[target_feature(enable = "neon")]
    fn new(width: u8) -> Self {
        let step = usize::from(width);
        let pair = |pair: usize| Lanes::two(width, 2 * pair * step % 8);
        Self {
            starts: [0, 2 * step / 8, 4 * step / 8, 6 * step / 8],
            pairs: [pair(0), pair(1), pair(2), pair(3)],
            mask: vdupq_n_u64(low_bits(step)),
            step,
        }
    }

    #[inline(always)]
    fn groups(&self, bytes: usize, wanted: usize) -> usize {
        let load = self.starts[3] + size_of::<uint8x16_t>();
        unpack::groups(bytes, load, self.step, wanted)
    }

    /// Returns the eight values of the group at `bytes`.
    ///
    /// # Safety
    /// The group is one of those that [`Self::groups`] counts.
    #[inline]
    #[target_feature(enable = "neon")]
    unsafe fn values(&self, bytes: *const u8) -> [int64x2_t; 4] {
        let pair = |pair: usize| {
            // SAFETY: no start is greater than the last one, whose load `groups` counted.
            let loaded = unsafe { vld1q_u8(bytes.add(self.starts[pair])) };
            let values = vandq_u64(self.pairs[pair].of_64_bits(loaded), self.mask);
            vreinterpretq_s64_u64(values)
        };
        [pair(0), pair(1), pair(2), pair(3)]
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn prefix_sums_32(values: int32x4_t) -> int32x4_t {
    let zero = vdupq_n_s32(0);
    let values = vaddq_s32(values, vextq_s32::<3>(zero, values));
    vaddq_s32(values, vextq_s32::<2>(zero, values))
}

#[inline]
#[target_feature(enable = "neon")]
fn prefix_sums_64(values: int64x2_t) -> int64x2_t {
    vaddq_s64(values, vextq_s64::<1>(vdupq_n_s64(0), values))
}

/// Broadcasts the highest lane to all lanes.
#[inline]
#[target_feature(enable = "neon")]
fn top_32(values: int32x4_t) -> int32x4_t {
    vdupq_laneq_s32::<3>(values)
}

/// Broadcasts the highest lane to all lanes.
#[inline]
#[target_feature(enable = "neon")]
fn top_64(values: int64x2_t) -> int64x2_t {
    vdupq_laneq_s64::<1>(values)
}

#[inline]
#[target_feature(enable = "neon")]
fn first_32(values: int32x4_t) -> i32 {
    vgetq_lane_s32::<0>(values)
}

#[inline]
#[target_feature(enable = "neon")]
fn first_64(values: int64x2_t) -> i64 {
    vgetq_lane_s64::<0>(values)
}
