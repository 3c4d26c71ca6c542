//! Defines a writer's keys and choices.

use std::{fmt, sync::Arc};

use herringbone_format::modular_encryption::SiblingField;

use super::{ColumnMap, ColumnPath};
use crate::{Error, Key, Result, module::Algorithm, redacted::redacted};

/// A key, along with the metadata that readers find it by.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey {
    pub(crate) key: Key,
    pub(crate) metadata: Option<Vec<u8>>,
}

impl EncryptionKey {
    /// Adds metadata to a key. Empty metadata means none.
    #[must_use]
    pub fn with_metadata(key: Key, metadata: impl Into<Vec<u8>>) -> Self {
        let metadata = Some(metadata.into()).filter(|metadata| !metadata.is_empty());
        Self { key, metadata }
    }
}

impl From<Key> for EncryptionKey {
    /// Converts to a key without metadata. Readers have to know such a key.
    fn from(key: Key) -> Self {
        Self {
            key,
            metadata: None,
        }
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptionKey")
            .field("key", &self.key)
            .field("metadata", &redacted(self.metadata.as_deref()))
            .finish()
    }
}

/// The protection of columns without a configuration of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OtherColumns {
    /// Encryption with the footer key.
    #[default]
    FooterKey,
    /// No encryption. Other libraries do this as soon as one column has a key.
    Plaintext,
}

/// The protection of one column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnProtection {
    FooterKey,
    ColumnKey(EncryptionKey),
    Plaintext,
}

/// A writer's keys and choices. Clones share them, but each file gets its own identifier.
///
/// ```
/// use herringbone::encryption::{Algorithm, FileEncryptionProperties, Key, KeyLength};
///
/// let key = Key::generate(KeyLength::Bits128)?;
/// let properties = FileEncryptionProperties::builder(key)
///     .column_key(["salary"], Key::generate(KeyLength::Bits128)?)
///     .plaintext_column(["country"])
///     .plaintext_footer(true)
///     .build()?;
/// assert!(properties.has_plaintext_footer());
/// assert_eq!(properties.algorithm(), Algorithm::AesGcmV1);
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct FileEncryptionProperties(Arc<Inner>);

/// A builder of [`FileEncryptionProperties`]. By default, the footer and all columns are encrypted
/// with the footer key, using AES_GCM_V1.
#[must_use]
pub struct FileEncryptionPropertiesBuilder {
    inner: Inner,
    error: Option<Error>,
}

#[derive(PartialEq)]
struct Inner {
    footer_key: EncryptionKey,
    columns: ColumnMap<ColumnProtection>,
    other_columns: OtherColumns,
    algorithm: Algorithm,
    plaintext_footer: bool,
    aad_prefix: Option<Vec<u8>>,
    store_aad_prefix: bool,
}

impl FileEncryptionPropertiesBuilder {
    /// Sets the key of a column or group. A group's key serves all columns below it without a key
    /// of their own. `path` is the list of its parts.
    pub fn column_key(
        self,
        path: impl IntoIterator<Item = impl Into<String>>,
        key: impl Into<EncryptionKey>,
    ) -> Self {
        self.column(path, ColumnProtection::ColumnKey(key.into()))
    }

    /// Encrypts a column, or all columns below a group, with the footer key.
    pub fn column_with_footer_key(self, path: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.column(path, ColumnProtection::FooterKey)
    }

    /// Leaves a column, or all columns below a group, without encryption.
    pub fn plaintext_column(self, path: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.column(path, ColumnProtection::Plaintext)
    }

    fn column(
        mut self,
        path: impl IntoIterator<Item = impl Into<String>>,
        protection: ColumnProtection,
    ) -> Self {
        let path: ColumnPath = path.into_iter().map(Into::into).collect();
        let result = self.inner.columns.insert(path, protection);
        self.error = self.error.or(result.err());
        self
    }

    /// Sets the protection of columns without a configuration of their own.
    pub fn other_columns(mut self, other_columns: OtherColumns) -> Self {
        self.inner.other_columns = other_columns;
        self
    }

