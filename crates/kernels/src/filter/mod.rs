//! Drops the slots of nulls: what is left is what a page stores. The inverse of
//! [`expand`](crate::expand).
//!
//! ```text
//! validity  1 0 0 1 1 0        slots  a x x b c x   →   dense  a b c
//! ```
//!
//! Words of 64 slots that are all valid or all null are copied or passed over.

use std::mem::MaybeUninit;

use herringbone_arrow::buffer::BooleanBuffer;

use crate::bitmap::{load_bits, low_bits};
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::plain::{self, Plain};

pub mod arrays;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod tests;

/// Slots of a word of validity.
const WORD: usize = 64;

/// A token that knows how to drop slots.
trait Compact: Copy {
    /// Writes the `slots` whose bits are set to the beginning of `out`, which has `WORD` slots or
    /// more; all up to the number of set bits are initialised then. `bits` has none behind `slots`.
    fn compact_word<T: Copy + 'static>(self, slots: &[T], bits: u64, out: &mut [MaybeUninit<T>]);
}

impl Compact for Scalar {
    #[inline(always)]
    fn compact_word<T: Copy + 'static>(self, slots: &[T], bits: u64, out: &mut [MaybeUninit<T>]) {
        if bits.count_ones() < SPARSE {
            let mut left = bits;
            for to in out.iter_mut().take(bits.count_ones() as usize) {
                to.write(slots[left.trailing_zeros() as usize]);
                left &= left - 1;
            }
            return;
        }
        // Every slot is written, and the next one over it if it is a null.
        let out = &mut out[..WORD];
        let (mut to, mut left) = (0, bits);
        for slot in slots {
            // Fewer slots than a word came before.
            out[to % WORD].write(*slot);
            to += (left & 1) as usize;
            left >>= 1;
        }
    }
}

/// Below so many values in a word, their slots are looked for one by one.
const SPARSE: u32 = 16;

/// Appends the `values` whose bit is set: value `i` belongs to bit `first + i` of `bits`. Bits behind
/// the end of `bits` count as zeros.
pub fn filter<T: Copy + 'static>(values: &[T], bits: &[u8], first: usize, out: &mut Vec<T>) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return compact_with(cpu, values, bits, first, out);
        }
        if let Some(cpu) = Avx2::detect() {
            return compact_with(cpu, values, bits, first, out);
        }
    }
    compact_with(Scalar, values, bits, first, out);
}

/// Appends the values in the bytes of a PLAIN page whose bit is set, a bit a value; alignment does not matter. Bytes behind
/// the last bit are left alone.
pub fn filter_plain<T: Plain>(bytes: &[u8], wanted: &BooleanBuffer, out: &mut Vec<T>) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return filter_plain_with(cpu, bytes, wanted, out);
        }
        if let Some(cpu) = Avx2::detect() {
            return filter_plain_with(cpu, bytes, wanted, out);
        }
    }
    filter_plain_with(Scalar, bytes, wanted, out);
}

/// Room that [`filter_plain`] takes behind the values that it appends.
pub const FILTER_ROOM: usize = WORD;

/// See [`filter_plain`].
fn filter_plain_with<T: Plain>(
    cpu: impl Compact,
    bytes: &[u8],
    wanted: &BooleanBuffer,
    out: &mut Vec<T>,
) {
    let mut aligned = [T::default(); WORD];
    // Words are written as a whole.
    out.reserve(wanted.count_set_bits() + WORD);
    let words = wanted.bit_chunks();
    let word_bytes = bytes.chunks(WORD * size_of::<T>());
    for (bits, bytes) in words.iter_padded().zip(word_bytes) {
        if bits == 0 {
            continue;
        }
        let slots = match plain::view(bytes) {
            Some(slots) => slots,
            None => {
                let mut n = 0;
                for (slot, value) in aligned.iter_mut().zip(plain::values(bytes)) {
                    *slot = value;
                    n += 1;
                }
                &aligned[..n]
            }
        };
        compact_slots(cpu, slots, bits & low_bits(slots.len()), out);
    }
}

/// Drops those of the `values` from `start` on whose bit is not set: value `start + i` belongs to bit `i`. Values without
/// a bit are dropped too.
pub fn retain<T: Copy + 'static>(values: &mut Vec<T>, start: usize, bits: &BooleanBuffer) {
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return retain_with(cpu, values, start, bits);
        }
        if let Some(cpu) = Avx2::detect() {
            return retain_with(cpu, values, start, bits);
        }
    }
    retain_with(Scalar, values, start, bits);
}

/// See [`retain`].
fn retain_with<T: Copy + 'static>(
    cpu: impl Compact,
    values: &mut Vec<T>,
    start: usize,
    bits: &BooleanBuffer,
) {
    let mut word = [const { MaybeUninit::uninit() }; WORD];
    let (mut from, mut to) = (start, start);
    for bits in bits.bit_chunks().iter_padded() {
        let end = values.len().min(from.saturating_add(WORD));
        if from >= end {
            break;
        }
        let bits = bits & low_bits(end - from);
        let n = bits.count_ones() as usize;
        if n == end - from {
            values.copy_within(from..end, to);
        } else if n > 0 {
            cpu.compact_word(&values[from..end], bits, &mut word);
            let target = values[to..to + n].as_mut_ptr();
            // SAFETY: the first `n` of the word are written, as so many bits are set; there is room for `n` at `target`,
            // and the word is memory of its own.
            unsafe { std::ptr::copy_nonoverlapping(word.as_ptr().cast(), target, n) };
        }
        from = end;
        to += n;
    }
    values.truncate(to);
}

/// See [`filter`].
fn compact_with<T: Copy + 'static>(
    cpu: impl Compact,
    values: &[T],
    bits: &[u8],
    first: usize,
    out: &mut Vec<T>,
) {
    // Words are written as a whole.
    out.reserve(values.len() + WORD);
    for (i, slots) in values.chunks(WORD).enumerate() {
        let bits = load_bits(bits, first.saturating_add(i * WORD), slots.len());
        // No more than `values.len()` are ever appended, so that a word is always left.
        compact_slots(cpu, slots, bits, out);
    }
}

/// Appends those of at most a word of `slots` whose bit is set. `bits` has none behind them; there is room for a word.
#[inline(always)]
fn compact_slots<T: Copy + 'static>(cpu: impl Compact, slots: &[T], bits: u64, out: &mut Vec<T>) {
    if bits == low_bits(slots.len()) {
        out.extend_from_slice(slots);
    } else if bits != 0 {
        let n = bits.count_ones() as usize;
        let spare = &mut out.spare_capacity_mut()[..WORD];
        cpu.compact_word(slots, bits, spare);
        // SAFETY: there are `WORD >= n` spare slots, of which the first `n` were written.
        unsafe { out.set_len(out.len() + n) };
    }
}
