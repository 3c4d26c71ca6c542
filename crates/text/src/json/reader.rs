//! Reads a text token by token.

use super::string::{plain_len, unescape};
use super::{JsonError, JsonNumber, JsonProblem, JsonText};

/// A scalar value, or the opening bracket of an array or object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum JsonToken<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A number.
    Number(JsonNumber<'t>),
    /// `NaN`, `Infinity` or `-Infinity`, if [allowed](JsonReader::allow_non_finite).
    NonFinite(f64),
    /// A string.
    Text(JsonText<'t>),
    /// The bracket `[`. Call [`JsonReader::item`] before you read each item.
    Array,
    /// The bracket `{`. Call [`JsonReader::key`] before you read each value.
    Object,
}

/// A reader of one JSON text.
///
/// ```
/// use herringbone_text::json::{JsonReader, JsonToken};
///
/// let mut json = JsonReader::new(r#"{"a": [1, 2.50]}"#);
/// assert_eq!(json.value()?, JsonToken::Object);
/// while let Some(key) = json.key()? {
///     assert_eq!(key.to_cow(), "a");
///     assert_eq!(json.value()?, JsonToken::Array);
///     while json.item()? {
///         let JsonToken::Number(number) = json.value()? else { panic!() };
///         assert!(["1", "2.50"].contains(&number.text));
///     }
/// }
/// json.end()?;
/// # Ok::<(), herringbone_text::json::JsonError>(())
/// ```
#[derive(Debug, Clone)]
pub struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    /// The open brackets, true for objects and false for arrays.
    open: Vec<bool>,
    /// True directly after an opening bracket, where a comma is not allowed.
    is_first: bool,
    max_depth: usize,
    allows_non_finite: bool,
}

impl<'t> JsonReader<'t> {
    /// The default maximum number of nested arrays and objects.
    pub const MAX_DEPTH: usize = 64;

