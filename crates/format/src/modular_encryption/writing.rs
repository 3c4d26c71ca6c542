//! What a writer asks of whoever knows the keys.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use super::{ModuleCipher, ModuleId};
use crate::{ColumnChunk, FileMetadataParts, Result};

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
}

/// Encrypts one file. Threads share it.
pub trait FileEncryption: Send + Sync + fmt::Debug {
    /// What encrypts the modules of the column of a leaf; `None` if it is not encrypted.
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>>;

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
