//! What a writer encrypts, and how.

use std::{fmt, sync::Arc};

use herringbone_format::modular_encryption::FieldBeside;

use super::{ColumnMap, ColumnPath};
use crate::{Error, Key, Result, module::Algorithm, redacted::redacted};

/// A key, and what is stored in the file for those who have to find it.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey {
    pub(crate) key: Key,
    pub(crate) metadata: Option<Vec<u8>>,
}

impl EncryptionKey {
    /// With metadata; empty metadata is none.
    #[must_use]
    pub fn with_metadata(key: Key, metadata: impl Into<Vec<u8>>) -> Self {
        let metadata = Some(metadata.into()).filter(|metadata| !metadata.is_empty());
        Self { key, metadata }
    }
}

impl From<Key> for EncryptionKey {
    /// Without metadata: readers have to know the key.
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

/// What becomes of columns that nothing is said about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OtherColumns {
    /// They are encrypted with the key of the footer.
    #[default]
    FooterKey,
    /// They are not encrypted, which is what other libraries do as soon as one column has a key.
    Plaintext,
}

/// What becomes of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ColumnProtection {
    FooterKey,
    ColumnKey(EncryptionKey),
    Plaintext,
}

/// Keys and choices of a writer. Clones share them. Each file that is written with them gets an identifier of its own.
#[derive(Clone, PartialEq)]
pub struct FileEncryptionProperties(Arc<Inner>);

/// Makes [`FileEncryptionProperties`]. By default all columns are encrypted with the key of the footer by AES_GCM_V1, and
/// the footer is encrypted as well.
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
    /// The key of a column, or of all columns below a group that have none of their own. `path` is the parts of its path.
    pub fn column_key(
        self,
        path: impl IntoIterator<Item = impl Into<String>>,
        key: impl Into<EncryptionKey>,
    ) -> Self {
        self.column(path, ColumnProtection::ColumnKey(key.into()))
    }

    /// Encrypts a column, or what is below a group, with the key of the footer.
    pub fn column_with_footer_key(self, path: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.column(path, ColumnProtection::FooterKey)
    }

    /// Leaves a column, or what is below a group, unencrypted.
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

    /// What becomes of the columns that nothing was said about.
    pub fn other_columns(mut self, other_columns: OtherColumns) -> Self {
        self.inner.other_columns = other_columns;
        self
    }

    /// The algorithm.
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.inner.algorithm = algorithm;
        self
    }

    /// Whether the footer is signed in place of encrypted, so that readers without keys see the schema and the columns that
    /// are not encrypted.
    pub fn plaintext_footer(mut self, plaintext: bool) -> Self {
        self.inner.plaintext_footer = plaintext;
        self
    }

    /// What identifies the file, any bytes. An empty prefix is none.
    pub fn aad_prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.inner.aad_prefix = Some(prefix.into()).filter(|prefix| !prefix.is_empty());
        self
    }

    /// Whether the prefix is stored in the file, in the clear. Otherwise readers have to supply it.
    pub fn store_aad_prefix(mut self, store: bool) -> Self {
        self.inner.store_aad_prefix = store;
        self
    }

    /// The properties.
    ///
    /// **Errors**: argument if two protections have the same path, or a prefix that is not there is not to be stored.
    pub fn build(self) -> Result<FileEncryptionProperties> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let mut inner = self.inner;
        if inner.aad_prefix.is_none() && !inner.store_aad_prefix {
            return Err(Error::argument(
                "there is no AAD prefix that readers could be asked to supply",
            ));
        }
        share_equal_keys(&inner.footer_key, &mut inner.columns);
        Ok(FileEncryptionProperties(Arc::new(inner)))
    }
}

/// Keys of the same bytes become clones of one, so that their invocations are counted together.
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
    /// With the key of the footer.
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

    /// Whether the footer is signed in place of encrypted.
    #[must_use]
    pub fn has_plaintext_footer(&self) -> bool {
        self.0.plaintext_footer
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.0.algorithm
    }

    pub(crate) fn footer_key(&self) -> &EncryptionKey {
        &self.0.footer_key
    }

    /// The prefix, and whether it is stored.
    pub(crate) fn aad_prefix(&self) -> (Option<&[u8]>, bool) {
        (self.0.aad_prefix.as_deref(), self.0.store_aad_prefix)
    }

    /// What becomes of each leaf.
    ///
    /// **Errors**: argument if a path covers no leaf.
    pub(crate) fn resolve(
        &self,
        leaves: &[ColumnPath],
        beside: &[FieldBeside],
    ) -> Result<Vec<ColumnProtection>> {
        let inner = &self.0;
        inner.columns.check(leaves.iter().map(Vec::as_slice))?;
        let other = match inner.other_columns {
            OtherColumns::FooterKey => ColumnProtection::FooterKey,
            OtherColumns::Plaintext => ColumnProtection::Plaintext,
        };
        let of_neighbour = |leaf: &ColumnPath| {
            let mut beside = beside.iter();
            let beside = beside.find(|it| leaf.starts_with(&it.path))?;
            inner.columns.get(&beside.of)
        };
        let resolve = |leaf: &ColumnPath| {
            let own = inner.columns.get(leaf);
            own.or_else(|| of_neighbour(leaf)).unwrap_or(&other).clone()
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
