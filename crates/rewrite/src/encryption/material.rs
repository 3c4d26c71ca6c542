//! Copies key material stored in a separate file.

use std::path::{Path, PathBuf};

use herringbone::Result;
use herringbone::encryption::key_tools::{FileKeyMaterialStore, KeyMaterialStore as _};

/// A pending copy of key material.
#[derive(Debug)]
pub struct KeyMaterial {
    from: FileKeyMaterialStore,
    to: FileKeyMaterialStore,
}

impl KeyMaterial {
    /// Prepares to copy one Parquet file's key material for another file. The other file need not
    /// exist yet.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if a path does not name a file.
    pub fn new(from: &Path, to: &Path, overwrite: bool) -> Result<Self> {
        Ok(Self {
            from: FileKeyMaterialStore::new(from)?,
            to: FileKeyMaterialStore::new(to)?.overwrite(overwrite),
        })
    }

    /// Returns the copy's path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.to.path()
    }

    /// Returns true if both files share their key material, so that there is nothing to copy.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let real = |store: &FileKeyMaterialStore| store.path().canonicalize().ok();
        real(&self.to).is_some_and(|there| real(&self.from) == Some(there))
    }

    /// Copies the key material, unless it is shared.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the material cannot be read or written, and
    /// with [Argument](herringbone::ErrorKind::Argument) if key material already exists and may not
    /// be overwritten.
    pub fn copy(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        let material = self.from.read()?;
        self.to.create(&material)
    }
}
