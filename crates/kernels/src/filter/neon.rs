//! Compaction with NEON: one table lookup per four slots of four bytes, or two per four slots of eight.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::{Compact, SPARSE, Slot, WORD};
use crate::cpu::{Neon, Scalar};
use crate::expand::is_plain;
use crate::expand::neon::{BLOCK, counts};

impl Compact for Neon {
    #[inline(always)]
    fn compact_word<T: Copy + 'static>(
        self,
        slots: &[Slot<T>],
        bits: u64,
        out: &mut [MaybeUninit<T>],
    ) {
        assert!(out.len() >= WORD);
        let (from, to) = (slots.as_ptr().cast(), out.as_mut_ptr().cast());
        let is_vectors = slots.len() == WORD && bits.count_ones() >= SPARSE;
        match size_of::<T>() {
            // SAFETY: the token proves that the instructions are available. There are `WORD` slots of plain data, and
            // `WORD` slots of this size may be written.
            4 if is_vectors && is_plain::<T>() => unsafe { word::<4>(from, bits, to) },
            // SAFETY: as for 4-byte slots.
            8 if is_vectors && is_plain::<T>() => unsafe { word::<8>(from, bits, to) },
            _ => Scalar.compact_word(slots, bits, out),
        }
    }
}

/// For each mask of four slots, the bytes of the set slots of four bytes, followed by bytes of zero.
static BYTES_4: [[u8; 16]; 16] = bytes::<4, 16>();

/// For each mask of four slots, the bytes of the set slots of eight bytes, followed by bytes of zero.
static BYTES_8: [[u8; 32]; 16] = bytes::<8, 32>();

const fn bytes<const SIZE: usize, const ALL: usize>() -> [[u8; ALL]; 16] {
    let mut bytes = [[0; ALL]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut slot, mut to) = (0, 0);
        while slot < BLOCK {
            if mask >> slot & 1 == 1 {
                let mut byte = 0;
                while byte < SIZE {
                    bytes[mask][to] = (slot * SIZE + byte) as u8;
                    to += 1;
                    byte += 1;
                }
            }
            slot += 1;
        }
        mask += 1;
    }
    bytes
}

/// Writes the slots whose bits are set, of `WORD` slots with `SIZE` (4 or 8) bytes each, to `out`.
///
/// # Safety
/// `WORD` slots must be readable at `slots`, and writable at `out`.
#[target_feature(enable = "neon")]
unsafe fn word<const SIZE: usize>(mut slots: *const u8, mut bits: u64, mut out: *mut u8) {
    let mut ones = counts(bits);
    for _ in 0..WORD / BLOCK {
        let here = (bits & 0xf) as usize;
        // SAFETY: four of the `WORD` slots are read. No more slots were written than were read before, so that the four
        // that are written end within `WORD`.
        unsafe {
            if SIZE == 4 {
                let bytes = vld1q_u8(BYTES_4[here].as_ptr());
                vst1q_u8(out, vqtbl1q_u8(vld1q_u8(slots), bytes));
            } else {
                let loaded = uint8x16x2_t(vld1q_u8(slots), vld1q_u8(slots.add(16)));
                let bytes = BYTES_8[here].as_ptr();
                vst1q_u8(out, vqtbl2q_u8(loaded, vld1q_u8(bytes)));
                vst1q_u8(out.add(16), vqtbl2q_u8(loaded, vld1q_u8(bytes.add(16))));
            }
            slots = slots.add(BLOCK * SIZE);
            out = out.add((ones & 0xf) as usize * SIZE);
        }
        bits >>= BLOCK;
        ones >>= BLOCK;
    }
}
