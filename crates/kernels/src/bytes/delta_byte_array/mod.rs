//! DELTA_BYTE_ARRAY with unpacked lengths. Each value is the first `prefix` bytes of the previous value, followed by
//! `suffix` bytes of its own.
//!
//! ```text
//! prefixes 0 2 0 3   suffixes 4 2 6 5   axis le babble yhood   →   axis axle babble babyhood
//! ```
//!
//! We check all lengths before the first byte moves, so the loop over the values cannot fail. Each check is a sum or a
//! maximum over slices.
//!
//! A processor cannot read bytes as a whole that it has just written in pieces, until they have left its store queue.
//! If we copied a value from the previous one, it would wait for that, and the next value would wait for it. So we keep
//! the current value in registers: its suffix replaces the bytes after the prefix, and we only write the value, but
//! never read it back. Values that are too long for the registers are copied.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;

use herringbone_arrow::array::OffsetSizeTrait;

use super::lengths::sum_lengths;
use super::offsets::extend_offsets;
use super::{ByteBuilder, ENDS_EARLY, OVERFLOW};
use crate::Malformed;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};
use crate::wild_copy::{SLACK, wild_copy, wild_copy_within};

const PREFIX_TOO_LONG: Malformed =
    Malformed("the prefix of a byte array is longer than the previous byte array");

/// The number of bytes that may be written after the last value, which is one register.
const SPARE: usize = 64;

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends values that are given by the lengths of their `prefixes` and `suffixes`. The suffixes lie back to back
    /// in `bytes`. Returns the number of bytes that the suffixes took. `previous` is the value before the first one,
    /// and is then set to the last one.
    ///
    /// The caller must bound the expansion with [`delta_byte_array_bytes`], because short suffixes can describe very
    /// long values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the slices differ in length, if a length is negative, if a prefix is longer than the
    /// previous value, if suffixes end early, if the offsets cannot address all bytes, or if a builder of strings gets
    /// invalid UTF-8.
    pub fn append_delta_byte_array(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        let values = DeltaByteArray::new(prefixes, suffixes, bytes, previous)?;
        if values.total > self.data_room() {
            return Err(OVERFLOW);
        }
        let taken = values.taken();
        self.reserve_values(prefixes.len());
        let mark = self.mark();
        values.append_to(&mut self.data);
        // No step wraps, because no length is negative and the sum is a valid offset.
        extend_offsets(mark.data, prefixes, Some(suffixes), &mut self.offsets);
        self.seal(&mark, false, Ok(()))?;
        if let [.., start, end] = self.offsets.as_slice()
            && !prefixes.is_empty()
        {
            let last = self.data.get(start.as_usize()..end.as_usize());
            previous.clear();
            previous.extend_from_slice(last.unwrap_or_default());
        }
        Ok(taken)
    }
}

/// Returns the total length in bytes of the values that `prefixes` and `suffixes` describe.
///
/// # Errors
/// Fails with [`Malformed`] if a length is negative or the sum overflows.
pub fn delta_byte_array_bytes(prefixes: &[i32], suffixes: &[i32]) -> Result<usize, Malformed> {
    let total = sum_lengths(prefixes)?.checked_add(sum_lengths(suffixes)?);
    total.ok_or(OVERFLOW)
}

/// Values whose lengths have been checked.
///
/// Invariants: no length is negative, and no prefix is longer than the previous value, which is `previous` for the
/// first value. All suffixes are present.
pub(crate) struct DeltaByteArray<'a> {
    prefixes: &'a [i32],
    suffixes: &'a [i32],
    bytes: &'a [u8],
    previous: &'a [u8],
    suffix_bytes: usize,
    /// The total length of all values, in bytes.
    pub(crate) total: usize,
}

