//! Defines a reader's keys and policies.

use std::{fmt, sync::Arc};

use herringbone_format::Remedy;

use super::{ColumnMap, KeyRetriever, dotted};
use crate::{
    Error, ErrorKind, Key, Result, crypto_metadata::EncryptionAlgorithm, module::Algorithm,
    redacted::redacted,
};

/// A function that checks a file's AAD prefix before anything is decrypted. If it fails, the file
/// is rejected.
pub type AadPrefixVerifier = Arc<dyn Fn(&[u8]) -> Result<()> + Send + Sync>;

/// A reader's keys and policies. Clones share them.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::ReadOptions;
/// use herringbone::encryption::{FileDecryptionProperties, Key, KeyLength};
///
/// let key = Key::generate(KeyLength::Bits128)?;
/// let properties = FileDecryptionProperties::builder().footer_key(key).build()?;
/// // Unencrypted files are rejected unless `allow_plaintext` is set.
/// assert!(properties.check_plaintext_file().is_err());
/// let options = ReadOptions::new().decryption(Arc::new(properties));
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Clone)]
pub struct FileDecryptionProperties(Arc<Inner>);

/// A builder of [`FileDecryptionProperties`]. By default, files must be encrypted with AES_GCM_V1.
#[derive(Default)]
#[must_use]
pub struct FileDecryptionPropertiesBuilder {
    inner: Inner,
    error: Option<Error>,
}

struct Inner {
    footer_key: Option<Key>,
    column_keys: ColumnMap<Key>,
    retriever: Option<Arc<dyn KeyRetriever>>,
    aad_prefix: Option<Vec<u8>>,
    aad_prefix_verifier: Option<AadPrefixVerifier>,
    allowed_algorithms: Vec<Algorithm>,
    allow_plaintext: bool,
    duckdb_dialect: bool,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            footer_key: None,
            column_keys: ColumnMap::default(),
            retriever: None,
            aad_prefix: None,
            aad_prefix_verifier: None,
            allowed_algorithms: vec![Algorithm::AesGcmV1],
            allow_plaintext: false,
            duckdb_dialect: false,
        }
    }
}

impl FileDecryptionPropertiesBuilder {
    /// Sets the footer key. It also serves all columns without a key of their own.
    pub fn footer_key(mut self, key: Key) -> Self {
        self.inner.footer_key = Some(key);
        self
    }

    /// Sets the key of a column or group. A group's key serves all columns below it without a key
    /// of their own. `path` is the list of its parts.
    pub fn column_key(
        mut self,
        path: impl IntoIterator<Item = impl Into<String>>,
        key: Key,
    ) -> Self {
        let path = path.into_iter().map(Into::into).collect();
        let result = self.inner.column_keys.insert(path, key);
        self.error = self.error.or(result.err());
        self
    }

    /// Sets a retriever for all other keys. It finds them by their metadata in the file.
    pub fn key_retriever(mut self, retriever: Arc<dyn KeyRetriever>) -> Self {
        self.inner.retriever = Some(retriever);
        self
    }

    /// Sets the file's AAD prefix. If the file stores a prefix, both must be equal. Otherwise, the
    /// file must require a prefix from the reader. An empty prefix means none.
    pub fn aad_prefix(mut self, prefix: impl Into<Vec<u8>>) -> Self {
        self.inner.aad_prefix = Some(prefix.into()).filter(|prefix| !prefix.is_empty());
        self
    }

    /// Sets a function to verify each file's prefix. Files without a prefix are then rejected.
    pub fn aad_prefix_verifier(mut self, verifier: AadPrefixVerifier) -> Self {
        self.inner.aad_prefix_verifier = Some(verifier);
        self
    }

    /// Sets the accepted algorithms. The default is AES_GCM_V1 only. If you allow AES_GCM_CTR_V1,
    /// anyone with write access to a file can change page bodies without detection. This holds
    /// whichever algorithm the writer chose, because the file records the algorithm in plaintext.
    pub fn allowed_algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.inner.allowed_algorithms = algorithms.into_iter().collect();
        self
    }

    /// Sets whether plaintext files are accepted, as well as plaintext columns that you gave a key
    /// for. If you accept them, an attacker with write access can put a file of their own in place.
    pub fn allow_plaintext(mut self, allow: bool) -> Self {
        self.inner.allow_plaintext = allow;
        self
    }

    /// Sets whether DuckDB's files are accepted, although they violate the specification. All of
    /// their columns use the footer key without recording it, and modules are not bound to their
    /// places. So anyone with write access to such a file can move modules.
    pub fn duckdb_dialect(mut self, read: bool) -> Self {
        self.inner.duckdb_dialect = read;
        self
    }

    /// Builds the properties.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if there is neither a key nor a retriever, if no
    /// algorithm is allowed, or if one path has two keys.
    pub fn build(self) -> Result<FileDecryptionProperties> {
        if let Some(error) = self.error {
            return Err(error);
        }
        let inner = self.inner;
        if inner.footer_key.is_none() && inner.column_keys.is_empty() && inner.retriever.is_none() {
            return Err(Error::argument(
                "decryption needs a key for the footer or a column, or a key retriever",
            ));
        }
        if inner.allowed_algorithms.is_empty() {
            return Err(Error::argument("no encryption algorithm is allowed"));
        }
        Ok(FileDecryptionProperties(Arc::new(inner)))
    }
}

