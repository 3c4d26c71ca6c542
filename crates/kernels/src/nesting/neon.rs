//! Computes masks of levels with NEON, which takes four comparisons for each mask. The results are summed to bits.

use std::arch::aarch64::*;

use super::masks::{self, Masks};
use crate::cpu::Neon;

impl Masks for Neon {
    type Levels = [u8; 64];

    #[inline(always)]
    fn load(self, levels: &[u8]) -> [u8; 64] {
        levels.first_chunk::<64>().copied().unwrap_or_else(|| {
            let mut padded = [0; 64];
            for (to, from) in padded.iter_mut().zip(levels) {
                *to = *from;
            }
            padded
        })
    }

    #[inline(always)]
    fn at_least(self, levels: [u8; 64], level: u8) -> u64 {
        // SAFETY: the token proves that the instructions are available.
        unsafe { at_least(&levels, level) }
    }

    #[inline(always)]
    fn extract(self, bits: u64, mask: u64) -> u64 {
        masks::extract(bits, mask)
    }
}

/// Returns a bit for each level, which is set if the level is at least `level`.
#[inline]
#[target_feature(enable = "neon")]
fn at_least(levels: &[u8; 64], level: u8) -> u64 {
    const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: the array is a whole vector.
    let bits = unsafe { vld1q_u8(BITS.as_ptr()) };
    let level = vdupq_n_u8(level);
    let quarter = |index: usize| {
        // SAFETY: the levels are four whole vectors.
        let levels = unsafe { vld1q_u8(levels.as_ptr().add(index * 16)) };
        vandq_u8(vcgeq_u8(levels, level), bits)
    };
    // If we add neighbours three times, the bits of eight levels are combined into one byte.
    let low = vpaddq_u8(quarter(0), quarter(1));
    let high = vpaddq_u8(quarter(2), quarter(3));
    let sums = vpaddq_u8(low, high);
    let sums = vpaddq_u8(sums, sums);
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(sums))
}
