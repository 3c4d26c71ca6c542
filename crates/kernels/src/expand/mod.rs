//! Spreads densely decoded values over nulls, in place.
//!
//! A page stores its non-null values back to back. We decode them that way to the end of the output, and then move them
//! to their slots, from the last one backwards. So no value is overwritten before it has been moved, and we need no
//! second buffer:
//!
//! ```text
//! validity  1 0 0 1 1 0        dense  a b c . . .   →   spread  a 0 0 b c 0
//! ```
//!
//! There are never more values left than slots left, so a block of slots is always written at or after the values that
//! fill it.

use std::mem::MaybeUninit;
use std::ops::Range;

use herringbone_arrow::buffer::BooleanBuffer;

use crate::Malformed;
use crate::bitmap::{Bitmap, load_bits};
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512, Bmi2};
use crate::plain::Plain;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod bmi2;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod bit_patterns;
mod loops;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod scalar;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use bit_patterns::is_plain;

/// Moves the dense values at the end of `out` to their slots.
///
/// `out[base..]` must have one value for each set bit among the slots `start..start + n` of `validity`. Afterwards,
/// `out[base..base + n]` has each value at its slot, and `T::default()` in the slots without a value. Slots past the
/// end of `validity` have no value. If `out[base..]` has more values than there are set bits, the surplus is dropped.
/// If it has fewer, defaults replace the missing ones.
pub fn expand<T: Copy + Default + 'static>(
    out: &mut Vec<T>,
    base: usize,
    validity: &Bitmap,
    start: usize,
    n: usize,
) {
    let range = start..start.saturating_add(n);
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return expand_with(cpu, out, base, validity, range);
        }
        if let Some(cpu) = Avx2::detect() {
            return expand_with(cpu, out, base, validity, range);
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = Neon::detect() {
        return expand_with(cpu, out, base, validity, range);
    }
    expand_with(Scalar, out, base, validity, range);
}

/// Moves the values from `start` on to their slots, as [`expand`] does. Before that, this checks that `out[start..]`
/// has one value for each set bit among the slots `start..start + slots`.
///
/// # Errors
/// Fails with [`Malformed`] if the counts differ, and leaves `out` unchanged then.
pub(crate) fn expand_all<T: Copy + Default + 'static>(
    out: &mut Vec<T>,
    validity: &Bitmap,
    start: usize,
    slots: usize,
) -> Result<(), Malformed> {
    check_dense(out.len(), validity, start, slots)?;
    expand(out, start, validity, start, slots);
    Ok(())
}

/// Checks that there are as many dense values, from `start` to the last of `len`, as set bits among the slots
/// `start..start + slots`.
pub(crate) fn check_dense(
    len: usize,
    validity: &Bitmap,
    start: usize,
    slots: usize,
) -> Result<(), Malformed> {
    let values = validity.set_in(start..start.saturating_add(slots));
    if start.checked_add(values) == Some(len) {
        return Ok(());
    }
    Err(Malformed("values and validity do not agree"))
}

/// Appends a value for each of the slots `start..start + n` of `validity`. Slots with a set bit take the next value in
/// `bytes`, which are back to back and little endian. All other slots become `T::default()`.
///
/// There must be as many values as set bits, but they may have any alignment. If there are fewer, nothing is appended
/// and the result is false. Slots past the end of `validity` have no value.
#[must_use]
pub fn spread<T: Plain>(
    bytes: &[u8],
    validity: &Bitmap,
    start: usize,
    n: usize,
    out: &mut Vec<T>,
) -> bool {
    let ones = validity.set_in(start..start.saturating_add(n));
    let Some(bytes) = ones
        .checked_mul(size_of::<T>())
        .and_then(|length| bytes.get(..length))
    else {
        return false;
    };
    out.reserve(n);
    let slots = &mut out.spare_capacity_mut()[..n];
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx512::detect() {
        cpu.spread(bytes, slots, validity, start);
    } else if let Some(cpu) = Avx2::detect() {
        cpu.spread(bytes, slots, validity, start);
    } else {
        Scalar.spread(bytes, slots, validity, start);
    }
    #[cfg(target_arch = "aarch64")]
    match Neon::detect() {
        Some(cpu) => cpu.spread(bytes, slots, validity, start),
        None => Scalar.spread(bytes, slots, validity, start),
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    Scalar.spread(bytes, slots, validity, start);
    // SAFETY: the kernels in this module write every slot.
    unsafe { out.set_len(out.len() + n) };
    true
}

/// Moves dense end offsets to their slots. A slot without a value gets the end of the previous slot.
///
/// `offsets[base..]` must have one end offset for each set bit among the slots `start..start + n` of `validity`.
/// Afterwards, `offsets[base..base + n]` has one for each slot. The offset before the first slot is
/// `offsets[base - 1]`, or `O::default()` if `base` is zero. Surplus and missing offsets are treated as in [`expand`].
pub fn expand_offsets<O: Copy + Default + 'static>(
    offsets: &mut Vec<O>,
    base: usize,
    validity: &Bitmap,
    start: usize,
    n: usize,
) {
    let range = start..start.saturating_add(n);
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(cpu) = Avx512::detect() {
            return expand_offsets_with(cpu, offsets, base, validity, range);
        }
        if let Some(cpu) = Avx2::detect() {
            return expand_offsets_with(cpu, offsets, base, validity, range);
        }
    }
    expand_offsets_with(Scalar, offsets, base, validity, range);
}

