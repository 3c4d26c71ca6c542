//! Drops the slots of nulls, which leaves the values that a page stores. This is the inverse of
//! [`expand`](crate::expand).
//!
//! ```text
//! validity  1 0 0 1 1 0        slots  a x x b c x   →   dense  a b c
//! ```
//!
//! If a word of 64 slots is all valid or all null, we copy or skip it as a whole.

use std::mem::MaybeUninit;

use herringbone_arrow::buffer::BooleanBuffer;

use crate::bitmap::{load_bits, low_bits};
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::plain::Plain;
use crate::prefetch;

pub mod arrays;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
mod tests;

/// The number of slots per word of validity.
const WORD: usize = 64;

/// A slot at any address, because values in pages are not aligned.
#[derive(Clone, Copy)]
#[repr(C, packed)]
struct Slot<T>(T);

/// Returns aligned values as slots.
fn slots<T>(values: &[T]) -> &[Slot<T>] {
    // SAFETY: a `Slot<T>` is a `T` that needs no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Returns the slots in `bytes`, without an incomplete slot at the end.
fn slots_of_page<T: Plain>(bytes: &[u8]) -> &[Slot<T>] {
    // SAFETY: the bytes of this many slots exist. Slots need no alignment, and any bytes are a valid `T: Plain`.
    unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>()) }
}

/// Compaction kernels, which tokens of instruction sets implement.
trait Compact: Copy {
    /// Writes the `slots` whose bits are set to the beginning of `out`, which must have at least `WORD` slots. All
    /// slots up to the number of set bits are then initialised. `bits` must have no ones past the end of `slots`.
    fn compact_word<T: Copy + 'static>(
        self,
        slots: &[Slot<T>],
        bits: u64,
        out: &mut [MaybeUninit<T>],
    );
}

impl Compact for Scalar {
    #[inline(always)]
    fn compact_word<T: Copy + 'static>(
        self,
        slots: &[Slot<T>],
        bits: u64,
        out: &mut [MaybeUninit<T>],
    ) {
        if bits.count_ones() < SPARSE {
            let mut left = bits;
            for to in out.iter_mut().take(bits.count_ones() as usize) {
                to.write(slots[left.trailing_zeros() as usize].0);
                left &= left - 1;
            }
            return;
        }
        // We write every slot, and let the next one overwrite it if it is a null.
        let out = &mut out[..WORD];
        let (mut to, mut left) = (0, bits);
        for slot in slots {
            // The index is below `WORD`, because fewer than `WORD` slots were written before.
            out[to % WORD].write(slot.0);
            to += (left & 1) as usize;
            left >>= 1;
        }
    }
}

/// The number of values in a word below which we search for their slots one by one.
const SPARSE: u32 = 16;

/// Appends the `values` whose bit is set. Value `i` belongs to bit `first + i` of `bits`, and bits past the end of
/// `bits` count as zeros.
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
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = Neon::detect() {
        return compact_with(cpu, values, bits, first, out);
    }
    compact_with(Scalar, values, bits, first, out);
}

/// Appends the values from a PLAIN page whose bit in `wanted` is set. The page may have any alignment. There is one bit
/// per value, so bytes past the last bit's value are ignored.
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
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = Neon::detect() {
        return filter_plain_with(cpu, bytes, wanted, out);
    }
    filter_plain_with(Scalar, bytes, wanted, out);
}

/// The number of values for which [`filter_plain`] reserves room after the appended values.
pub const FILTER_ROOM: usize = WORD;

/// Implements [`filter_plain`].
fn filter_plain_with<T: Plain>(
    cpu: impl Compact,
    bytes: &[u8],
    wanted: &BooleanBuffer,
    out: &mut Vec<T>,
) {
    // We need room for one more word, because words are written as a whole.
    out.reserve(wanted.count_set_bits() + WORD);
    let words = slots_of_page(bytes).chunks(WORD);
    for (slots, bits) in words.zip(wanted.bit_chunks().iter_padded()) {
        for line in slots.chunks((64 / size_of::<T>()).max(1)) {
            prefetch::ahead(line.as_ptr());
        }
        compact_slots(cpu, slots, bits & low_bits(slots.len()), out);
    }
}

/// Drops the `values` from `start` on whose bit is not set, and also values that have no bit. Value `start + i` belongs
/// to bit `i`.
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
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = Neon::detect() {
        return retain_with(cpu, values, start, bits);
    }
    retain_with(Scalar, values, start, bits);
}

/// Implements [`retain`].
fn retain_with<T: Copy + 'static>(
    cpu: impl Compact,
    values: &mut Vec<T>,
    start: usize,
    bits: &BooleanBuffer,
) {
    let Some(first) = values.get(start) else {
        return;
    };
    let mut word = [MaybeUninit::new(*first); WORD];
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
            cpu.compact_word(slots(&values[from..end]), bits, &mut word);
            // We copy a whole word if it fits, because this is faster. The values that this overwrites after the first
            // `n` have already been read.
            let moved = if end - from == WORD { WORD } else { n };
            let target = values[to..to + moved].as_mut_ptr();
            // SAFETY: all of the word is initialised, there is room for `moved` values at `target`, and the word
            // does not overlap it.
            unsafe { std::ptr::copy_nonoverlapping(word.as_ptr().cast(), target, moved) };
        }
        from = end;
        to += n;
    }
    values.truncate(to);
}

/// Implements [`filter`].
fn compact_with<T: Copy + 'static>(
    cpu: impl Compact,
    values: &[T],
    bits: &[u8],
    first: usize,
    out: &mut Vec<T>,
) {
    // We need room for one more word, because words are written as a whole.
    out.reserve(values.len() + WORD);
    for (i, slots) in slots(values).chunks(WORD).enumerate() {
        let bits = load_bits(bits, first.saturating_add(i * WORD), slots.len());
        // There is always room for a word, because at most `values.len()` values are ever appended.
        compact_slots(cpu, slots, bits, out);
    }
}

/// Appends the `slots` whose bit is set. There must be at most a word of slots, no ones in `bits` past the end of
/// `slots`, and room for a word.
#[inline(always)]
fn compact_slots<T: Copy + 'static>(
    cpu: impl Compact,
    slots: &[Slot<T>],
    bits: u64,
    out: &mut Vec<T>,
) {
    let n = bits.count_ones() as usize;
    let spare = &mut out.spare_capacity_mut()[..WORD];
    match slots.first_chunk::<WORD>() {
        Some(slots) if n == WORD => {
            let target = spare.as_mut_ptr().cast::<Slot<T>>();
            // SAFETY: there are `WORD` slots, and as many spare ones, which do not overlap them.
            unsafe { std::ptr::copy_nonoverlapping(slots.as_ptr(), target, WORD) };
        }
        _ if n > 0 => cpu.compact_word(slots, bits, spare),
        _ => {}
    }
    // SAFETY: there are `WORD >= n` spare slots, and the first `n` of them were written.
    unsafe { out.set_len(out.len() + n) };
}
