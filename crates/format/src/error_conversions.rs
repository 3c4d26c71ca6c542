//! Conversions between [`Error`] and the errors of the standard library and Arrow.

use std::io;

use super::error::{Error, ErrorKind};

impl From<io::Error> for Error {
    /// Keeps the I/O error for [`Error::io_error`]. If the I/O error wraps an [`Error`], that error is unwrapped
    /// instead.
    #[cold]
    fn from(source: io::Error) -> Self {
        match source.downcast::<Self>() {
            Ok(error) => error,
            Err(source) => Self::with_source(ErrorKind::Io, source),
        }
    }
}

impl From<Error> for io::Error {
    /// Keeps the error as the inner error. The kind is the original I/O error's kind, or the closest match.
    fn from(error: Error) -> Self {
        let kind = match (error.io_error(), error.kind()) {
            (Some(source), _) => source.kind(),
            (None, ErrorKind::Corrupt) => io::ErrorKind::InvalidData,
            (None, ErrorKind::Unsupported | ErrorKind::Feature) => io::ErrorKind::Unsupported,
            (None, ErrorKind::Argument) => io::ErrorKind::InvalidInput,
            (None, ErrorKind::Key) => io::ErrorKind::PermissionDenied,
            (None, ErrorKind::Limit | ErrorKind::Io | ErrorKind::Replaced) => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}

impl From<Box<dyn std::error::Error + Send + Sync>> for Error {
    /// Keeps an error from the caller's code as the [source](std::error::Error::source), with the kind Argument. An
    /// [`Error`] stays unchanged. Use [`Error::with_source`] if you need another kind, or an [`io::Error`] for I/O.
    #[cold]
    fn from(source: Box<dyn std::error::Error + Send + Sync>) -> Self {
        match source.downcast::<Self>() {
            Ok(error) => *error,
            Err(source) => Self::with_source(ErrorKind::Argument, source),
        }
    }
}

#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
mod arrow {
    use herringbone_arrow::schema::ArrowError;

    use super::Error;

    impl From<ArrowError> for Error {
        /// Keeps Arrow's error as the [source](std::error::Error::source), with the kind Argument. If it wraps an
        /// [`Error`], that error is unwrapped instead.
        #[cold]
        fn from(error: ArrowError) -> Self {
            match error {
                ArrowError::ExternalError(source) => Self::from(source),
                ArrowError::IoError(_, source) => Self::from(source),
                error => Self::from(Box::new(error) as Box<dyn std::error::Error + Send + Sync>),
            }
        }
    }

    impl From<Error> for ArrowError {
        fn from(error: Error) -> Self {
            Self::ExternalError(Box::new(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_survives_a_way_through_io() {
        let error = Error::corrupt("a page").in_row_group(3);
        let io = io::Error::from(error);
        assert_eq!(io.kind(), io::ErrorKind::InvalidData);
        let error = Error::from(io);
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Corrupt, "a page")
        );
        assert_eq!(error.location().row_group, Some(3));
    }

    #[test]
    fn an_io_error_keeps_its_kind_and_is_named_once() {
        let error = Error::from(io::Error::new(io::ErrorKind::NotFound, "no such file"));
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("no such file"));
        // A report that also prints the sources should only have the message once.
        assert!(error.source().is_none());
        assert_eq!(error.io_error().unwrap().kind(), io::ErrorKind::NotFound);
        assert_eq!(io::Error::from(error).kind(), io::ErrorKind::NotFound);
    }

    #[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
    #[test]
    fn an_error_survives_a_way_through_arrow() {
        use herringbone_arrow::schema::ArrowError;

        let arrow = ArrowError::from(Error::corrupt("a page"));
        let error = Error::from(arrow);
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Corrupt, "a page")
        );
        let error = Error::from(ArrowError::DivideByZero);
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.source().unwrap().is::<ArrowError>());
    }
}
