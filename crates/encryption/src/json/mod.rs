//! Reads and writes the JSON of key material and of keys files, with line numbers for messages.
//!
//! We wipe texts when they are dropped. A duplicate key in an object is an error. No message
//! repeats the input, because it may contain keys.

mod parser;
mod write;

#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

pub(crate) use parser::parse;
pub(crate) use write::ObjectWriter;

/// A value, with the line on which it starts. Lines count from 1.
pub(crate) struct Json {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// A number, whose value we do not use.
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
