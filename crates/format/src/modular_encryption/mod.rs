//! The interface for Parquet Modular Encryption. It connects readers and writers to an implementation, which holds the
//! keys.
//!
//! ```text
//! reading   Decryption ── open, once per file ──► FileDecryption ── column, once per chunk ──► ModuleCipher
//! writing   Encryption ── open, once per file ──► FileEncryption ── column ──────────────────► ModuleCipher
//! ```
//!
//! A *module* is a unit of encryption, such as the footer, a page or a page header. It is identified by a [`ModuleId`].
//! Note that this crate doesn't implement algorithms or keys. `herringbone-encryption` does.

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

/// The metadata key for our writer's second copy of the encryption algorithm. We store this copy because key-value
/// metadata is authenticated. The pair only applies to that file, so it isn't copied when writing rows to another file.
pub const ALGORITHM_KEY: &str = "herringbone:encryption_algorithm";

/// A cipher for the modules of one column in a file. Several threads can share it.
pub trait ModuleCipher: Send + Sync + fmt::Debug {
    /// Returns the byte count of the module starting with `start`, including any framing, or `None` if `start` is too
    /// short to tell.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the module has more than `limit` bytes, or fewer than the
    /// minimum.
    fn module_bytes(&self, id: &ModuleId, start: &[u8], limit: usize) -> Result<Option<usize>>;

    /// Decrypts a whole `module` into `plaintext`, replacing its content. For a data page version 2, pass the byte
    /// count of its levels according to its header as `levels`, because some writers leave levels outside the module.
    /// For all other modules, pass 0.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the module is not authentic, and with
    /// [Corrupt](crate::ErrorKind::Corrupt) if its framing is invalid. In either case, `plaintext` is empty afterwards.
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
    /// Fails with [Argument](crate::ErrorKind::Argument) if an ordinal or the length is too large to be encrypted, and
    /// with [Key](crate::ErrorKind::Key) if the key must not be used any more. Nothing is appended in either case.
    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()>;

    /// Encrypts a data page. The body is encrypted first, in place, because the header contains the encrypted body's
    /// length and checksum. The encrypted header is then appended to `head`, followed by any bytes between header and
    /// body. So the page consists of the bytes appended to `head` plus the body. Returns the header's byte count.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::encrypt`], and with errors of the header. The page and `head` are then
    /// unusable.
    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize>;

    /// Returns the number of bytes in a page's module not counted in its header's page size. The default is 0, because
    /// according to the specification a header counts all bytes.
    fn uncounted_bytes(&self, kind: ModuleKind) -> usize {
        let _ = kind;
        0
    }
}

/// A closure that makes the header for an encrypted body, including the body's length and checksum. Its arguments are
/// the two parts of the body, that is, the bytes to append to `head` after the header and the bytes in place.
pub type MakeHeader<'a> = dyn FnMut([&[u8]; 2]) -> Result<Vec<u8>> + 'a;

/// A data page to encrypt.
pub struct PageToEncrypt<'a> {
    /// The header's module.
    pub header_id: ModuleId,
    /// The body's module.
    pub body_id: ModuleId,
    /// The byte count of the levels at the start of the body for version 2, otherwise 0.
    pub levels: usize,
    /// The buffer with the body, which begins at `start`.
    pub body: &'a mut Vec<u8>,
    /// The body's offset in the buffer.
    pub start: usize,
    /// The closure that makes the header, called after encrypting the body.
    pub header: &'a mut MakeHeader<'a>,
}

impl fmt::Debug for PageToEncrypt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = f.debug_struct("PageToEncrypt");
        page.field("body_id", &self.body_id).finish_non_exhaustive()
    }
}

/// The cipher for the modules of one column chunk, together with the chunk's ordinals.
#[derive(Debug, Clone)]
pub struct ChunkCipher {
    modules: Arc<dyn ModuleCipher>,
    row_group: usize,
    column: usize,
}

impl ChunkCipher {
    /// Creates the cipher for the column chunk with the ordinals `row_group` and `column`.
    #[must_use]
    pub fn new(modules: Arc<dyn ModuleCipher>, row_group: usize, column: usize) -> Self {
        Self {
            modules,
            row_group,
            column,
        }
    }

    /// Returns the id of a per-chunk module.
    #[must_use]
    pub fn module(&self, kind: ModuleKind) -> ModuleId {
        ModuleId::of_column(kind, self.row_group, self.column)
    }

    /// Returns the id of a data page header or body. Note that `ordinal` doesn't count dictionary pages.
    #[must_use]
    pub fn page(&self, kind: ModuleKind, ordinal: usize) -> ModuleId {
        ModuleId::of_page(kind, self.row_group, self.column, ordinal)
    }

    /// Decrypts a per-chunk module.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ModuleCipher::decrypt`].
    pub fn decrypt(&self, kind: ModuleKind, module: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = Vec::new();
        self.modules
            .decrypt(&self.module(kind), module, 0, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Encrypts a per-chunk module.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ModuleCipher::encrypt`].
    pub fn encrypt(&self, kind: ModuleKind, plaintext: &[u8]) -> Result<Vec<u8>> {
        let mut module = Vec::new();
        self.modules
            .encrypt(&self.module(kind), plaintext, &mut module)?;
        Ok(module)
    }

    /// Returns the column's cipher.
    #[must_use]
    pub fn modules(&self) -> &dyn ModuleCipher {
        &*self.modules
    }
}
