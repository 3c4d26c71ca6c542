//! DELTA_BYTE_ARRAY once its lengths are unpacked: each value is the first `prefix` bytes of the value
//! before it, and `suffix` bytes of its own.
//!
//! ```text
//! prefixes 0 2 0 3   suffixes 4 2 6 5   axis le babble yhood   →   axis axle babble babyhood
//! ```
//!
//! All lengths are checked before the first byte moves (each test is a sum or a maximum over slices), so
//! that the loop over the values has no way to fail.
//!
//! Bytes that were just written in parts cannot be read again as a whole before they have left the
//! processor's queue of writes. A value that is copied from the one before it would wait for that, and
//! the next one for it. So the value at hand stays in registers: its suffix replaces what the prefix
//! leaves, and it is only written, never read. Values that are too long for that are copied.

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
use crate::over_copy::{SLACK, over_copy, over_copy_within};

const PREFIX_TOO_LONG: Malformed =
    Malformed("a byte array shares more bytes with the one before it than that has");

/// Bytes behind the last value that may be written: a register.
const SPARE: usize = 64;

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends values given by the lengths of their `prefixes` and `suffixes`, with the suffixes one
    /// behind the other in `bytes`; returns how many bytes the suffixes took. `previous` is the value
    /// before the first one, and afterwards the last one.
    ///
    /// **Errors**: slices of different length, negative lengths, a prefix longer than the value before,
    /// suffixes that end early, more bytes than the offsets can address, invalid UTF-8 in a builder of
    /// strings. The caller bounds the expansion by [`delta_byte_array_bytes`].
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
        // None is negative and their sum is an offset that exists, so no step wraps.
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

/// Bytes of the values that `prefixes` and `suffixes` make.
///
/// **Errors**: negative lengths.
pub fn delta_byte_array_bytes(prefixes: &[i32], suffixes: &[i32]) -> Result<usize, Malformed> {
    let total = sum_lengths(prefixes)?.checked_add(sum_lengths(suffixes)?);
    total.ok_or(OVERFLOW)
}

/// Values whose lengths make sense.
///
/// Invariants: no length is negative, no prefix is longer than the value before it, the first of
/// which is `previous`, and the suffixes are all there.
pub(crate) struct DeltaByteArray<'a> {
    prefixes: &'a [i32],
    suffixes: &'a [i32],
    bytes: &'a [u8],
    previous: &'a [u8],
    suffix_bytes: usize,
    /// Bytes of all values.
    pub(crate) total: usize,
}

impl<'a> DeltaByteArray<'a> {
    /// Checks the lengths.
    ///
    /// **Errors**: as [`ByteBuilder::append_delta_byte_array`].
    pub(crate) fn new(
        prefixes: &'a [i32],
        suffixes: &'a [i32],
        bytes: &'a [u8],
        previous: &'a [u8],
    ) -> Result<Self, Malformed> {
        if prefixes.len() != suffixes.len() {
            return Err(Malformed("there are not as many prefixes as suffixes"));
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
            // Both are at least 0 and below 2^31, so that the sum fits into 32 bits without a sign.
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

    /// Bytes that the suffixes took.
    pub(crate) fn taken(&self) -> usize {
        self.suffix_bytes
    }

    /// Appends the values, one behind the other.
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
        // SAFETY: portable code needs no instructions.
        unsafe { expand::<InMemory>(self, start, out) };
    }
}

/// The value that was written last, or its beginning.
trait Current: Copy {
    /// The value of `length` bytes.
    ///
    /// # Safety
    /// So many bytes are readable, and the processor has the instructions.
    unsafe fn load(value: *const u8, length: usize) -> Self;

    /// Becomes the next value and writes it, unless it is too long: its first `prefix` bytes are those
    /// of this one, the others up to `length` are those of `bytes` from a position on.
    ///
    /// # Safety
    /// This value has `prefix` bytes, `bytes` have those from the position on, `length + SPARE` bytes
    /// are writable at `to`, and the processor has the instructions.
    unsafe fn follow(
        &mut self,
        prefix: usize,
        length: usize,
        bytes: (&[u8], usize),
        to: *mut u8,
    ) -> bool;
}

/// The value is where it was written.
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

/// Appends all values but the first, which starts at `start` of `out` and ends with it.
///
/// # Safety
/// The processor has the instructions of `C`.
#[inline(always)]
unsafe fn expand<C: Current>(values: &DeltaByteArray<'_>, start: usize, out: &mut Vec<u8>) {
    let bytes = values.bytes;
    let mut previous_start = start;
    let mut filled = out.len();
    let mut at = values.suffixes.first().map_or(0, |first| *first as usize);
    // Behind what the first value took, there is room for all others and `SPARE` bytes more.
    debug_assert!(out.capacity() - start >= values.total + SPARE);
    let data = out.as_mut_ptr();
    // SAFETY: the first value was written.
    let mut current = unsafe { C::load(data.add(start), filled - start) };
    for (&prefix, &suffix) in values.prefixes.iter().zip(values.suffixes).skip(1) {
        let (prefix, suffix) = (prefix as usize, suffix as usize);
        let length = prefix + suffix;
        // SAFETY: `filled` and the lengths still to come are `start + total`; by the invariants the
        // value before has `prefix` bytes and `bytes` have the suffix from `at` on.
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
    // SAFETY: all bytes up to `filled` were written: each value's prefix and suffix, without gaps.
    unsafe { out.set_len(filled) };
}

/// Writes one value: `prefix` bytes of the one at `previous`, `suffix` bytes of `bytes` from `at` on.
///
/// # Safety
/// `previous` has `prefix` bytes, `bytes` have the suffix, and `prefix + suffix + SPARE` bytes are
/// writable at `to`, which lies behind the value at `previous` in the same allocation.
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
    unsafe { over_copy_within(previous, to, prefix) };
    let source = bytes.as_ptr().wrapping_add(at);
    let to = to.wrapping_add(prefix);
    if bytes.len() - at >= suffix + SLACK {
        // SAFETY: `suffix + SLACK` bytes are there in `bytes`, and behind `to` by the caller's promise;
        // `bytes` is borrowed, so it is not the spare capacity of what is written.
        unsafe { over_copy(source, to, suffix) };
    } else {
        // SAFETY: as above, without slack.
        unsafe { std::ptr::copy_nonoverlapping(source, to, suffix) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::noise;

    const VALUES: usize = if cfg!(miri) { 20 } else { 200 };

    /// Values of all lengths that registers hold and more, with prefixes of all lengths.
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
            // The suffixes end with the bytes that there are.
            let values =
                DeltaByteArray::new(&prefixes, &suffixes, &bytes[..at], b"before").unwrap();
            assert_eq!((values.total, values.taken()), (expected.len(), at));
            values.append_to(&mut out);
            assert_eq!(out[..5], *b"there");
            assert_eq!(out[5..], expected, "values of up to {most} bytes");
        }
    }
}
