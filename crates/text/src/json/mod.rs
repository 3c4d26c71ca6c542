//! Reads and writes JSON text (RFC 8259).
//!
//! [`JsonReader`] reads token by token, allocating nothing but a stack of open brackets. [`JsonValue`] is a tree, for
//! small texts that you want to read as a whole. [`push_quoted`] writes a string.

mod error;
mod number;
mod reader;
mod string;
mod value;

pub use error::{JsonError, JsonProblem};
pub use number::JsonNumber;
pub use reader::{JsonReader, JsonToken};
pub use string::{JsonText, push_quoted};
pub use value::{JsonObject, JsonValue};

#[cfg(test)]
mod tests;
