//! Scans, decodes and writes JSON strings.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A JSON string with validated quotes and escapes, decoded on demand.
///
/// It borrows the text without allocating, so that the caller can decide where to store the characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonText<'t> {
    /// The text between the quotes.
    raw: &'t str,
    has_escapes: bool,
}

impl<'t> JsonText<'t> {
    pub(super) fn new(raw: &'t str, has_escapes: bool) -> Self {
        Self { raw, has_escapes }
    }

    /// Returns the text between the quotes, including escapes.
    #[must_use]
    pub fn raw(&self) -> &'t str {
        self.raw
    }

    /// Returns the string if it contains no escapes.
    #[must_use]
    pub fn plain(&self) -> Option<&'t str> {
        (!self.has_escapes).then_some(self.raw)
    }

    /// Returns the string, borrowing it if it contains no escapes.
    #[must_use]
    pub fn to_cow(&self) -> Cow<'t, str> {
        if let Some(plain) = self.plain() {
            return Cow::Borrowed(plain);
        }
        let mut text = String::with_capacity(self.raw.len());
        self.push_to(&mut text);
        Cow::Owned(text)
    }

    /// Appends the string to `out`. It never has more bytes than [`raw`](Self::raw).
    pub fn push_to(&self, out: &mut String) {
        let mut rest = self.raw;
        while let Some((plain, escape)) = rest.split_once('\\') {
            out.push_str(plain);
            // This is always valid, because the reader has already rejected invalid escapes.
            let (character, length) = unescape(escape).unwrap_or(('\u{fffd}', 1));
            out.push(character);
            rest = escape.get(length..).unwrap_or_default();
        }
        out.push_str(rest);
    }
}

/// Decodes an escape, returning its character and its length in bytes after the backslash.
///
/// Returns `None` for an invalid escape, for example an unpaired surrogate.
pub(super) fn unescape(text: &str) -> Option<(char, usize)> {
    let (escape, rest) = text.as_bytes().split_first()?;
    let character = match escape {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return code_point(rest),
        _ => return None,
    };
    Some((character, 1))
}

/// Parses the four hexadecimal digits of a UTF-16 code unit, plus the second half of a surrogate pair.
fn code_point(rest: &[u8]) -> Option<(char, usize)> {
    let unit = hex4(rest)?;
    if !(0xd800..0xe000).contains(&unit) {
        return Some((char::from_u32(unit)?, 5));
    }
    let low = rest.get(4..)?.strip_prefix(b"\\u").and_then(hex4)?;
    if unit >= 0xdc00 || !(0xdc00..0xe000).contains(&low) {
        return None;
    }
    let code = 0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    Some((char::from_u32(code)?, 11))
}

fn hex4(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |number, digit| {
        Some(number << 4 | char::from(*digit).to_digit(16)?)
    })
}

/// Appends `text` as a JSON string, including quotes.
///
/// Only quotes, backslashes and control characters are escaped, because JSON doesn't require anything else.
pub fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest.as_bytes()));
        out.push_str(plain);
        let mut characters = special.chars();
        match characters.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => _ = write!(out, "\\u{:04x}", u32::from(control)),
            None => break,
        }
        rest = characters.as_str();
    }
    out.push('"');
}

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHS: u64 = u64::from_le_bytes([0x80; 8]);

/// Returns the offset of the first quote, backslash or control character, or the length of `bytes` if there is none.
#[inline]
pub(super) fn plain_len(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let special = special_bytes(u64::from_le_bytes(*word));
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\' | ..0x20);
    at + rest.iter().take_while(is_plain).count()
}

/// Sets the high bit of each quote, backslash or byte below 0x20.
///
/// The bits above the first such byte can be wrong, so only use the lowest set bit.
#[inline]
fn special_bytes(word: u64) -> u64 {
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ (ONES * u64::from(b'"')));
    let backslash = zero(word ^ (ONES * u64::from(b'\\')));
    (control | quote | backslash) & HIGHS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_special_byte_at_every_place() {
        for special in 0..=255_u8 {
            let is_special = matches!(special, b'"' | b'\\' | ..0x20);
            for at in 0..20 {
                for neighbour in [b' ', b'!', b'#', 0x7F, 0x80, 0xA2, 0xDC, 0xFF] {
                    let mut bytes = [neighbour; 20];
                    bytes[at] = special;
                    let expected = if is_special { at } else { 20 };
                    assert_eq!(plain_len(&bytes), expected, "{special:#x} at {at}");
                }
            }
        }
    }

    #[test]
    fn every_character_that_is_written_reads_back() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        let all = all + "€🐟\u{2028}";
        let mut quoted = String::new();
        push_quoted(&mut quoted, &all);
        assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), all);
        // RFC 8259, section 7, allows two forms of some control characters.
        let mut quoted = String::new();
        push_quoted(&mut quoted, "a\"b\\c/d\n\0\u{1f}");
        assert_eq!(quoted, r#""a\"b\\c/d\n\u0000\u001f""#);
    }
}
