//! Encrypts one file.

use std::sync::Arc;

use herringbone_format::KeyValue;
use herringbone_format::modular_encryption::SiblingField;

use super::recorded_algorithm;
use crate::{
    Error, Key, ModuleKey, Result,
    crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm, FileCryptoMetadata},
    module::{FileAad, MAX_ORDINALS},
    properties::{ColumnPath, ColumnProtection, FileEncryptionProperties},
    random,
};

/// The size of the random file identifier in bytes. Other writers use the same length.
const FILE_UNIQUE_BYTES: usize = 8;

/// An encryptor for one file. It draws the file's identifier on creation. Threads can share it.
#[derive(Debug)]
pub struct FileEncryptor {
    properties: FileEncryptionProperties,
    file_unique: [u8; FILE_UNIQUE_BYTES],
    footer_key: ModuleKey,
    columns: Vec<Option<ColumnEncryptor>>,
}

/// A column's encryption: its key, and the metadata to write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnEncryptor {
    /// The key for all of the column's modules.
    pub key: ModuleKey,
    /// The crypto metadata for each of its column chunks.
    pub crypto_metadata: ColumnCryptoMetadata,
    /// True if its chunk metadata is a separate module, in field 9 of `ColumnChunk`.
    pub encrypts_metadata: bool,
    /// True if field 3 of `ColumnChunk` has metadata too. If `encrypts_metadata` is also true, this
    /// metadata reveals nothing about values.
    pub has_plain_metadata: bool,
}

impl FileEncryptor {
    /// Creates an encryptor for a new file. `leaves` are its leaf paths, in schema order.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the properties name a column missing
    /// from the file, or if the file has more than [`MAX_ORDINALS`] columns, and with
    /// [Io](crate::ErrorKind::Io) if random bytes are not available.
    pub fn new(properties: &FileEncryptionProperties, leaves: &[ColumnPath]) -> Result<Self> {
        Self::with_siblings(properties, leaves, &[])
    }

    /// Creates an encryptor for a file with sibling fields. A sibling field's leaf uses its
    /// sibling's key, unless the properties name the leaf itself.
    ///
    /// This fails for the reasons of [`new`](Self::new).
    pub(super) fn with_siblings(
        properties: &FileEncryptionProperties,
        leaves: &[ColumnPath],
        siblings: &[SiblingField],
    ) -> Result<Self> {
        if leaves.len() > MAX_ORDINALS {
            return Err(Error::argument(format!(
                "an encrypted file can have at most {MAX_ORDINALS} columns, not {}",
                leaves.len()
            )));
        }
        let protections = properties.resolve(leaves, siblings)?;
        let file_unique = random::array()?;
        let prefix = properties.aad_prefix().0.unwrap_or_default();
        let file_aad = Arc::new(FileAad::new(prefix, &file_unique));
        let module_key =
            |key: &Key| ModuleKey::new(key.clone(), properties.algorithm(), file_aad.clone());
        let footer_key = module_key(&properties.footer_key().key);

        let plaintext_footer = properties.has_plaintext_footer();
        let column = |(leaf, protection): (&ColumnPath, _)| match protection {
            ColumnProtection::Plaintext => None,
            ColumnProtection::FooterKey => Some(ColumnEncryptor {
                key: footer_key.clone(),
                crypto_metadata: ColumnCryptoMetadata::FooterKey,
                encrypts_metadata: plaintext_footer,
                has_plain_metadata: true,
            }),
            ColumnProtection::ColumnKey(column) => Some(ColumnEncryptor {
                key: module_key(&column.key),
                crypto_metadata: ColumnCryptoMetadata::ColumnKey {
                    path_in_schema: leaf.clone(),
                    key_metadata: column.metadata,
                },
                encrypts_metadata: true,
                has_plain_metadata: plaintext_footer,
            }),
        };
        let columns = leaves.iter().zip(protections).map(column).collect();
        Ok(Self {
            properties: properties.clone(),
            file_unique,
            footer_key,
            columns,
        })
    }

    /// Returns true if the footer is signed instead of encrypted.
    #[must_use]
    pub fn has_plaintext_footer(&self) -> bool {
        self.properties.has_plaintext_footer()
    }

    /// Returns the key that encrypts or signs the footer.
    #[must_use]
    pub fn footer_key(&self) -> &ModuleKey {
        &self.footer_key
    }

    /// Returns a leaf's encryption, or `None` if it is not encrypted.
    #[must_use]
    pub fn column(&self, leaf: usize) -> Option<&ColumnEncryptor> {
        self.columns.get(leaf)?.as_ref()
    }

    /// Returns the metadata to store in front of an encrypted footer. Note that a plaintext footer
    /// has the algorithm in field 8 instead, and the key metadata in field 9.
    #[must_use]
    pub fn file_crypto_metadata(&self) -> FileCryptoMetadata {
        let (prefix, store) = self.properties.aad_prefix();
        FileCryptoMetadata {
            encryption_algorithm: EncryptionAlgorithm {
                algorithm: self.properties.algorithm(),
                aad_prefix: prefix.filter(|_| store).map(<[u8]>::to_vec),
                aad_file_unique: self.file_unique.to_vec(),
                supply_aad_prefix: prefix.is_some() && !store,
            },
            key_metadata: self.properties.footer_key().metadata.clone(),
        }
    }

    /// Returns an entry for the footer's key-value metadata. It lets our reader detect changes to
    /// the plaintext metadata.
    #[must_use]
    pub fn key_value(&self) -> KeyValue {
        recorded_algorithm::key_value(self.properties.algorithm())
    }
}
