//! Wraps keys with other keys locally, without a KMS.
//!
//! ```text
//! base64(nonce (12) | ciphertext | tag (16))      by AES-GCM, without a length
//! ```

use base64::{Engine, engine::general_purpose::STANDARD};
use zeroize::Zeroizing;

use crate::{
    Error, ErrorKind, Key, Result,
    cipher::{Failed, NONCE_BYTES, Nonce, Tag},
    random,
};

/// Wraps `key`, binding it to `aad`.
pub(crate) fn wrap(wrapping_key: &Key, key: &Key, aad: &[u8]) -> Result<String> {
    let nonce: Nonce = random::array()?;
    let plaintext = key.expose_bytes();
    // The buffer has its full capacity from the start, so that no reallocation leaves a copy of the
    // key behind.
    let mut wrapped = Vec::with_capacity(nonce.len() + plaintext.len() + size_of::<Tag>());
    wrapped.extend_from_slice(&nonce);
    wrapped.extend_from_slice(plaintext);
    let buffer = wrapped.get_mut(NONCE_BYTES..).unwrap_or_default();
    let cipher = wrapping_key.cipher_for_encryption()?;
    let tag = cipher
        .gcm_encrypt(&nonce, aad, buffer)
        .map_err(|Failed| Error::argument("a key cannot be wrapped"))?;
    wrapped.extend_from_slice(&tag);
    Ok(STANDARD.encode(wrapped))
}

/// Unwraps a result of [`wrap`]. `by` names the wrapping key in error messages.
pub(crate) fn unwrap(wrapping_key: &Key, wrapped: &str, aad: &[u8], by: &str) -> Result<Key> {
    let refuse = |why| {
        let message = format!("a key that was wrapped by {by} {why}");
        Error::new(ErrorKind::Key, message)
    };
    let malformed = || refuse("is malformed");
    let wrapped = STANDARD.decode(wrapped).map_err(|_| malformed())?;
    let (nonce, rest) = wrapped.split_first_chunk().ok_or_else(malformed)?;
    let (ciphertext, tag) = rest.split_last_chunk().ok_or_else(malformed)?;
    let mut key = Zeroizing::new(vec![0; ciphertext.len()]);
    let cipher = wrapping_key.cipher();
    cipher
        .gcm_decrypt(nonce, aad, (ciphertext, tag), &mut key)
        .map_err(|Failed| {
            refuse("is not authentic: it was changed, or wrapped by a different key")
        })?;
    Key::new(&key)
}
