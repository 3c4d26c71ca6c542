//! Finds the rows in a text. The text is a sequence of objects, optionally in arrays or in
//! FeatureCollections.
//!
//! ```text
//! {…}{…} {…}                                          JSON lines, on separate lines or not
//! [{…}, {…}]                                          arrays
//! {"type": "FeatureCollection", "features": [{…}]}    GeoJSON
//! {"total": 2, "data": [{…}, {…}]}                    an array at a given key
//! ```
//!
//! This is a single pass over the text that never buffers more than one row.

use std::collections::VecDeque;
use std::io::BufRead;
use std::sync::Arc;

use herringbone::Limits;
use memchr::{memchr, memchr_iter};

use crate::error::{Error, Result};
use crate::read::foreign::NOT_UTF8;
use crate::read::value::ParseError;
use crate::read::{BATCH_BYTES, max_row_bytes, too_long, unreadable};

/// The maximum byte count of a row, due to 32-bit offsets.
const MAX_ROW_BYTES: usize = i32::MAX as usize;
/// The maximum byte count of the rows for inference. The last row can overshoot it.
const MAX_SAMPLE_BYTES: usize = 64 << 20;
/// The byte that separates texts in a JSON text sequence (RFC 7464).
const RECORD_SEPARATOR: u8 = 0x1e;

/// A source of rows, each of which is the text of one object.
pub(crate) trait RowTexts {
    /// Replaces `row` with the next row. Returns the row's first line, or `None` at the end.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if the text is malformed, and with
    /// [System](crate::Error::System) if it cannot be read.
    fn next_row(&mut self, row: &mut Vec<u8>) -> Result<Option<usize>>;

    /// Returns the failure for an error on this line.
    fn failure(&self, line: usize, error: ParseError) -> Error;
}

/// A callback for a collection's members other than its rows, called at the end of the collection.
pub(crate) type SeeCollection<'a> = Box<dyn FnMut(&str) -> Result<(), String> + 'a>;

/// Describes objects that contain an array of rows.
pub(crate) struct Collection<'a> {
    /// The array's key in the object.
    pub(crate) key: Arc<[u8]>,
    /// True if every object must have the array. Otherwise, an object without the array is itself a
    /// row.
    pub(crate) is_required: bool,
    pub(crate) see: SeeCollection<'a>,
}

/// The rows in a file.
pub(crate) struct FileRows<'a, R> {
    name: String,
    input: R,
    /// The current line, counted from 1.
    line: usize,
    /// The stack of open brackets around the rows.
    around: Vec<Around>,
    next: Next,
    /// The form of collections, or `None` if objects are never collections.
    collection: Option<Collection<'a>>,
    max_row_bytes: usize,
}

/// An open bracket around rows.
enum Around {
    Array,
    /// A collection's array, with the collection's text before it.
    Collection(Vec<u8>),
}

/// The tokens allowed next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// A row, or the end of the array.
    RowOrEnd,
    Row,
    CommaOrEnd,
}

impl<'a, R: BufRead> FileRows<'a, R> {
    pub(crate) fn new(name: String, input: R, collection: Option<Collection<'a>>) -> Self {
        Self {
            name,
            input,
            line: 1,
            around: Vec::new(),
            next: Next::RowOrEnd,
            collection,
            max_row_bytes: MAX_ROW_BYTES,
        }
    }

    /// Limits the byte count of a row.
    pub(crate) fn limited(self, limits: &Limits) -> Self {
        Self {
            max_row_bytes: max_row_bytes(limits),
            ..self
        }
    }

    fn fill(&mut self) -> Result<&[u8]> {
        let input = self.input.fill_buf();
        input.map_err(|error| unreadable(&self.name, &error))
    }

    fn consume(&mut self, count: usize, lines: usize) {
        self.line += lines;
        self.input.consume(count);
    }

