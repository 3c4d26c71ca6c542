//! Additional authenticated data: what ties a module to its file and to its place there.
//!
//! ```text
//! prefix | file identifier | kind (1 byte) [| row group | column [| page]]    2 bytes each, little-endian
//! ```

use std::fmt;

use super::{ModuleId, ModuleKind};
use crate::Result;

/// The part that all modules of a file have in common: its prefix, which the caller chose, and its identifier, which is
/// random (section 4.4.2).
#[derive(Clone, PartialEq, Eq)]
pub struct FileAad(Vec<u8>);

impl FileAad {
    /// The prefix, empty if there is none, and the identifier.
    #[must_use]
    pub fn new(prefix: &[u8], file_unique: &[u8]) -> Self {
        Self([prefix, file_unique].concat())
    }

    /// The whole of it for one module.
    ///
    /// **Errors**: argument if an ordinal needs more than 16 bits.
    pub(crate) fn of(&self, id: &ModuleId) -> Result<Vec<u8>> {
        let [row_group, column, page] = id.ordinals()?;
        let mut aad = Vec::with_capacity(self.0.len() + 7);
        aad.extend_from_slice(&self.0);
        aad.push(id.kind as u8);
        if id.kind != ModuleKind::Footer {
            aad.extend_from_slice(&row_group.to_le_bytes());
            aad.extend_from_slice(&column.to_le_bytes());
        }
        if id.kind.has_page_ordinal() {
            aad.extend_from_slice(&page.to_le_bytes());
        }
        Ok(aad)
    }
}

impl fmt::Debug for FileAad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileAad({} bytes)", self.0.len())
    }
}
