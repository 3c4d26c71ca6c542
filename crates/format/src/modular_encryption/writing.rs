//! The interface of a writer to an implementation that has the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{ModuleCipher, ModuleId};
use crate::{ColumnChunk, Error, FileMetadataParts, Result};

/// Encrypts files. Called once per written file.
pub trait Encryption: Send + Sync + fmt::Debug {
    /// Returns the object that encrypts a new file with these leaf paths, in schema order; `None` if the file
    /// is not to be encrypted.
    ///
    /// # Errors
    /// [Argument](crate::ErrorKind::Argument) if the configuration names a column that the file does not have, or the
    /// file has too many leaves to be encrypted; [Io](crate::ErrorKind::Io) if no random bytes are available.
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>>;

    /// Returns the object that encrypts a new file with derived fields. The leaves of the fields in `siblings`
    /// are encrypted like those that they are derived from, unless the configuration names them. Ignores
    /// `siblings` and calls [`open`](Self::open), unless implemented.
    ///
    /// # Errors
    /// See [`open`](Self::open).
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

/// A field derived from the values of another field, such as their bounding boxes. It must be hidden from
/// everyone from whom the other field is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiblingField {
    /// The names in the path of the field, without the root.
    pub path: Vec<String>,
    /// The path of the field that it is derived from.
    pub of: Vec<String>,
}

impl SiblingField {
    /// Describes the field `path`, derived from the field `of`.
    #[must_use]
    pub fn new(path: Vec<String>, of: Vec<String>) -> Self {
        Self { path, of }
    }
}

/// Encrypts one file. Shared by threads.
pub trait FileEncryption: Send + Sync + fmt::Debug {
    /// Returns the cipher of a leaf's column; `None` if the column is not encrypted.
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>>;

    /// Returns true if a reader of the footer may lack the key of a leaf. Information about its values is then
    /// omitted from the footer. True for every encrypted column, unless implemented.
    fn is_hidden(&self, leaf: usize) -> bool {
        self.column(leaf).is_some()
    }

    /// Returns the cipher for temporary files that contain rows of the file until it is written. Its key is not
    /// stored anywhere, and is lost with the cipher. Called by writers that need temporary files.
    ///
    /// # Errors
    /// [Unsupported](crate::ErrorKind::Unsupported) unless implemented; [Io](crate::ErrorKind::Io) if no random bytes
    /// are available.
    fn temporary_cipher(&self) -> Result<Arc<dyn ModuleCipher>> {
        Err(Error::unsupported(
            "sorting needs temporary files, but this encryption does not provide a \
             `temporary_cipher`",
        ))
    }

    /// Converts the complete metadata of a column chunk to the form stored in the file: its encryption
    /// metadata, its metadata as a module, and the parts that everyone may see. `id` is the module of the
    /// chunk's metadata.
    ///
    /// # Errors
    /// See [`ModuleCipher::encrypt`].
    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<()>;

    /// Returns true if the footer is encrypted, false if it is signed.
    fn encrypts_footer(&self) -> bool;

    /// Adds the encryption metadata to the metadata of the file.
    fn complete_metadata(&self, metadata: &mut FileMetadataParts);

    /// Returns the bytes before the tail: either `FileCryptoMetaData` followed by the encrypted `metadata`, or
    /// the plaintext `metadata` followed by its signature.
    ///
    /// # Errors
    /// See [`ModuleCipher::encrypt`].
    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>>;
}
