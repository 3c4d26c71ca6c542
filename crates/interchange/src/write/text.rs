//! Writes bytes as base64 or as literals for conditions.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Appends `bytes` in base64 (RFC 4648, with padding).
pub fn push_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

/// Appends `bytes` as a literal for conditions, such as `x'00ff'`.
pub fn push_literal(out: &mut String, bytes: &[u8]) {
    out.push_str("x'");
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            out.extend(char::from_digit(digit.into(), 16));
        }
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_base64() {
        let base64 = |bytes: &[u8]| {
            let mut out = String::new();
            push_base64(&mut out, bytes);
            out
        };
        // RFC 4648, section 10, has these examples.
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
        assert_eq!(base64(&[0xff, 0xff, 0xfe]), "///+");
    }
}
