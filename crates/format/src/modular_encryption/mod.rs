//! The interface for Parquet Modular Encryption, between readers and writers and an implementation that has the
//! keys.
//!
//! ```text
//! reading   Decryption ── open, once per file ──► FileDecryption ── column, once per chunk ──► ModuleCipher
//! writing   Encryption ── open, once per file ──► FileEncryption ── column ──────────────────► ModuleCipher
//! ```
//!
//! A *module* is a unit of encryption, such as the footer, a page, or a page header. A [`ModuleId`] identifies
//! it. Algorithms and keys are implemented in the crate `herringbone-encryption`, not here.

mod module_id;
mod reading;
mod writing;

use std::fmt;
use std::sync::Arc;

pub use module_id::{MAX_ORDINALS, ModuleId, ModuleKind};
pub use reading::{
    Decryption, FileDecryption, FileToDecrypt, FooterEncryption, KeyRequest, KeyStep,
};
pub use writing::{Encryption, FileEncryption, SiblingField};

use crate::Result;

/// The key of the key-value metadata in which our writer repeats the algorithm, where it is authenticated. The
/// pair applies only to that file: it is not copied when rows are written to another file.
pub const ALGORITHM_KEY: &str = "herringbone:encryption_algorithm";

/// Encrypts and decrypts the modules of a column in a file. Shared by threads.
pub trait ModuleCipher: Send + Sync + fmt::Debug {
    /// Returns the number of bytes in the module that starts with `start`, including any framing; `None` if
    /// `start` is too short.
    ///
    /// # Errors
    /// [Corrupt](crate::ErrorKind::Corrupt) if the module has more than `limit` bytes, or fewer than the minimum.
    fn module_bytes(&self, id: &ModuleId, start: &[u8], limit: usize) -> Result<Option<usize>>;

    /// Decrypts a whole `module` into `plaintext`, replacing its content. For a data page version 2, `levels`
    /// is the number of bytes of its levels according to its header, because some writers leave levels outside
    /// the module. Otherwise it is 0.
    ///
    /// # Errors
    /// [Key](crate::ErrorKind::Key) if the module is not authentic; [Corrupt](crate::ErrorKind::Corrupt) if its framing
    /// is invalid. `plaintext` is then empty.
    fn decrypt(
        &self,
        id: &ModuleId,
        module: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()>;

    /// Encrypts `plaintext` and appends the module to `module`.
    ///
    /// # Errors
    /// [Argument](crate::ErrorKind::Argument) if an ordinal or the length is too large to be encrypted;
    /// [Key](crate::ErrorKind::Key) if the key must not be used any more. Nothing is appended then.
    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()>;

    /// Encrypts a data page: first its body in place, then its header. Appends the encrypted header to `head`,
    /// followed by any bytes between header and body. The page consists of the bytes appended to `head`, then
    /// the body. Returns the number of bytes in the header.
    ///
    /// # Errors
    /// See [`Self::encrypt`]; also errors of the header. The page and `head` are then unusable.
    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize>;

    /// Returns the number of bytes in a page's module that its header does not count in the page size.
    /// According to the specification, all bytes are counted.
    fn uncounted_bytes(&self, kind: ModuleKind) -> usize {
        let _ = kind;
        0
    }
}

/// Makes the header for an encrypted body. The arguments are the two parts of the body: the bytes to be
/// appended to `head` after the header, and the bytes in place. The header contains their length and checksum.
pub type MakeHeader<'a> = dyn FnMut([&[u8]; 2]) -> Result<Vec<u8>> + 'a;

/// A data page to be encrypted.
pub struct PageToEncrypt<'a> {
    /// The module of the header.
    pub header_id: ModuleId,
    /// The module of the body.
    pub body_id: ModuleId,
    /// The number of bytes of levels at the start of the body, for version 2; otherwise 0.
    pub levels: usize,
    /// The buffer with the body, starting at `start`.
    pub body: &'a mut Vec<u8>,
    /// The position of the body in the buffer.
    pub start: usize,
    /// Makes the header, after the body is encrypted.
    pub header: &'a mut MakeHeader<'a>,
}

impl fmt::Debug for PageToEncrypt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = f.debug_struct("PageToEncrypt");
        page.field("body_id", &self.body_id).finish_non_exhaustive()
    }
}

/// The cipher for the modules of one column chunk, with the ordinals of that chunk.
#[derive(Debug, Clone)]
pub struct ChunkCipher {
    modules: Arc<dyn ModuleCipher>,
    row_group: usize,
    column: usize,
}

impl ChunkCipher {
    /// Creates the cipher for a column chunk. `row_group` and `column` are ordinals.
    #[must_use]
    pub fn new(modules: Arc<dyn ModuleCipher>, row_group: usize, column: usize) -> Self {
        Self {
            modules,
            row_group,
            column,
        }
    }

    /// Returns the id of a module that occurs once per chunk.
    #[must_use]
    pub fn module(&self, kind: ModuleKind) -> ModuleId {
        ModuleId::of_column(kind, self.row_group, self.column)
    }

    /// Returns the id of the header or the body of a data page. `ordinal` does not count dictionary pages.
    #[must_use]
    pub fn page(&self, kind: ModuleKind, ordinal: usize) -> ModuleId {
        ModuleId::of_page(kind, self.row_group, self.column, ordinal)
    }

    /// Decrypts a module that occurs once per chunk.
    ///
    /// # Errors
    /// See [`ModuleCipher::decrypt`].
    pub fn decrypt(&self, kind: ModuleKind, module: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = Vec::new();
        self.modules
            .decrypt(&self.module(kind), module, 0, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Encrypts a module that occurs once per chunk.
    ///
    /// # Errors
    /// See [`ModuleCipher::encrypt`].
    pub fn encrypt(&self, kind: ModuleKind, plaintext: &[u8]) -> Result<Vec<u8>> {
        let mut module = Vec::new();
        self.modules
            .encrypt(&self.module(kind), plaintext, &mut module)?;
        Ok(module)
    }

    /// Returns the cipher of the column.
    #[must_use]
    pub fn modules(&self) -> &dyn ModuleCipher {
        &*self.modules
    }
}
