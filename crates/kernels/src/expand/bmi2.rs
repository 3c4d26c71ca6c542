//! Expands bits, bytes and pairs of bytes with PDEP, one word of slots at a time.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;
use std::ops::Range;

use super::scalar::ExpandWord;
use crate::bitmap::{Bitmap, low_bits};
use crate::cpu::{Bmi2, Scalar};

/// Places the lowest bits of `bits` in order at the set bits of `mask`, and returns them with zeros elsewhere.
#[inline(always)]
pub(super) fn deposit(_: Bmi2, bits: u64, mask: u64) -> u64 {
    // SAFETY: the token proves that the instruction is available.
    unsafe { _pdep_u64(bits, mask) }
}

/// Implements [`super::spread_bits`].
pub(super) fn spread_bits(
    cpu: Bmi2,
    bits: (&[u8], usize),
    validity: &Bitmap,
    slots: Range<usize>,
    out: &mut Bitmap,
) {
    #[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
    fn enabled(
        cpu: Bmi2,
        bits: (&[u8], usize),
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Bitmap,
    ) {
        let deposit = |bits, mask| deposit(cpu, bits, mask);
        super::spread_bits_with(deposit, bits, validity, slots, out);
    }
    // SAFETY: the token proves that the instructions are available.
    unsafe { enabled(cpu, bits, validity, slots, out) }
}

/// Implements [`ExpandWord::expand_word`] for plain values of one or two bytes.
#[inline(always)]
pub(super) fn expand_word<T: Copy + Default + 'static>(
    cpu: Bmi2,
    slots: &mut [MaybeUninit<T>],
    first: usize,
    mut dense: usize,
    bits: u64,
) {
    let bytes = size_of::<T>();
    debug_assert!(super::is_plain::<T>() && bytes <= 2);
    let lanes = 8 / bytes;
    // These are the lowest bit of each lane, and a mask for all bits of the first lane.
    let (lowest, lane) = if bytes == 1 {
        (0x0101_0101_0101_0101, 0xff)
    } else {
        (0x0001_0001_0001_0001, 0xffff)
    };
    let mut end = slots.len();
    while end > first {
        let at = (end - first - 1) / lanes * lanes;
        let here = bits >> at & low_bits(lanes);
        let ones = here.count_ones() as usize;
        if end - first - at < lanes || dense < lanes {
            Scalar.expand_word(&mut slots[..end], first + at, dense, here);
        } else {
            // SAFETY: the word that ends with the last value lies in `slots`. It is initialised, since all values
            // before that one are.
            let word = unsafe {
                slots
                    .as_ptr()
                    .add(dense - lanes)
                    .cast::<u64>()
                    .read_unaligned()
            };
            let behind = 64 - (ones * bytes * 8) as u32;
            let values = word.checked_shr(behind).unwrap_or_default();
            let spread = deposit(cpu, values, deposit(cpu, here, lowest) * lane);
            // SAFETY: there are `lanes` slots from `first + at` on.
            unsafe {
                slots
                    .as_mut_ptr()
                    .add(first + at)
                    .cast::<u64>()
                    .write_unaligned(spread);
            }
        }
        dense -= ones;
        end = first + at;
    }
}
