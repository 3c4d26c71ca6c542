//! Defines the errors, and how they quote the user's text.

use std::fmt;

/// An error that occurs while reading or writing a format.
#[derive(Debug)]
pub enum Error {
    /// The options contradict each other, or contradict the file.
    Options(String),
    /// The bytes are malformed or not supported, or the format has no form for a value.
    Data(String),
    /// A JSON column looked like dates in the first rows, but a later row isn't a date. The caller
    /// can read the file again with the column as text.
    NotADate {
        /// The column's path.
        column: String,
        /// The complete message.
        message: String,
    },
    /// A file exceeds a limit. The caller knows the option to raise it and can add that to the
    /// message.
    Limit {
        /// The file's name.
        file: String,
        /// The error that names the limit.
        error: herringbone::Error,
    },
    /// The system failed to read.
    System(String),
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(message)
            | Self::Data(message)
            | Self::System(message)
            | Self::NotADate { message, .. } => f.write_str(message),
            Self::Limit { file, error } => write!(f, "{file}: {error}"),
        }
    }
}

impl std::error::Error for Error {}

/// Returns user input for an error message, truncated if it is long.
pub fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 100;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
