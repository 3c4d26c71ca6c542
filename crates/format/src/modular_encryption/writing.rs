//! The interface between a writer and an implementation with the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{ModuleCipher, ModuleId};
use crate::{ColumnChunk, Error, FileMetadataParts, Result};

/// An encryption configuration, called once per written file. Implement this to bring your own keys or algorithms.
pub trait Encryption: Send + Sync + fmt::Debug {
    /// Returns the object for encrypting a new file with these leaf paths, in schema order, or `None` to leave the file
    /// unencrypted.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the configuration names a column missing from the file, or
    /// if the file has too many leaves for encryption. Fails with [Io](crate::ErrorKind::Io) if no random bytes are
    /// available.
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>>;

    /// Returns the object for encrypting a new file with derived fields. The leaves of fields in `siblings` are
    /// encrypted like their source leaves, unless the configuration names them. The default ignores `siblings` and
    /// calls [`open`](Self::open).
    ///
    /// # Errors
    /// Fails for the same reasons as [`open`](Self::open).
    fn open_siblings(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
        siblings: &[SiblingField],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        let _ = siblings;
        self.open(path, leaves)
    }
}

/// A field derived from another field's values, such as their bounding boxes. Anyone who must not see the other field
/// must not see this field either.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiblingField {
    /// The names in the field path, without the root.
    pub path: Vec<String>,
    /// The path of its source field.
    pub of: Vec<String>,
}

impl SiblingField {
    /// Describes the field `path` as derived from the field `of`.
    #[must_use]
    pub fn new(path: Vec<String>, of: Vec<String>) -> Self {
        Self { path, of }
    }
}

/// An object for encrypting one file. Several threads can share it.
pub trait FileEncryption: Send + Sync + fmt::Debug {
    /// Returns the cipher for a leaf's column, or `None` if the column is not encrypted.
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>>;

    /// Returns true if some readers of the footer might lack a leaf's key. If so, information about the leaf's values
    /// must stay out of the footer. By default, this is true for every encrypted column.
    fn is_hidden(&self, leaf: usize) -> bool {
        self.column(leaf).is_some()
    }

    /// Returns the cipher for temporary files, which hold some of the file's rows while it's being written. The key
    /// isn't stored anywhere and is lost with the cipher. Writers only call this if they need temporary files.
    ///
    /// # Errors
    /// Fails with [Unsupported](crate::ErrorKind::Unsupported) by default, and with [Io](crate::ErrorKind::Io) if no
    /// random bytes are available.
    fn temporary_cipher(&self) -> Result<Arc<dyn ModuleCipher>> {
        Err(Error::unsupported(
            "sorting needs temporary files, but this encryption does not provide a \
             `temporary_cipher`",
        ))
    }

    /// Converts a column chunk's complete metadata to its stored form, consisting of the encryption metadata, the chunk
    /// metadata as a module, and any parts that everyone may see. Pass the chunk metadata's module as `id`.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ModuleCipher::encrypt`].
    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<()>;

    /// Returns true if the footer is encrypted, and false if it is signed.
    fn encrypts_footer(&self) -> bool;

    /// Adds the encryption metadata to the file metadata.
    fn complete_metadata(&self, metadata: &mut FileMetadataParts);

    /// Returns the bytes before the tail, that is, either `FileCryptoMetaData` followed by the encrypted `metadata`, or
    /// the plaintext `metadata` followed by its signature.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ModuleCipher::encrypt`].
    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>>;
}
