//! What a writer asks of whoever knows the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{ModuleCipher, ModuleId};
use crate::{ColumnChunk, Error, FileMetadataParts, Result};

/// Knows how files are encrypted; asked once for each file that is written.
pub trait Encryption: Send + Sync + fmt::Debug {
    /// What encrypts a new file whose leaves have these paths, in the order of its schema; `None` if it is not to be
    /// encrypted.
    ///
    /// **Errors**: argument if it names a column that the file does not have, or the file has more than can be
    /// encrypted; I/O if there are no random bytes.
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>>;

    /// The same where some leaves are of fields `beside` others, which they tell of: they are encrypted as those,
    /// unless they are known by their own names. As [`open`](Self::open) has it, unless implemented.
    ///
    /// **Errors**: as those of [`open`](Self::open).
    fn open_beside(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
        beside: &[FieldBeside],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        let _ = beside;
        self.open(path, leaves)
    }
}

/// A field that stands beside another one and tells of its values, such as their boxes: whoever must not see the one
/// must not see the other.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldBeside {
    /// The names from below the root.
    pub path: Vec<String>,
    /// Those of the field that it tells of.
    pub of: Vec<String>,
}

impl FieldBeside {
    /// The field `path`, which tells of `of`.
    #[must_use]
    pub fn new(path: Vec<String>, of: Vec<String>) -> Self {
        Self { path, of }
    }
}

/// Encrypts one file. Threads share it.
pub trait FileEncryption: Send + Sync + fmt::Debug {
    /// What encrypts the modules of the column of a leaf; `None` if it is not encrypted.
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>>;

    /// Whether somebody who can read the footer may be without the key of a leaf: what the footer tells of its values is
    /// left out then. That of every column that is encrypted, unless implemented.
    fn is_hidden(&self, leaf: usize) -> bool {
        self.column(leaf).is_some()
    }

    /// What encrypts temporary files that hold rows of the file until it is written: under a key that is nowhere else, and
    /// is forgotten with this. Writers that need such files ask for it.
    ///
    /// **Errors**: unsupported unless implemented; I/O if there are no random bytes.
    fn temporary_cipher(&self) -> Result<Arc<dyn ModuleCipher>> {
        Err(Error::unsupported(
            "rows need temporary files, and this encryption has no `temporary_cipher` for them",
        ))
    }

    /// Turns a column chunk of which all is known into what the file is to say of it: how it is encrypted, its metadata
    /// as a module, and what of that everybody may see. `id` is that of its metadata.
    ///
    /// **Errors**: as [`ModuleCipher::encrypt`].
    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<()>;

    /// Whether the footer is encrypted, not signed.
    fn encrypts_footer(&self) -> bool;

    /// Adds to the metadata of the file what it says of its encryption.
    fn complete_metadata(&self, metadata: &mut FileMetadataParts);

    /// What stands in front of the tail: the `metadata` of the file, encrypted, with `FileCryptoMetaData` before it, or as
    /// it is and its signature behind it.
    ///
    /// **Errors**: as [`ModuleCipher::encrypt`].
    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>>;
}