    /// Returns the next byte after white space.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let input = self.fill()?;
            let is_blank =
                |byte: &&u8| matches!(**byte, b' ' | b'\t' | b'\r' | b'\n' | RECORD_SEPARATOR);
            let blank = input.iter().take_while(is_blank).count();
            let (before, rest) = input.split_at_checked(blank).unwrap_or((input, b""));
            let (lines, next) = (line_ends(before), rest.first().copied());
            let is_end = input.is_empty();
            self.consume(blank, lines);
            if next.is_some() || is_end {
                return Ok(next);
            }
        }
    }

    fn unexpected(&self, found: u8) -> Error {
        let found = match found {
            b' '..=b'~' => format!("`{}`", char::from(found)),
            other => format!("the byte {other:#04x}"),
        };
        let expected = match self.next {
            _ if self.around.is_empty() => "a row (an object {…}) or an array of rows",
            Next::RowOrEnd => "a row (an object {…}) or `]`",
            Next::Row => "a row (an object {…})",
            Next::CommaOrEnd => "`,` or `]`",
        };
        let text = format!("expected {expected}, found {found}");
        self.failure(self.line, ParseError::new(text))
    }

    fn ends_early(&self, within: &str) -> Error {
        self.failure(
            self.line,
            ParseError::new(format!("the file ends within {within}")),
        )
    }

    /// Fast path for a row alone on its line. Returns false and reads nothing if only a scan can
    /// find the row's end.
    ///
    /// Most JSON lines need no scan, because a `{` can't directly follow a `}` inside an object. So
    /// if a line ends with `}` and the next line begins with `{`, the line consists of whole rows.
    /// It's a single row if no `{` follows a `}` on the line.
    fn line(&mut self, row: &mut Vec<u8>) -> Result<bool> {
        let max = self.max_row_bytes;
        let input = self.fill()?;
        let Some(end) = memchr(b'\n', input) else {
            return Ok(false);
        };
        let line = input.get(..end).unwrap_or_default().trim_ascii_end();
        let begins_row = |at: usize| {
            let before = line.get(..at).unwrap_or_default().trim_ascii_end();
            matches!(before.last(), Some(&(b'}' | RECORD_SEPARATOR)))
        };
        if line.len() > max
            || line.last() != Some(&b'}')
            || input.get(end + 1) != Some(&b'{')
            || memchr_iter(b'{', line).any(begins_row)
        {
            return Ok(false);
        }
        row.extend_from_slice(line);
        let length = line.len();
        self.consume(length, 0);
        Ok(true)
    }

    /// Reads to the end of an object. For a collection, stops before its rows and returns false.
    fn object(&mut self, row: &mut Vec<u8>, mut scanner: Scanner) -> Result<bool> {
        loop {
            let input = self.fill()?;
            if input.is_empty() {
                return Err(self.ends_early("a row"));
            }
            let stop = scanner.scan(input);
            let end = match stop {
                Stop::No => input.len(),
                Stop::End(end) | Stop::Rows(end) => end,
            };
            let part = input.get(..end).unwrap_or(input);
            let lines = line_ends(part);
            row.extend_from_slice(part);
            self.consume(end, lines);
            if row.len() > self.max_row_bytes {
                let error = ParseError::new(too_long(self.max_row_bytes));
                return Err(self.failure(self.line, error));
            }
            match stop {
                Stop::No => {}
                Stop::End(_) => return Ok(true),
                Stop::Rows(_) => return Ok(false),
            }
        }
    }

    /// Pops the innermost array after its end.
    fn leave(&mut self) -> Result<()> {
        self.consume(1, 0);
        if let Some(Around::Collection(mut text)) = self.around.pop() {
            text.push(b']');
            let line = self.line;
            self.object(&mut text, Scanner::within_collection())?;
            let text = String::from_utf8(text).map_err(|_| NOT_UTF8.to_owned());
            let seen = match &mut self.collection {
                Some(collection) => text.and_then(|text| (collection.see)(&text)),
                None => Ok(()),
            };
            seen.map_err(|text| self.failure(line, ParseError::new(text)))?;
        }
        self.next = Next::CommaOrEnd;
        Ok(())
    }
}

