//! Signs a plaintext footer and verifies its signature (section 5.5).
//!
//! ```text
//! FileMetaData | nonce (12) | tag (16) | length of both (4) | PAR1
//! ```
//!
//! We encrypt the footer to get a tag, then discard the ciphertext.

use subtle::ConstantTimeEq;

use super::{ModuleId, ModuleKey, key::not_authentic};
use crate::{
    Error, Result,
    cipher::{Failed, NONCE_BYTES, Nonce, TAG_BYTES, Tag},
    random,
};

/// The size of a signature in bytes. It consists of a nonce and a tag.
pub const FOOTER_SIGNATURE_BYTES: usize = NONCE_BYTES + TAG_BYTES;

impl ModuleKey {
    /// Signs a footer's bytes. They must be exactly as stored in the file.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the key has encrypted too often, and with
    /// [Io](crate::ErrorKind::Io) if random bytes are not available. Fails with
    /// [Argument](crate::ErrorKind::Argument) if the footer is too long for AES-GCM.
    pub fn sign_footer(&self, footer: &[u8]) -> Result<[u8; FOOTER_SIGNATURE_BYTES]> {
        self.key.cipher_for_encryption()?;
        let nonce: Nonce = random::array()?;
        let tag = self.footer_tag(&nonce, footer)?;
        let mut signature = [0; FOOTER_SIGNATURE_BYTES];
        signature[..NONCE_BYTES].copy_from_slice(&nonce);
        signature[NONCE_BYTES..].copy_from_slice(&tag);
        Ok(signature)
    }

    /// Verifies the signature after a footer. `footer` must be exactly the bytes in the file.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the signature does not have
    /// [`FOOTER_SIGNATURE_BYTES`] bytes, and with [Key](crate::ErrorKind::Key) if it belongs to
    /// another footer or was made with another key.
    pub fn verify_footer(&self, footer: &[u8], signature: &[u8]) -> Result<()> {
        let Some((nonce, tag)) = signature.split_first_chunk() else {
            return Err(wrong_length(signature));
        };
        let Ok(tag) = Tag::try_from(tag) else {
            return Err(wrong_length(signature));
        };
        let computed = self.footer_tag(nonce, footer)?;
        if bool::from(computed.ct_eq(&tag)) {
            Ok(())
        } else {
            Err(not_authentic(&ModuleId::FOOTER))
        }
    }

    fn footer_tag(&self, nonce: &Nonce, footer: &[u8]) -> Result<Tag> {
        let aad = self.file_aad.of(&ModuleId::FOOTER)?;
        let mut copy = footer.to_vec();
        let tag = self.key.cipher().gcm_encrypt(nonce, &aad, &mut copy);
        tag.map_err(|Failed| Error::argument("the footer is too long to be signed"))
    }
}

#[cold]
fn wrong_length(signature: &[u8]) -> Error {
    let length = signature.len();
    Error::corrupt(format!(
        "the signature of the footer has {length} bytes instead of {FOOTER_SIGNATURE_BYTES}"
    ))
}
