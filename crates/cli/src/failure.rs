//! What ends the command early, and the exit code that says whose fault it was.

use std::fmt;
use std::io;

use herringbone::ErrorKind;
use herringbone_arrow::schema::ArrowError;

use crate::advice::Advised;

/// The reason for an early end.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something that does not exist.
    Usage(String),
    /// The bytes are wrong, beyond a limit or not supported.
    Data(String),
    /// The system refused to read or write.
    System(String),
    /// Whoever read our output has gone: there is nobody left to tell.
    ClosedPipe,
    /// The output says it all, and this is the exit code that goes with it.
    Told(u8),
}

/// Returns a text of the user's as errors repeat it: cut if it is long.
pub(crate) fn cut(text: &str) -> String {
    const MOST_CHARACTERS: usize = 100;
    match text.char_indices().nth(MOST_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The result of everything in this command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// Everything was fine.
    pub(crate) const SUCCESS: u8 = 0;
    /// `verify` found something, or `repair` could not have everything back.
    pub(crate) const FINDINGS: u8 = 1;
    /// The command line is wrong.
    pub(crate) const USAGE: u8 = 2;
    /// The bytes are wrong.
    pub(crate) const DATA: u8 = 3;
    /// The system refused.
    pub(crate) const SYSTEM: u8 = 4;
    /// A signal ended the command, by custom 128 and its number.
    pub(crate) const INTERRUPTED: u8 = 130;

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => Self::USAGE,
            Self::Data(_) => Self::DATA,
            Self::System(_) => Self::SYSTEM,
            Self::ClosedPipe => Self::SUCCESS,
            Self::Told(code) => *code,
        }
    }

    /// The library refused `file`.
    pub(crate) fn parquet(file: &str, error: &herringbone::Error) -> Self {
        Self::advised(
            file,
            &Advised {
                error,
                ignores_checksums: None,
            },
        )
    }

    /// The library refused `file`, and an option of the command may help.
    pub(crate) fn advised(file: &str, advised: &Advised<'_>) -> Self {
        let message = format!("{file}: {advised}");
        match advised.error.kind() {
            ErrorKind::Argument => Self::Usage(message),
            ErrorKind::Io => Self::System(message),
            _ => Self::Data(message),
        }
    }

    /// The library could not write the file `name`.
    pub(crate) fn written(name: &str, error: &herringbone::Error) -> Self {
        let source = std::error::Error::source(error);
        // What has a remedy happened to another file, which the message names.
        let source = source.filter(|_| error.remedy().is_none());
        match source.and_then(|source| source.downcast_ref()) {
            Some(error) => Self::output(name, error),
            None => Self::parquet(name, error),
        }
    }

    /// The same failure, found in the bytes rather than on the command line: a choice that only some
    /// bytes do not go with, such as the unit of timestamps, is no wrong command line.
    pub(crate) fn in_data(self) -> Self {
        match self {
            Self::Usage(message) => Self::Data(message),
            other => other,
        }
    }

    /// The same failure, which happened to `file`.
    pub(crate) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(format!("{file}: {message}")),
            Self::Data(message) => Self::Data(format!("{file}: {message}")),
            other => other,
        }
    }

    /// Writing to standard output, or to a file in its place, went wrong.
    pub(crate) fn output(name: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::System(format!("{name}: {error}"))
        }
    }

    /// The same, with what helps.
    pub(crate) fn hinting(self, hint: &str) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(message + hint),
            Self::Data(message) => Self::Data(message + hint),
            other => other,
        }
    }

    /// Writing Arrow there went wrong.
    pub(crate) fn arrow_output(name: &str, error: &ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::output(name, error),
            other => Self::Data(format!("{name}: cannot be written as Arrow: {other}")),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message) | Self::Data(message) | Self::System(message) => {
                f.write_str(message)
            }
            Self::ClosedPipe => f.write_str("closed pipe"),
            Self::Told(code) => write!(f, "exit code {code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_not_an_error() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Failure::output("x", &closed()).code(), 0);
        let error = ArrowError::IoError("x".into(), closed());
        assert_eq!(Failure::arrow_output("x", &error).code(), 0);
    }

    #[test]
    fn a_full_disk_is_the_system() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(Failure::output("x", &full).code(), 4);
    }
}
