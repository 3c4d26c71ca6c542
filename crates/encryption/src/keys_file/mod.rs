//! Reads a file of keys for a command.
//!
//! ```json
//! {
//!   "footer_key": "MDEyMzQ1Njc4OTAxMjM0NQ==",
//!   "column_keys": {"salary": "MTIzNDU2Nzg5MDEyMzQ1MA=="},
//!   "by_metadata": {"kf": "MDEyMzQ1Njc4OTAxMjM0NQ==", "base64:a2Mx": "MTIzNDU2Nzg5MDEyMzQ1MA=="},
//!   "master_keys": {"kf": "MDEyMzQ1Njc4OTAxMjM0NQ=="},
//!   "kms": "test",
//!   "aad_prefix": "employees.part0",
//!   "algorithms": ["AES_GCM_V1", "AES_GCM_CTR_V1"],
//!   "duckdb": false,
//!   "algorithm": "AES_GCM_V1",
//!   "plaintext_footer": false,
//!   "store_aad_prefix": true,
//!   "key_metadata": {"footer_key": "kf", "column_keys": {"salary": "kc1"}}
//! }
//! ```
//!
//! All members are optional, and unknown members are errors. Keys are base64. Metadata and prefixes
//! are text, or any bytes if written as `base64:` followed by base64. The last four members are for
//! encryption. `key_metadata` can also be text. In that case it is the footer key's metadata.

mod parse;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    fmt,
    sync::Arc,
};

use crate::{
    Algorithm, Error, ErrorKind, FileDecryptionProperties, FileEncryptionProperties, Key, Result,
    key_tools::{
        InMemoryKms, KeyMaterialStore, KeyTools, KmsClient, KmsConnection, KmsUrlPolicy,
        LocalWrapKms,
    },
    properties::{ColumnPath, EncryptionKey, KeyAnswer, KeyRequest, KeyRetriever},
};

/// The KMS that the `master_keys` belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeysFileKms {
    /// The KMS [`InMemoryKms`].
    Test,
    /// The KMS [`LocalWrapKms`].
    Local,
}

/// The contents of a keys file. Absent members are `None` or empty.
#[derive(Default)]
#[non_exhaustive]
pub struct KeysFile {
    /// The footer key.
    pub footer_key: Option<Key>,
    /// The column keys, in file order.
    pub column_keys: Vec<(ColumnPath, Key)>,
    /// Keys, by their metadata in Parquet files.
    pub by_metadata: HashMap<Vec<u8>, Key>,
    /// Master keys by their identifiers.
    pub master_keys: HashMap<String, Key>,
    /// The KMS with the master keys. It is set if there are any.
    pub kms: Option<KeysFileKms>,
    /// The AAD prefix.
    pub aad_prefix: Option<Vec<u8>>,
    /// The algorithms accepted for decryption.
    pub algorithms: Option<Vec<Algorithm>>,
    /// True if files in DuckDB's dialect are accepted.
    pub duckdb: Option<bool>,
    /// The algorithm for encryption.
    pub algorithm: Option<Algorithm>,
    /// True if the footer is signed instead of encrypted.
    pub plaintext_footer: Option<bool>,
    /// True if the file stores the AAD prefix.
    pub store_aad_prefix: Option<bool>,
    /// The footer key's metadata.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// The column keys' metadata.
    pub column_key_metadata: HashMap<ColumnPath, Vec<u8>>,
    /// True if unencrypted files are accepted too. No member sets this, because the decision is up
    /// to the caller.
    pub allow_plaintext: bool,
}

impl KeysFile {
    /// Parses a keys file. `columns` parses a column name, returning the paths it selects. You have
    /// to wipe `text` yourself.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if the file is malformed. The message has the
    /// line and the member, but never a key.
    pub fn parse(
        text: &str,
        columns: &dyn Fn(&str) -> Result<Vec<ColumnPath>, String>,
    ) -> Result<Self> {
        parse::parse(text, columns)
    }

