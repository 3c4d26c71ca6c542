//! Computes masks of levels with AVX2, which takes two comparisons for each mask.

use std::arch::x86_64::*;

use super::masks::{self, Masks};
use crate::cpu::Avx2;

impl Masks for Avx2 {
    type Levels = [__m256i; 2];

    #[inline(always)]
    fn load(self, levels: &[u8]) -> [__m256i; 2] {
        let mut padded = [0; 64];
        let levels = levels.first_chunk::<64>().unwrap_or_else(|| {
            for (to, from) in padded.iter_mut().zip(levels) {
                *to = *from;
            }
            &padded
        });
        // SAFETY: the token proves that the instructions are available.
        unsafe { load(levels) }
    }

    #[inline(always)]
    fn at_least(self, levels: [__m256i; 2], level: u8) -> u64 {
        // SAFETY: the token proves that the instructions are available.
        unsafe { at_least(levels, level) }
    }

    #[inline(always)]
    fn extract(self, bits: u64, mask: u64) -> u64 {
        match self.bmi2() {
            // SAFETY: the token proves that the instruction is available.
            Some(_) => unsafe { _pext_u64(bits, mask) },
            None => masks::extract(bits, mask),
        }
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(levels: &[u8; 64]) -> [__m256i; 2] {
    let levels = levels.as_ptr().cast::<__m256i>();
    // SAFETY: `levels` has 64 bytes.
    unsafe {
        [
            _mm256_loadu_si256(levels),
            _mm256_loadu_si256(levels.add(1)),
        ]
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn at_least(levels: [__m256i; 2], level: u8) -> u64 {
    let level = _mm256_set1_epi8(level.cast_signed());
    let mask = |levels| {
        let kept = _mm256_cmpeq_epi8(_mm256_max_epu8(levels, level), levels);
        u64::from(_mm256_movemask_epi8(kept).cast_unsigned())
    };
    mask(levels[0]) | mask(levels[1]) << 32
}
