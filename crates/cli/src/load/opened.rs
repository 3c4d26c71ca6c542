//! Files other than Parquet, opened for reading: local ones, and those at URLs.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::url::name_of;

/// The bytes of a file.
pub(crate) trait Bytes: Read + Seek {}

impl<T: Read + Seek> Bytes for T {}

/// An open file.
pub(crate) struct Opened {
    pub(crate) bytes: Box<dyn Bytes>,
    /// The length of the file in bytes. `None` for pipes and other files without random access.
    pub(crate) length: Option<u64>,
}

impl Opened {
    /// Opens a file.
    ///
    /// # Errors
    /// System.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        #[cfg(feature = "remote")]
        if crate::url::as_url(path).is_some() {
            let reader = crate::remote::reader(path)?;
            return Ok(Self {
                length: Some(reader.length()),
                bytes: Box::new(reader),
            });
        }
        let refused = |error: io::Error| Failure::System(format!("{}: {error}", name_of(path)));
        let file = File::open(path).map_err(refused)?;
        let metadata = file.metadata().map_err(refused)?;
        Ok(Self {
            length: metadata.is_file().then_some(metadata.len()),
            bytes: Box::new(file),
        })
    }
}
