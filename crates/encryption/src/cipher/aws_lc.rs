//! Uses AES from AWS-LC, written in C and assembly.

use aws_lc_rs::{
    aead::{self, AES_128_GCM, AES_192_GCM, AES_256_GCM, Aad, LessSafeKey, UnboundKey},
    cipher::{AES_128, AES_192, AES_256, EncryptingKey, EncryptionContext, UnboundCipherKey},
    iv::FixedLength,
};

use super::{AesCipher, Failed, Nonce, Tag};
use crate::KeyLength;

/// Expands the key schedule of a key of this length.
pub(crate) fn new(length: KeyLength, key: &[u8]) -> Result<Box<dyn AesCipher>, Failed> {
    let (gcm, ctr) = match length {
        KeyLength::Bits128 => (&AES_128_GCM, &AES_128),
        KeyLength::Bits192 => (&AES_192_GCM, &AES_192),
        KeyLength::Bits256 => (&AES_256_GCM, &AES_256),
    };
    let gcm = UnboundKey::new(gcm, key);
    let ctr = UnboundCipherKey::new(ctr, key).and_then(EncryptingKey::ctr);
    let (Ok(gcm), Ok(ctr)) = (gcm, ctr) else {
        return Err(Failed);
    };
    let gcm = LessSafeKey::new(gcm);
    Ok(Box::new(AwsLc { gcm, ctr }))
}

struct AwsLc {
    gcm: LessSafeKey,
    ctr: EncryptingKey,
}

impl AesCipher for AwsLc {
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Result<Tag, Failed> {
        let nonce = aead::Nonce::assume_unique_for_key(*nonce);
        let tag = self
            .gcm
            .seal_in_place_separate_tag(nonce, Aad::from(aad), buffer);
        tag.ok()
            .and_then(|tag| tag.as_ref().try_into().ok())
            .ok_or(Failed)
    }

    fn gcm_decrypt(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        (ciphertext, tag): (&[u8], &Tag),
        plaintext: &mut [u8],
    ) -> Result<(), Failed> {
        let nonce = aead::Nonce::assume_unique_for_key(*nonce);
        self.gcm
            .open_separate_gather(nonce, Aad::from(aad), ciphertext, tag, plaintext)
            .map_err(|_| Failed)
    }

    fn ctr(&self, counter: &[u8; 16], buffer: &mut [u8]) -> Result<(), Failed> {
        let context = EncryptionContext::Iv128(FixedLength::from(*counter));
        match self.ctr.less_safe_encrypt(buffer, context) {
            Ok(_) => Ok(()),
            Err(_) => Err(Failed),
        }
    }

    fn ctr_decrypt(
        &self,
        counter: &[u8; 16],
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Failed> {
        if plaintext.len() != ciphertext.len() {
            return Err(Failed);
        }
        plaintext.copy_from_slice(ciphertext);
        self.ctr(counter, plaintext)
    }
}
