//! Writes byte arrays as PLAIN, in which each value follows its length of four bytes, little endian.

use crate::Malformed;
use crate::wild_copy::{SLACK, wild_copy};

const PREFIX: usize = size_of::<u32>();
const OUT_OF_RANGE: Malformed = Malformed("byte array offsets decrease or end past the data");

macro_rules! plain_byte_arrays {
    ($(#[$doc:meta])* $name:ident, $offset:ident) => {
        $(#[$doc])*
        pub fn $name(offsets: &[$offset], data: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
            let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
                return Ok(());
            };
            // The offsets ascend if none of them and none of their differences has its sign bit set, because
            // differences of non-negative offsets cannot overflow. Both loops are branch-free.
            let lengths = || {
                let behind = offsets.iter().skip(1);
                offsets.iter().zip(behind).map(|(a, b)| b.wrapping_sub(*a))
            };
            let signs = offsets.iter().fold(0, |bits, offset| bits | offset)
                | lengths().fold(0, |bits, length| bits | length);
            let wrong = signs < 0;
            let end = usize::try_from(*last).map_err(|_| OUT_OF_RANGE)?;
            if wrong || end > data.len() {
                return Err(OUT_OF_RANGE);
            }
            if lengths().any(|length| i32::try_from(length).is_err()) {
                return Err(Malformed("a byte array is longer than 2^31 bytes"));
            }
            let start = usize::try_from(*first).map_err(|_| OUT_OF_RANGE)?;
            // SAFETY: the offsets never decrease and lie between 0 and `data.len()`; the lengths fit.
            unsafe { append(lengths().map(|length| length as u32), data, start..end, out) };
            Ok(())
        }
    };
}
plain_byte_arrays!(
    /// Appends the values between `offsets[i]` and `offsets[i + 1]` of `data`. There is one value fewer than there are
    /// offsets.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if offsets decrease or end past the end of `data`. Nothing is appended in that case.
    plain_byte_arrays_i32,
    i32
);
plain_byte_arrays!(
    /// Appends the values between `offsets[i]` and `offsets[i + 1]` of `data`. There is one value fewer than there are
    /// offsets.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if offsets decrease or end past the end of `data`, or if a value has 2^31 bytes or
    /// more. Nothing is appended in that case.
    plain_byte_arrays_i64,
    i64
);

/// Appends values with these lengths, which lie back to back in `range` of `data`.
///
/// # Safety
/// `range` must be inside `data` and as long as the sum of the lengths. Iterating over the lengths again must
/// return the same ones each time.
#[inline(always)]
unsafe fn append(
    lengths: impl Iterator<Item = u32> + Clone,
    data: &[u8],
    range: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) {
    let n = lengths.clone().count();
    out.reserve(n * PREFIX + range.len() + SLACK);
    let (mut from, mut to) = (range.start, out.len());
    for length in lengths {
        let bytes = length as usize;
        // SAFETY: room for the prefixes and values up to this one was reserved, followed by `SLACK` bytes. The
        // value lies within the data. If fewer than `SLACK` bytes follow it, exactly its bytes are copied. Data
        // and output are different allocations.
        unsafe {
            let target = out.as_mut_ptr().add(to);
            target.cast::<[u8; PREFIX]>().write(length.to_le_bytes());
            let (source, target) = (data.as_ptr().add(from), target.add(PREFIX));
            if from + bytes + SLACK <= data.len() {
                wild_copy(source, target, bytes);
            } else {
                std::ptr::copy_nonoverlapping(source, target, bytes);
            }
        }
        from += bytes;
        to += PREFIX + bytes;
    }
    // SAFETY: all bytes up to `to` were written, and `to` lies within the reserved capacity.
    unsafe { out.set_len(to) };
}

/// Appends values, each after its length. Every length must fit into four bytes, because for a longer value the written
/// length is wrong.
pub fn append_byte_arrays(values: &[&[u8]], out: &mut Vec<u8>) {
    // The sum saturates, because it can overflow a `usize` if the same slice occurs many times.
    let bytes = values.iter().map(|value| PREFIX + value.len());
    out.reserve(bytes.fold(0, usize::saturating_add));
    let mut to = out.len();
    for value in values {
        // SAFETY: room for the lengths and values up to this one was reserved, since the length of a slice does
        // not change. The slices do not overlap the target, because `out` is mutably borrowed.
        unsafe {
            let target = out.as_mut_ptr().add(to);
            target
                .cast::<[u8; PREFIX]>()
                .write((value.len() as u32).to_le_bytes());
            copy_exactly(value, target.add(PREFIX));
        }
        to += PREFIX + value.len();
    }
    // SAFETY: all bytes up to `to` were written, and `to` lies within the reserved capacity.
    unsafe { out.set_len(to) };
}

/// Copies a value without touching any byte past its end. For this, we copy short values as two overlapping pieces.
///
/// # Safety
/// `value.len()` bytes are writable at `target`, and none of them is part of `value`.
#[inline(always)]
unsafe fn copy_exactly(value: &[u8], target: *mut u8) {
    /// Copies the first and the last `N` bytes.
    ///
    /// # Safety
    /// See [`copy_exactly`]. The value also has at least `N` bytes.
    #[inline(always)]
    unsafe fn copy_ends<const N: usize>(value: &[u8], target: *mut u8) {
        // SAFETY: the value has at least `N` bytes, so its first and last `N` bytes exist. The target has the same
        // length.
        unsafe {
            let source = value.as_ptr();
            let last = value.len() - N;
            let (head, tail) = (
                source.cast::<[u8; N]>().read(),
                source.add(last).cast::<[u8; N]>().read(),
            );
            target.cast::<[u8; N]>().write(head);
            target.add(last).cast::<[u8; N]>().write(tail);
        }
    }
    // SAFETY: the caller upholds the contract; each match arm guarantees the length.
    unsafe {
        match value.len() {
            8..=16 => copy_ends::<8>(value, target),
            17..=32 => copy_ends::<16>(value, target),
            33..=64 => copy_ends::<32>(value, target),
            4..=7 => copy_ends::<4>(value, target),
            2..=3 => copy_ends::<2>(value, target),
            _ => std::ptr::copy_nonoverlapping(value.as_ptr(), target, value.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytes::value_at;
    use crate::simd_lanes::noise;

    #[test]
    fn values_behind_their_lengths() {
        let mut out = vec![9];
        let written = plain_byte_arrays_i32(&[1, 3, 3, 6], b"xabcdef", &mut out);
        assert_eq!(written, Ok(()));
        assert_eq!(out, b"\x09\x02\0\0\0ab\0\0\0\0\x03\0\0\0cde");
        assert_eq!(
            plain_byte_arrays_i64(&[4], b"", &mut out),
            Err(OUT_OF_RANGE)
        );
        assert_eq!(plain_byte_arrays_i64(&[], b"", &mut out), Ok(()));
    }

    #[test]
    fn values_of_all_lengths() {
        let lengths = [0, 1, 31, 32, 33, 5, 0, 255, 256, 257, 300, 64, 3];
        let mut offsets = vec![7_i64];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let end = offsets[lengths.len()] as usize;
        for spare in [0, 1, 40] {
            let data = noise(end + spare);
            let mut out = Vec::new();
            assert_eq!(plain_byte_arrays_i64(&offsets, &data, &mut out), Ok(()));
            let mut at = 0;
            for range in offsets.windows(2) {
                let value = &data[range[0] as usize..range[1] as usize];
                assert_eq!(value_at(&out, at), Some(value));
                at += PREFIX + value.len();
            }
            assert_eq!(at, out.len());
            let short: Vec<i32> = offsets.iter().map(|offset| *offset as i32).collect();
            let mut again = Vec::new();
            assert_eq!(plain_byte_arrays_i32(&short, &data, &mut again), Ok(()));
            assert_eq!(again, out);
        }
    }

    #[test]
    fn slices_of_all_lengths() {
        let data = noise(400);
        for first in 0..=257 {
            let values = [&data[..first], b"", &data[3..3 + first / 2], &data[9..10]];
            // We append after a first byte, with capacity for exactly the appended bytes.
            let mut out = Vec::with_capacity(1 + values.iter().map(|v| 4 + v.len()).sum::<usize>());
            out.push(7);
            append_byte_arrays(&values, &mut out);
            let mut at = 1;
            for value in values {
                assert_eq!(value_at(&out, at), Some(value));
                at += PREFIX + value.len();
            }
            assert_eq!((at, out[0]), (out.len(), 7));
        }
    }

    #[test]
    fn offsets_that_break_the_rules_are_errors() {
        let mut out = Vec::new();
        for offsets in [
            &[0, 5][..],
            &[-1, 2],
            &[2, 1],
            &[0, 3, 1, 4],
            &[i32::MIN, 0],
            &[0, i32::MAX, i32::MIN, 3],
            &[1, i32::MIN, -5, 3],
        ] {
            assert!(plain_byte_arrays_i32(offsets, b"abcd", &mut out).is_err());
            let long: Vec<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
            assert!(plain_byte_arrays_i64(&long, b"abcd", &mut out).is_err());
        }
        assert!(plain_byte_arrays_i64(&[0, i64::MAX, i64::MIN, 3], b"abcd", &mut out).is_err());
        assert!(out.is_empty());
    }
}
