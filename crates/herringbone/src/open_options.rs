//! How a file is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone_format::Limits;
use herringbone_format::modular_encryption::Decryption;

/// How a file is opened. [`Limits`] alone are options too.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The resources that the file may ask for.
    pub limits: Limits,
    /// The object that has the keys of the file.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// The path of the file, for those who have other keys for each file.
    pub path: Option<PathBuf>,
}

impl OpenOptions {
    /// Returns the default limits, and no keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the resources that the file may ask for.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets who has the keys of the file, and its path, if it has one.
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
