//! Finds a module's nonce, ciphertext and tag.

use std::ops::Range;

use super::ModuleId;
use crate::{
    Error, Result,
    cipher::{NONCE_BYTES, Nonce, TAG_BYTES, Tag},
};

/// The size of a module's length field, in bytes.
pub(crate) const LENGTH_BYTES: usize = 4;
/// The size of everything in front of the ciphertext, in bytes.
pub(crate) const HEAD_BYTES: usize = LENGTH_BYTES + NONCE_BYTES;
/// The maximum length that a module can declare. Other readers treat the length as a signed number.
pub(crate) const MAX_LENGTH: usize = i32::MAX as usize;

/// The two module framings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Gcm,
    Ctr,
}

impl Framing {
    fn tag_bytes(self) -> usize {
        match self {
            Self::Gcm => TAG_BYTES,
            Self::Ctr => 0,
        }
    }

    /// Returns a module's overhead on top of its ciphertext, in bytes.
    pub(crate) fn overhead(self) -> usize {
        HEAD_BYTES + self.tag_bytes()
    }

    /// Returns the length declared by a module with `plaintext` bytes of plaintext.
    ///
    /// This fails with an argument error if the length exceeds [`MAX_LENGTH`].
    pub(crate) fn declared_length(self, id: &ModuleId, plaintext: usize) -> Result<u32> {
        let length = plaintext.checked_add(self.overhead() - LENGTH_BYTES);
        let length = length.filter(|length| *length <= MAX_LENGTH);
        length
            .and_then(|length| u32::try_from(length).ok())
            .ok_or_else(|| {
                id.place(Error::argument(format!(
                "{plaintext} bytes do not fit into the encrypted {id} of at most {MAX_LENGTH} bytes"
            )))
            })
    }

    /// Returns the size of the module at the start of `bytes`, including its length field, or
    /// `None` if `bytes` is shorter than the length field.
    ///
    /// This fails with a corruption error if the module is too short for a nonce and a tag, or
    /// longer than `limit` bytes.
    pub(crate) fn module_bytes(
        self,
        id: &ModuleId,
        bytes: &[u8],
        limit: usize,
    ) -> Result<Option<usize>> {
        let Some(length) = bytes.first_chunk() else {
            return Ok(None);
        };
        let least = self.overhead() - LENGTH_BYTES;
        match usize::try_from(u32::from_le_bytes(*length)) {
            Ok(length) if length < least => Err(corrupt(
                id,
                format!("declares {length} bytes, but nonce and tag need {least}"),
            )),
            Ok(length) if length <= limit.min(MAX_LENGTH + LENGTH_BYTES) - LENGTH_BYTES => {
                Ok(Some(length + LENGTH_BYTES))
            }
            _ => Err(corrupt(
                id,
                format!("declares more bytes than are available or allowed ({limit})"),
            )),
        }
    }

    /// Returns the nonce, ciphertext range and tag of a `module` that fills its bytes. With CTR,
    /// the tag is zero.
    ///
    /// This fails with a corruption error if the module declares another length.
    pub(crate) fn split(self, id: &ModuleId, module: &[u8]) -> Result<(Nonce, Range<usize>, Tag)> {
        let bytes = self.module_bytes(id, module, module.len().max(LENGTH_BYTES))?;
        if bytes != Some(module.len()) {
            return Err(corrupt(
                id,
                match bytes {
                    Some(bytes) => format!("has {} bytes, but declares {bytes}", module.len()),
                    None => format!("has {} bytes, too few for its length", module.len()),
                },
            ));
        }
        let end = module.len() - self.tag_bytes();
        let nonce = module.get(LENGTH_BYTES..HEAD_BYTES);
        let nonce = nonce
            .and_then(|nonce| nonce.try_into().ok())
            .unwrap_or_default();
        let tag = module.get(end..).and_then(|tag| tag.try_into().ok());
        Ok((nonce, HEAD_BYTES..end, tag.unwrap_or_default()))
    }
}

/// Returns a corruption error for a malformed module.
#[cold]
pub(crate) fn corrupt(id: &ModuleId, what: impl AsRef<str>) -> Error {
    let what = what.as_ref();
    id.place(Error::corrupt(format!("the encrypted {id} {what}")))
}
