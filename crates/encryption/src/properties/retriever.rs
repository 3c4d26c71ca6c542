//! Keys that are looked up when a file asks for them.

use herringbone_format::modular_encryption::KeyRequest;

use crate::{Key, Result};

/// What a [`KeyRetriever`] has for a request.
#[derive(Debug, Clone)]
pub enum KeyAnswer {
    /// The key.
    Key(Key),
    /// Nothing yet: whoever drives the read fetches the key and supplies it. Readers that cannot wait fail.
    Wait,
}

/// Finds keys by their metadata. Each is asked for once in a file.
pub trait KeyRetriever: Send + Sync {
    /// The key for `request`.
    ///
    /// **Errors**: key, if there is none, or access to it is denied. Messages must not contain key metadata.
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer>;
}

impl<F: Fn(&KeyRequest) -> Result<KeyAnswer> + Send + Sync> KeyRetriever for F {
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer> {
        self(request)
    }
}
