//! The two layouts of an encrypted data page version 2.
//!
//! ```text
//! whole page    module(repetition levels | definition levels | values)      what the specification asks for
//! values only   repetition levels | definition levels | module(values)      parquet-java; levels are not encrypted
//! ```
//!
//! Nothing in the file names the layout, so it is told from where a module of the right length starts. Without levels,
//! both are the same.

use std::ops::Range;

use super::{
    ModuleId, ModuleKey,
    framing::{Framing, HEAD_BYTES, LENGTH_BYTES, corrupt},
};
use crate::{ErrorKind, Result};

/// What of a data page version 2 is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPageV2Layout {
    /// All of it.
    WholePage,
    /// Its values. Nothing tells whether its levels were changed.
    ValuesOnly,
    /// Nothing: it has levels alone, in the layout that encrypts only values.
    LevelsOnly,
}

/// Tells what of the `body` is encrypted; `levels` is the length of both sections of levels.
///
/// **Errors**: corrupt if it is neither.
fn layout(id: &ModuleId, framing: Framing, body: &[u8], levels: usize) -> Result<DataPageV2Layout> {
    let starts_module = |at: usize| {
        let rest = body.get(at..)?;
        let length = u32::from_le_bytes(*rest.first_chunk()?);
        let fills = usize::try_from(length).ok()? == rest.len() - LENGTH_BYTES;
        (fills && rest.len() >= framing.overhead()).then_some(())
    };
    if starts_module(0).is_some() {
        Ok(DataPageV2Layout::WholePage)
    } else if starts_module(levels).is_some() {
        Ok(DataPageV2Layout::ValuesOnly)
    } else if levels > 0 && levels == body.len() {
        Ok(DataPageV2Layout::LevelsOnly)
    } else {
        let what = "declares a length that fits neither the page nor its values";
        Err(corrupt(id, what))
    }
}

impl ModuleKey {
    /// Tells what of the `body` of a data page version 2 is encrypted; `levels` is the length of both sections of levels, as
    /// its header has it.
    ///
    /// **Errors**: corrupt if there is no module of the right length in it.
    pub fn data_page_v2_layout(
        &self,
        id: &ModuleId,
        body: &[u8],
        levels: usize,
    ) -> Result<DataPageV2Layout> {
        layout(id, self.algorithm().framing(id.kind), body, levels)
    }

    /// Decrypts the `body` of a data page version 2 where it lies, whatever its layout. Its levels and values, one behind
    /// the other, are the part of `body` that is returned.
    ///
    /// **Errors**: as [`Self::data_page_v2_layout`] and [`Self::decrypt_in_place`].
    pub fn decrypt_data_page_v2(
        &self,
        id: &ModuleId,
        body: &mut [u8],
        levels: usize,
    ) -> Result<Range<usize>> {
        let framing = self.algorithm().framing(id.kind);
        match layout(id, framing, body, levels)? {
            DataPageV2Layout::WholePage => {
                // Levels may start with what looks like a length: then only the tag tells.
                let other = layout(id, framing, body.get(levels..).unwrap_or_default(), 0);
                if levels == 0 || framing == Framing::Ctr || other.is_err() {
                    return self.decrypt_in_place(id, body);
                }
                let mut copy = body.to_vec();
                match self.decrypt_in_place(id, &mut copy) {
                    Ok(plaintext) => {
                        body.copy_from_slice(&copy);
                        Ok(plaintext)
                    }
                    Err(error) if error.kind() == ErrorKind::Key => {
                        self.decrypt_values(id, body, levels)
                    }
                    Err(error) => Err(error),
                }
            }
            DataPageV2Layout::ValuesOnly => self.decrypt_values(id, body, levels),
            DataPageV2Layout::LevelsOnly => Ok(0..body.len()),
        }
    }

    /// Decrypts what follows the levels, and moves them up to it.
    fn decrypt_values(
        &self,
        id: &ModuleId,
        body: &mut [u8],
        levels: usize,
    ) -> Result<Range<usize>> {
        let module = body.get_mut(levels..).unwrap_or_default();
        let values = self.decrypt_in_place(id, module)?;
        body.copy_within(..levels, HEAD_BYTES);
        Ok(HEAD_BYTES..levels + values.end)
    }
}