/// Expansion kernels, which tokens of instruction sets implement.
trait Expand: Copy {
    /// Writes all of `slots` from `values`, which may have any alignment.
    ///
    /// There must be as many values as there are set bits in `start..start + slots.len()` of `validity`.
    fn spread<T: Plain>(
        self,
        values: &[u8],
        slots: &mut [MaybeUninit<T>],
        validity: &Bitmap,
        start: usize,
    );

    /// Fills `slots`, from the last one on, with the values that are their first `dense` entries.
    ///
    /// `dense` must be the number of set bits in `start..start + slots.len()` of `validity`. All slots are initialised
    /// afterwards.
    fn expand<T: Copy + Default + 'static>(
        self,
        slots: &mut [MaybeUninit<T>],
        dense: usize,
        validity: &Bitmap,
        start: usize,
    );

    /// Fills all of `slots` except the first. They must begin with an offset and `dense` end offsets.
    ///
    /// `dense` must be the number of set bits in `start..start + slots.len() - 1` of `validity`. All slots are
    /// initialised afterwards.
    fn expand_offsets<O: Copy + 'static>(
        self,
        slots: &mut [MaybeUninit<O>],
        dense: usize,
        validity: &Bitmap,
        start: usize,
    );
}

/// Implements [`expand`].
fn expand_with<T: Copy + Default + 'static>(
    cpu: impl Expand,
    out: &mut Vec<T>,
    base: usize,
    validity: &Bitmap,
    range: Range<usize>,
) {
    let Some(dense) = prepare(out, base, validity, &range) else {
        return;
    };
    fill(out, base, range.len(), |slots| {
        cpu.expand(slots, dense, validity, range.start)
    });
}

/// Implements [`expand_offsets`].
fn expand_offsets_with<O: Copy + Default + 'static>(
    cpu: impl Expand,
    offsets: &mut Vec<O>,
    base: usize,
    validity: &Bitmap,
    range: Range<usize>,
) {
    let Some(before) = base.checked_sub(1) else {
        offsets.insert(0, O::default());
        expand_offsets_with(cpu, offsets, 1, validity, range);
        offsets.remove(0);
        return;
    };
    let Some(dense) = prepare(offsets, base, validity, &range) else {
        return;
    };
    fill(offsets, before, range.len() + 1, |slots| {
        cpu.expand_offsets(slots, dense, validity, range.start);
    });
}

/// Moves the dense bits at the end of `out` to their slots, with zeros in the slots without a bit.
///
/// This works as [`expand`] does, but with bits (boolean values) instead of values. Missing bits are zero.
pub fn expand_bits(out: &mut Bitmap, base: usize, validity: &Bitmap, start: usize, n: usize) {
    let ones = validity.set_in(start..start.saturating_add(n));
    if ones == n && out.len() == base + n {
        return;
    }
    let dense: Vec<u64> = (0..ones.div_ceil(64))
        .map(|word| out.bits(base + word * 64, 64))
        .collect();
    out.truncate(base);
    let mut read = 0;
    for done in (0..n).step_by(64) {
        let step = (n - done).min(64);
        let valid = validity.bits(start + done, step);
        let bits = bits_at(&dense, read);
        out.append_bits(deposit(bits, valid), step);
        read += valid.count_ones() as usize;
    }
}

