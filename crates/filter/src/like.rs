//! SQL's `LIKE`, where the wildcard `%` matches any text and `_` matches any single character.
//!
//! ```text
//! pattern = first [ "%" middle "%" … "%" last ]
//!     first    at the start of the text
//!     middle   each piece at its earliest match after the previous piece: a later match leaves less text
//!     last     at the end of the text
//! ```
//!
//! A match usually takes time linear in the bytes of text and pattern. But if a middle piece has `_` between other
//! characters, we try a match at each character, which takes time proportional to the text's bytes times the piece's
//! bytes.

use memchr::memmem::Finder;

use super::predicate::Like;

/// A parsed pattern of `LIKE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LikePattern {
    /// True if texts are compared in lower case.
    ignores_case: bool,
    first: Vec<PatternPart>,
    /// The pieces after the first `%`, or `None` if the pattern does not contain `%`.
    after: Option<After>,
}

/// The pieces of a pattern after its first `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct After {
    middle: Vec<Middle>,
    last: Vec<PatternPart>,
}

/// A part of a pattern without `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternPart {
    Text(Vec<u8>),
    /// A number of arbitrary characters.
    Characters(usize),
}

/// A piece between two `%`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Middle {
    /// This many `_` wildcards. They form a separate piece because `_` next to `%` commutes with it.
    Characters(usize),
    Text(Needle),
    /// Texts separated by `_`, so that the first and last part are text.
    Mixed(Vec<PatternPart>),
}

/// A pattern character with its meaning. Escapes are already resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    /// The character itself.
    Character(char),
    /// `_`, which matches any single character.
    One,
    /// `%`, which matches any text.
    Any,
}

/// Splits a pattern into its characters, or returns `None` if it ends with the escape character.
fn tokens(like: &Like) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut characters = like.pattern.chars();
    while let Some(character) = characters.next() {
        let (character, is_escaped) = match Some(character) == like.escape {
            true => (characters.next()?, true),
            false => (character, false),
        };
        tokens.push(match (character, is_escaped) {
            ('%', false) => Token::Any,
            ('_', false) => Token::One,
            (other, _) if like.ignores_case => Token::Character(lower(other)),
            (other, _) => Token::Character(other),
        });
    }
    Some(tokens)
}

/// Lowercases a character, or returns it unchanged if its lower case isn't a single character.
fn lower(character: char) -> char {
    let mut lower = character.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) => one,
        _ => character,
    }
}

impl LikePattern {
    /// Creates the pattern, or returns `None` if it ends with its escape character.
    pub(super) fn new(like: &Like) -> Option<Self> {
        let tokens = tokens(like)?;
        let mut pieces = tokens.split(|token| *token == Token::Any);
        let first = parts(pieces.next().unwrap_or_default());
        let last = pieces.next_back();
        Some(Self {
            ignores_case: like.ignores_case,
            first,
            after: last.map(|last| After {
                middle: pieces.flat_map(middle).collect(),
                last: parts(last),
            }),
        })
    }

    /// Returns the prefix shared by all matches. The flag is true if every text with this prefix matches.
    pub(super) fn prefix(&self) -> (&[u8], bool) {
        if self.ignores_case {
            return (&[], false);
        }
        let (prefix, is_text) = match self.first.as_slice() {
            [] => (&[][..], true),
            [PatternPart::Text(text), rest @ ..] => (text.as_slice(), rest.is_empty()),
            _ => (&[][..], false),
        };
        let is_open = |after: &After| after.middle.is_empty() && after.last.is_empty();
        (prefix, is_text && self.after.as_ref().is_some_and(is_open))
    }

    /// Returns true if the pattern matches the whole `text`.
    pub(super) fn matches(&self, text: &[u8]) -> bool {
        if self.ignores_case
            && let Ok(text) = std::str::from_utf8(text)
        {
            let text: String = text.chars().map(lower).collect();
            return self.matches_exactly(text.as_bytes());
        }
        self.matches_exactly(text)
    }

