//! Options for opening a file.

use std::path::PathBuf;
use std::sync::Arc;

use herringbone_format::Limits;
use herringbone_format::modular_encryption::Decryption;

/// Options for opening a file. You only need these to read encrypted files or to change the
/// [`Limits`], and limits alone convert into options.
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
    /// The limits on the file's use of resources.
    pub limits: Limits,
    /// The supplier of the file's keys.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// The file's path. Decryption needs it if each file has its own keys.
    pub path: Option<PathBuf>,
}

impl OpenOptions {
    /// Returns the default limits, and no keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { OpenOptions {
    /// Sets the limits on the file's use of resources.
    limits: Limits;
    /// Sets the supplier of the file's keys.
    decryption: Arc<dyn Decryption> => Some;
    /// Sets the file's path. Decryption needs it if each file has its own keys.
    path: impl Into<PathBuf> => |path| Some(Into::into(path));
}}

impl From<Limits> for OpenOptions {
    fn from(limits: Limits) -> Self {
        Self::new().limits(limits)
    }
}