    /// Creates a reader for `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            is_first: false,
            max_depth: Self::MAX_DEPTH,
            allows_non_finite: false,
        }
    }

    /// Sets the maximum number of nested arrays and objects.
    #[must_use]
    pub fn with_max_depth(mut self, levels: usize) -> Self {
        self.max_depth = levels;
        self
    }

    /// Sets whether the reader accepts `NaN`, `Infinity` and `-Infinity`, which aren't valid JSON.
    #[must_use]
    pub fn allow_non_finite(mut self, allow: bool) -> Self {
        self.allows_non_finite = allow;
        self
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns the number of open arrays and objects.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns true if the innermost open bracket belongs to an object.
    #[must_use]
    pub fn is_in_object(&self) -> bool {
        self.open.last().copied().unwrap_or(false)
    }

    /// Reads a scalar value, or the opening bracket of an array or object.
    ///
    /// # Errors
    ///
    /// Fails if no value starts at this position, or if the nesting is too deep.
    #[inline]
    pub fn value(&mut self) -> Result<JsonToken<'t>, JsonError> {
        match self.peek() {
            Some(b'"') => self.string().map(JsonToken::Text),
            Some(b'{') => self.begin(true),
            Some(b'[') => self.begin(false),
            Some(b'0'..=b'9' | b'-') => self.number(),
            _ => self.word(),
        }
    }

    /// Returns true if the array has another item. If so, read it with [`value`](Self::value).
    ///
    /// # Errors
    ///
    /// Fails if there is neither a comma nor the end of the array at this position.
    #[inline]
    pub fn item(&mut self) -> Result<bool, JsonError> {
        self.more(b']', "`,` or `]`")
    }

    /// Returns an object's next key, reading past its colon, or `None` after the last member.
    ///
    /// # Errors
    ///
    /// Fails if there is neither a member nor the end of the object at this position.
    #[inline]
    pub fn key(&mut self) -> Result<Option<JsonText<'t>>, JsonError> {
        if !self.more(b'}', "`,` or `}`")? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(self.unexpected("a key in quotes"));
        }
        let key = self.string()?;
        if self.peek() != Some(b':') {
            return Err(self.unexpected("a colon"));
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Skips the next value, including any nested values, and returns its text.
    ///
    /// # Errors
    ///
    /// Fails if no value starts at this position.
    pub fn skip(&mut self) -> Result<&'t str, JsonError> {
        self.peek();
        let (start, depth) = (self.at, self.open.len());
        self.value()?;
        while self.open.len() > depth {
            let has_more = match self.is_in_object() {
                true => self.key()?.is_some(),
                false => self.item()?,
            };
            if has_more {
                self.value()?;
            }
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    /// Checks that nothing but whitespace follows.
    ///
    /// # Errors
    ///
    /// Fails if anything other than whitespace follows.
    pub fn end(&mut self) -> Result<(), JsonError> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end of the text")),
        }
    }

    /// Returns the error for `expected` missing at the current position.
    #[cold]
    #[must_use]
    pub fn unexpected(&self, expected: &'static str) -> JsonError {
        let found = self.rest().chars().next();
        self.error(JsonProblem::Unexpected { expected, found })
    }

    #[cold]
    pub(super) fn error(&self, problem: JsonProblem) -> JsonError {
        JsonError {
            position: self.at,
            problem,
        }
    }

    #[inline]
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips whitespace and returns the next byte without consuming it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => self.at += 1,
                other => return other.copied(),
            }
        }
    }

    fn begin(&mut self, is_object: bool) -> Result<JsonToken<'t>, JsonError> {
        if self.open.len() >= self.max_depth {
            let limit = self.max_depth;
            return Err(self.error(JsonProblem::TooDeep { limit }));
        }
        self.open.push(is_object);
        self.is_first = true;
        self.at += 1;
        Ok(if is_object {
            JsonToken::Object
        } else {
            JsonToken::Array
        })
    }

    #[inline]
    fn more(&mut self, end: u8, expected: &'static str) -> Result<bool, JsonError> {
        let is_first = std::mem::replace(&mut self.is_first, false);
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                self.open.pop();
                return Ok(false);
            }
            _ if is_first => {}
            Some(b',') => self.at += 1,
            _ => return Err(self.unexpected(expected)),
        }
        Ok(true)
    }

    fn number(&mut self) -> Result<JsonToken<'t>, JsonError> {
        if let Some(number) = JsonNumber::at_start(self.rest()) {
            self.at += number.text.len();
            return Ok(JsonToken::Number(number));
        }
        if self.allows_non_finite && self.takes("-Infinity") {
            return Ok(JsonToken::NonFinite(f64::NEG_INFINITY));
        }
        Err(self.unexpected("a JSON number"))
    }

    fn word(&mut self) -> Result<JsonToken<'t>, JsonError> {
        Ok(if self.takes("null") {
            JsonToken::Null
        } else if self.takes("true") {
            JsonToken::Boolean(true)
        } else if self.takes("false") {
            JsonToken::Boolean(false)
        } else if self.allows_non_finite && self.takes("NaN") {
            JsonToken::NonFinite(f64::NAN)
        } else if self.allows_non_finite && self.takes("Infinity") {
            JsonToken::NonFinite(f64::INFINITY)
        } else {
            return Err(self.unexpected("a value"));
        })
    }

    /// Skips `word` if it's next, returning true if so.
    fn takes(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    /// Reads a string. Its opening quote must be next.
    #[inline]
    fn string(&mut self) -> Result<JsonText<'t>, JsonError> {
        let start = self.at + 1;
        self.at = start;
        let mut has_escapes = false;
        loop {
            self.at += plain_len(self.rest().as_bytes());
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += self.escape()?;
                }
                Some(_) => return Err(self.unexpected("an escape for a control character")),
                None => return Err(self.unexpected("the closing quote of a string")),
            }
        }
        // The quotes are ASCII, so both ends are character boundaries.
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        Ok(JsonText::new(raw, has_escapes))
    }

    /// Returns the next escape's length in bytes.
    fn escape(&self) -> Result<usize, JsonError> {
        let escape = self.rest().get(1..).unwrap_or_default();
        match unescape(escape) {
            Some((_, length)) => Ok(1 + length),
            None if escape.starts_with('u') => {
                Err(self.unexpected("\\u with four hexadecimal digits of a complete character"))
            }
            None => Err(self.unexpected("a JSON escape sequence")),
        }
    }
}