    /// Sets the algorithm.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.inner.algorithm = algorithm;
        self
    }

    /// Sets whether the footer is signed instead of encrypted. With a signed footer, readers
    /// without keys see the schema and the unencrypted columns.
    pub fn plaintext_footer(mut self, plaintext: bool) -> Self {
        self.inner.plaintext_footer = plaintext;
        self
    }

    /// Sets the AAD prefix: any bytes that identify the file. An empty prefix means none.
    pub fn aad_prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.inner.aad_prefix = Some(prefix.into()).filter(|prefix| !prefix.is_empty());
        self
    }

    /// Sets whether the file stores the prefix, in plaintext. Otherwise, readers have to supply it.
    pub fn store_aad_prefix(mut self, store: bool) -> Self {
        self.inner.store_aad_prefix = store;
        self
    }

    /// Builds the properties.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if a path has two protections, or if
    /// readers have to supply a prefix but there is none.
    pub fn build(self) -> Result<FileEncryptionProperties> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut inner = self.inner;
        if inner.aad_prefix.is_none() && !inner.store_aad_prefix {
            return Err(Error::argument(
                "readers cannot be required to supply an AAD prefix, because none was set",
            ));
        }
        share_equal_keys(&inner.footer_key, &mut inner.columns);
        Ok(FileEncryptionProperties(Arc::new(inner)))
    }
}

/// Replaces equal keys with clones of one key, so that their invocations are counted together.
fn share_equal_keys(footer_key: &EncryptionKey, columns: &mut ColumnMap<ColumnProtection>) {
    let keys = columns
        .values_mut()
        .filter_map(|protection| match protection {
            ColumnProtection::ColumnKey(column) => Some(&mut column.key),
            _ => None,
        });
    let mut keys: Vec<&mut Key> = keys.collect();
    keys.sort_by(|a, b| a.expose_bytes().cmp(b.expose_bytes()));
    let mut before = footer_key.key.clone();
    for key in keys {
        if *key == footer_key.key {
            *key = footer_key.key.clone();
        } else if *key == before {
            *key = before.clone();
        }
        before = key.clone();
    }
}

impl FileEncryptionProperties {
    /// Creates a builder with this footer key.
    pub fn builder(footer_key: impl Into<EncryptionKey>) -> FileEncryptionPropertiesBuilder {
        FileEncryptionPropertiesBuilder {
            inner: Inner {
                footer_key: footer_key.into(),
                columns: ColumnMap::default(),
                other_columns: OtherColumns::default(),
                algorithm: Algorithm::default(),
                plaintext_footer: false,
                aad_prefix: None,
                store_aad_prefix: true,
            },
            error: None,
        }
    }

    /// Returns true if the footer is signed instead of encrypted.
    #[must_use]
    pub fn has_plaintext_footer(&self) -> bool {
        self.0.plaintext_footer
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    pub(crate) fn footer_key(&self) -> &EncryptionKey {
        &self.0.footer_key
    }

    /// Returns the prefix, and true if the file stores it.
    pub(crate) fn aad_prefix(&self) -> (Option<&[u8]>, bool) {
        (self.0.aad_prefix.as_deref(), self.0.store_aad_prefix)
    }

    /// Returns each leaf's protection. `siblings` lists the fields that take a sibling's
    /// protection.
    ///
    /// This fails with an argument error if a path covers no leaf.
    pub(crate) fn resolve(
        &self,
        leaves: &[ColumnPath],
        siblings: &[SiblingField],
    ) -> Result<Vec<ColumnProtection>> {
        let inner = &self.0;
        inner.columns.check(leaves.iter().map(Vec::as_slice))?;
        let other = match inner.other_columns {
            OtherColumns::FooterKey => ColumnProtection::FooterKey,
            OtherColumns::Plaintext => ColumnProtection::Plaintext,
        };
        let neighbour_key = |leaf: &ColumnPath| {
            let mut siblings = siblings.iter();
            let sibling = siblings.find(|sibling| leaf.starts_with(&sibling.path))?;
            inner.columns.get(&sibling.of)
        };
        let resolve = |leaf: &ColumnPath| {
            let own = inner.columns.get(leaf);
            own.or_else(|| neighbour_key(leaf))
                .unwrap_or(&other)
                .clone()
        };
        Ok(leaves.iter().map(resolve).collect())
    }
}

impl fmt::Debug for FileEncryptionProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        f.debug_struct("FileEncryptionProperties")
            .field("footer_key", &inner.footer_key)
            .field("columns", &inner.columns)
            .field("other_columns", &inner.other_columns)
            .field("algorithm", &inner.algorithm)
            .field("plaintext_footer", &inner.plaintext_footer)
            .field("aad_prefix", &redacted(inner.aad_prefix.as_deref()))
            .field("store_aad_prefix", &inner.store_aad_prefix)
            .finish()
    }
}
