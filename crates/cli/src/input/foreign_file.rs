//! Opens files other than Parquet, both local ones and those at URLs.

use std::fs::File;
use std::io;
use std::path::Path;

use herringbone::Limits;
use herringbone_arrow::schema::SchemaRef;
use herringbone_interchange::read::{self, Bytes};

use crate::base::failure::{Failure, Result};
use crate::base::url::name_of;

/// Opens a file. `-` is standard input.
///
/// # Errors
/// Fails with [`Failure::System`] if the file cannot be opened.
pub(crate) fn open(path: &Path) -> Result<Bytes> {
    if path.as_os_str() == "-" {
        return Ok(Bytes::Pipe(Box::new(io::stdin())));
    }
    #[cfg(feature = "remote")]
    if crate::base::url::as_url(path).is_some() {
        let reader = crate::remote::reader(path)?;
        let length = reader.length();
        return Ok(Bytes::File(Box::new(reader), length));
    }
    let refused = |error: io::Error| Failure::System(format!("{}: {error}", name_of(path)));
    let file = File::open(path).map_err(refused)?;
    let metadata = file.metadata().map_err(refused)?;
    Ok(match metadata.is_file() {
        true => Bytes::File(Box::new(file), metadata.len()),
        false => Bytes::Pipe(Box::new(file)),
    })
}

/// Returns the schema of an Arrow IPC file or stream.
///
/// # Errors
/// Fails with [`Failure::Data`] if the file is neither, and with [`Failure::System`] if it cannot
/// be read.
pub(crate) fn arrow_schema(path: &Path, limits: &Limits) -> Result<SchemaRef> {
    Ok(read::ipc(&name_of(path), open(path)?, limits)?.schema)
}
