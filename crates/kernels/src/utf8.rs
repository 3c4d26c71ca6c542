//! Validates UTF-8 over many values at once.
//!
//! One validation for a whole run of values is several times cheaper than one validation per value. But it only proves
//! that the *concatenation* is valid. Each value is valid exactly if every value also starts at a character boundary,
//! so that no character is split between two values. ASCII text has a boundary everywhere, and needs neither step.

use herringbone_arrow::array::OffsetSizeTrait;

use crate::multiversion::multiversion;
use crate::{Malformed, prefetch};

pub(crate) const INVALID: Malformed = Malformed("a string is not valid UTF-8");

/// Returns true if `bytes` is valid UTF-8 as a whole.
#[must_use]
pub fn is_valid(bytes: &[u8]) -> bool {
    // The library uses vectors on x86-64 alone. Elsewhere, our own loop takes a quarter of its instructions.
    let is_ascii = match cfg!(target_arch = "x86_64") {
        true => bytes.is_ascii(),
        false => is_ascii(bytes),
    };
    is_ascii || simdutf8::basic::from_utf8(bytes).is_ok()
}

/// Returns true if all of `bytes` are below 128. This is meant for bytes that are probably read from memory for the
/// first time, so it prefetches them.
fn is_ascii(bytes: &[u8]) -> bool {
    #[inline(always)]
    fn inner(bytes: &[u8]) -> bool {
        let all = |block: &[u8]| block.iter().fold(0, |all, byte| all | byte);
        prefetch::blocks(bytes).all(|block| all(block) < 0x80)
    }
    multiversion!(inner(bytes: &[u8]) -> bool)
}

/// Returns true if `byte` can start a character, which means that it is not a continuation byte `10xxxxxx`.
#[inline(always)]
const fn starts_character(byte: u8) -> bool {
    byte & 0xC0 != 0x80
}

/// Returns true if each of the values that `offsets` delimit in `bytes` is valid UTF-8.
///
/// Value `i` is `bytes[offsets[i]..offsets[i + 1]]`, so `offsets` must not decrease. Only the bytes between the first
/// and the last offset are checked. If an offset lies past the end, the result is `false`.
#[must_use]
pub fn are_valid<O: OffsetSizeTrait>(bytes: &[u8], offsets: &[O]) -> bool {
    let (Some(first), Some(last)) = (offsets.first(), offsets.last()) else {
        return true;
    };
    let Some(bytes) = bytes.get(..last.as_usize()) else {
        return false;
    };
    let Some(part) = bytes.get(first.as_usize()..) else {
        return false;
    };
    if is_ascii(part) {
        return true;
    }
    if simdutf8::basic::from_utf8(part).is_err() {
        return false;
    }
    // Offsets that equal the last one are at the end of valid text, where no byte follows.
    let mut bad = false;
    for offset in offsets {
        let byte = bytes.get(offset.as_usize()).copied();
        bad |= !starts_character(byte.unwrap_or(0));
    }
    !bad
}

/// Returns true if each value is valid UTF-8. The values have the given `lengths` and lie back to back in `bytes`.
///
/// The lengths must not be negative, and must add up to `bytes.len()`.
#[must_use]
pub(crate) fn are_valid_lengths(bytes: &[u8], lengths: impl Iterator<Item = i32>) -> bool {
    if is_ascii(bytes) {
        return true;
    }
    if simdutf8::basic::from_utf8(bytes).is_err() {
        return false;
    }
    let (mut at, mut bad) = (0, false);
    for length in lengths {
        bad |= !starts_character(bytes.get(at).copied().unwrap_or(0));
        at += length as usize;
    }
    !bad
}

/// Validates like [`is_valid_plain`], but takes the bitwise or of the section's lengths as `lengths`. If all its bytes
/// are below 128, this validates the section as a whole.
#[must_use]
pub(crate) fn is_valid_section(section: &[u8], lengths: u32) -> bool {
    if lengths & 0x8080_8080 == 0 {
        return is_valid(section);
    }
    is_valid_plain(section)
}

/// Returns true if each value in a PLAIN run of byte arrays (4-byte little-endian length, then the bytes) is valid
/// UTF-8. `section` must start and end between two values.
///
/// A length whose four bytes are all below 128 is itself ASCII text. So we can validate a stretch of the section in
/// which all lengths are ASCII as one text, lengths included. Each value then has an ASCII byte or an end of the
/// stretch on both sides, which no character can span. Therefore we split the section only at the lengths that are not
/// ASCII (128..=255 and so on, which belong to long values).
#[must_use]
pub fn is_valid_plain(section: &[u8]) -> bool {
    let mut start = 0;
    let mut at = 0;
    while let Some(prefix) = section.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        let length = u32::from_le_bytes(*prefix);
        if !prefix.is_ascii() {
            if !section.get(start..at).is_some_and(is_valid) {
                return false;
            }
            start = at + 4;
        }
        at = at.saturating_add(4).saturating_add(length as usize);
    }
    at == section.len() && section.get(start..).is_some_and(is_valid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(values: &[&[u8]]) -> (Vec<u8>, Vec<i32>) {
        let mut offsets = vec![0];
        for value in values {
            offsets.push(offsets.last().unwrap() + value.len() as i32);
        }
        (values.concat(), offsets)
    }

    fn plain(values: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        for value in values {
            out.extend((value.len() as u32).to_le_bytes());
            out.extend_from_slice(value);
        }
        out
    }

    fn check(values: &[&[u8]]) {
        let expected = values.iter().all(|v| std::str::from_utf8(v).is_ok());
        let (bytes, ends) = offsets(values);
        assert_eq!(are_valid(&bytes, &ends), expected, "{values:?}");
        assert_eq!(is_valid_plain(&plain(values)), expected, "{values:?}");
    }

    #[test]
    fn values_are_checked_one_by_one() {
        check(&[]);
        check(&[b""]);
        check(&[b"plain", b"", b"ascii"]);
        check(&["grün".as_bytes(), "日本".as_bytes(), b""]);
        check(&[b"\xff"]);
        check(&[b"ok", b"\xc3"]);
    }

    #[test]
    fn a_character_cut_between_two_values_is_found() {
        check(&[b"\xc3", b"\xbc"]);
        check(&[b"a", b"\xe6\x97", b"\xa5"]);
        check(&[b"\xe6\x97\xa5", b""]);
        check(&[b"\xc3", b"", b"\xbc"]);
    }

    #[test]
    fn lengths_that_are_not_ascii_split_the_text() {
        for length in [126usize, 127, 128, 129, 191, 192, 255, 256, 300, 32768] {
            let long = "x".repeat(length).into_bytes();
            check(&[&long, "ü".as_bytes(), &long]);
            let mut cut = long.clone();
            *cut.last_mut().unwrap() = 0xc3;
            check(&[&cut, b"\xbc"]);
            check(&[b"\xc3", &cut]);
        }
        // A length byte of 0xA5 would complete the previous value's unfinished character.
        let long = "x".repeat(0xA5).into_bytes();
        check(&[b"\xc3", &long]);
        check(&[b"\xe6\x97", &long]);
    }

    #[test]
    fn only_the_part_between_the_offsets_counts() {
        assert!(are_valid(b"\xffgut\xff", &[1i32, 2, 4]));
        assert!(are_valid(b"\xffgut\x80", &[1i32, 2, 4]));
        assert!(!are_valid(b"\xffgut\xff", &[1i32, 2, 9]));
        assert!(!are_valid(b"\xffgut\xff", &[0i32, 2, 4]));
    }
}
