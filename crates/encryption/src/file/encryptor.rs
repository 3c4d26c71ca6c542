//! Writing one file.

use std::sync::Arc;

use herringbone_format::KeyValue;
use herringbone_format::modular_encryption::FieldBeside;

use super::recorded_algorithm;
use crate::{
    Error, Key, ModuleKey, Result,
    crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm, FileCryptoMetadata},
    module::{FileAad, MAX_ORDINALS},
    properties::{ColumnPath, ColumnProtection, FileEncryptionProperties},
    random,
};

/// Bytes of the random identifier of a file, as many as other writers take.
const FILE_UNIQUE_BYTES: usize = 8;

/// Encrypts one file, whose identifier is drawn when this is made. Threads may share it.
#[derive(Debug)]
pub struct FileEncryptor {
    properties: FileEncryptionProperties,
    file_unique: [u8; FILE_UNIQUE_BYTES],
    footer_key: ModuleKey,
    columns: Vec<Option<ColumnEncryptor>>,
}

/// How a column is encrypted.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ColumnEncryptor {
    /// Encrypts all of its modules.
    pub key: ModuleKey,
    /// What each of its column chunks says about it.
    pub crypto_metadata: ColumnCryptoMetadata,
    /// Whether the metadata of its chunks is a module of its own, in field 9 of `ColumnChunk`.
    pub encrypts_metadata: bool,
    /// Whether field 3 of `ColumnChunk` holds metadata as well, without what tells about values if `encrypts_metadata`.
    pub has_plain_metadata: bool,
}

impl FileEncryptor {
    /// For a new file whose leaves have these paths, in the order of its schema.
    ///
    /// **Errors**: argument if the properties name a column that the file does not have, or it has more than
    /// [`MAX_ORDINALS`] columns; I/O if there are no random bytes.
    pub fn new(properties: &FileEncryptionProperties, leaves: &[ColumnPath]) -> Result<Self> {
        Self::beside(properties, leaves, &[])
    }

    /// The same where some leaves are of fields beside others: they take the keys of those, unless they are named themselves.
    ///
    /// **Errors**: as those of [`new`](Self::new).
    pub(super) fn beside(
        properties: &FileEncryptionProperties,
        leaves: &[ColumnPath],
        beside: &[FieldBeside],
    ) -> Result<Self> {
        if leaves.len() > MAX_ORDINALS {
            return Err(Error::argument(format!(
                "an encrypted file has {MAX_ORDINALS} columns at most, not {}",
                leaves.len()
            )));
        }
        let protections = properties.resolve(leaves, beside)?;
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

    /// Whether the footer is signed in place of encrypted.
    #[must_use]
    pub fn has_plaintext_footer(&self) -> bool {
        self.properties.has_plaintext_footer()
    }

    /// Encrypts the footer, or signs it.
    #[must_use]
    pub fn footer_key(&self) -> &ModuleKey {
        &self.footer_key
    }

    /// How the column of a leaf is encrypted; `None` if it is not.
    #[must_use]
    pub fn column(&self, leaf: usize) -> Option<&ColumnEncryptor> {
        self.columns.get(leaf)?.as_ref()
    }

    /// What stands in front of an encrypted footer. Of a plaintext footer, the algorithm is its field 8 and the key metadata
    /// its field 9.
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

    /// An entry for the key-value metadata of the footer, by which our readers find out that what stands in the clear was
    /// changed.
    #[must_use]
    pub fn key_value(&self) -> KeyValue {
        recorded_algorithm::key_value(self.properties.algorithm())
    }
}