    /// Returns the properties for reading files. `store` has the file's external key material, if
    /// any.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if there are no keys.
    pub fn decryption_properties(
        &self,
        store: Option<Arc<dyn KeyMaterialStore>>,
    ) -> Result<FileDecryptionProperties> {
        let has_keys = self.footer_key.is_some()
            || !self.column_keys.is_empty()
            || !self.by_metadata.is_empty()
            || self.kms.is_some();
        if !has_keys {
            return Err(Error::argument(
                "keys file: expected \"footer_key\", \"column_keys\", \"by_metadata\" or \
                 \"master_keys\"",
            ));
        }
        let mut builder = FileDecryptionProperties::builder()
            .allow_plaintext(self.allow_plaintext)
            .duckdb_dialect(self.duckdb.unwrap_or_default());
        if let Some(key) = &self.footer_key {
            builder = builder.footer_key(key.clone());
        }
        for (path, key) in &self.column_keys {
            builder = builder.column_key(path, key.clone());
        }
        if !self.by_metadata.is_empty() || self.kms.is_some() {
            let retriever = Retriever {
                by_metadata: self.by_metadata.clone(),
                kms: self.kms_retriever(store),
            };
            builder = builder.key_retriever(Arc::new(retriever));
        }
        if let Some(prefix) = &self.aad_prefix {
            builder = builder.aad_prefix(prefix.clone());
        }
        if let Some(algorithms) = &self.algorithms {
            builder = builder.allowed_algorithms(algorithms.iter().copied());
        }
        builder.build()
    }

    /// Returns the properties for writing a file. Columns without a key of their own are encrypted
    /// with the footer key.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if there is no `footer_key`, or if there is
    /// metadata for a column without a key.
    pub fn encryption_properties(&self) -> Result<FileEncryptionProperties> {
        let Some(footer_key) = &self.footer_key else {
            return Err(Error::argument(
                "keys file: encryption needs \"footer_key\"",
            ));
        };
        let with_metadata = |key: &Key, metadata: Option<&Vec<u8>>| match metadata {
            Some(metadata) => EncryptionKey::with_metadata(key.clone(), metadata.clone()),
            None => key.clone().into(),
        };
        let footer_key = with_metadata(footer_key, self.footer_key_metadata.as_ref());
        let mut builder = FileEncryptionProperties::builder(footer_key)
            .algorithm(self.algorithm.unwrap_or_default())
            .plaintext_footer(self.plaintext_footer.unwrap_or_default())
            .aad_prefix(self.aad_prefix.clone().unwrap_or_default())
            .store_aad_prefix(self.store_aad_prefix.unwrap_or(true));
        let with_key: HashSet<_> = self.column_keys.iter().map(|(column, _)| column).collect();
        for path in self.column_key_metadata.keys() {
            if !with_key.contains(path) {
                return Err(Error::argument(format!(
                    "keys file: \"key_metadata\" is for column {}, which does not have a key in \
                     \"column_keys\"",
                    path.join(".")
                )));
            }
        }
        for (path, key) in &self.column_keys {
            let key = with_metadata(key, self.column_key_metadata.get(path));
            builder = builder.column_key(path, key);
        }
        builder.build()
    }

    fn kms_retriever(
        &self,
        store: Option<Arc<dyn KeyMaterialStore>>,
    ) -> Option<Arc<dyn KeyRetriever>> {
        let master_keys = self.master_keys.clone();
        let client: Arc<dyn KmsClient> = match self.kms? {
            KeysFileKms::Test => Arc::new(InMemoryKms::new(master_keys)),
            KeysFileKms::Local => Arc::new(LocalWrapKms::new(move |id: &str| {
                let key = master_keys.get(id).cloned();
                key.ok_or_else(|| missing("\"master_keys\" of the keys file"))
            })),
        };
        let tools = Arc::new(KeyTools::new(Arc::new(move |_: &KmsConnection| {
            Ok(client.clone())
        })));
        // An address in the file is harmless, since nothing connects to the KMS.
        let url_policy = KmsUrlPolicy::FromFile(Arc::new(|_| true));
        Some(tools.key_retriever(KmsConnection::default(), url_policy, store))
    }
}

impl fmt::Debug for KeysFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<_> = self.column_keys.iter().map(|(path, _)| path).collect();
        f.debug_struct("KeysFile")
            .field("footer_key", &self.footer_key)
            .field("column_keys", &columns)
            .field("kms", &self.kms)
            .field("algorithms", &self.algorithms)
            .finish_non_exhaustive()
    }
}

/// A retriever that looks up keys by metadata first, falling back to the KMS.
struct Retriever {
    by_metadata: HashMap<Vec<u8>, Key>,
    kms: Option<Arc<dyn KeyRetriever>>,
}

impl KeyRetriever for Retriever {
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer> {
        match (self.by_metadata.get(&request.key_metadata), &self.kms) {
            (Some(key), _) => Ok(KeyAnswer::Key(key.clone())),
            (None, Some(kms)) => kms.retrieve(request),
            (None, None) => Err(missing("\"by_metadata\" of the keys file")),
        }
    }
}

#[cold]
fn missing(place: &str) -> Error {
    let message = format!("{place} does not have the key that the file needs");
    Error::new(ErrorKind::Key, message)
}
