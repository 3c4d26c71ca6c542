//! Strings as JSON, and bytes as base64.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Appends `text` as a JSON string, quotes included.
///
/// Escaped is only what JSON demands: the quote, the backslash and control characters.
pub(crate) fn push_json_string(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest
        .bytes()
        .position(|byte| byte < 0x20 || byte == b'"' || byte == b'\\')
    {
        // An ASCII byte is a character of its own, so both ends are borders of characters.
        let (clean, tail) = rest.split_at(at);
        out.push_str(clean);
        let mut tail = tail.chars();
        match tail.next() {
            Some('"') => out.push_str("\\\""),
            Some('\\') => out.push_str("\\\\"),
            Some('\n') => out.push_str("\\n"),
            Some('\r') => out.push_str("\\r"),
            Some('\t') => out.push_str("\\t"),
            Some('\u{8}') => out.push_str("\\b"),
            Some('\u{c}') => out.push_str("\\f"),
            Some(control) => _ = write!(out, "\\u{:04x}", u32::from(control)),
            None => {}
        }
        rest = tail.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Appends `bytes` in base64 (RFC 4648, with padding).
pub(crate) fn push_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> String {
        let mut out = String::new();
        push_json_string(&mut out, text);
        out
    }

    #[test]
    fn strings_are_escaped_where_they_must_be() {
        assert_eq!(json(""), r#""""#);
        assert_eq!(json("a\"b\\c/d"), r#""a\"b\\c/d""#);
        assert_eq!(json("\n\r\t\u{8}\u{c}"), r#""\n\r\t\b\f""#);
        assert_eq!(json("\0x\u{1f}"), "\"\\u0000x\\u001f\"");
        assert_eq!(json("äß€🐟\u{7f}\u{2028}"), "\"äß€🐟\u{7f}\u{2028}\"");
    }

    #[test]
    fn every_character_reads_back() {
        let all: String = (0..0x300).filter_map(char::from_u32).collect();
        let back: String = serde_json::from_str(&json(&all)).unwrap();
        assert_eq!(back, all);
    }

    #[test]
    fn bytes_are_base64() {
        let base64 = |bytes: &[u8]| {
            let mut out = String::new();
            push_base64(&mut out, bytes);
            out
        };
        // RFC 4648, section 10.
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(&[0xff, 0xff, 0xfe]), "///+");
    }
}
