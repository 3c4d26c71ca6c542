//! Describes the structures of `parquet.thrift` as JSON, under their original names.
//!
//! Fields that a file does not have are left out. An enum becomes its name in the specification,
//! and bytes become base64. `meta`, `pages` and `schema --format json` print this format. Programs
//! read this format, so it is stable and documented in the command's README. You are free to add
//! names, but removing a name or changing its meaning requires a new [`FORMAT_VERSION`].

pub(crate) mod bound;
pub(crate) mod chunk;
pub(crate) mod explain_encodings;
pub(crate) mod geometry;
pub(crate) mod index;
pub(crate) mod nulls;
pub(crate) mod page;
pub(crate) mod schema;
pub(crate) mod statistics;

use serde_json::{Map, Value};

/// The version of the JSON that describes files.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// A JSON object being built.
#[derive(Default)]
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// Creates an empty object.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a field.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// Adds a field if there is a value for it.
    pub(crate) fn some(self, name: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds the name of an enum's value.
    pub(crate) fn name(self, name: &str, value: impl ToString) -> Self {
        self.with(name, value.to_string())
    }

    /// Adds bytes in base64, if there are any.
    pub(crate) fn bytes(self, name: &str, value: Option<&[u8]>) -> Self {
        self.some(name, value.map(base64))
    }
}

impl From<Object> for Value {
    fn from(object: Object) -> Self {
        Self::Object(object.0)
    }
}

/// Returns bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    herringbone_interchange::write::text::push_base64(&mut text, bytes);
    text
}

/// Returns a list with each element converted by `describe`.
pub(crate) fn list<T, V: Into<Value>>(
    items: impl IntoIterator<Item = T>,
    describe: impl FnMut(T) -> V,
) -> Value {
    items.into_iter().map(describe).map(Into::into).collect()
}
