//! Errors for invalid JSON.

use std::fmt;

/// The reason for a text not being JSON, with its offset in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset at which reading stopped.
    pub position: usize,
    /// The reason.
    pub problem: JsonProblem,
}

/// A reason for a text not being JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonProblem {
    /// The text contains something unexpected.
    Unexpected {
        /// The expected item.
        expected: &'static str,
        /// The character found instead, or `None` at the end of the text.
        found: Option<char>,
    },
    /// Arrays and objects are nested too deeply.
    TooDeep {
        /// The maximum number of levels.
        limit: usize,
    },
    /// An object contains a key twice.
    DuplicateKey,
}

impl JsonError {
    /// Returns the line of the error, counted from 1. `text` must be the same text that the reader was given.
    #[must_use]
    pub fn line_in(&self, text: &str) -> usize {
        let before = text.as_bytes().get(..self.position);
        let before = before.unwrap_or(text.as_bytes());
        1 + before.iter().filter(|byte| **byte == b'\n').count()
    }

    /// Returns a message without any characters of the text. Use this if the text might contain secrets.
    #[must_use]
    pub fn message_without_content(&self) -> String {
        match self.problem {
            JsonProblem::Unexpected { expected, found } => match found {
                Some(_) => format!("expected {expected}"),
                None => format!("expected {expected}, but the JSON ends"),
            },
            JsonProblem::TooDeep { .. } | JsonProblem::DuplicateKey => self.to_string(),
        }
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            JsonProblem::Unexpected { expected, found } => match found {
                Some(found) => write!(f, "expected {expected}, found {found:?}"),
                None => write!(f, "expected {expected}, but the JSON ends"),
            },
            JsonProblem::TooDeep { limit } => {
                write!(
                    f,
                    "arrays and objects are nested more than {limit} levels deep"
                )
            }
            JsonProblem::DuplicateKey => f.write_str("an object contains a key twice"),
        }
    }
}

impl std::error::Error for JsonError {}
