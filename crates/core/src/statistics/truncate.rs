//! Truncated bounds of byte arrays. Used to keep statistics small.
//!
//! If the examined bytes are valid UTF-8, the shortened bound is valid UTF-8 as well, because a bound must be a value
//! of the column's type.

/// Returns a lower bound: a prefix of `value` with at most `length` bytes.
pub(super) fn min(value: &[u8], length: usize) -> Vec<u8> {
    let Some(front) = value.get(..length) else {
        return value.to_vec();
    };
    if front.len() == value.len() {
        return value.to_vec();
    }
    match whole_characters(front) {
        Some(text) => text.as_bytes().to_vec(),
        None => front.to_vec(),
    }
}

/// Returns an upper bound of `value` with at most `length` bytes. This is the value's prefix with the last character or
/// byte incremented, dropping any that cannot be. Returns `None` if there is no bound shorter than `value`.
pub(super) fn max(value: &[u8], length: usize) -> Option<Vec<u8>> {
    let front = value.get(..length)?;
    if front.len() == value.len() {
        return None;
    }
    match whole_characters(front) {
        Some(text) => raise_character(text, length),
        None => raise_byte(front),
    }
}

/// Returns the complete characters in `front`, which can end mid-character, or `None` if it isn't UTF-8.
fn whole_characters(front: &[u8]) -> Option<&str> {
    match std::str::from_utf8(front) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(front.get(..error.valid_up_to())?).ok()
        }
        Err(_) => None,
    }
}

/// Returns the least text greater than any text starting with `text`. It has at most `length` bytes and no more
/// characters than `text`.
fn raise_character(text: &str, length: usize) -> Option<Vec<u8>> {
    text.char_indices().rev().find_map(|(start, character)| {
        let next = following(character)?;
        // The next character might need an additional byte, and there might be no room for it.
        if start + next.len_utf8() > length {
            return None;
        }
        let mut raised = text.get(..start)?.to_owned();
        raised.push(next);
        Some(raised.into_bytes())
    })
}

/// Returns the next character, if there is one.
fn following(character: char) -> Option<char> {
    match character {
        // The surrogates lie in between, but they are not characters.
        '\u{d7ff}' => Some('\u{e000}'),
        _ => char::from_u32(u32::from(character) + 1),
    }
}

/// Returns the least byte array greater than any array starting with `front`. It is no longer than `front`.
fn raise_byte(front: &[u8]) -> Option<Vec<u8>> {
    let last = front.iter().rposition(|byte| *byte != 0xff)?;
    let mut raised = front.get(..=last)?.to_vec();
    *raised.last_mut()? += 1;
    Some(raised)
}

#[cfg(test)]
mod tests {
    use super::{max, min};

    #[test]
    fn short_values_stay() {
        for value in [&b""[..], b"a", b"abc"] {
            assert_eq!(min(value, 3), value);
            assert_eq!(max(value, 3), None);
        }
    }

    #[test]
    fn text_is_cut_between_characters() {
        // This is the specification's example.
        assert_eq!(min(b"Blart Versenwald III", 1), b"B");
        assert_eq!(max(b"Blart Versenwald III", 1), Some(b"C".to_vec()));
        assert_eq!(min("häring".as_bytes(), 2), b"h");
        assert_eq!(max("häring".as_bytes(), 2), Some(b"i".to_vec()));
        assert_eq!(min("häring".as_bytes(), 3), "hä".as_bytes());
        assert_eq!(max("häring".as_bytes(), 3), Some("hå".into()));
        // Not even one character fits.
        assert_eq!(min("🐟🐟".as_bytes(), 3), b"");
        assert_eq!(max("🐟🐟".as_bytes(), 3), None);
    }

    #[test]
    fn characters_that_cannot_be_raised() {
        // This is the greatest character, so it can't be incremented.
        assert_eq!(max("a\u{10ffff}xyz".as_bytes(), 5), Some(b"b".to_vec()));
        assert_eq!(max("\u{10ffff}\u{10ffff}x".as_bytes(), 8), None);
        // This is the last character before the surrogates.
        assert_eq!(max("\u{d7ff}abc".as_bytes(), 3), Some("\u{e000}".into()));
        // The character's successor is longer, with and without room for it.
        assert_eq!(max("a\u{7f}bcd".as_bytes(), 2), Some(b"b".to_vec()));
        assert_eq!(max("a\u{7f}é".as_bytes(), 3), Some("a\u{80}".into()));
        assert_eq!(max("\u{7f}bcd".as_bytes(), 1), None);
    }

    #[test]
    fn bytes_are_cut_anywhere() {
        assert_eq!(min(&[0xfe, 0xff, 0xff, 1], 3), [0xfe, 0xff, 0xff]);
        assert_eq!(max(&[0xfe, 0xff, 0xff, 1], 3), Some(vec![0xff]));
        assert_eq!(max(&[0x80, 1, 2], 2), Some(vec![0x80, 2]));
        assert_eq!(max(&[0xff, 0xff, 0xff], 2), None);
        assert_eq!(max(b"abc", 0), None);
        assert_eq!(min(b"abc", 0), b"");
    }

    #[test]
    fn bounds_are_bounds() {
        let values = [
            "häring",
            "🐟 in the sea",
            "\u{d7ff}\u{d7ff}",
            "\u{10ffff}\u{10ffff}",
            "\u{7f}\u{7f}",
            "\u{7ff}\u{7ff}\u{7ff}",
            "\u{ffff}\u{ffff}",
        ];
        for value in values.map(str::as_bytes) {
            for length in 0..value.len() {
                let lower = min(value, length);
                assert!(lower.as_slice() < value && lower.len() <= length);
                assert!(std::str::from_utf8(&lower).is_ok());
                if let Some(upper) = max(value, length) {
                    assert!(upper.as_slice() > value && upper.len() <= length);
                    assert!(std::str::from_utf8(&upper).is_ok());
                }
            }
        }
    }
}
