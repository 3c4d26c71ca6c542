//! The interface of a reader to an implementation that has the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::ModuleCipher;
use crate::{Error, ErrorKind, KeyValue, Result};

/// The information about a file's encryption that is available before decryption.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FileToDecrypt<'a> {
    /// The path of the file, if it has one.
    pub path: Option<&'a Path>,
    /// The encryption metadata of the footer.
    pub footer: FooterEncryption<'a>,
}

impl<'a> FileToDecrypt<'a> {
    /// Describes the file at `path`.
    #[must_use]
    pub fn new(path: Option<&'a Path>, footer: FooterEncryption<'a>) -> Self {
        Self { path, footer }
    }
}

/// The encryption of a footer (Parquet Modular Encryption, sections 5.2 to 5.5).
#[derive(Clone, Copy)]
pub enum FooterEncryption<'a> {
    /// Encrypted. These bytes start with `FileCryptoMetaData`, followed by the encrypted footer.
    Encrypted(&'a [u8]),
    /// Not encrypted. Contains the fields 8 and 9 of the footer.
    Plaintext {
        /// `EncryptionAlgorithm`; `None` if the file is not encrypted at all.
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

/// Decrypts files. Called once per opened file.
pub trait Decryption: Send + Sync + fmt::Debug {
    /// Returns the object that decrypts a file; `None` if the file is not encrypted and reading plaintext is
    /// allowed.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if the file is not encrypted as required; [Corrupt](ErrorKind::Corrupt) or
    /// [Unsupported](ErrorKind::Unsupported) if its encryption metadata cannot be used.
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>>;
}

/// Decrypts one file. Shared by threads.
pub trait FileDecryption: Send + Sync + fmt::Debug {
    /// Decrypts an encrypted footer: all bytes between the last module and the tail. Returns the metadata,
    /// which other bytes may follow.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if the key is missing or the footer is not authentic; [Corrupt](ErrorKind::Corrupt) if its
    /// framing is invalid.
    fn decrypt_footer(&self, footer: &[u8]) -> Result<KeyStep<Vec<u8>>>;

    /// Verifies a plaintext footer by its signature, if a key for it may be available. `metadata` contains the
    /// bytes in the file.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if the footer is not authentic; [Corrupt](ErrorKind::Corrupt) if the signature is missing.
    fn verify_footer(&self, metadata: &[u8], signature: &[u8]) -> Result<KeyStep<()>>;

    /// Checks the key-value metadata of the file, after the footer was decrypted or verified.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if it claims another encryption of the file.
    fn check_key_values(&self, key_values: &[KeyValue]) -> Result<()>;

    /// Checks the columns of the file, given by the parts of their paths.
    ///
    /// # Errors
    /// [Argument](ErrorKind::Argument) if there is a key for a column that the file does not have.
    fn check_columns(&self, leaves: &mut dyn Iterator<Item = Vec<String>>) -> Result<()>;

    /// Checks an unencrypted column before it is read.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if the column must be encrypted.
    fn check_plaintext_column(&self, leaf: &[String]) -> Result<()>;

    /// Returns the cipher of a column chunk with this `ColumnCryptoMetaData`; `None` if the chunk is not
    /// encrypted.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if its key is missing; [Corrupt](ErrorKind::Corrupt) or
    /// [Unsupported](ErrorKind::Unsupported) if its encryption metadata cannot be used.
    fn column(
        &self,
        crypto_metadata: Option<&[u8]>,
    ) -> Result<KeyStep<Option<Arc<dyn ModuleCipher>>>>;

    /// Supplies the key for `request`.
    ///
    /// # Errors
    /// [Argument](ErrorKind::Argument) if its length is invalid for a key.
    fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()>;
}

/// A key that a file needs.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyRequest {
    /// The key metadata in the file. Its meaning is defined by the writer and the key owner. Anyone who can
    /// write the file can change it.
    pub key_metadata: Vec<u8>,
    /// The metadata of the footer key, if the file has any. Key tools use it to find the KMS.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// The path parts of the column to which the key belongs; `None` for the footer.
    pub column: Option<Vec<String>>,
}

impl KeyRequest {
    /// Creates a request for the key identified by `key_metadata`.
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

/// The result of a step that may need a key.
#[derive(Debug, Clone)]
#[must_use]
pub enum KeyStep<T> {
    /// The step is complete.
    Ready(T),
    /// A key is missing. Nothing was lost: [supply](FileDecryption::supply_key) the key, then call again.
    NeedKey(KeyRequest),
}

impl<T> KeyStep<T> {
    /// Returns the result, for readers that cannot wait.
    ///
    /// # Errors
    /// [Key](ErrorKind::Key) if a key has to be fetched.
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

    /// Applies `then` to the result.
    pub fn map<U>(self, then: impl FnOnce(T) -> U) -> KeyStep<U> {
        match self {
            Self::Ready(value) => KeyStep::Ready(then(value)),
            Self::NeedKey(request) => KeyStep::NeedKey(request),
        }
    }
}
