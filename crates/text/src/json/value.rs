//! A JSON text as a tree, for small texts such as schemas.

use std::collections::HashSet;
use std::fmt;

use super::{JsonError, JsonProblem, JsonReader, JsonToken, push_quoted};

/// A JSON value, including any nested values. Numbers are kept as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// The text of a number.
    Number(String),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Self>),
    /// An object.
    Object(JsonObject),
}

/// An object's members, in text order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JsonObject {
    /// The keys and their values. All keys are distinct if the object comes from [`JsonValue::parse`].
    pub members: Vec<(String, JsonValue)>,
}

impl JsonValue {
    /// Parses `text` with at most [`JsonReader::MAX_DEPTH`] levels.
    ///
    /// # Errors
    ///
    /// Fails if the text is not JSON, or if an object contains the same key twice.
    pub fn parse(text: &str) -> Result<Self, JsonError> {
        let mut reader = JsonReader::new(text);
        let value = Self::read(&mut reader)?;
        reader.end()?;
        Ok(value)
    }

    /// Reads the next value from `reader`.
    ///
    /// # Errors
    ///
    /// Fails if no value starts at this position or an object contains the same key twice.
    pub fn read(reader: &mut JsonReader<'_>) -> Result<Self, JsonError> {
        // This recursion is safe because the reader limits the depth.
        Ok(match reader.value()? {
            JsonToken::Null => Self::Null,
            JsonToken::Boolean(value) => Self::Boolean(value),
            JsonToken::Number(number) => Self::Number(number.text.to_owned()),
            JsonToken::NonFinite(_) => return Err(reader.unexpected("a JSON value")),
            JsonToken::Text(text) => Self::Text(text.to_cow().into_owned()),
            JsonToken::Array => {
                let mut items = Vec::new();
                while reader.item()? {
                    items.push(Self::read(reader)?);
                }
                Self::Array(items)
            }
            JsonToken::Object => {
                let mut members = Vec::new();
                let mut keys = HashSet::new();
                while let Some(key) = reader.key()? {
                    let key = key.to_cow();
                    if !keys.insert(key.clone()) {
                        return Err(reader.error(JsonProblem::DuplicateKey));
                    }
                    members.push((key.into_owned(), Self::read(reader)?));
                }
                Self::Object(JsonObject { members })
            }
        })
    }

    /// Returns the string, or `None` if the value is not a string.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the items, or `None` if the value is not an array.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// Returns the object, or `None` if the value is not an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&JsonObject> {
        match self {
            Self::Object(object) => Some(object),
            _ => None,
        }
    }

    /// Returns the value of `key`, if this is an object and has such a member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    fn push(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(text) => out.push_str(text),
            Self::Text(text) => push_quoted(out, text),
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.push(out);
                }
                out.push(']');
            }
            Self::Object(object) => {
                out.push('{');
                for (at, (key, value)) in object.members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    push_quoted(out, key);
                    out.push(':');
                    value.push(out);
                }
                out.push('}');
            }
        }
    }
}

impl JsonObject {
    /// Returns a key's value. This takes time linear in the number of members.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&JsonValue> {
        let member = self.members.iter().find(|(name, _)| name == key);
        member.map(|(_, value)| value)
    }

    /// Returns a mutable reference to a key's value. This takes time linear in the number of members.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut JsonValue> {
        let member = self.members.iter_mut().find(|(name, _)| name == key);
        member.map(|(_, value)| value)
    }
}

/// Writes JSON without whitespace.
impl fmt::Display for JsonValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = String::new();
        self.push(&mut out);
        f.write_str(&out)
    }
}
