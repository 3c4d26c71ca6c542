//! Keys that are looked up when a file asks for them.

use std::fmt;

use super::ColumnPath;
use crate::{Key, Result, redacted::Redacted};

/// A key that a file needs.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyRequest {
    /// What the file says of the key, which is a matter between its writer and the retriever. Anybody who can write the
    /// file can change it.
    pub key_metadata: Vec<u8>,
    /// What the file says of the key of its footer, if anything. Key tools find there which KMS it is.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// The column whose key it is; `None` for the footer.
    pub column: Option<ColumnPath>,
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRequest")
            .field("key_metadata", &Redacted(self.key_metadata.len()))
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}

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
