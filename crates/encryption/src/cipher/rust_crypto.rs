//! Uses AES from the RustCrypto project. It is pure Rust, and uses the processor's AES instructions
//! if available.

use aes::{
    Aes128, Aes192, Aes256,
    cipher::{
        BlockCipherEncrypt, BlockSizeUser, InnerIvInit, KeyInit, StreamCipherCore,
        consts::{U12, U16},
    },
};
use aes_gcm::{
    AesGcm,
    aead::{AeadInOut, inout::InOutBuf},
};
use ctr::{CtrCore, flavors::Ctr32BE};

use super::{AesCipher, Failed, Nonce, Tag};
use crate::KeyLength;

/// Expands the key schedule of a key of this length.
pub(crate) fn new(length: KeyLength, key: &[u8]) -> Result<Box<dyn AesCipher>, Failed> {
    match length {
        KeyLength::Bits128 => RustCrypto::<Aes128>::boxed(key),
        KeyLength::Bits192 => RustCrypto::<Aes192>::boxed(key),
        KeyLength::Bits256 => RustCrypto::<Aes256>::boxed(key),
    }
}

struct RustCrypto<A> {
    gcm: AesGcm<A, U12>,
    aes: A,
}

/// The bounds fulfilled by AES for any key length.
trait Aes: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeyInit + Clone {}

impl<A: BlockSizeUser<BlockSize = U16> + BlockCipherEncrypt + KeyInit + Clone> Aes for A {}

impl<A: Aes + Send + Sync + 'static> RustCrypto<A> {
    fn boxed(key: &[u8]) -> Result<Box<dyn AesCipher>, Failed> {
        let aes = A::new_from_slice(key).map_err(|_| Failed)?;
        let gcm = AesGcm::from(aes.clone());
        Ok(Box::new(Self { gcm, aes }))
    }
}

impl<A: Aes> RustCrypto<A> {
    fn apply_ctr(&self, counter: &[u8; 16], buffer: InOutBuf<'_, '_, u8>) -> Result<(), Failed> {
        let core = CtrCore::<&A, Ctr32BE>::inner_iv_init(&self.aes, counter.into());
        core.try_apply_keystream_partial(buffer).map_err(|_| Failed)
    }
}

impl<A: Aes + Send + Sync> AesCipher for RustCrypto<A> {
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Result<Tag, Failed> {
        let tag = self
            .gcm
            .encrypt_inout_detached(nonce.into(), aad, buffer.into());
        tag.map(Into::into).map_err(|_| Failed)
    }

    fn gcm_decrypt(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        (ciphertext, tag): (&[u8], &Tag),
        plaintext: &mut [u8],
    ) -> Result<(), Failed> {
        let buffer = InOutBuf::new(ciphertext, plaintext).map_err(|_| Failed)?;
        self.gcm
            .decrypt_inout_detached(nonce.into(), aad, buffer, tag.into())
            .map_err(|_| Failed)
    }

    fn ctr(&self, counter: &[u8; 16], buffer: &mut [u8]) -> Result<(), Failed> {
        self.apply_ctr(counter, buffer.into())
    }

    fn ctr_decrypt(
        &self,
        counter: &[u8; 16],
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Failed> {
        let buffer = InOutBuf::new(ciphertext, plaintext).map_err(|_| Failed)?;
        self.apply_ctr(counter, buffer)
    }
}