/// Appends a bit for each of the slots `start..start + n` of `validity`. Slots with a set bit take the next bit of
/// `data`, starting at bit `first`. All other slots become zero.
///
/// This works as [`spread`] does, but with bits instead of values. Bits past the end of `data` are zero.
pub fn spread_bits(
    data: &[u8],
    first: usize,
    validity: &Bitmap,
    start: usize,
    n: usize,
    out: &mut Bitmap,
) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Bmi2::detect() {
        return bmi2::spread_bits(cpu, (data, first), validity, start..start + n, out);
    }
    spread_bits_with(
        scalar::deposit,
        (data, first),
        validity,
        start..start + n,
        out,
    );
}

/// Implements [`spread_bits`], and is inlined into one function per instruction set.
#[inline(always)]
fn spread_bits_with(
    deposit: impl Fn(u64, u64) -> u64,
    (data, mut next): (&[u8], usize),
    validity: &Bitmap,
    slots: Range<usize>,
    out: &mut Bitmap,
) {
    let mut writer = out.write(slots.len());
    for start in slots.clone().step_by(64) {
        let step = (slots.end - start).min(64);
        let valid = validity.bits(start, step);
        let ones = valid.count_ones() as usize;
        writer.push(deposit(load_bits(data, next, ones), valid), step);
        next += ones;
    }
    writer.finish(out);
}

/// Returns a bit for each bit of `mask`. A set bit takes the next bit of `bits`, and all others become zero.
///
/// `bits` should have one bit for each set bit of `mask`. Missing bits are zero.
#[must_use]
pub fn deposit_bits(bits: &BooleanBuffer, mask: &BooleanBuffer) -> BooleanBuffer {
    let bits: Vec<u64> = bits.bit_chunks().iter_padded().collect();
    let mut next = 0;
    let words = mask.bit_chunks();
    let words = words.iter_padded().map(|mask| {
        let word = deposit(bits_at(&bits, next), mask);
        next += mask.count_ones() as usize;
        word
    });
    BooleanBuffer::new(words.collect::<Vec<_>>().into(), 0, mask.len())
}

/// Places the lowest bits of `bits` in order at the set bits of `mask`, and returns them with zeros elsewhere.
#[inline]
fn deposit(bits: u64, mask: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Bmi2::detect() {
        return bmi2::deposit(cpu, bits, mask);
    }
    scalar::deposit(bits, mask)
}

/// Returns 64 bits from `words`, starting at bit `first`, with zeros past the end.
#[inline]
fn bits_at(words: &[u64], first: usize) -> u64 {
    let (word, shift) = (first / 64, first % 64);
    let low = words.get(word).map_or(0, |bits| bits >> shift);
    // We shift in two steps, because a shift by 64 overflows.
    low | words
        .get(word + 1)
        .map_or(0, |bits| bits << 1 << (63 - shift))
}

/// Resizes `out[base..]` to exactly the dense values for the slots, and reserves memory for all slots.
///
/// Returns the number of dense values, or `None` if they are already in their slots.
fn prepare<T: Copy + Default>(
    out: &mut Vec<T>,
    base: usize,
    validity: &Bitmap,
    range: &Range<usize>,
) -> Option<usize> {
    let dense = validity.set_in(range.clone());
    out.resize(base + dense, T::default());
    out.reserve(range.len() - dense);
    (dense < range.len()).then_some(dense)
}

/// Runs `kernel` on the slots `out[first..first + n]`, and makes them part of `out`.
///
/// The slots begin with the values in `out[first..]`. The kernel must leave all slots initialised.
fn fill<T: Copy>(
    out: &mut Vec<T>,
    first: usize,
    n: usize,
    kernel: impl FnOnce(&mut [MaybeUninit<T>]),
) {
    debug_assert!(first <= out.len() && out.len() <= first + n && first + n <= out.capacity());
    // SAFETY: `prepare` reserved memory for all slots. Uninitialised memory may be exposed as `MaybeUninit`, and
    // the slice is no longer used once `out` is used again.
    let slots = unsafe {
        std::slice::from_raw_parts_mut(out.as_mut_ptr().add(first).cast::<MaybeUninit<T>>(), n)
    };
    kernel(slots);
    // SAFETY: the memory is reserved. The kernels in this module write every slot, from the last one down to the
    // dense values that are already in their slots.
    unsafe { out.set_len(first + n) };
}

#[cfg(test)]
mod tests;
