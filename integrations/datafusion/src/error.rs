//! Errors of the library as errors of DataFusion.

use std::io;

use datafusion_common::DataFusionError;
use herringbone::{Error, ErrorKind, Remedy};

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
