//! Parses a JSON text into values wiped on drop.

use std::collections::HashSet;

use herringbone_text::json::{JsonError, JsonProblem, JsonReader, JsonText, JsonToken};
use zeroize::Zeroizing;

use super::{Json, Member, Value};

/// The maximum nesting of arrays and objects.
const MAX_DEPTH: usize = 16;

/// The reason why a text is not JSON, and its line. The message repeats nothing from the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotJson {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// Parses the value in `text`. The work is linear in the text's length.
pub(crate) fn parse(text: &str) -> Result<Json, NotJson> {
    // Some editors write a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut parser = Parser {
        text,
        reader: JsonReader::new(text).with_max_depth(MAX_DEPTH),
        counted: 0,
        line: 1,
    };
    let value = parser.value();
    let value = value.and_then(|value| parser.reader.end().map(|()| value));
    value.map_err(|error| NotJson {
        line: error.line_in(text),
        message: error.message_without_content(),
    })
}

struct Parser<'t> {
    text: &'t str,
    reader: JsonReader<'t>,
    /// The number of bytes already searched for line ends.
    counted: usize,
    line: usize,
}

impl<'t> Parser<'t> {
    /// Reads the next value. The recursion is bounded by the reader's depth limit.
    fn value(&mut self) -> Result<Json, JsonError> {
        let token = self.reader.value()?;
        // No token contains a line end, so it starts on the line it ends on.
        let line = self.line();
        let value = match token {
            JsonToken::Null => Value::Null,
            JsonToken::Boolean(value) => Value::Boolean(value),
            JsonToken::Number(_) | JsonToken::NonFinite(_) => Value::Number,
            JsonToken::Text(text) => Value::Text(wiped(text)),
            JsonToken::Array => {
                let mut values = Vec::new();
                while self.reader.item()? {
                    values.push(self.value()?);
                }
                Value::Array(values)
            }
            JsonToken::Object => Value::Object(self.members()?),
        };
        Ok(Json { line, value })
    }

    fn members(&mut self) -> Result<Vec<Member>, JsonError> {
        let mut members = Vec::new();
        let mut ends = Vec::new();
        while let Some(name) = self.reader.key()? {
            ends.push(self.reader.position());
            let (name, value) = (wiped(name), self.value()?);
            members.push(Member { name, value });
        }
        let mut names = HashSet::new();
        let mut all_names = members.iter().map(|member: &Member| member.name.as_str());
        let twice = all_names.position(|name| !names.insert(name));
        match twice.and_then(|at| ends.get(at)) {
            None => Ok(members),
            Some(position) => Err(JsonError {
                position: *position,
                problem: JsonProblem::DuplicateKey,
            }),
        }
    }

    /// Returns the line of the last value read.
    fn line(&mut self) -> usize {
        let position = self.reader.position();
        let passed = self.text.as_bytes().get(self.counted..position);
        let line_ends = passed.unwrap_or_default().iter();
        self.line += line_ends.filter(|byte| **byte == b'\n').count();
        self.counted = position;
        self.line
    }
}

/// Copies a string. We allocate the buffer at its full size, so that no partial copy is left behind
/// in freed memory.
fn wiped(text: JsonText<'_>) -> Zeroizing<String> {
    let mut copy = Zeroizing::new(String::with_capacity(text.raw().len()));
    text.push_to(&mut copy);
    copy
}
