//! Errors, and the text of the user in them.

use std::fmt;

/// An error of reading or writing a format.
#[derive(Debug)]
pub enum Error {
    /// The options contradict each other or the file.
    Options(String),
    /// The bytes are malformed or not supported, or a value has no form in the format.
    Data(String),
    /// A column of JSON looked like dates in the first rows, and a later row has another text. The caller can read
    /// again, with the column as text.
    NotADate {
        /// The path of the column.
        column: String,
        /// The complete message.
        message: String,
    },
    /// A file exceeds a limit. The caller knows the option that raises it.
    Limit {
        /// The name of the file.
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

/// Returns user input for use in errors, truncated if it is long.
pub fn shortened(text: &str) -> String {
    const MAX_CHARACTERS: usize = 100;
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
