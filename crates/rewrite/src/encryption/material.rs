//! Key material that lies in a file of its own.

use std::path::{Path, PathBuf};

use herringbone::Result;
use herringbone::encryption::key_tools::{FileKeyMaterialStore, KeyMaterialStore as _};

/// A copy of key material that is still to be made.
#[derive(Debug)]
pub struct KeyMaterial {
    from: FileKeyMaterialStore,
    to: FileKeyMaterialStore,
}

impl KeyMaterial {
    /// Prepares to copy the key material of one Parquet file for another, which need not be there yet.
    ///
    /// # Errors
    /// Argument if a path names no file.
    pub fn new(from: &Path, to: &Path, overwrite: bool) -> Result<Self> {
        Ok(Self {
            from: FileKeyMaterialStore::new(from)?,
            to: FileKeyMaterialStore::new(to)?.overwrite(overwrite),
        })
    }

    /// Returns the path of the copy.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.to.path()
    }

    /// Returns whether both files share their key material, so that there is nothing to copy.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        let real = |store: &FileKeyMaterialStore| store.path().canonicalize().ok();
        real(&self.to).is_some_and(|there| real(&self.from) == Some(there))
    }

    /// Copies the key material, unless it is shared.
    ///
    /// # Errors
    /// Io; Argument if there is key material already and it may not be overwritten.
    pub fn copy(&self) -> Result<()> {
        if self.is_shared() {
            return Ok(());
        }
        let material = self.from.read()?;
        self.to.create(&material)
    }
}
