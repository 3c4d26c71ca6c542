//! Writes record batches as CSV, JSON, GeoJSON and Markdown, and their values as text.
//!
//! ```text
//! array ─► value: the values of a column ─► csv, json, geojson: rows ─► TextOutput
//! ```

pub mod csv;
pub mod geojson;
pub mod geometry;
pub mod json;
pub mod keys;
pub mod markdown;
pub mod nested;
pub mod number;
pub mod printable;
pub mod scalar;
pub mod temporal;
mod temporal_value;
pub mod text;
pub mod value;
mod variant;

use crate::error::Error;

/// The destination of text, such as standard output.
///
/// Implement this to redirect output. The methods separate file contents from the text between
/// rows, so that a terminal can escape the former.
pub trait TextOutput {
    /// The error type for failed writes.
    type Error: From<Error>;

    /// Appends text.
    ///
    /// # Errors
    /// Returns the destination's error.
    fn write(&mut self, text: &str) -> Result<(), Self::Error>;

    /// Appends a CSV record, without its line end.
    ///
    /// # Errors
    /// Returns the destination's error.
    fn record(&mut self, record: &str) -> Result<(), Self::Error> {
        self.write(record)
    }

    /// Appends a JSON object, given as a single line.
    ///
    /// # Errors
    /// Returns the destination's error.
    fn object(&mut self, object: &str) -> Result<(), Self::Error> {
        self.write(object)
    }
}

impl TextOutput for Vec<u8> {
    type Error = Error;

    fn write(&mut self, text: &str) -> Result<(), Error> {
        self.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

/// Returns the text that `write` writes.
#[cfg(test)]
fn written<T>(write: impl FnOnce(&mut Vec<u8>) -> Result<T, Error>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}
