//! Options for opening a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone_format::Limits;
use herringbone_format::modular_encryption::Decryption;

/// Options for opening a file. They can be converted from [`Limits`] alone.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::source::FileSource;
/// use herringbone::{Limits, OpenOptions, ParquetFile};
///
/// let mut limits = Limits::default();
/// limits.footer_bytes = 1000;
/// let source = FileSource::open("testdata/example.parquet")?;
/// let options = OpenOptions::new().limits(limits);
/// let error = ParquetFile::from_source(source, options).unwrap_err();
/// assert_eq!(error.limit_name(), Some("footer_bytes"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The limits on the resources that the file may use.
    pub limits: Limits,
    /// The object that supplies the keys of the file.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// The path of the file, for decryption with different keys per file.
    pub path: Option<PathBuf>,
}

impl OpenOptions {
    /// Returns the default limits, without keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the limits on the resources that the file may use.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the object that supplies the keys of the file, and the file's path, if it has one.
    #[must_use]
    pub fn decryption(self, decryption: Option<Arc<dyn Decryption>>, path: Option<&Path>) -> Self {
        let path = path.map(Path::to_path_buf);
        Self {
            decryption,
            path,
            ..self
        }
    }
}

impl From<Limits> for OpenOptions {
    fn from(limits: Limits) -> Self {
        Self::new().limits(limits)
    }
}
