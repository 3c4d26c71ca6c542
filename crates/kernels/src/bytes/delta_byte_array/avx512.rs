//! DELTA_BYTE_ARRAY with AVX-512: the first 128 bytes of a value stay in two registers.
//!
//! As with AVX2, a suffix is loaded from so far before its start that its bytes come to lie behind the
//! prefix, in whole registers: loads under a mask take longer, and each value would wait for the last.

use std::arch::x86_64::*;

use super::{Current, DeltaByteArray};
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

/// Bytes of a register.
const BYTES: usize = 64;

/// Bytes of the longest value that is put together in registers.
const MOST: usize = 2 * BYTES;

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
        let (Some(from), true) = (at.checked_sub(prefix), length <= MOST) else {
            return false;
        };
        // Two registers, however short the value is: that costs one comparison.
        if bytes.len() < MOST || from > bytes.len() - MOST {
            return false;
        }
        let from = bytes.as_ptr().wrapping_add(from);
        // SAFETY: the caller promises AVX-512 and room for the value and a register; two registers are
        // readable, as was just compared.
        unsafe { follow(self, prefix, length, from, to) };
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
/// `prefix <= length <= MOST`; at `from`, two registers are readable, and at `to` as many are writable as
/// the value takes, one at least.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn follow(
    current: &mut Registers,
    prefix: usize,
    length: usize,
    from: *const u8,
    to: *mut u8,
) {
    // From 64 on, all lanes.
    let shared = _bzhi_u64(u64::MAX, prefix as u32);
    // SAFETY: one register is there.
    unsafe {
        let own = _mm512_loadu_si512(from.cast());
        current.0 = _mm512_mask_blend_epi8(shared, own, current.0);
        _mm512_storeu_si512(to.cast(), current.0);
    }
    if length > BYTES {
        let shared = _bzhi_u64(u64::MAX, prefix.saturating_sub(BYTES) as u32);
        // SAFETY: the value takes the second register too.
        unsafe {
            let own = _mm512_loadu_si512(from.add(BYTES).cast());
            current.1 = _mm512_mask_blend_epi8(shared, own, current.1);
            _mm512_storeu_si512(to.add(BYTES).cast(), current.1);
        }
    }
}

/// See [`super::expand`].
pub(super) fn expand(_: Avx512, values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
        // SAFETY: the instructions that the registers need are enabled here.
        unsafe { super::expand::<Registers>(values, start, out) };
    }
    // SAFETY: the token proves that the instructions are there.
    unsafe { enabled(values, start, out) };
}
