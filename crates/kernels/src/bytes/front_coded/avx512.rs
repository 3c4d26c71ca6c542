//! Front coding with AVX-512: the first 128 bytes of a value stay in two registers.

use std::arch::x86_64::*;

use super::{Current, FrontCoded};
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

/// Bytes of a register.
const BYTES: usize = 64;

/// The first bytes of a value; behind its end, anything.
#[derive(Clone, Copy)]
struct Registers(__m512i, __m512i);

impl Current for Registers {
    #[inline(always)]
    unsafe fn load(value: *const u8, length: usize) -> Self {
        // SAFETY: the caller promises AVX-512 and that so many bytes may be read.
        unsafe { load(value, length) }
    }

    #[inline(always)]
    unsafe fn follow(
        &mut self,
        prefix: usize,
        length: usize,
        (bytes, at): (&[u8], usize),
        to: *mut u8,
    ) -> bool {
        if length > 2 * BYTES {
            return false;
        }
        let suffix = bytes.as_ptr().wrapping_add(at);
        // SAFETY: the caller promises AVX-512, the bytes of the suffix, and room for the value.
        unsafe { follow(self, prefix, length, suffix, to) };
        true
    }
}

/// # Safety
/// `length` bytes are readable at `value`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn load(value: *const u8, length: usize) -> Registers {
    let (low, high) = (length.min(BYTES), length.saturating_sub(BYTES).min(BYTES));
    // SAFETY: masked lanes are not read, and the others are among the `length` bytes.
    unsafe {
        Registers(
            _mm512_maskz_loadu_epi8(low_bits(low), value.cast()),
            _mm512_maskz_loadu_epi8(low_bits(high), value.wrapping_add(BYTES).cast()),
        )
    }
}

/// # Safety
/// `length` is at most two registers, `length - prefix` bytes are readable at `suffix`, and
/// `length + BYTES` are writable at `to`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn follow(
    current: &mut Registers,
    prefix: usize,
    length: usize,
    suffix: *const u8,
    to: *mut u8,
) {
    let shared = low_bits(prefix.min(BYTES));
    let from = suffix.wrapping_sub(prefix);
    let own = low_bits(length.min(BYTES)) & !shared;
    // SAFETY: the lanes that are read are `prefix..length`, which lie at `suffix`.
    current.0 = unsafe { _mm512_mask_loadu_epi8(current.0, own, from.cast()) };
    // SAFETY: there is room for one register more than the value.
    unsafe { _mm512_storeu_si512(to.cast(), current.0) };
    if length > BYTES {
        let shared = low_bits(prefix.saturating_sub(BYTES));
        let own = low_bits(length - BYTES) & !shared;
        // SAFETY: as above, of the lanes behind the first register.
        unsafe {
            current.1 = _mm512_mask_loadu_epi8(current.1, own, from.wrapping_add(BYTES).cast());
            _mm512_storeu_si512(to.add(BYTES).cast(), current.1);
        }
    }
}

/// See [`super::expand`].
pub(super) fn expand(_: Avx512, values: &FrontCoded<'_>, start: usize, out: &mut Vec<u8>) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(values: &FrontCoded<'_>, start: usize, out: &mut Vec<u8>) {
        // SAFETY: the instructions that the registers need are enabled here.
        unsafe { super::expand::<Registers>(values, start, out) };
    }
    // SAFETY: the token proves that the instructions are there.
    unsafe { enabled(values, start, out) };
}
