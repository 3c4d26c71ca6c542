//! Compacts with AVX-512, which has an instruction for this, one vector of slots at a time.
//!
//! The instruction compresses into a register, and we store the whole register, because storing only the values is slow
//! on some processors.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::{Compact, Slot, WORD};
use crate::bitmap::low_bits;
use crate::cpu::{Avx512, Scalar};
use crate::expand::is_plain;

impl Compact for Avx512 {
    #[inline(always)]
    fn compact_word<T: Copy + 'static>(
        self,
        slots: &[Slot<T>],
        bits: u64,
        out: &mut [MaybeUninit<T>],
    ) {
        assert!(slots.len() <= WORD && out.len() >= WORD);
        let (from, to) = (slots.as_ptr(), out.as_mut_ptr());
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. There are at most `WORD` slots of
            // plain data, each with the size of a lane, and `WORD` slots may be written.
            4 if is_plain::<T>() => unsafe { word_4(from.cast(), slots.len(), bits, to.cast()) },
            // SAFETY: as for 4-byte slots.
            8 if is_plain::<T>() => unsafe { word_8(from.cast(), slots.len(), bits, to.cast()) },
            _ => Scalar.compact_word(slots, bits, out),
        }
    }
}

macro_rules! word {
    ($word:ident, $lane:ty, $lanes:literal, $mask:ty, load $load:ident, compress $compress:ident) => {
        /// Writes the slots whose bits are set, out of `n` slots, to `out`.
        ///
        /// # Safety
        /// `n` is at most `WORD`, `n` lanes must be readable at `slots`, and `WORD` lanes writable at `out`.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,popcnt")]
        unsafe fn $word(slots: *const $lane, n: usize, bits: u64, out: *mut $lane) {
            let (mut at, mut to) = (0, 0);
            while at < n {
                let there = low_bits((n - at).min($lanes)) as $mask;
                let set = (bits >> at) as $mask & there;
                // SAFETY: only lanes before `n` are loaded. Of the `at` slots before, `to <= at` were written.
                // `at + $lanes` is at most `WORD`, because both are multiples of a vector.
                unsafe {
                    let values = $load(there, slots.add(at).cast());
                    let dense = $compress(set, values);
                    _mm512_storeu_si512(out.add(to).cast(), dense);
                }
                at += $lanes;
                to += set.count_ones() as usize;
            }
        }
    };
}
word!(
    word_4, u32, 16, __mmask16,
    load _mm512_maskz_loadu_epi32, compress _mm512_maskz_compress_epi32
);
word!(
    word_8, u64, 8, __mmask8,
    load _mm512_maskz_loadu_epi64, compress _mm512_maskz_compress_epi64
);
