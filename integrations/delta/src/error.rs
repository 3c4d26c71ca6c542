//! The library's errors as errors of the kernel.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use delta_kernel::KernelError;
use herringbone::{Error, ErrorKind};

/// An error in one of a table's files, which is the source of a [`KernelError`].
#[derive(Debug)]
pub struct FileError {
    url: String,
    error: Error,
}

impl FileError {
    /// Returns the file URL.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the error, with its place in the file.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.error.to_string();
        match text.contains(&self.url) {
            true => f.write_str(&text),
            false => write!(f, "{}: {text}", self.url),
        }
    }
}

impl StdError for FileError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.error)
    }
}

/// Converts an error in the file at a URL, and keeps the kernel's kinds for missing files and
/// failed requests.
pub(crate) fn in_file(url: &str, error: Error) -> KernelError {
    let io_kind = error.io_error().map(io::Error::kind);
    let is_io = error.kind() == ErrorKind::Io;
    let error = FileError {
        url: url.to_owned(),
        error,
    };
    match io_kind.filter(|_| is_io) {
        Some(io::ErrorKind::NotFound) => KernelError::file_not_found(error),
        Some(kind) => KernelError::IOError(io::Error::new(kind, error)),
        None => KernelError::generic_err(error),
    }
}