impl<R: BufRead> RowTexts for FileRows<'_, R> {
    fn next_row(&mut self, row: &mut Vec<u8>) -> Result<Option<usize>> {
        row.clear();
        // Don't hold on to the memory of an exceptionally large row.
        row.shrink_to(BATCH_BYTES);
        loop {
            let Some(byte) = self.peek()? else {
                return match self.around.is_empty() {
                    true => Ok(None),
                    false => Err(self.ends_early("an array of rows")),
                };
            };
            let is_outside = self.around.is_empty();
            match byte {
                b'{' if is_outside || self.next != Next::CommaOrEnd => {
                    let line = self.line;
                    if is_outside && self.collection.is_none() && self.line(row)? {
                        return Ok(Some(line));
                    }
                    let in_collection = matches!(self.around.last(), Some(Around::Collection(_)));
                    let collection = self.collection.as_ref().filter(|_| !in_collection);
                    let key = collection.map(|collection| collection.key.clone());
                    let is_required = collection.is_some_and(|collection| collection.is_required);
                    if self.object(row, Scanner::new(key.clone()))? {
                        if let (true, Some(key)) = (is_required, key) {
                            let key = String::from_utf8_lossy(&key);
                            let text = format!("the object does not have an array `{key}`");
                            return Err(self.failure(line, ParseError::new(text)));
                        }
                        self.next = Next::CommaOrEnd;
                        return Ok(Some(line));
                    }
                    self.around.push(Around::Collection(std::mem::take(row)));
                    self.next = Next::RowOrEnd;
                }
                b'[' if is_outside => {
                    self.consume(1, 0);
                    self.around.push(Around::Array);
                    self.next = Next::RowOrEnd;
                }
                b',' if !is_outside && self.next == Next::CommaOrEnd => {
                    self.consume(1, 0);
                    self.next = Next::Row;
                }
                b']' if !is_outside && self.next != Next::Row => self.leave()?,
                other => return Err(self.unexpected(other)),
            }
        }
    }

    fn failure(&self, line: usize, error: ParseError) -> Error {
        Error::Data(format!("{}: line {line}: {}", self.name, error.into_text()))
    }
}

/// The outcome of a scan.
#[derive(Clone, Copy)]
enum Stop {
    /// The object continues after the text.
    No,
    /// The object ends before this byte.
    End(usize),
    /// The rows of a collection begin at this byte.
    Rows(usize),
}

/// Finds the end of an object in a text that arrives in pieces.
struct Scanner {
    /// The number of open brackets and braces.
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The key of a collection's rows, if the object is allowed to be a collection.
    rows_key: Option<Arc<[u8]>>,
    /// The object's last string, if it could be the key for the rows.
    key: Vec<u8>,
    /// True after the key for the rows and its colon.
    is_at_rows: bool,
}

impl Scanner {
    fn new(rows_key: Option<Arc<[u8]>>) -> Self {
        Self {
            depth: 0,
            in_string: false,
            escaped: false,
            rows_key,
            key: Vec::new(),
            is_at_rows: false,
        }
    }

    /// Creates the scanner for the rest of a collection, after its rows.
    fn within_collection() -> Self {
        Self {
            depth: 1,
            ..Self::new(None)
        }
    }

