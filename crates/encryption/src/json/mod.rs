//! Reads and writes the JSON of key material and keys files, with line numbers for messages.
//!
//! Texts are wiped on drop. A duplicate key in an object is an error. Messages never repeat the
//! input, because it might contain keys.

mod parser;
mod write;

#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

pub(crate) use parser::parse;
pub(crate) use write::ObjectWriter;

/// A value and the line it starts on. Lines count from 1.
pub(crate) struct Json {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// A number. We never use its value.
    Number,
    Text(Zeroizing<String>),
    Array(Vec<Json>),
    Object(Vec<Member>),
}

/// A member of an object.
pub(crate) struct Member {
    pub(crate) name: Zeroizing<String>,
    pub(crate) value: Json,
}

impl Json {
    /// Returns the name of the value's kind, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Boolean(_) => "a boolean",
            Value::Number => "a number",
            Value::Text(_) => "text",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        }
    }
}
