//! DELTA_BYTE_ARRAY with AVX2, which keeps the first 127 bytes of a value in four registers.
//!
//! We load a suffix in whole registers, starting `prefix` bytes before it, so that its bytes end up right after the
//! prefix. The other bytes that we load are replaced by the prefix, or lie past the value's end.

use std::arch::x86_64::*;

use super::{Current, DeltaByteArray};
use crate::cpu::Avx2;

/// The size of a register in bytes.
const BYTES: usize = 32;

/// The longest value for which a signed comparison of byte positions works.
const MAX_LENGTH: usize = i8::MAX as usize;

/// The first bytes of a value, with arbitrary bytes past its end.
#[derive(Clone, Copy)]
struct Registers([__m256i; 4]);

impl Current for Registers {
    #[inline(always)]
    unsafe fn load(value: *const u8, length: usize) -> Self {
        let mut first = [[0; BYTES]; 4];
        // SAFETY: the caller promises that `length` bytes may be read; the copy is no longer than the array.
        unsafe {
            std::ptr::copy_nonoverlapping(value, first.as_mut_ptr().cast(), length.min(MAX_LENGTH));
        }
        // SAFETY: the byte arrays and the registers have the same size, and any bit pattern is a valid register.
        Self(unsafe { std::mem::transmute::<[[u8; BYTES]; 4], [__m256i; 4]>(first) })
    }

    #[inline(always)]
    unsafe fn follow(
        &mut self,
        prefix: usize,
        length: usize,
        (bytes, at): (&[u8], usize),
        to: *mut u8,
    ) -> bool {
        let whole = length.next_multiple_of(BYTES);
        let (Some(from), true) = (at.checked_sub(prefix), length <= MAX_LENGTH) else {
            return false;
        };
        if from + whole > bytes.len() {
            return false;
        }
        let from = bytes.as_ptr().wrapping_add(from);
        // SAFETY: the caller promises AVX2 and room for the value and a register; the comparison above shows that
        // whole registers are readable.
        unsafe { follow(self, prefix, length, from, to) };
        true
    }
}

/// Writes the next value from the prefix in `current` and the suffix loaded at `from`.
///
/// # Safety
/// `prefix <= length <= MAX_LENGTH`. `length` rounded up to whole registers is readable at `from` and writable at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn follow(
    current: &mut Registers,
    prefix: usize,
    length: usize,
    from: *const u8,
    to: *mut u8,
) {
    #[rustfmt::skip]
    let lanes = _mm256_setr_epi8(
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    );
    for (i, register) in current.0.iter_mut().enumerate() {
        let first = i * BYTES;
        if first >= length {
            break;
        }
        // This is negative, down to -96, if the register contains no byte of the prefix.
        let left = _mm256_set1_epi8((prefix as i32 - first as i32) as i8);
        let shared = _mm256_cmpgt_epi8(left, lanes);
        // SAFETY: this register is among those that the value occupies.
        unsafe {
            let own = _mm256_loadu_si256(from.add(first).cast());
            *register = _mm256_blendv_epi8(own, *register, shared);
            _mm256_storeu_si256(to.add(first).cast(), *register);
        }
    }
}

/// Implements [`super::expand`].
pub(super) fn expand(_: Avx2, values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
        // SAFETY: the instructions that the registers need are enabled here.
        unsafe { super::expand::<Registers>(values, start, out) };
    }
    // SAFETY: the token proves that the instructions are available.
    unsafe { enabled(values, start, out) };
}
