//! Retrieves the keys requested by a file.

use herringbone_format::modular_encryption::KeyRequest;

use crate::{Key, Result};

/// A [`KeyRetriever`]'s answer to a request.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum KeyAnswer {
    /// The key.
    Key(Key),
    /// The key is not available yet. The read's driver then fetches the key and supplies it.
    /// Readers that cannot wait will fail.
    Wait,
}

/// A source that finds keys by their metadata. Each key is requested once per file. Implement this
/// if you keep data keys somewhere other than a KMS.
pub trait KeyRetriever: Send + Sync {
    /// Returns the key for `request`.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if there is none, or if access is denied. Messages
    /// must not contain key metadata.
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer>;
}

impl<F: Fn(&KeyRequest) -> Result<KeyAnswer> + Send + Sync> KeyRetriever for F {
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer> {
        self(request)
    }
}
