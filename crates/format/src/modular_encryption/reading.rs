//! What a reader asks of whoever knows the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::ModuleCipher;
use crate::{Error, ErrorKind, KeyValue, Result};

/// What a file says of its encryption before anything of it is decrypted.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct FileToDecrypt<'a> {
    /// The path of the file, where it has one.
    pub path: Option<&'a Path>,
    /// What its footer says.
    pub footer: FooterEncryption<'a>,
}

impl<'a> FileToDecrypt<'a> {
    /// The file at `path`.
    #[must_use]
    pub fn new(path: Option<&'a Path>, footer: FooterEncryption<'a>) -> Self {
        Self { path, footer }
    }
}

/// How a footer is encrypted (Parquet Modular Encryption, sections 5.2 to 5.5).
#[derive(Clone, Copy)]
pub enum FooterEncryption<'a> {
    /// It is. These bytes start with `FileCryptoMetaData`, and all else follows.
    Encrypted(&'a [u8]),
    /// It is not, and these are its fields 8 and 9.
    Plaintext {
        /// `EncryptionAlgorithm`; none where the file is not encrypted at all.
        encryption_algorithm: Option<&'a [u8]>,
        /// What finds the key that it is signed with.
        footer_signing_key_metadata: Option<&'a [u8]>,
    },
}

impl fmt::Debug for FooterEncryption<'_> {
    /// Nothing of what the file says: part of it is not for everybody.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encrypted(_) => "Encrypted",
            Self::Plaintext { .. } => "Plaintext",
        })
    }
}

/// Knows how files are decrypted; asked once for each file that is opened.
pub trait Decryption: Send + Sync + fmt::Debug {
    /// What decrypts a file; `None` if it is not encrypted, and may be read nevertheless.
    ///
    /// **Errors**: key if the file is not encrypted as it has to be; corrupt or unsupported if what it says cannot be
    /// followed.
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>>;
}

/// Decrypts one file. Threads share it.
pub trait FileDecryption: Send + Sync + fmt::Debug {
    /// The metadata in an encrypted footer: all bytes between the last module and the tail. Anything may follow the
    /// metadata in what it returns.
    ///
    /// **Errors**: key if there is no key, or the footer is not authentic; corrupt if it is not framed as it has to be.
    fn decrypt_footer(&self, footer: &[u8]) -> Result<KeyStep<Vec<u8>>>;

    /// Verifies a plaintext footer by what stands behind it, if there may be a key for that. The bytes are those of the
    /// file.
    ///
    /// **Errors**: key if it is not authentic; corrupt if there is no signature.
    fn verify_footer(&self, metadata: &[u8], signature: &[u8]) -> Result<KeyStep<()>>;

    /// Looks at the key-value metadata of the file, once the footer was decrypted or verified.
    ///
    /// **Errors**: key if it says that the file is encrypted in another way.
    fn check_key_values(&self, key_values: &[KeyValue]) -> Result<()>;

    /// Looks at the columns of the file, by the parts of their paths.
    ///
    /// **Errors**: argument if there is a key for a column that the file does not have.
    fn check_columns(&self, leaves: &mut dyn Iterator<Item = Vec<String>>) -> Result<()>;

    /// Looks at a column that is not encrypted and is to be read.
    ///
    /// **Errors**: key if it has to be.
    fn check_plaintext_column(&self, leaf: &[String]) -> Result<()>;

    /// What decrypts a column chunk whose `ColumnCryptoMetaData` this is; `None` if the chunk is not encrypted.
    ///
    /// **Errors**: key if there is no key for it; corrupt or unsupported if what it says cannot be followed.
    fn column(
        &self,
        crypto_metadata: Option<&[u8]>,
    ) -> Result<KeyStep<Option<Arc<dyn ModuleCipher>>>>;

    /// Hands over the key that `request` asked for.
    ///
    /// **Errors**: argument if it has a length that no key has.
    fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()>;
}

/// A key that a file needs.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyRequest {
    /// What the file says of the key, which is a matter between its writer and whoever has the keys. Anybody who can
    /// write the file can change it.
    pub key_metadata: Vec<u8>,
    /// What the file says of the key of its footer, if anything. Key tools find there which KMS it is.
    pub footer_key_metadata: Option<Vec<u8>>,
    /// The parts of the path of the column whose key it is; `None` for the footer.
    pub column: Option<Vec<String>>,
}

impl KeyRequest {
    /// A request for the key that `key_metadata` finds.
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

/// What a step that takes a key came to.
#[derive(Debug, Clone)]
#[must_use]
pub enum KeyStep<T> {
    /// The step is done.
    Ready(T),
    /// Nothing was lost: [supply](FileDecryption::supply_key) this key, and ask again.
    NeedKey(KeyRequest),
}

impl<T> KeyStep<T> {
    /// What it came to, for readers that cannot wait.
    ///
    /// **Errors**: key if a key has to be fetched.
    pub fn ready(self) -> Result<T> {
        match self {
            Self::Ready(value) => Ok(value),
            Self::NeedKey(request) => {
                let message = "the key retriever wants to wait, and this way of reading cannot";
                let error = Error::new(ErrorKind::Key, message);
                Err(match request.column {
                    Some(column) => error.in_column(column.join(".")),
                    None => error,
                })
            }
        }
    }

    /// Goes on with what it came to.
    pub fn map<U>(self, then: impl FnOnce(T) -> U) -> KeyStep<U> {
        match self {
            Self::Ready(value) => KeyStep::Ready(then(value)),
            Self::NeedKey(request) => KeyStep::NeedKey(request),
        }
    }
}
