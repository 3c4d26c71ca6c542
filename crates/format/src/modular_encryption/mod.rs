//! The seam for Parquet Modular Encryption: what reading and writing ask of whoever knows the keys.
//!
//! ```text
//! reading   Decryption ── open, once a file ──► FileDecryption ── column, once a chunk ──► ModuleCipher
//! writing   Encryption ── open, once a file ──► FileEncryption ── column ────────────────► ModuleCipher
//! ```
//!
//! A *module* is what is encrypted at a time: the footer, a page, its header, and so on; a [`ModuleId`] says which one
//! it is. Nothing here knows an algorithm or a key: the crate `herringbone-encryption` does.

mod module_id;
mod reading;
mod writing;

use std::fmt;
use std::sync::Arc;

pub use module_id::{MAX_ORDINALS, ModuleId, ModuleKind};
pub use reading::{
    Decryption, FileDecryption, FileToDecrypt, FooterEncryption, KeyRequest, KeyStep,
};
pub use writing::{Encryption, FieldBeside, FileEncryption};

use crate::Result;

/// The key of key-value metadata in which our writer names the algorithm once more, where it is authenticated. It is of
/// that file alone: rows that are written elsewhere leave it behind.
pub const ALGORITHM_KEY: &str = "herringbone:encryption_algorithm";

/// Encrypts and decrypts the modules of a column, in one file. Threads share it.
pub trait ModuleCipher: Send + Sync + fmt::Debug {
    /// Bytes of the module that starts with `start`, whatever frames it included; `None` where `start` is too short to
    /// tell.
    ///
    /// **Errors**: corrupt if it has more than `limit`, or fewer than a module can have.
    fn module_bytes(&self, id: &ModuleId, start: &[u8], limit: usize) -> Result<Option<usize>>;

    /// Puts the plaintext of a whole `module` into `plaintext`, in place of what is there. Of a data page version 2, `levels`
    /// is the bytes that its levels take, which its header tells: some writers leave them outside of the module. Otherwise
    /// it is 0.
    ///
    /// **Errors**: key if the module is not authentic; corrupt if it is not framed as it has to be. Then `plaintext` is empty.
    fn decrypt(
        &self,
        id: &ModuleId,
        module: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()>;

    /// Appends the module with this plaintext.
    ///
    /// **Errors**: argument if an ordinal or the length is too large to be encrypted; key if the key may not be used any
    /// more. Then nothing is appended.
    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()>;

    /// Encrypts a data page: its body in place, and then its header, which `head` gets, with what comes between them.
    /// Afterwards the page is what this appended to `head`, and then the body. What comes back is the bytes of the header.
    ///
    /// **Errors**: as [`Self::encrypt`], and those of the header; then the page has no use any more, nor has `head`.
    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize>;

    /// Bytes of the module of a page that its header leaves out when it says how many the page has. The specification
    /// leaves out none.
    fn uncounted_bytes(&self, kind: ModuleKind) -> usize {
        let _ = kind;
        0
    }
}

/// Makes the header of an encrypted body, of which it takes both parts: what is appended to `head`, and the body. The header tells
/// how long they are, and their checksum.
pub type MakeHeader<'a> = dyn FnMut([&[u8]; 2]) -> Result<Vec<u8>> + 'a;

/// A data page before it is encrypted.
pub struct PageToEncrypt<'a> {
    /// The module of the header.
    pub header_id: ModuleId,
    /// The module of the body.
    pub body_id: ModuleId,
    /// The bytes that levels take at the start of the body, of version 2; otherwise 0.
    pub levels: usize,
    /// The body, from the byte at `start` on.
    pub body: &'a mut Vec<u8>,
    /// Where the body starts.
    pub start: usize,
    /// Makes the header, once the body is encrypted.
    pub header: &'a mut MakeHeader<'a>,
}

impl fmt::Debug for PageToEncrypt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut page = f.debug_struct("PageToEncrypt");
        page.field("body_id", &self.body_id).finish_non_exhaustive()
    }
}

/// What encrypts or decrypts the modules of one column chunk, and which chunk it is.
#[derive(Debug, Clone)]
pub struct ChunkCipher {
    modules: Arc<dyn ModuleCipher>,
    row_group: usize,
    column: usize,
}

impl ChunkCipher {
    /// For the chunk of a column in a row group, by their ordinals.
    #[must_use]
    pub fn new(modules: Arc<dyn ModuleCipher>, row_group: usize, column: usize) -> Self {
        Self {
            modules,
            row_group,
            column,
        }
    }

    /// A module of which the chunk has one.
    #[must_use]
    pub fn module(&self, kind: ModuleKind) -> ModuleId {
        ModuleId::of_column(kind, self.row_group, self.column)
    }

    /// The header or the body of the data page at this ordinal, dictionary pages not counted.
    #[must_use]
    pub fn page(&self, kind: ModuleKind, ordinal: usize) -> ModuleId {
        ModuleId::of_page(kind, self.row_group, self.column, ordinal)
    }

    /// The plaintext of a module of which the chunk has one.
    ///
    /// **Errors**: as [`ModuleCipher::decrypt`].
    pub fn decrypt(&self, kind: ModuleKind, module: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = Vec::new();
        self.modules
            .decrypt(&self.module(kind), module, 0, &mut plaintext)?;
        Ok(plaintext)
    }

    /// The module of this kind with this plaintext, one of which the chunk has.
    ///
    /// **Errors**: as [`ModuleCipher::encrypt`].
    pub fn encrypt(&self, kind: ModuleKind, plaintext: &[u8]) -> Result<Vec<u8>> {
        let mut module = Vec::new();
        self.modules
            .encrypt(&self.module(kind), plaintext, &mut module)?;
        Ok(module)
    }

    /// What does it.
    #[must_use]
    pub fn modules(&self) -> &dyn ModuleCipher {
        &*self.modules
    }
}