    fn matches_exactly(&self, text: &[u8]) -> bool {
        let Some(mut rest) = without_prefix(text, &self.first) else {
            return false;
        };
        let Some(After { middle, last }) = &self.after else {
            return rest.is_empty();
        };
        for piece in middle {
            match piece.find(rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        ends_with(rest, last)
    }
}

impl Middle {
    /// Returns the text after the earliest match of the piece.
    fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            Self::Characters(count) => without_characters(text, *count),
            Self::Text(needle) => needle.find(text),
            Self::Mixed(parts) => {
                let mut from = text;
                loop {
                    match without_prefix(from, parts) {
                        None => from = without_characters(from, 1)?,
                        after => return after,
                    }
                }
            }
        }
    }
}

/// Splits a pattern without `%` into its parts.
fn parts(piece: &[Token]) -> Vec<PatternPart> {
    let mut parts = Vec::new();
    for token in piece {
        match (token, parts.last_mut()) {
            (Token::Character(character), Some(PatternPart::Text(text))) => {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            (Token::Character(character), _) => {
                parts.push(PatternPart::Text(character.to_string().into_bytes()));
            }
            (_, Some(PatternPart::Characters(count))) => *count += 1,
            _ => parts.push(PatternPart::Characters(1)),
        }
    }
    parts
}

/// Splits the text between two `%` into the pieces to search for.
fn middle(piece: &[Token]) -> impl Iterator<Item = Middle> + use<> {
    let mut parts = parts(piece);
    let characters = |part: Option<&PatternPart>| match part {
        Some(PatternPart::Characters(count)) => Some(*count),
        _ => None,
    };
    let before = characters(parts.first());
    if before.is_some() {
        parts.remove(0);
    }
    let after = characters(parts.last());
    if after.is_some() {
        parts.pop();
    }
    let text = match parts.as_mut_slice() {
        [] => None,
        [PatternPart::Text(text)] => Some(Middle::Text(Needle::new(text))),
        _ => Some(Middle::Mixed(parts)),
    };
    let before = before.map(Middle::Characters);
    [before, text, after.map(Middle::Characters)]
        .into_iter()
        .flatten()
}

/// Strips the parts off the front of the text, if the text begins with them.
fn without_prefix<'t>(text: &'t [u8], parts: &[PatternPart]) -> Option<&'t [u8]> {
    parts.iter().try_fold(text, |text, part| match part {
        PatternPart::Text(prefix) => text.strip_prefix(prefix.as_slice()),
        PatternPart::Characters(count) => without_characters(text, *count),
    })
}

/// Returns true if the text ends with the parts.
fn ends_with(text: &[u8], parts: &[PatternPart]) -> bool {
    let rest = parts.iter().rev().try_fold(text, |text, part| match part {
        PatternPart::Text(suffix) => text.strip_suffix(suffix.as_slice()),
        PatternPart::Characters(count) => without_last_characters(text, *count),
    });
    rest.is_some()
}

/// Returns true for a UTF-8 continuation byte. Such a byte never starts a character. In bytes that aren't UTF-8, a
/// character ends before the next possible first byte.
fn continues(byte: &u8) -> bool {
    byte & 0xc0 == 0x80
}

fn without_characters(mut text: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        let (_, rest) = text.split_first()?;
        let more = rest.iter().take_while(|byte| continues(byte)).count();
        text = rest.get(more..)?;
    }
    Some(text)
}

fn without_last_characters(mut text: &[u8], count: usize) -> Option<&[u8]> {
    for _ in 0..count {
        text.first()?;
        let first = text.iter().rposition(|byte| !continues(byte));
        text = text.get(..first.unwrap_or(0))?;
    }
    Some(text)
}

