//! Properties that differ from file to file.

use super::{FileDecryptionProperties, FileEncryptionProperties};
use crate::Result;

/// Knows how each file of a data set is read.
pub trait DecryptionPropertiesFactory: Send + Sync {
    /// Properties for the file at `path`; `None` if it is not encrypted.
    ///
    /// **Errors**: whatever keeps it from finding them.
    fn decryption_properties(&self, path: &str) -> Result<Option<FileDecryptionProperties>>;
}

/// Knows how each file of a data set is written.
pub trait EncryptionPropertiesFactory: Send + Sync {
    /// Properties for the file at `path`; `None` if it is not to be encrypted.
    ///
    /// **Errors**: whatever keeps it from making them.
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
    /// The same for all files.
    fn decryption_properties(&self, _path: &str) -> Result<Option<FileDecryptionProperties>> {
        Ok(Some(self.clone()))
    }
}

impl EncryptionPropertiesFactory for FileEncryptionProperties {
    /// The same keys for all files.
    fn encryption_properties(&self, _path: &str) -> Result<Option<FileEncryptionProperties>> {
        Ok(Some(self.clone()))
    }
}
