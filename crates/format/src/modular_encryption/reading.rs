//! The interface between a reader and an implementation with the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::ModuleCipher;
use crate::{Error, ErrorKind, KeyValue, Result};

/// Everything known about a file's encryption before decrypting it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FileToDecrypt<'a> {
    /// The file's path, if it has one.
    pub path: Option<&'a Path>,
    /// The footer's encryption metadata.
    pub footer: FooterEncryption<'a>,
}

impl<'a> FileToDecrypt<'a> {
    /// Describes the file at `path`.
    #[must_use]
    pub fn new(path: Option<&'a Path>, footer: FooterEncryption<'a>) -> Self {
        Self { path, footer }
    }
}

/// A footer's kind of encryption (Parquet Modular Encryption, sections 5.2 to 5.5).
#[derive(Clone, Copy)]
pub enum FooterEncryption<'a> {
    /// An encrypted footer. The bytes start with `FileCryptoMetaData`, followed by the encrypted footer itself.
    Encrypted(&'a [u8]),
    /// An unencrypted footer, with its fields 8 and 9.
    Plaintext {
        /// The footer's `EncryptionAlgorithm`, or `None` if the file is not encrypted at all.
        encryption_algorithm: Option<&'a [u8]>,
        /// The metadata of the key that signs the footer.
        footer_signing_key_metadata: Option<&'a [u8]>,
    },
}

impl fmt::Debug for FooterEncryption<'_> {
    /// Formats only the variant, because parts of the content are confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypted(_) => "Encrypted",
            Self::Plaintext { .. } => "Plaintext",
        })
    }
}

/// A decryption configuration, called once per opened file. Implement this to bring your own keys or algorithms.
pub trait Decryption: Send + Sync + fmt::Debug {
    /// Returns the object for decrypting a file, or `None` if the file is not encrypted and reading plaintext is
    /// allowed.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if the file is not encrypted as required, and with
    /// [Corrupt](ErrorKind::Corrupt) or [Unsupported](ErrorKind::Unsupported) if its encryption metadata cannot be
    /// used.
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>>;
}

/// An object for decrypting one file. Several threads can share it.
pub trait FileDecryption: Send + Sync + fmt::Debug {
    /// Decrypts an encrypted footer, that is, all bytes between the last module and the tail. Returns the metadata,
    /// possibly followed by other bytes.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if the key is missing or the footer is not authentic, and with
    /// [Corrupt](ErrorKind::Corrupt) if its framing is invalid.
    fn decrypt_footer(&self, footer: &[u8]) -> Result<KeyStep<Vec<u8>>>;

    /// Verifies a plaintext footer's signature, if a key might be available. `metadata` contains the bytes exactly as
    /// in the file.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if the footer is not authentic, and with [Corrupt](ErrorKind::Corrupt) if the
    /// signature is missing.
    fn verify_footer(&self, metadata: &[u8], signature: &[u8]) -> Result<KeyStep<()>>;

    /// Checks the file's key-value metadata, after the footer was decrypted or verified.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if it claims another encryption of the file.
    fn check_key_values(&self, key_values: &[KeyValue]) -> Result<()>;

    /// Checks the file's columns, given by their path parts.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if there is a key for a column missing from the file.
    fn check_columns(&self, leaves: &mut dyn Iterator<Item = Vec<String>>) -> Result<()>;

    /// Checks an unencrypted column before it is read.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if the column must be encrypted.
    fn check_plaintext_column(&self, leaf: &[String]) -> Result<()>;

    /// Returns the cipher for a column chunk with this `ColumnCryptoMetaData`, or `None` if the chunk is not encrypted.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if its key is missing, and with [Corrupt](ErrorKind::Corrupt) or
    /// [Unsupported](ErrorKind::Unsupported) if its encryption metadata cannot be used.
    fn column(
        &self,
        crypto_metadata: Option<&[u8]>,
    ) -> Result<KeyStep<Option<Arc<dyn ModuleCipher>>>>;

    /// Supplies the key for `request`.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if no key can have this length.
    fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()>;
}

/// A request for one of a file's keys.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyRequest {
    /// The key metadata in the file, as defined by the writer and the key owner. Don't trust it, because anyone who can
    /// write the file can change it.
    pub key_metadata: Vec<u8>,
    /// The footer key's metadata, if the file has any. Key tools use this to find the KMS.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// The path parts of the key's column, or `None` for the footer.
    pub column: Option<Vec<String>>,
}

impl KeyRequest {
    /// Creates a request for the key that `key_metadata` identifies.
    #[must_use]
    pub fn new(
        key_metadata: Vec<u8>,
        footer_key_metadata: Option<Vec<u8>>,
        column: Option<Vec<String>>,
    ) -> Self {
        Self {
            key_metadata,
            footer_key_metadata,
            column,
        }
    }
}

impl fmt::Debug for KeyRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRequest")
            .field(
                "key_metadata",
                &format_args!("({} bytes)", self.key_metadata.len()),
            )
            .field("column", &self.column)
            .finish_non_exhaustive()
    }
}

/// The result of a step that might need a key.
#[derive(Debug, Clone)]
#[must_use]
pub enum KeyStep<T> {
    /// The step is complete.
    Ready(T),
    /// A key is missing. No progress is lost, so [supply](FileDecryption::supply_key) the key and call again.
    NeedKey(KeyRequest),
}

impl<T> KeyStep<T> {
    /// Returns the result, for readers that cannot wait for a key.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if a key has to be fetched.
    pub fn ready(self) -> Result<T> {
        match self {
            Self::Ready(value) => Ok(value),
            Self::NeedKey(request) => {
                let message = "the key retriever has to wait for a key, but this reader cannot \
                               wait";
                let error = Error::new(ErrorKind::Key, message);
                Err(match request.column {
                    Some(column) => error.in_column(column.join(".")),
                    None => error,
                })
            }
        }
    }

    /// Applies `then` to the result, if it is ready.
    pub fn map<U>(self, then: impl FnOnce(T) -> U) -> KeyStep<U> {
        match self {
            Self::Ready(value) => KeyStep::Ready(then(value)),
            Self::NeedKey(request) => KeyStep::NeedKey(request),
        }
    }
}