impl<'a> DeltaByteArray<'a> {
    /// Checks the lengths.
    ///
    /// # Errors
    /// Fails as [`ByteBuilder::append_delta_byte_array`] describes.
    pub(crate) fn new(
        prefixes: &'a [i32],
        suffixes: &'a [i32],
        bytes: &'a [u8],
        previous: &'a [u8],
    ) -> Result<Self, Malformed> {
        if prefixes.len() != suffixes.len() {
            return Err(Malformed("the numbers of prefixes and suffixes differ"));
        }
        let prefix_bytes = sum_lengths(prefixes)?;
        let suffix_bytes = sum_lengths(suffixes)?;
        if suffix_bytes > bytes.len() {
            return Err(ENDS_EARLY);
        }
        let mut too_long = prefixes
            .first()
            .is_some_and(|first| *first as usize > previous.len());
        let befores = prefixes.iter().zip(suffixes);
        for ((&prefix, &suffix), &next) in befores.zip(prefixes.get(1..).unwrap_or_default()) {
            // Both lengths are at least 0 and below 2^31, so their sum fits into an unsigned 32-bit integer.
            too_long |= next as u32 > prefix as u32 + suffix as u32;
        }
        if too_long {
            return Err(PREFIX_TOO_LONG);
        }
        Ok(Self {
            prefixes,
            suffixes,
            bytes,
            previous,
            suffix_bytes,
            total: prefix_bytes.checked_add(suffix_bytes).ok_or(OVERFLOW)?,
        })
    }

    /// Returns the number of bytes that the suffixes took.
    pub(crate) fn taken(&self) -> usize {
        self.suffix_bytes
    }

    /// Appends the values back to back.
    pub(crate) fn append_to(&self, out: &mut Vec<u8>) {
        let (Some(&prefix), Some(&suffix)) = (self.prefixes.first(), self.suffixes.first()) else {
            return;
        };
        out.reserve(self.total.saturating_add(SPARE));
        let start = out.len();
        let shared = self.previous.get(..prefix as usize);
        out.extend_from_slice(shared.unwrap_or_default());
        let own = self.bytes.get(..suffix as usize);
        out.extend_from_slice(own.unwrap_or_default());
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(cpu) = Avx512::detect() {
                return avx512::expand(cpu, self, start, out);
            }
            if let Some(cpu) = Avx2::detect() {
                return avx2::expand(cpu, self, start, out);
            }
        }
        // SAFETY: portable code needs no special instructions.
        unsafe { expand::<InMemory>(self, start, out) };
    }
}

/// The value that was written last, or its beginning.
trait Current: Copy {
    /// Loads the value of `length` bytes.
    ///
    /// # Safety
    /// `length` bytes are readable at `value`, and the processor has the instructions.
    unsafe fn load(value: *const u8, length: usize) -> Self;

    /// Replaces this value with the next one and writes it, or returns false if it is too long. The next value's first
    /// `prefix` bytes come from this value. Its other bytes, up to `length`, are read from `bytes` at the given
    /// position.
    ///
    /// # Safety
    /// This value has `prefix` bytes, and `bytes` has the other bytes at the position. `length + SPARE` bytes are
    /// writable at `to`, and the processor has the instructions.
    unsafe fn follow(
        &mut self,
        prefix: usize,
        length: usize,
        bytes: (&[u8], usize),
        to: *mut u8,
    ) -> bool;
}

/// A value that exists only in the output, from which we copy the prefix of every next value.
#[derive(Clone, Copy)]
struct InMemory;

impl Current for InMemory {
    #[inline(always)]
    unsafe fn load(_: *const u8, _: usize) -> Self {
        Self
    }

    #[inline(always)]
    unsafe fn follow(&mut self, _: usize, _: usize, _: (&[u8], usize), _: *mut u8) -> bool {
        false
    }
}

