//! UUIDs and bytes as text, and back.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// `f24f9b64-81fa-49d1-b74e-8c09a6e31c56`
pub(crate) fn push_uuid(out: &mut String, uuid: [u8; 16]) {
    for (at, byte) in uuid.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            out.push('-');
        }
        _ = write!(out, "{byte:02x}");
    }
}

/// Of 32 hexadecimal digits, in any case, with hyphens in the usual places.
pub(crate) fn parse_uuid(text: &str) -> Option<[u8; 16]> {
    let lengths = text.split('-').map(str::len);
    if !lengths.eq([8, 4, 4, 4, 12]) || text.contains('+') {
        return None;
    }
    let number = u128::from_str_radix(&text.replace('-', ""), 16).ok()?;
    Some(number.to_be_bytes())
}

/// Base64 of RFC 4648, section 4, with padding.
pub(crate) fn push_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

/// As [`push_base64`] writes it.
pub(crate) fn parse_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids() {
        let uuid = 0xf24f_9b64_81fa_49d1_b74e_8c09_a6e3_1c56_u128.to_be_bytes();
        let mut out = String::new();
        push_uuid(&mut out, uuid);
        assert_eq!(out, "f24f9b64-81fa-49d1-b74e-8c09a6e31c56");
        assert_eq!(parse_uuid(&out), Some(uuid));
        assert_eq!(parse_uuid(&out.to_uppercase()), Some(uuid));
        for wrong in [
            "",
            "f24f9b6481fa49d1b74e8c09a6e31c56",
            "+24f9b64-81fa-49d1-b74e-8c09a6e31c56",
            "g24f9b64-81fa-49d1-b74e-8c09a6e31c56",
        ] {
            assert_eq!(parse_uuid(wrong), None);
        }
    }
}
