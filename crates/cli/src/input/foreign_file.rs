//! Files other than Parquet, opened for reading: local ones, and those at URLs.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use herringbone::Limits;
use herringbone_interchange::read::foreign::{LONGEST_MARK, foreign};
use herringbone_interchange::read::{self, Bytes, Stream};

use crate::base::failure::{Failure, Result};
use crate::base::url::name_of;
use crate::rows::Rows;

/// Opens a file. `-` is standard input.
///
/// # Errors
/// System.
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

/// Opens a file of text. `-` is standard input.
///
/// # Errors
/// System.
pub(crate) fn stream(path: &Path) -> Result<Stream> {
    Ok(Stream::new(name_of(path), open(path)?))
}

/// Reads an Arrow IPC file or stream. `-` is standard input.
///
/// # Errors
/// Data if it is neither; System.
pub(crate) fn arrow(path: &Path, limits: &Limits) -> Result<Rows<'static>> {
    Ok(read::ipc(&name_of(path), open(path)?, limits)?.with_errors_of())
}

/// Returns the failure for a file whose name does not reveal its format, if its first bytes do.
pub(crate) fn failure(path: &Path) -> Option<Failure> {
    // Reading from anything but a regular file would consume its bytes.
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut beginning = Vec::new();
    let file = is_file.then(|| File::open(path).ok()).flatten()?;
    file.take(LONGEST_MARK).read_to_end(&mut beginning).ok()?;
    let name = name_of(path);
    let foreign = foreign(&beginning)?;
    Some(Failure::Data(
        foreign.instead_of("a name that shows the format", &name),
    ))
}