/// Appends all values except the first, which lies in `out` from `start` to its end.
///
/// # Safety
/// The processor has the instructions of `C`.
#[inline(always)]
unsafe fn expand<C: Current>(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    let bytes = values.bytes;
    let mut previous_start = start;
    let mut filled = out.len();
    let mut at = values.suffixes.first().map_or(0, |first| *first as usize);
    // There is room for all values from the start of the first one, and for `SPARE` bytes more.
    debug_assert!(out.capacity() - start >= values.total + SPARE);
    let data = out.as_mut_ptr();
    // SAFETY: the first value was written.
    let mut current = unsafe { C::load(data.add(start), filled - start) };
    for (&prefix, &suffix) in values.prefixes.iter().zip(values.suffixes).skip(1) {
        let (prefix, suffix) = (prefix as usize, suffix as usize);
        let length = prefix + suffix;
        // SAFETY: `filled` and the remaining lengths add up to `start + total`. By the invariants, the previous
        // value has `prefix` bytes and `bytes` has the suffix at `at`.
        unsafe {
            if !current.follow(prefix, length, (bytes, at), data.add(filled)) {
                copy(
                    prefix,
                    suffix,
                    (bytes, at),
                    data.add(previous_start),
                    data.add(filled),
                );
                current = C::load(data.add(filled), length);
            }
        }
        previous_start = filled;
        filled += length;
        at += suffix;
    }
    // SAFETY: all bytes up to `filled` were written: the prefix and suffix of each value, without gaps.
    unsafe { out.set_len(filled) };
}

/// Writes one value, which is `prefix` bytes from the value at `previous`, and then `suffix` bytes from `bytes` at
/// `at`.
///
/// # Safety
/// `previous` has `prefix` bytes, and `bytes` has the suffix. `prefix + suffix + SPARE` bytes are writable at `to`,
/// which lies after the value at `previous` in the same allocation.
#[inline]
unsafe fn copy(
    prefix: usize,
    suffix: usize,
    (bytes, at): (&[u8], usize),
    previous: *const u8,
    to: *mut u8,
) {
    const { assert!(SLACK <= SPARE) };
    // SAFETY: the caller promises the bytes of the prefix, and room for them and `SLACK` more.
    unsafe { wild_copy_within(previous, to, prefix) };
    let source = bytes.as_ptr().wrapping_add(at);
    let to = to.wrapping_add(prefix);
    if bytes.len() - at >= suffix + SLACK {
        // SAFETY: `suffix + SLACK` bytes are readable in `bytes`, and writable at `to` by the caller's promise.
        // `bytes` is borrowed, so it cannot overlap the spare capacity being written.
        unsafe { wild_copy(source, to, suffix) };
    } else {
        // SAFETY: `bytes` has the suffix and `to` has room for it, by the caller's promise; this copy needs no
        // slack.
        unsafe { std::ptr::copy_nonoverlapping(source, to, suffix) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd_lanes::noise;

    const VALUES: usize = if cfg!(miri) { 20 } else { 200 };

    /// Tests both values that fit into registers and longer ones, with prefixes of all lengths.
    #[test]
    fn values_follow_one_another_as_in_words() {
        let most = [5, 40, 70, 130, 200, 400].into_iter();
        for (seed, most) in most.step_by(if cfg!(miri) { 2 } else { 1 }).enumerate() {
            let random = noise(6 * 500 + seed);
            let mut random = random[seed..].chunks_exact(6);
            let bytes: Vec<u8> = (0..VALUES * (most + 2))
                .map(|i| (i * 31 + i / 7) as u8)
                .collect();
            let mut next = |below: usize| {
                let chunk = random.next().unwrap_or(&[7; 6]);
                u32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]) as usize % below
            };
            let (mut prefixes, mut suffixes) = (Vec::new(), Vec::new());
            let (mut expected, mut last, mut at) = (Vec::new(), b"before".to_vec(), 0);
            for _ in 0..VALUES {
                let prefix = next(last.len() + 1);
                let suffix = next((most - prefix.min(most)) + 2);
                last.truncate(prefix);
                last.extend_from_slice(&bytes[at..at + suffix]);
                at += suffix;
                expected.extend_from_slice(&last);
                prefixes.push(prefix as i32);
                suffixes.push(suffix as i32);
            }
            let mut out = b"there".to_vec();
            // The suffixes end exactly where `bytes` ends.
            let values =
                DeltaByteArray::new(&prefixes, &suffixes, &bytes[..at], b"before").unwrap();
            assert_eq!((values.total, values.taken()), (expected.len(), at));
            values.append_to(&mut out);
            assert_eq!(out[..5], *b"there");
            assert_eq!(out[5..], expected, "values of up to {most} bytes");
        }
    }
}