impl FileDecryptionProperties {
    /// Creates a builder without keys.
    pub fn builder() -> FileDecryptionPropertiesBuilder {
        FileDecryptionPropertiesBuilder::default()
    }

    /// Checks a plaintext file before a reader uses it.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) unless plaintext is allowed.
    pub fn check_plaintext_file(&self) -> Result<()> {
        if self.0.allow_plaintext {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Key,
            "the file is not encrypted, but keys were given for it: it may have been replaced",
        )
        .with_remedy(Remedy::AllowPlaintext))
    }

    /// Checks a plaintext column of an encrypted file before a reader uses it.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if a key was given for the column, unless plaintext is
    /// allowed.
    pub fn check_plaintext_column(&self, leaf: &[String]) -> Result<()> {
        if self.0.allow_plaintext || self.0.column_keys.get(leaf).is_none() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Key,
            "the column is not encrypted, but a key was given for it",
        )
        .with_remedy(Remedy::AllowPlaintext)
        .in_column(dotted(leaf)))
    }

    /// Checks that every column key belongs to one of the file's columns. `leaves` are the file's
    /// leaf paths.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if a key belongs to no column. The message lists
    /// the existing leaves.
    pub fn check_columns<'a>(
        &self,
        leaves: impl Iterator<Item = &'a [String]> + Clone,
    ) -> Result<()> {
        self.0.column_keys.check(leaves)
    }

    pub(crate) fn has_column_keys(&self) -> bool {
        !self.0.column_keys.is_empty()
    }

    pub(crate) fn footer_key(&self) -> Option<&Key> {
        self.0.footer_key.as_ref()
    }

    pub(crate) fn column_key(&self, leaf: &[String]) -> Option<&Key> {
        self.0.column_keys.get(leaf)
    }

    pub(crate) fn retriever(&self) -> Option<&dyn KeyRetriever> {
        self.0.retriever.as_deref()
    }

    /// Returns an error if the algorithm is not allowed.
    pub(crate) fn check_algorithm(&self, algorithm: Algorithm) -> Result<()> {
        if self.0.allowed_algorithms.contains(&algorithm) {
            return Ok(());
        }
        let why = match algorithm {
            Algorithm::AesGcmV1 => "",
            Algorithm::AesGcmCtrV1 => ", because changes to its pages are not detected",
        };
        let message = format!("the file is encrypted by {algorithm}, which must be allowed{why}");
        Err(Error::new(ErrorKind::Key, message).with_remedy(Remedy::AllowAlgorithm))
    }

    /// Returns true if DuckDB's dialect is accepted and the file is in it. Such a file lacks an
    /// identifier.
    pub(crate) fn is_duckdb_dialect(&self, file: &EncryptionAlgorithm) -> bool {
        self.0.duckdb_dialect
            && file.algorithm == Algorithm::AesGcmV1
            && file.aad_file_unique.is_empty()
            && file.aad_prefix.is_none()
    }

    /// Returns the prefix that authenticates a file's modules. If there is a verifier, it checks
    /// the prefix first.
    pub(crate) fn resolve_aad_prefix<'a>(
        &'a self,
        file: &'a EncryptionAlgorithm,
    ) -> Result<&'a [u8]> {
        let stored = file
            .aad_prefix
            .as_deref()
            .filter(|prefix| !prefix.is_empty());
        let refuse = |message| Err(Error::new(ErrorKind::Key, message));
        let prefix = match (stored, self.0.aad_prefix.as_deref()) {
            (Some(stored), Some(supplied)) if stored != supplied => {
                return refuse("the AAD prefix differs from the one stored in the file");
            }
            (None, Some(_)) if !file.supply_aad_prefix => {
                return refuse("an AAD prefix was supplied, but the file was written without one");
            }
            (_, None) if file.supply_aad_prefix => {
                let message = "the file was written with an AAD prefix that is not stored in it";
                let error = Error::new(ErrorKind::Key, message);
                return Err(error.with_remedy(Remedy::SupplyAadPrefix));
            }
            (_, Some(supplied)) => Some(supplied),
            (stored, None) => stored,
        };
        match (&self.0.aad_prefix_verifier, prefix) {
            (Some(_), None) => refuse("the file does not have an AAD prefix to verify"),
            (Some(verify), Some(prefix)) => verify(prefix).map(|()| prefix),
            (None, prefix) => Ok(prefix.unwrap_or_default()),
        }
    }
}

impl fmt::Debug for FileDecryptionProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        f.debug_struct("FileDecryptionProperties")
            .field("footer_key", &inner.footer_key)
            .field("column_keys", &inner.column_keys)
            .field("key_retriever", &inner.retriever.is_some())
            .field("aad_prefix", &redacted(inner.aad_prefix.as_deref()))
            .field("aad_prefix_verifier", &inner.aad_prefix_verifier.is_some())
            .field("allowed_algorithms", &inner.allowed_algorithms)
            .field("allow_plaintext", &inner.allow_plaintext)
            .field("duckdb_dialect", &inner.duckdb_dialect)
            .finish()
    }
}
