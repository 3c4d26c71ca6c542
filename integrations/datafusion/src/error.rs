//! The library's errors as DataFusion's errors.

use std::{error, fmt, io};

use datafusion_common::DataFusionError;
use herringbone::{Error, ErrorKind, Remedy};
use object_store::path::Path;

/// Converts one of the library's errors. The text keeps the place in the file, because only text
/// crosses the wire.
///
/// If a transport failed, the error becomes `IoError`, because distributed engines retry those. If
/// a file is missing, replaced or damaged, it becomes `External`, because trying again does not
/// help.
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

/// Adds the file name to one of the library's errors, unless the text already has it. Other errors
/// stay as they are.
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

/// One of the library's errors, with the file name.
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
    /// Formats the text, because Ballista only sends the text of `Debug` over the wire.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl error::Error for FileError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.error)
    }
}
