//! Properties that differ between files.

use super::{FileDecryptionProperties, FileEncryptionProperties};
use crate::Result;

/// A source of the properties for reading each file of a data set.
pub trait DecryptionPropertiesFactory: Send + Sync {
    /// Returns the properties for the file at `path`. `None` if it is not encrypted.
    ///
    /// # Errors
    /// Any error of finding them.
    fn decryption_properties(&self, path: &str) -> Result<Option<FileDecryptionProperties>>;
}

/// A source of the properties for writing each file of a data set.
pub trait EncryptionPropertiesFactory: Send + Sync {
    /// Returns the properties for the file at `path`. `None` if it is not to be encrypted.
    ///
    /// # Errors
    /// Any error of creating them.
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
    /// Returns these properties, and therefore the same keys, for every file.
    fn encryption_properties(&self, _path: &str) -> Result<Option<FileEncryptionProperties>> {
        Ok(Some(self.clone()))
    }
}
