//! A cursor over a schema's text, with errors that name the place.

use std::borrow::Cow;
use std::str::FromStr;

use herringbone_format::{Error, ErrorKind, Remedy, Result};

use super::word::{Word, ends_word};

/// The most characters of the text to show in an error message.
const LONGEST_EXCERPT: usize = 40;

/// The maximum number of digits in an escape `\u{…}`.
const LONGEST_ESCAPE: usize = 6;

/// The error for a quoted name that lacks its closing quote.
const UNCLOSED: &str = "found a quote that is never closed, expected a quoted name; write a `\"` \
                        after the name";

/// The error for a backslash that does not start a valid escape.
const UNKNOWN_ESCAPE: &str = "found an unknown escape, expected a quoted name; write `\\\\` for \
     a backslash, `\\\"` for a quote, `\\n` for a line break, or the number of a character as \
     `\\u{2028}`";

/// A description of the text expected at a place.
#[derive(Clone, Copy)]
pub(super) struct Expected {
    /// The noun after "expected" in an error.
    pub(super) noun: &'static str,
    /// The advice after "write" in an error.
    pub(super) advice: &'static str,
}

/// The unread rest of a text.
pub(super) struct Cursor<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// Starts at the first character after white space.
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            rest: text.trim_start(),
        }
    }

    /// Returns the offset of the next byte after white space.
    pub(super) fn offset(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    /// Returns true if the whole text has been read.
    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads `mark` if it is next, or returns false otherwise.
    pub(super) fn take(&mut self, mark: char) -> bool {
        let rest = self.rest.strip_prefix(mark);
        if let Some(rest) = rest {
            self.rest = rest.trim_start();
        }
        rest.is_some()
    }

    /// Reads `mark`, or fails if it isn't next.
    pub(super) fn expect(&mut self, mark: char, expected: Expected) -> Result<()> {
        match self.take(mark) {
            true => Ok(()),
            false => Err(self.unexpected(expected)),
        }
    }

    /// Reads a non-empty bare word.
    pub(super) fn bare(&mut self, expected: Expected) -> Result<&'a str> {
        let end = self.rest.find(ends_word).unwrap_or(self.rest.len());
        match self.rest.split_at_checked(end) {
            Some((word, rest)) if !word.is_empty() => {
                self.rest = rest.trim_start();
                Ok(word)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Reads a word, either bare or in quotes.
    pub(super) fn word(&mut self, expected: Expected) -> Result<Cow<'a, str>> {
        match self.rest.strip_prefix('"') {
            Some(rest) => self.quoted(rest).map(Cow::Owned),
            None => self.bare(expected).map(Cow::Borrowed),
        }
    }

    /// Reads a number that fits in `T`.
    pub(super) fn number<T: FromStr>(&mut self, expected: Expected) -> Result<T> {
        let start = self.offset();
        let word = self.bare(expected)?;
        word.parse()
            .map_err(|_| self.unexpected_at(start, expected))
    }

    /// Reads a quoted word from `rest`, starting after the opening quote.
    fn quoted(&mut self, mut rest: &'a str) -> Result<String> {
        let start = self.offset();
        let mut word = String::new();
        loop {
            let Some((plain, after)) = rest.split_once(['"', '\\']) else {
                return Err(self.error_at(start, UNCLOSED));
            };
            word.push_str(plain);
            if rest.as_bytes().get(plain.len()) == Some(&b'"') {
                self.rest = after.trim_start();
                return Ok(word);
            }
            let Some((c, after)) = escape(after) else {
                return Err(self.error_at(self.text.len() - after.len() - 1, UNKNOWN_ESCAPE));
            };
            word.push(c);
            rest = after;
        }
    }

    /// Creates the error for unexpected text at the current place.
    pub(super) fn unexpected(&self, expected: Expected) -> Error {
        self.unexpected_at(self.offset(), expected)
    }

    /// Creates the error for an unexpected word at `offset`.
    pub(super) fn unexpected_at(
        &self,
        offset: usize,
        Expected { noun, advice }: Expected,
    ) -> Error {
        let found = self.excerpt(offset);
        self.error_at(
            offset,
            &format!("found {found}, expected {noun}; write {advice}"),
        )
    }

    /// Creates the error for a node at `offset` exceeding one of the
    /// [`Limits`](herringbone_format::Limits).
    pub(super) fn limit(&self, offset: usize, limit: &'static str, allowed: usize) -> Error {
        let (line, column) = self.place(offset);
        let message = format!(
            "schema, line {line}, column {column}: found a node beyond the limit `{limit}` of \
             {allowed}"
        );
        Error::new(ErrorKind::Limit, message).with_remedy(Remedy::RaiseLimit(limit))
    }

    fn error_at(&self, offset: usize, message: &str) -> Error {
        let (line, column) = self.place(offset);
        Error::argument(format!("schema, line {line}, column {column}: {message}"))
    }

    /// Describes the text at `offset`: a word, a mark, or the text's end.
    fn excerpt(&self, offset: usize) -> String {
        let rest = self.text.get(offset..).unwrap_or_default();
        let end = match rest.find(ends_word) {
            Some(0) => 1,
            Some(end) => end,
            None => rest.len(),
        };
        let word = rest.get(..end).unwrap_or_default();
        let cut = word.char_indices().nth(LONGEST_EXCERPT);
        match (word, cut) {
            ("", _) => "the end of the text".to_owned(),
            (word, Some((end, _))) => {
                format!("`{}…`", printable(word.get(..end).unwrap_or_default()))
            }
            (word, None) => format!("`{}`", printable(word)),
        }
    }

    /// Returns the line and the column of `offset`, both counted from one. The column counts
    /// characters rather than bytes.
    fn place(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

/// Returns an excerpt in printable form. Marks are not quoted.
fn printable(excerpt: &str) -> String {
    match excerpt.chars().all(|c| c.is_ascii_graphic()) {
        true => excerpt.to_owned(),
        false => Word(excerpt).to_string(),
    }
}

/// Returns the character escaped at the start of `text`, right after the backslash, and the
/// remaining text.
fn escape(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    let c = match chars.next()? {
        c @ ('"' | '\'' | '\\') => c,
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        '0' => '\0',
        'u' => {
            let text = chars.as_str().strip_prefix('{')?;
            let end = text
                .bytes()
                .take(LONGEST_ESCAPE + 1)
                .position(|byte| byte == b'}')?;
            let (digits, rest) = text.split_at_checked(end)?;
            let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
            return Some((char::from_u32(code)?, rest.strip_prefix('}')?));
        }
        _ => return None,
    };
    Some((c, chars.as_str()))
}
