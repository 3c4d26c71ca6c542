//! The reasons for ending the command early. Their exit codes let scripts distinguish the causes.

use std::fmt;
use std::io;

use herringbone::ErrorKind;
use herringbone_arrow::schema::ArrowError;

use crate::base::advice::Advised;

/// The reason why the command ends early.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line asks for something that does not exist or is not possible.
    Usage(String),
    /// The bytes are malformed, exceed a limit, or are not supported.
    Data(String),
    /// The system failed to read or to write.
    System(String),
    /// The reader of our output has closed the pipe. The command then ends silently and
    /// successfully, as is usual in pipelines.
    ClosedPipe,
    /// A JSON column looked like dates in the first rows, but a later row isn't a date. The caller
    /// can try again with this column as text.
    NotADate {
        /// The column's path.
        column: String,
        /// The complete error message.
        message: String,
    },
    /// The output already has everything the user needs to know, so we only set this exit code and
    /// print no message.
    Told(u8),
}

/// The result type of this command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// The exit code for success.
    pub(crate) const SUCCESS: u8 = 0;
    /// The exit code if `verify` found something, or if `repair` could not recover everything.
    pub(crate) const FINDINGS: u8 = 1;
    /// The exit code for a wrong command line.
    pub(crate) const USAGE: u8 = 2;
    /// The exit code for wrong bytes.
    pub(crate) const DATA: u8 = 3;
    /// The exit code for a system error.
    pub(crate) const SYSTEM: u8 = 4;
    /// The exit code after an interrupt. By convention, this is 128 plus the signal's number.
    #[cfg(unix)]
    pub(crate) const INTERRUPTED: u8 = 130;

    /// Returns the exit code for this failure.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => Self::USAGE,
            Self::Data(_) | Self::NotADate { .. } => Self::DATA,
            Self::System(_) => Self::SYSTEM,
            Self::ClosedPipe => Self::SUCCESS,
            Self::Told(code) => *code,
        }
    }

    /// Converts the library's error about `file`.
    pub(crate) fn parquet(file: &str, error: &herringbone::Error) -> Self {
        Self::advised(file, &Advised::new(error))
    }

    /// Converts the library's error about `file`, with advice about an option that might help.
    pub(crate) fn advised(file: &str, advised: &Advised<'_>) -> Self {
        let message = format!("{file}: {advised}");
        match advised.error.kind() {
            ErrorKind::Argument => Self::Usage(message),
            ErrorKind::Io | ErrorKind::Replaced => Self::System(message),
            _ => Self::Data(message),
        }
    }

    /// Converts a library error from writing the file `name`.
    pub(crate) fn written(name: &str, error: &herringbone::Error) -> Self {
        // An error with a remedy concerns another file, already named in its message.
        match error.io_error().filter(|_| error.remedy().is_none()) {
            Some(error) => Self::output(name, error),
            None => Self::parquet(name, error),
        }
    }

    /// Turns a usage error into a data error. Use this if the command line is fine in itself but
    /// contradicts the data, for example if a timestamp unit is too fine for some values.
    pub(crate) fn in_data(self) -> Self {
        match self {
            Self::Usage(message) => Self::Data(message),
            other => other,
        }
    }

    /// Adds the name of `file` to the message.
    pub(crate) fn in_file(self, file: &str) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(format!("{file}: {message}")),
            Self::Data(message) => Self::Data(format!("{file}: {message}")),
            other => other,
        }
    }

    /// Converts an error from writing to standard output, or to the file in its place.
    pub(crate) fn output(name: &str, error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::ClosedPipe
        } else {
            Self::System(format!("{name}: {error}"))
        }
    }

    /// Appends advice to the message.
    pub(crate) fn hinting(self, hint: &str) -> Self {
        match self {
            Self::Usage(message) => Self::Usage(message + hint),
            Self::Data(message) => Self::Data(message + hint),
            Self::System(message) => Self::System(message + hint),
            other => other,
        }
    }

    /// Converts an error from writing Arrow data to the output.
    pub(crate) fn arrow_output(name: &str, error: &ArrowError) -> Self {
        match error {
            ArrowError::IoError(_, error) => Self::output(name, error),
            other => Self::Data(format!("{name}: cannot be written as Arrow: {other}")),
        }
    }
}

impl From<herringbone_interchange::Error> for Failure {
    fn from(error: herringbone_interchange::Error) -> Self {
        use herringbone_interchange::Error;
        match error {
            Error::Options(message) => Self::Usage(message),
            Error::Data(message) => Self::Data(message),
            Error::NotADate { column, message } => Self::NotADate { column, message },
            Error::System(message) => Self::System(message),
            Error::Limit { file, error } => Self::parquet(&file, &error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(message)
            | Self::Data(message)
            | Self::System(message)
            | Self::NotADate { message, .. } => f.write_str(message),
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
    fn a_limit_of_another_format_names_the_option() {
        let error = herringbone::Error::limit("memory_bytes", 9, 8);
        let file = "x.arrow".to_owned();
        let failure = Failure::from(herringbone_interchange::Error::Limit { file, error });
        assert_eq!(failure.code(), 3);
        assert!(
            failure
                .to_string()
                .contains("raise it with --max memory_bytes=N")
        );
    }

    #[test]
    fn a_full_disk_is_the_system() {
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert_eq!(Failure::output("x", &full).code(), 4);
    }
}
