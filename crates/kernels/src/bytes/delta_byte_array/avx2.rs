//! DELTA_BYTE_ARRAY with AVX2: the first 127 bytes of a value stay in four registers.
//!
//! A suffix is loaded from so far before its start that its bytes come to lie behind the prefix, in
//! whole registers; what else was loaded is replaced by the prefix, or lies behind the value.

use std::arch::x86_64::*;

use super::{Current, DeltaByteArray};
use crate::cpu::Avx2;

/// Bytes of a register.
const BYTES: usize = 32;

/// Bytes of a value that can be told apart by a signed comparison.
const MOST: usize = i8::MAX as usize;

/// The first bytes of a value; behind its end, anything.
#[derive(Clone, Copy)]
struct Registers([__m256i; 4]);

impl Current for Registers {
    #[inline(always)]
    unsafe fn load(value: *const u8, length: usize) -> Self {
        let mut first = [[0; BYTES]; 4];
        // SAFETY: the caller promises that `length` bytes may be read; no more than there are in the
        // array are.
        unsafe {
            std::ptr::copy_nonoverlapping(value, first.as_mut_ptr().cast(), length.min(MOST));
        }
        // SAFETY: arrays of bytes and registers are as large, and any bits are a register.
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
        let (Some(from), true) = (at.checked_sub(prefix), length <= MOST) else {
            return false;
        };
        if from + whole > bytes.len() {
            return false;
        }
        let from = bytes.as_ptr().wrapping_add(from);
        // SAFETY: the caller promises AVX2 and room for the value and a register; whole registers are
        // readable, as was just compared.
        unsafe { follow(self, prefix, length, from, to) };
        true
    }
}

/// # Safety
/// `prefix <= length <= MOST`; at `from`, as many bytes are readable as the value takes in whole
/// registers, and at `to` as many are writable.
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
        // Negative, from -96 on, where the register has no byte of the prefix.
        let left = _mm256_set1_epi8((prefix as i32 - first as i32) as i8);
        let shared = _mm256_cmpgt_epi8(left, lanes);
        // SAFETY: this register is among those that the value takes.
        unsafe {
            let own = _mm256_loadu_si256(from.add(first).cast());
            *register = _mm256_blendv_epi8(own, *register, shared);
            _mm256_storeu_si256(to.add(first).cast(), *register);
        }
    }
}

/// See [`super::expand`].
pub(super) fn expand(_: Avx2, values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
        // SAFETY: the instructions that the registers need are enabled here.
        unsafe { super::expand::<Registers>(values, start, out) };
    }
    // SAFETY: the token proves that the instructions are there.
    unsafe { enabled(values, start, out) };
}
