//! Uses AES-GCM from ring, written in C and assembly. Since ring has neither CTR nor 192-bit keys,
//! we fall back to the RustCrypto implementation for these.

use std::hint::black_box;

use ring::aead::{self, AES_128_GCM, AES_256_GCM, Aad, Algorithm, LessSafeKey, UnboundKey};

use super::{AesCipher, Failed, Nonce, Tag, rust_crypto};
use crate::KeyLength;

/// Expands the key schedule of a key of this length.
pub(crate) fn new(length: KeyLength, key: &[u8]) -> Result<Box<dyn AesCipher>, Failed> {
    let algorithm = match length {
        KeyLength::Bits128 => &AES_128_GCM,
        KeyLength::Bits192 => return rust_crypto::new(length, key),
        KeyLength::Bits256 => &AES_256_GCM,
    };
    Ok(Box::new(Ring {
        gcm: schedule(algorithm, key).ok_or(Failed)?,
        ctr: rust_crypto::new(length, key)?,
    }))
}

fn schedule(algorithm: &'static Algorithm, key: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(algorithm, key).ok().map(LessSafeKey::new)
}

struct Ring {
    gcm: LessSafeKey,
    ctr: Box<dyn AesCipher>,
}

impl Ring {
    /// Overwrites the key schedule with that of an all-zero key, because ring does not wipe keys.
    fn wipe(&mut self) {
        let algorithm = self.gcm.algorithm();
        let no_key = vec![0; algorithm.key_len()];
        if let Some(schedule) = schedule(algorithm, &no_key) {
            self.gcm = schedule;
            black_box(&mut self.gcm);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl AesCipher for Ring {
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
        if plaintext.len() != ciphertext.len() {
            return Err(Failed);
        }
        plaintext.copy_from_slice(ciphertext);
        let nonce = aead::Nonce::assume_unique_for_key(*nonce);
        let (aad, tag) = (Aad::from(aad), (*tag).into());
        self.gcm
            .open_in_place_separate_tag(nonce, aad, tag, plaintext, 0..)
            .map(|_| ())
            .map_err(|_| Failed)
    }

    fn ctr(&self, counter: &[u8; 16], buffer: &mut [u8]) -> Result<(), Failed> {
        self.ctr.ctr(counter, buffer)
    }

    fn ctr_decrypt(
        &self,
        counter: &[u8; 16],
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Failed> {
        self.ctr.ctr_decrypt(counter, ciphertext, plaintext)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wiped_encrypts_with_zeros() {
        for (algorithm, length) in [
            (&AES_128_GCM, KeyLength::Bits128),
            (&AES_256_GCM, KeyLength::Bits256),
        ] {
            let key = vec![7; length.bytes()];
            let mut ring = Ring {
                gcm: schedule(algorithm, &key).unwrap(),
                ctr: rust_crypto::new(length, &key).unwrap(),
            };
            ring.wipe();
            let zeros = rust_crypto::new(length, &vec![0; length.bytes()]).unwrap();
            let (mut wiped, mut expected) = ([1; 20], [1; 20]);
            let tag = ring.gcm_encrypt(&[2; 12], b"aad", &mut wiped);
            assert_eq!(tag, zeros.gcm_encrypt(&[2; 12], b"aad", &mut expected));
            assert_eq!(wiped, expected);
        }
    }
}
