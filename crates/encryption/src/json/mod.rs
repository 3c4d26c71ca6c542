//! JSON of key material and of keys files, with line numbers for messages.
//!
//! Texts are wiped when dropped. An object with a duplicate key is an error. No message repeats the input.

mod parser;
mod write;

#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

pub(crate) use parser::parse;
pub(crate) use write::ObjectWriter;

/// A value and the line on which it starts. Lines count from 1.
pub(crate) struct Json {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// A number. Its value is not used.
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
    /// Returns the kind of value, for messages.
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
