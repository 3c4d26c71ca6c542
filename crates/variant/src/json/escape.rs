//! Strings of JSON: written, and read where they have escapes.

use std::fmt::Write as _;

use super::scan::plain_len;

/// Appends `text` in quotes, escaping what has to be: quotes, backslashes and control characters.
pub(super) fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain_len(rest.as_bytes()));
        out.push_str(plain);
        if special.is_empty() {
            break;
        }
        let mut chars = special.chars();
        match chars.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some(control) => _ = write!(out, "\\u{:04x}", u32::from(control)),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push('"');
}

/// Appends what the escape at the start of `text`, behind the backslash, stands for.
///
/// Returns its bytes, or `None` if it is none; half of a surrogate pair alone stands for nothing.
pub(super) fn unescape(text: &[u8], out: &mut String) -> Option<usize> {
    let (escape, rest) = text.split_first()?;
    out.push(match escape {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => return unescape_unicode(rest, out),
        _ => return None,
    });
    Some(1)
}

fn unescape_unicode(rest: &[u8], out: &mut String) -> Option<usize> {
    let unit = hex4(rest)?;
    if !(0xD800..0xE000).contains(&unit) {
        out.push(char::from_u32(unit)?);
        return Some(5);
    }
    let low = rest.get(4..)?.strip_prefix(b"\\u").and_then(hex4)?;
    if unit >= 0xDC00 || !(0xDC00..0xE000).contains(&low) {
        return None;
    }
    out.push(char::from_u32(
        0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00),
    )?);
    Some(11)
}

fn hex4(text: &[u8]) -> Option<u32> {
    let digits = text.first_chunk::<4>()?;
    digits.iter().try_fold(0, |number, digit| {
        Some(number << 4 | char::from(*digit).to_digit(16)?)
    })
}
