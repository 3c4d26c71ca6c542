//! A KMS for tests.

use std::{collections::HashMap, fmt};

use super::{KmsClient, wrapping};
use crate::{Error, ErrorKind, Key, Result};

/// A KMS with its master keys in memory. It wraps like the test KMS of parquet-java and pyarrow
/// (`InMemoryKMS`, `TestOnlyInServerWrapKms`), using AES-GCM with the master key's identifier as
/// additional data. It is not a real KMS, because its user has the master keys.
#[derive(Clone, Default)]
pub struct InMemoryKms {
    master_keys: HashMap<String, Vec<Key>>,
}

impl InMemoryKms {
    /// Creates a KMS with these master keys.
    #[must_use]
    pub fn new(master_keys: impl IntoIterator<Item = (impl Into<String>, Key)>) -> Self {
        let mut kms = Self::default();
        for (id, key) in master_keys {
            kms.add_version(id, key);
        }
        kms
    }

    /// Adds a new master key, or a new version of an existing one. The newest version wraps keys,
    /// but older versions can still unwrap theirs.
    pub fn add_version(&mut self, master_key_id: impl Into<String>, key: Key) {
        self.master_keys
            .entry(master_key_id.into())
            .or_default()
            .push(key);
    }

    fn versions(&self, master_key_id: &str) -> Result<&[Key]> {
        let versions = self.master_keys.get(master_key_id);
        versions.map(Vec::as_slice).ok_or_else(no_master_key)
    }
}

impl KmsClient for InMemoryKms {
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
        let newest = self.versions(master_key_id)?.last();
        let newest = newest.ok_or_else(no_master_key)?;
        wrapping::wrap(newest, key, master_key_id.as_bytes())
    }

    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
        let mut result = Err(no_master_key());
        for version in self.versions(master_key_id)?.iter().rev() {
            result = wrapping::unwrap(version, wrapped, master_key_id.as_bytes(), "a master key");
            if result.is_ok() {
                break;
            }
        }
        result
    }
}

impl fmt::Debug for InMemoryKms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InMemoryKms({} master keys)", self.master_keys.len())
    }
}

/// Returns an error without the master key's identifier. The identifier is part of key metadata,
/// and messages do not repeat that.
#[cold]
fn no_master_key() -> Error {
    Error::new(ErrorKind::Key, "the KMS does not have this master key")
}