/// A text to search for, in time linear in the searched text.
#[derive(Debug, Clone)]
struct Needle(Box<Finder<'static>>);

impl PartialEq for Needle {
    fn eq(&self, other: &Self) -> bool {
        self.0.needle() == other.0.needle()
    }
}

impl Eq for Needle {}

impl Needle {
    /// Creates a needle from a text.
    fn new(text: &[u8]) -> Self {
        Self(Box::new(Finder::new(text).into_owned()))
    }

    /// Returns the text after the earliest match of the needle.
    fn find<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        let start = self.0.find(text)?;
        text.get(start + self.0.needle().len()..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(pattern: &str) -> LikePattern {
        LikePattern::new(&pattern.into()).unwrap()
    }

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
            ("%%_%%", "é", true),
            ("%__%", "é", false),
            ("a.c", "abc", false),
            ("ab%ba", "aba", false),
            ("ab%ba", "abba", true),
            ("%_é_", "aéb", true),
            ("%_é_", "éb", false),
            ("%aab%", "aaaab", true),
            ("%abab_c%d", "abababxcd", true),
        ] {
            let pattern_of = like(pattern);
            assert_eq!(
                pattern_of.matches(text.as_bytes()),
                expected,
                "{text} like {pattern}"
            );
        }
        assert_eq!(like("ab%").prefix(), (&b"ab"[..], true));
        assert_eq!(like("ab%%").prefix(), (&b"ab"[..], true));
        assert_eq!(like("ab").prefix(), (&b"ab"[..], false));
        assert_eq!(like("ab_%").prefix(), (&b"ab"[..], false));
        assert_eq!(like("ab%c").prefix(), (&b"ab"[..], false));
        assert_eq!(like("%c").prefix(), (&b""[..], false));
        assert_eq!(like("%").prefix(), (&b""[..], true));
    }

    /// Answers of duckdb 1.5.
    #[test]
    fn escapes_and_cases_as_sql_has_them() {
        for (like, text, expected) in [
            (Like::new("50!%").escape('!'), "50%", true),
            (Like::new("50!%").escape('!'), "500", false),
            (Like::new("a!!_").escape('!'), "a!b", true),
            (Like::new("%!_%").escape('!'), "a_b", true),
            (Like::new("%!_%").escape('!'), "ab", false),
            (Like::new("%É_x").ignore_case(), "aéYX", true),
            (Like::new("AB%").ignore_case(), "abc", true),
            (Like::new("!%B").escape('!').ignore_case(), "%b", true),
            (Like::new("ß").ignore_case(), "SS", false),
        ] {
            let pattern = LikePattern::new(&like).unwrap();
            assert_eq!(
                pattern.matches(text.as_bytes()),
                expected,
                "{text} {like:?}"
            );
        }
        assert_eq!(LikePattern::new(&Like::new("a!").escape('!')), None);
    }

    /// Matches by the definition, one character at a time: `%` matches nothing or takes a character, and `_` takes
    /// exactly one.
    fn by_definition(pattern: &[char], text: &[char]) -> bool {
        match (pattern.split_first(), text.split_first()) {
            (None, _) => text.is_empty(),
            (Some(('%', rest)), None) => by_definition(rest, text),
            (Some(('%', rest)), Some((_, others))) => {
                by_definition(rest, text) || by_definition(pattern, others)
            }
            (Some((wanted, rest)), Some((found, others))) => {
                (*wanted == '_' || wanted == found) && by_definition(rest, others)
            }
            (Some(_), None) => false,
        }
    }

    #[test]
    fn short_patterns_and_texts_are_as_the_definition_has_them() {
        let all = |letters: [char; 4], length: u32| {
            (0..4_usize.pow(length)).map(move |mut number| {
                let letter = |_| {
                    let letter = letters[number % 4];
                    number /= 4;
                    letter
                };
                (0..length).map(letter).collect::<Vec<char>>()
            })
        };
        for pattern in (0..=4).flat_map(|length| all(['%', '_', 'a', 'é'], length)) {
            let like = like(&pattern.iter().collect::<String>());
            for text in (0..=4).flat_map(|length| all(['a', 'é', 'b', '%'], length)) {
                let found = like.matches(text.iter().collect::<String>().as_bytes());
                assert_eq!(
                    found,
                    by_definition(&pattern, &text),
                    "{text:?} like {pattern:?}"
                );
            }
        }
    }

    /// A search that restarts at each position needs 2^43 comparisons for this needle.
    #[test]
    fn a_long_needle_is_searched_for_in_one_pass() {
        let text = "a".repeat(1 << 23);
        let needle = format!("%{}b%", "a".repeat(1 << 22));
        assert!(!like(&needle).matches(text.as_bytes()));
        let many = "%a".repeat(1 << 17);
        assert!(like(&many).matches(text.as_bytes()));
        assert!(!like(&(many + "%b%")).matches(text.as_bytes()));
        let characters = format!("%{}b%", "_".repeat(1 << 22));
        assert!(!like(&characters).matches(text.as_bytes()));
    }
}
