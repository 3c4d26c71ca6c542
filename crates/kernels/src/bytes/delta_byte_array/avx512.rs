//! DELTA_BYTE_ARRAY with AVX-512, which keeps the first 128 bytes of a value in two registers.
//!
//! As with AVX2, we load a suffix in whole registers, starting `prefix` bytes before it, so that its bytes end up right
//! after the prefix. We do not use masked loads, because they take longer, and each value would wait for the previous
//! one.

use std::arch::x86_64::*;

use super::{Current, DeltaByteArray};
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

/// The size of a register in bytes.
const BYTES: usize = 64;

/// The longest value that we assemble in registers, in bytes.
const MAX_LENGTH: usize = 2 * BYTES;

/// The first bytes of a value, with arbitrary bytes past its end.
#[derive(Clone, Copy)]
struct Registers(__m512i, __m512i);

impl Current for Registers {
    #[inline(always)]
    unsafe fn load(value: *const u8, length: usize) -> Self {
        // SAFETY: the caller promises AVX-512 and that `length` bytes may be read.
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
        let (Some(from), true) = (at.checked_sub(prefix), length <= MAX_LENGTH) else {
            return false;
        };
        // We always ask for two registers, however short the value is, because this costs only one comparison.
        if bytes.len() < MAX_LENGTH || from > bytes.len() - MAX_LENGTH {
            return false;
        }
        let from = bytes.as_ptr().wrapping_add(from);
        // SAFETY: the caller promises AVX-512 and room for the value and a register; the comparison above shows
        // that two registers are readable.
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
    // SAFETY: masked lanes are not read, and the other lanes are among the `length` bytes.
    unsafe {
        Registers(
            _mm512_maskz_loadu_epi8(low_bits(low), value.cast()),
            _mm512_maskz_loadu_epi8(low_bits(high), value.wrapping_add(BYTES).cast()),
        )
    }
}

/// Writes the next value from the prefix in `current` and the suffix loaded at `from`.
///
/// # Safety
/// `prefix <= length <= MAX_LENGTH`. Two registers are readable at `from`. At `to`, all registers that the value
/// occupies are writable, and at least one.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,bmi2")]
unsafe fn follow(
    current: &mut Registers,
    prefix: usize,
    length: usize,
    from: *const u8,
    to: *mut u8,
) {
    // These are all lanes if `prefix` is 64 or more.
    let shared = _bzhi_u64(u64::MAX, prefix as u32);
    // SAFETY: one register is always readable and writable.
    unsafe {
        let own = _mm512_loadu_si512(from.cast());
        current.0 = _mm512_mask_blend_epi8(shared, own, current.0);
        _mm512_storeu_si512(to.cast(), current.0);
    }
    if length > BYTES {
        let shared = _bzhi_u64(u64::MAX, prefix.saturating_sub(BYTES) as u32);
        // SAFETY: the value also occupies the second register.
        unsafe {
            let own = _mm512_loadu_si512(from.add(BYTES).cast());
            current.1 = _mm512_mask_blend_epi8(shared, own, current.1);
            _mm512_storeu_si512(to.add(BYTES).cast(), current.1);
        }
    }
}

/// Implements [`super::expand`].
pub(super) fn expand(_: Avx512, values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
        // SAFETY: the instructions that the registers need are enabled here.
        unsafe { super::expand::<Registers>(values, start, out) };
    }
    // SAFETY: the token proves that the instructions are available.
    unsafe { enabled(values, start, out) };
}
