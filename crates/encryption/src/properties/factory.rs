//! Supplies properties that differ between files.

use super::{FileDecryptionProperties, FileEncryptionProperties};
use crate::Result;

/// A source of the properties for reading each file in a data set.
pub trait DecryptionPropertiesFactory: Send + Sync {
    /// Returns the properties for the file at `path`, or `None` if it is not encrypted.
    ///
    /// # Errors
    /// Returns any error from finding them.
    fn decryption_properties(&self, path: &str) -> Result<Option<FileDecryptionProperties>>;
}

/// A source of the properties for writing each file in a data set.
pub trait EncryptionPropertiesFactory: Send + Sync {
    /// Returns the properties for the file at `path`, or `None` if it must not be encrypted.
    ///
    /// # Errors
    /// Returns any error from creating them.
    fn encryption_properties(&self, path: &str) -> Result<Option<FileEncryptionProperties>>;
}

impl<F> DecryptionPropertiesFactory for F
where
    F: Fn(&str) -> Result<Option<FileDecryptionProperties>> + Send + Sync,
{
    fn decryption_properties(&self, path: &str) -> Result<Option<FileDecryptionProperties>> {
        self(path)
    }
}

impl<F> EncryptionPropertiesFactory for F
where
    F: Fn(&str) -> Result<Option<FileEncryptionProperties>> + Send + Sync,
{
    fn encryption_properties(&self, path: &str) -> Result<Option<FileEncryptionProperties>> {
        self(path)
    }
}

impl DecryptionPropertiesFactory for FileDecryptionProperties {
    /// Returns these properties for every file.
    fn decryption_properties(&self, _path: &str) -> Result<Option<FileDecryptionProperties>> {
        Ok(Some(self.clone()))
    }
}

impl EncryptionPropertiesFactory for FileEncryptionProperties {
    /// Returns these properties for every file, so that all files have equal keys.
    fn encryption_properties(&self, _path: &str) -> Result<Option<FileEncryptionProperties>> {
        Ok(Some(self.clone()))
    }
}
