//! Computes masks of levels with AVX-512, which takes one comparison for each mask.

use std::arch::x86_64::*;

use super::masks::Masks;
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

impl Masks for Avx512 {
    type Levels = __m512i;

    #[inline(always)]
    fn load(self, levels: &[u8]) -> __m512i {
        // SAFETY: the token proves that the instructions are available.
        unsafe { load(levels) }
    }

    #[inline(always)]
    fn at_least(self, levels: __m512i, level: u8) -> u64 {
        // SAFETY: the token proves that the instructions are available.
        unsafe { _mm512_cmpge_epu8_mask(levels, _mm512_set1_epi8(level.cast_signed())) }
    }

    #[inline(always)]
    fn extract(self, bits: u64, mask: u64) -> u64 {
        // SAFETY: the token proves that the instruction is available.
        unsafe { _pext_u64(bits, mask) }
    }
}

/// Loads the first 64 levels, with zeros after the last one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(levels: &[u8]) -> __m512i {
    match levels.first_chunk::<64>() {
        // SAFETY: `levels` has 64 bytes.
        Some(levels) => unsafe { _mm512_loadu_si512(levels.as_ptr().cast()) },
        // SAFETY: the mask selects only existing bytes; no others are loaded.
        None => unsafe { _mm512_maskz_loadu_epi8(low_bits(levels.len()), levels.as_ptr().cast()) },
    }
}
