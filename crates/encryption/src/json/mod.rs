//! JSON of key material and of keys files, with the lines that messages name.
//!
//! Texts are wiped when they are dropped. An object that has a key twice is an error.
//! No message repeats the input.

mod parser;
mod write;

#[cfg(test)]
mod tests;

use zeroize::Zeroizing;

pub(crate) use parser::parse;
pub(crate) use write::ObjectWriter;

/// A value, and the line where it starts, from 1 on.
pub(crate) struct Json {
    pub(crate) line: usize,
    pub(crate) value: Value,
}

pub(crate) enum Value {
    Null,
    Boolean(bool),
    /// Numbers are of no use to anybody here.
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
    /// What it is, for messages.
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
