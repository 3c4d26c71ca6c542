//! Handles the two layouts of an encrypted version 2 data page.
//!
//! ```text
//! whole page    module(repetition levels | definition levels | values)      required by the specification
//! values only   repetition levels | definition levels | module(values)      parquet-java; levels are not encrypted
//! ```
//!
//! The file doesn't record the layout, so we infer it from the position where a module of the right length starts.
//! Without levels, both layouts are equal.

use super::{
    ModuleId, ModuleKey,
    framing::{Framing, LENGTH_BYTES, corrupt},
};
use crate::{ErrorKind, Result};

/// The encrypted part of a version 2 data page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// The whole page.
    WholePage,
    /// Only the values. Changes to the levels are not detected.
    ValuesOnly,
    /// Nothing, because the page only has levels, in the layout that encrypts only values.
    LevelsOnly,
}

/// Finds the layout of the `body`. `levels` is the size of both level sections in bytes.
///
/// This fails with a corruption error if no layout matches.
fn layout(id: &ModuleId, framing: Framing, body: &[u8], levels: usize) -> Result<Layout> {
    let starts_module = |at: usize| {
        let rest = body.get(at..)?;
        let length = u32::from_le_bytes(*rest.first_chunk()?);
        let fills = usize::try_from(length).ok()? == rest.len() - LENGTH_BYTES;
        (fills && rest.len() >= framing.overhead()).then_some(())
    };
    if starts_module(0).is_some() {
        Ok(Layout::WholePage)
    } else if starts_module(levels).is_some() {
        Ok(Layout::ValuesOnly)
    } else if levels > 0 && levels == body.len() {
        Ok(Layout::LevelsOnly)
    } else {
        let what = "declares a length that fits neither the page nor its values";
        Err(corrupt(id, what))
    }
}

impl ModuleKey {
    /// Decrypts the `body` of a version 2 data page, in either layout. Replaces the contents of `plaintext` with the
    /// levels followed by the values. `levels` is the size of both level sections in bytes, according to the page
    /// header.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the body does not contain a module of the right
    /// length, and with [Key](ErrorKind::Key) for the reasons of [`Self::decrypt_into`]. After an
    /// error `plaintext` is empty.
    pub fn decrypt_data_page_v2_into(
        &self,
        id: &ModuleId,
        body: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        let framing = self.algorithm().framing(id.kind);
        let found = layout(id, framing, body, levels).inspect_err(|_| plaintext.clear())?;
        match found {
            Layout::WholePage => {
                let whole = self.decrypt_into(id, body, plaintext);
                // Levels can start with bytes that look like a length, and then only the tag can decide.
                let other = layout(id, framing, body.get(levels..).unwrap_or_default(), 0);
                match whole {
                    Err(error) if error.kind() == ErrorKind::Key && other.is_ok() => {
                        self.decrypt_values(id, body, levels, plaintext)
                    }
                    whole => whole,
                }
            }
            Layout::ValuesOnly => self.decrypt_values(id, body, levels, plaintext),
            Layout::LevelsOnly => {
                plaintext.clear();
                plaintext.extend_from_slice(body);
                Ok(())
            }
        }
    }

    /// Copies the levels in `body` and decrypts the values.
    fn decrypt_values(
        &self,
        id: &ModuleId,
        body: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        let (levels, module) = body.split_at_checked(levels).unwrap_or((body, &[]));
        plaintext.clear();
        plaintext.extend_from_slice(levels);
        self.decrypt_behind(levels.len(), id, module, plaintext)
    }
}
