//! Errors of the library as errors of DataFusion.

use std::{error, fmt, io};

use datafusion_common::DataFusionError;
use herringbone::{Error, ErrorKind, Remedy};
use object_store::path::Path;

/// Converts an error of the library. The text keeps the place in the file, because only text crosses the wire.
///
/// Failed transports become `IoError`, which distributed engines retry. A missing, replaced or damaged file becomes
/// `External`: trying again does not help.
pub(crate) fn from_library(error: Error) -> DataFusionError {
    if error.remedy() == Some(Remedy::EnlargeMemoryPool) {
        return DataFusionError::ResourcesExhausted(error.to_string());
    }
    let is_final = |kind: io::ErrorKind| {
        matches!(
            kind,
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
        )
    };
    let io_kind = error
        .io_error()
        .map_or(io::ErrorKind::Other, io::Error::kind);
    match error.kind() {
        ErrorKind::Io if !is_final(io_kind) => {
            DataFusionError::IoError(io::Error::new(io_kind, error))
        }
        _ => DataFusionError::External(Box::new(error)),
    }
}

/// Adds the name of the file to an error of the library, unless its text has the name already. Other errors stay as they
/// are.
pub(crate) fn in_file(file: &Path, error: DataFusionError) -> DataFusionError {
    let DataFusionError::External(error) = error else {
        return error;
    };
    DataFusionError::External(match error.downcast::<Error>() {
        Ok(error) if error.message().contains(file.as_ref()) => error,
        Ok(error) => Box::new(FileError {
            file: file.clone(),
            error: *error,
        }),
        Err(other) => other,
    })
}

/// An error of the library with the name of the file.
struct FileError {
    file: Path,
    error: Error,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.error)
    }
}

impl fmt::Debug for FileError {
    /// Formats the text: only that of `Debug` crosses the wire in Ballista.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for FileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}
