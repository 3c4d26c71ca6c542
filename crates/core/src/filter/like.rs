//! `LIKE` of SQL: `%` stands for any text, `_` for any one character.

/// A pattern of `LIKE`, without an escape character.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LikePattern {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    AnyCharacter,
    AnyText,
}

impl LikePattern {
    pub(super) fn new(pattern: &str) -> Self {
        let mut parts = Vec::new();
        let mut text = Vec::new();
        for byte in pattern.bytes() {
            let part = match byte {
                b'%' => Part::AnyText,
                b'_' => Part::AnyCharacter,
                byte => {
                    text.push(byte);
                    continue;
                }
            };
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            // Two in a row are one, or matching would try out both.
            if part != Part::AnyText || parts.last() != Some(&Part::AnyText) {
                parts.push(part);
            }
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Self { parts }
    }

    /// The bytes that all matches begin with, and whether any text may follow them and nothing else is asked.
    pub(super) fn prefix(&self) -> (&[u8], bool) {
        match self.parts.as_slice() {
            [Part::Text(text), rest @ ..] => (text, *rest == [Part::AnyText]),
            rest => (&[], *rest == [Part::AnyText]),
        }
    }

    /// Whether the whole of `text` matches. Takes time by the lengths of both multiplied at most: behind one `%`, an
    /// earlier one need not be tried again.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        let (mut part, mut rest) = (0, text);
        // Where to go on after a mismatch: the part behind the last `%`, and what it was tried on.
        let mut retry: Option<(usize, &[u8])> = None;
        loop {
            let step = match self.parts.get(part) {
                None => rest.is_empty().then_some(rest),
                Some(Part::AnyText) => {
                    retry = Some((part + 1, rest));
                    Some(rest)
                }
                Some(Part::AnyCharacter) => without_first(rest),
                Some(Part::Text(text)) => rest.strip_prefix(text.as_slice()),
            };
            match (step, retry) {
                (Some(_), _) if part >= self.parts.len() => return true,
                (Some(behind), _) => {
                    rest = behind;
                    part += 1;
                }
                (None, Some((again, from))) => match without_first(from) {
                    Some(behind) => {
                        retry = Some((again, behind));
                        (part, rest) = (again, behind);
                    }
                    None => return false,
                },
                (None, None) => return false,
            }
        }
    }
}

/// What follows the first character, which is of UTF-8; of other bytes, one.
fn without_first(text: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text.split_first()?;
    let more = rest.iter().take_while(|byte| **byte & 0xc0 == 0x80).take(3);
    rest.get(more.count()..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_sql_has_it() {
        for (pattern, text, expected) in [
            ("", "", true),
            ("", "a", false),
            ("%", "", true),
            ("a%", "abc", true),
            ("a%", "bac", false),
            ("%c", "abcc", true),
            ("%b%", "abc", true),
            ("a_c", "abc", true),
            ("a_c", "aéc", true),
            ("a_c", "ac", false),
            ("_%_", "ab", true),
            ("_%_", "a", false),
            ("%a%b%c", "xxaybzbc", true),
            ("%a%b%c", "xxaybzbcd", false),
            ("%%_%%", "", false),
            ("a.c", "abc", false),
        ] {
            let pattern_of = LikePattern::new(pattern);
            assert_eq!(
                pattern_of.matches(text.as_bytes()),
                expected,
                "{text} like {pattern}"
            );
        }
        assert_eq!(LikePattern::new("ab%").prefix(), (&b"ab"[..], true));
        assert_eq!(LikePattern::new("ab%c").prefix(), (&b"ab"[..], false));
        assert_eq!(LikePattern::new("%c").prefix(), (&b""[..], false));
        assert_eq!(LikePattern::new("%").prefix(), (&b""[..], true));
    }
}
