//! Builds additional authenticated data (AAD). It binds a module to its file and to its place in the file.
//!
//! ```text
//! prefix | file identifier | kind (1 byte) [| row group | column [| page]]    2 bytes each, little-endian
//! ```

use std::fmt;

use super::{ModuleId, ModuleKind};
use crate::{Result, redacted::Redacted};

/// The part of the AAD shared by all of a file's modules: the prefix chosen by the caller, and the file's random
/// identifier (section 4.4.2).
#[derive(Clone, PartialEq, Eq)]
pub struct FileAad(Option<Vec<u8>>);

impl FileAad {
    /// No additional authenticated data for any module, as in DuckDB files. An attacker with write access to such a
    /// file can move modules within it.
    pub const NONE: Self = Self(None);

    /// Joins the prefix and the identifier. The prefix can be empty.
    #[must_use]
    pub fn new(prefix: &[u8], file_unique: &[u8]) -> Self {
        Self(Some([prefix, file_unique].concat()))
    }

    /// Returns one module's complete AAD.
    ///
    /// This fails with an argument error if an ordinal needs more than 16 bits.
    pub(crate) fn of(&self, id: &ModuleId) -> Result<Vec<u8>> {
        let [row_group, column, page] = id.ordinals()?;
        let Some(file_aad) = &self.0 else {
            return Ok(Vec::new());
        };
        let mut aad = Vec::with_capacity(file_aad.len() + 7);
        aad.extend_from_slice(file_aad);
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
        let bytes = self.0.as_ref().map(Vec::len);
        f.debug_tuple("FileAad")
            .field(&bytes.map(Redacted))
            .finish()
    }
}