    fn scan(&mut self, text: &[u8]) -> Stop {
        for (at, byte) in text.iter().enumerate() {
            if self.in_string {
                self.string_byte(*byte);
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.key.clear();
                }
                b'[' if self.is_at_rows && self.depth == 1 => return Stop::Rows(at + 1),
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Stop::End(at + 1);
                    }
                }
                b':' if self.depth == 1 => {
                    let rows_key = self.rows_key.as_deref();
                    self.is_at_rows = rows_key.is_some_and(|key| self.key == key);
                }
                b',' if self.depth == 1 => self.is_at_rows = false,
                _ => {}
            }
        }
        Stop::No
    }

    fn string_byte(&mut self, byte: u8) {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' => self.escaped = true,
            b'"' => {
                self.in_string = false;
                return;
            }
            _ => {}
        }
        if let Some(key) = &self.rows_key
            && self.depth == 1
            && self.key.len() <= key.len()
        {
            self.key.push(byte);
        }
    }
}

/// Returns the number of line feeds in a text.
pub(super) fn line_ends(text: &[u8]) -> usize {
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// An input's rows, with a sample of the first rows read in advance for inference.
pub(crate) struct Sampled<S> {
    /// The sampled rows with their line numbers.
    pub sample: VecDeque<(usize, Vec<u8>)>,
    /// True if the sample has all rows.
    pub is_whole: bool,
    rest: S,
}

impl<S: RowTexts> Sampled<S> {
    /// Reads up to `count` rows in advance.
    ///
    /// # Errors
    /// Returns the errors of reading the rows.
    pub(crate) fn new(mut rest: S, count: usize) -> Result<Self> {
        let (mut sample, mut is_whole) = (VecDeque::new(), false);
        let mut bytes = 0;
        while sample.len() < count && bytes < MAX_SAMPLE_BYTES {
            let mut row = Vec::new();
            let Some(line) = rest.next_row(&mut row)? else {
                is_whole = true;
                break;
            };
            bytes += row.len() + size_of::<(usize, Vec<u8>)>();
            row.shrink_to_fit();
            sample.push_back((line, row));
        }
        Ok(Self {
            sample,
            is_whole,
            rest,
        })
    }
}

impl<S: RowTexts> RowTexts for Sampled<S> {
    fn next_row(&mut self, row: &mut Vec<u8>) -> Result<Option<usize>> {
        match self.sample.pop_front() {
            Some((line, text)) => {
                *row = text;
                Ok(Some(line))
            }
            None => self.rest.next_row(row),
        }
    }

    fn failure(&self, line: usize, error: ParseError) -> Error {
        self.rest.failure(line, error)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::BufReader;

    use super::*;

    /// Reads all rows through buffers of `size` bytes. Collections are recorded in `seen`.
    fn rows(text: &str, size: usize, seen: &RefCell<Vec<String>>) -> Result<Vec<String>> {
        let input = BufReader::with_capacity(size, text.as_bytes());
        let see: SeeCollection<'_> = Box::new(|text| {
            seen.borrow_mut().push(text.to_owned());
            Ok(())
        });
        let mut file = FileRows::new(
            "text".into(),
            input,
            Some(Collection {
                key: Arc::from(&b"features"[..]),
                is_required: false,
                see,
            }),
        );
        let (mut all, mut row) = (Vec::new(), Vec::new());
        while let Some(line) = file.next_row(&mut row)? {
            all.push(format!("{line} {}", String::from_utf8_lossy(&row)));
        }
        Ok(all)
    }

    #[test]
    fn rows_are_found_in_lines_arrays_and_collections() {
        for (text, expected, collections) in [
            ("", &[][..], &[][..]),
            (
                " \n\u{1e}{}\n{\"a\":1}{}",
                &["2 {}", "3 {\"a\":1}", "3 {}"],
                &[],
            ),
            ("[]\n[ ]", &[], &[]),
            (
                "[\n{\"a\":[\"]\",{}]} ,\n{\"}\\\"\":\n1}\n]\n{}",
                &["2 {\"a\":[\"]\",{}]}", "3 {\"}\\\"\":\n1}", "6 {}"],
                &[],
            ),
            (
                "{\"x\":{\"features\":[1]},\"features\" : [{\"features\":[2]},\n{}],\"y\":\"}\"}{}",
                &["1 {\"features\":[2]}", "2 {}", "2 {}"],
                &["{\"x\":{\"features\":[1]},\"features\" : [],\"y\":\"}\"}"],
            ),
            (
                "[{\"features\":[]},{\"a\":\"features\",\"b\":[1]},{\"features\":null}]",
                &["1 {\"a\":\"features\",\"b\":[1]}", "1 {\"features\":null}"],
                &["{\"features\":[]}"],
            ),
        ] {
            for size in [1, 2, 7, 4096] {
                let seen = RefCell::default();
                assert_eq!(rows(text, size, &seen).ok().unwrap(), expected, "{text}");
                assert_eq!(*seen.borrow(), collections, "{text}");
            }
        }
    }

    #[test]
    fn rows_that_are_lines_are_like_all_others() {
        let lines = [
            r#"{"a":1}"#,
            r#"{"a":"}"}  "#,
            r#"{"a":[2]}{"a":3}"#,
            "{\"a\":4} \u{1e} {\"a\":5}",
            r#"{"a":{"b":{}},"c":[{},{}]}"#,
            r#"{"a":{"b":"}"}"#,
            r#","c":6}"#,
            r#"{"a":"} {"}"#,
            "",
            r#"{"a":{}}"#,
            " {}",
            r#"{"a":7}"#,
        ];
        let expected = [
            r#"1 {"a":1}"#,
            r#"2 {"a":"}"}"#,
            r#"3 {"a":[2]}"#,
            r#"3 {"a":3}"#,
            r#"4 {"a":4}"#,
            r#"4 {"a":5}"#,
            r#"5 {"a":{"b":{}},"c":[{},{}]}"#,
            "6 {\"a\":{\"b\":\"}\"}\r\n,\"c\":6}",
            r#"8 {"a":"} {"}"#,
            r#"10 {"a":{}}"#,
            "11 {}",
            r#"12 {"a":7}"#,
        ];
        let text = lines.join("\r\n");
        for size in [1, 2, 7, 20, 4096] {
            let input = BufReader::with_capacity(size, text.as_bytes());
            let mut file = FileRows::new("text".into(), input, None);
            let (mut all, mut row) = (Vec::new(), Vec::new());
            while let Some(line) = file.next_row(&mut row).ok().unwrap() {
                all.push(format!("{line} {}", String::from_utf8_lossy(&row)));
            }
            assert_eq!(all, expected, "{size}");
        }
        // The limit of a row is that of lines, too.
        let mut file = FileRows::new("text".into(), &b"{\"a\":12345}\n{}"[..], None);
        file.max_row_bytes = 10;
        assert!(file.next_row(&mut Vec::new()).is_err());
    }

    #[test]
    fn other_texts_have_a_place() {
        for (text, expected) in [
            (
                "{}\n1",
                "line 2: expected a row (an object {…}) or an array of rows, found `1`",
            ),
            (
                "{},{}",
                "line 1: expected a row (an object {…}) or an array of rows, found `,`",
            ),
            (
                "[{},\n]",
                "line 2: expected a row (an object {…}), found `]`",
            ),
            (
                "[,{}]",
                "line 1: expected a row (an object {…}) or `]`, found `,`",
            ),
            ("[{}\n{}]", "line 2: expected `,` or `]`, found `{`"),
            (
                "[[1]]",
                "line 1: expected a row (an object {…}) or `]`, found `[`",
            ),
            ("[{}", "line 1: the file ends within an array of rows"),
            ("{\"a\":\n", "line 2: the file ends within a row"),
            ("{\"features\":[{}]", "line 1: the file ends within a row"),
            (
                "\u{0}",
                "line 1: expected a row (an object {…}) or an array of rows, found the byte 0x00",
            ),
        ] {
            let error = rows(text, 3, &RefCell::default())
                .err()
                .unwrap()
                .to_string();
            assert!(
                error.starts_with(&format!("text: {expected}")),
                "{text}: {error}"
            );
        }
    }
}
