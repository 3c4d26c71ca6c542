//! DELTA_BYTE_ARRAY once its lengths are unpacked: each value is the first `prefix` bytes of the value
//! before it, and `suffix` bytes of its own.
//!
//! ```text
//! prefixes 0 2 0 3   suffixes 4 2 6 5   axis le babble yhood   →   axis axle babble babyhood
//! ```
//!
//! All lengths are checked before the first byte moves (each test is a sum or a maximum over slices), so
//! that the loop over the values has no way to fail and copies 32 bytes at once.

use herringbone_arrow::array::OffsetSizeTrait;

use super::lengths::sum_lengths;
use super::{ByteBuilder, ENDS_EARLY, OVERFLOW};
use crate::Malformed;
use crate::over_copy::{SLACK, over_copy, over_copy_within};

const PREFIX_TOO_LONG: Malformed =
    Malformed("a byte array shares more bytes with the one before it than that has");

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends values given by the lengths of their `prefixes` and `suffixes`, with the suffixes one
    /// behind the other in `bytes`; returns how many bytes the suffixes took. `previous` is the value
    /// before the first one, and afterwards the last one.
    ///
    /// **Errors**: slices of different length, negative lengths, a prefix longer than the value before,
    /// suffixes that end early, more bytes than the offsets can address, invalid UTF-8 in a builder of
    /// strings. The caller bounds the expansion by [`front_coded_bytes`].
    pub fn append_front_coded(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        let (prefix_bytes, taken) = check_lengths(prefixes, suffixes, bytes, previous)?;
        let total = prefix_bytes.checked_add(taken).ok_or(OVERFLOW)?;
        if total > self.data_room() {
            return Err(OVERFLOW);
        }
        self.reserve_values(prefixes.len());
        let mark = self.mark();
        expand_front_coded(prefixes, suffixes, bytes, previous, &mut self.data)?;
        let mut end = mark.data;
        let lengths = prefixes.iter().zip(suffixes);
        self.offsets.extend(lengths.map(|(&prefix, &suffix)| {
            // None is negative and their sum is an offset that exists, so no step wraps.
            end += prefix as usize + suffix as usize;
            O::usize_as(end)
        }));
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
pub fn front_coded_bytes(prefixes: &[i32], suffixes: &[i32]) -> Result<usize, Malformed> {
    let total = sum_lengths(prefixes)?.checked_add(sum_lengths(suffixes)?);
    total.ok_or(OVERFLOW)
}

/// Bytes of all prefixes and of all suffixes, if the lengths make sense.
fn check_lengths(
    prefixes: &[i32],
    suffixes: &[i32],
    bytes: &[u8],
    previous: &[u8],
) -> Result<(usize, usize), Malformed> {
    if prefixes.len() != suffixes.len() {
        return Err(Malformed("there are not as many prefixes as suffixes"));
    }
    let prefix_bytes = sum_lengths(prefixes)?;
    let taken = sum_lengths(suffixes)?;
    if taken > bytes.len() {
        return Err(ENDS_EARLY);
    }
    let Some(first) = prefixes.first() else {
        return Ok((0, 0));
    };
    let mut too_long = *first as usize > previous.len();
    let befores = prefixes.iter().zip(suffixes);
    for ((&prefix, &suffix), &next) in befores.zip(prefixes.get(1..).unwrap_or_default()) {
        // Both are at least 0 and below 2^31, so that the sum fits into 32 bits without a sign.
        too_long |= next as u32 > prefix as u32 + suffix as u32;
    }
    if too_long {
        return Err(PREFIX_TOO_LONG);
    }
    Ok((prefix_bytes, taken))
}

/// Appends the values to `out`, one behind the other.
///
/// **Errors**: as [`ByteBuilder::append_front_coded`]; `out` is unchanged then.
pub(crate) fn expand_front_coded(
    prefixes: &[i32],
    suffixes: &[i32],
    bytes: &[u8],
    previous: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let (prefix_bytes, taken) = check_lengths(prefixes, suffixes, bytes, previous)?;
    let total = prefix_bytes.checked_add(taken).ok_or(OVERFLOW)?;
    let (Some((&first_prefix, prefixes)), Some((&first_suffix, suffixes))) =
        (prefixes.split_first(), suffixes.split_first())
    else {
        return Ok(());
    };
    out.reserve(total.checked_add(SLACK).ok_or(OVERFLOW)?);
    let mut at = first_suffix as usize;
    let mut previous_start = out.len();
    out.extend_from_slice(
        previous
            .get(..first_prefix as usize)
            .ok_or(PREFIX_TOO_LONG)?,
    );
    out.extend_from_slice(bytes.get(..at).ok_or(ENDS_EARLY)?);
    let mut filled = out.len();
    let data = out.as_mut_ptr();
    for (&prefix, &suffix) in prefixes.iter().zip(suffixes) {
        let (prefix, suffix) = (prefix as usize, suffix as usize);
        // SAFETY: `filled` plus all prefixes and suffixes still to come plus SLACK is at most the
        // capacity (`total` counts them all), and the prefix is at most the length of the value that
        // starts at `previous_start` and ends at `filled`.
        unsafe { over_copy_within(data.add(previous_start), data.add(filled), prefix) };
        previous_start = filled;
        filled += prefix;
        // SAFETY: `at + suffix <= taken <= bytes.len()`: `taken` is the sum of all suffixes.
        let source = unsafe { bytes.as_ptr().add(at) };
        if bytes.len() - at >= suffix + SLACK {
            // SAFETY: `suffix + SLACK` bytes are there in `bytes` by the condition and behind `filled`
            // by the capacity; `bytes` is borrowed, so it is not the spare capacity of `out`.
            unsafe { over_copy(source, data.add(filled), suffix) };
        } else {
            // SAFETY: as above, without slack.
            unsafe { std::ptr::copy_nonoverlapping(source, data.add(filled), suffix) };
        }
        at += suffix;
        filled += suffix;
    }
    // SAFETY: all bytes up to `filled` were written: each value's prefix and suffix, without gaps.
    unsafe { out.set_len(filled) };
    Ok(())
}
