//! UUIDs as text (RFC 9562, section 4).

use std::fmt::Write as _;

/// The hyphens' positions, as the number of UUID bytes before each hyphen.
const HYPHENS: [usize; 4] = [4, 6, 8, 10];

/// Appends a UUID in the form `f24f9b64-81fa-49d1-b74e-8c09a6e31c56`.
pub fn push(out: &mut String, uuid: [u8; 16]) {
    for (at, byte) in uuid.iter().enumerate() {
        if HYPHENS.contains(&at) {
            out.push('-');
        }
        _ = write!(out, "{byte:02x}");
    }
}

/// Parses a UUID of 32 hexadecimal digits, in upper or lower case, with hyphens in the usual places. Returns `None` for
/// text in any other form.
#[must_use]
pub fn parse(text: &str) -> Option<[u8; 16]> {
    let lengths = text.split('-').map(str::len);
    if !lengths.eq([8, 4, 4, 4, 12]) || text.contains('+') {
        return None;
    }
    let number = u128::from_str_radix(&text.replace('-', ""), 16).ok()?;
    Some(number.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_bytes_are_turned_into_each_other() {
        let uuid = 0xf24f_9b64_81fa_49d1_b74e_8c09_a6e3_1c56_u128.to_be_bytes();
        let mut out = String::new();
        push(&mut out, uuid);
        assert_eq!(out, "f24f9b64-81fa-49d1-b74e-8c09a6e31c56");
        assert_eq!(parse(&out), Some(uuid));
        assert_eq!(parse(&out.to_uppercase()), Some(uuid));
        for wrong in [
            "",
            "f24f9b6481fa49d1b74e8c09a6e31c56",
            "f24f9b648-1fa-49d1-b74e-8c09a6e31c56",
            "+24f9b64-81fa-49d1-b74e-8c09a6e31c56",
            "g24f9b64-81fa-49d1-b74e-8c09a6e31c56",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
