//! Decrypts one file.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use herringbone_format::{
    KeyValue,
    modular_encryption::{KeyRequest, KeyStep},
};

use super::recorded_algorithm;
use crate::{
    Error, ErrorKind, Key, ModuleKey, Result,
    crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm},
    module::{Algorithm, FileAad},
    properties::{FileDecryptionProperties, KeyAnswer, dotted},
};

/// A decryptor for one file. It finds the footer and column keys, retrieving each key only once.
/// Threads can share it.
pub struct FileDecryptor {
    properties: FileDecryptionProperties,
    algorithm: Algorithm,
    file_aad: Arc<FileAad>,
    is_duckdb_dialect: bool,
    footer_key_metadata: Option<Vec<u8>>,
    retrieved: Mutex<HashMap<Vec<u8>, Key>>,
}

impl FileDecryptor {
    /// Creates a decryptor for a file claiming to be encrypted with `algorithm`.
    /// `footer_key_metadata` identifies the key that encrypts or signs the footer.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if the algorithm is not allowed, or if the AAD prefix is
    /// missing or wrong. Errors from the prefix verifier are returned too.
    pub fn new(
        properties: &FileDecryptionProperties,
        algorithm: &EncryptionAlgorithm,
        footer_key_metadata: Option<&[u8]>,
    ) -> Result<Self> {
        properties.check_algorithm(algorithm.algorithm)?;
        let prefix = properties.resolve_aad_prefix(algorithm)?;
        let is_duckdb_dialect = properties.is_duckdb_dialect(algorithm);
        let file_aad = if is_duckdb_dialect {
            FileAad::NONE
        } else {
            FileAad::new(prefix, &algorithm.aad_file_unique)
        };
        Ok(Self {
            properties: properties.clone(),
            algorithm: algorithm.algorithm,
            file_aad: Arc::new(file_aad),
            is_duckdb_dialect,
            footer_key_metadata: footer_key_metadata
                .filter(|metadata| !metadata.is_empty())
                .map(<[u8]>::to_vec),
            retrieved: Mutex::default(),
        })
    }

    /// Returns the file's algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the properties the decryptor was created with.
    #[must_use]
    pub fn properties(&self) -> &FileDecryptionProperties {
        &self.properties
    }

    /// Returns true if the file is in DuckDB's dialect. In this dialect, column chunks do not
    /// record that they are encrypted, but all of them are, with the footer key. In addition, the
    /// body length in a page header excludes its module's [overhead](ModuleKey::overhead).
    #[must_use]
    pub fn is_duckdb_dialect(&self) -> bool {
        self.is_duckdb_dialect
    }

    /// Returns true if a footer key might be available. Without one, you can still read the
    /// unencrypted columns of a file with a plaintext footer, but the signature is not verified.
    #[must_use]
    pub fn has_footer_key(&self) -> bool {
        self.properties.footer_key().is_some()
            || (self.footer_key_metadata.is_some() && self.properties.retriever().is_some())
    }

    /// Returns the footer key.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if there is none. Errors from the key retriever are
    /// returned too.
    pub fn footer_key(&self) -> Result<KeyStep<ModuleKey>> {
        self.key_step(
            self.properties.footer_key(),
            self.footer_key_metadata.as_deref(),
            None,
        )
    }

    /// Returns the key for the column with the path `leaf`. `metadata` is its chunk's crypto
    /// metadata.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if there is none, naming the column. Errors from the key
    /// retriever are returned too.
    pub fn column_key(
        &self,
        leaf: &[String],
        metadata: &ColumnCryptoMetadata,
    ) -> Result<KeyStep<ModuleKey>> {
        match metadata {
            ColumnCryptoMetadata::FooterKey => self
                .footer_key()
                .map_err(|error| error.in_column(dotted(leaf))),
            ColumnCryptoMetadata::ColumnKey { key_metadata, .. } => {
                let given = self.properties.column_key(leaf);
                self.key_step(given, key_metadata.as_deref(), Some(leaf))
            }
        }
    }

    /// Supplies the key for `request`.
    pub fn supply_key(&self, request: &KeyRequest, key: Key) {
        let mut retrieved = self
            .retrieved
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        retrieved.insert(request.key_metadata.clone(), key);
    }

    /// Checks that a decrypted or verified footer does not contradict the file's algorithm.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if it names another algorithm, because then the plaintext
    /// metadata was tampered with.
    pub fn check_key_value_metadata(&self, footer: &[KeyValue]) -> Result<()> {
        recorded_algorithm::check(self.algorithm, footer)
    }

    fn key_step(
        &self,
        given: Option<&Key>,
        key_metadata: Option<&[u8]>,
        column: Option<&[String]>,
    ) -> Result<KeyStep<ModuleKey>> {
        if let Some(key) = given {
            return Ok(self.ready(key.clone()));
        }
        let (Some(retriever), Some(key_metadata)) = (self.properties.retriever(), key_metadata)
        else {
            return Err(place(
                column,
                match (key_metadata, column) {
                    (None, Some(_)) => {
                        "no key was given for the column, and the file does not contain key \
                         metadata to find it"
                    }
                    (Some(_), Some(_)) => "no key was given for the column",
                    (None, None) => {
                        "no key was given for the footer, and the file does not contain key \
                         metadata to find it"
                    }
                    (Some(_), None) => "no key was given for the footer",
                },
            ));
        };
        let retrieved = self
            .retrieved
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = retrieved.get(key_metadata) {
            return Ok(self.ready(key.clone()));
        }
        // We release the lock, since retrievers can be slow. Two threads might therefore request
        // the same key twice, but neither waits for another thread's key.
        drop(retrieved);
        let request = KeyRequest::new(
            key_metadata.to_vec(),
            self.footer_key_metadata.clone(),
            column.map(<[String]>::to_vec),
        );
        let answer = retriever.retrieve(&request).map_err(|error| match column {
            Some(column) => error.in_column(dotted(column)),
            None => error,
        });
        match answer? {
            KeyAnswer::Key(key) => {
                self.supply_key(&request, key.clone());
                Ok(self.ready(key))
            }
            KeyAnswer::Wait => Ok(KeyStep::NeedKey(request)),
        }
    }

    fn ready(&self, key: Key) -> KeyStep<ModuleKey> {
        KeyStep::Ready(ModuleKey::new(key, self.algorithm, self.file_aad.clone()))
    }
}

impl fmt::Debug for FileDecryptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileDecryptor")
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// Returns a key error for a column or the footer.
#[cold]
fn place(column: Option<&[String]>, message: &str) -> Error {
    let error = Error::new(ErrorKind::Key, message);
    match column {
        Some(column) => error.in_column(dotted(column)),
        None => error,
    }
}
