//! AES in the two modes used by Parquet, as a trait with a choice of implementations.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
mod ring;
// With `aws-lc-rs`, this implementation is only a reference for tests.
#[cfg(any(test, not(feature = "aws-lc-rs")))]
mod rust_crypto;

#[cfg(test)]
mod tests;

#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
pub(crate) use self::ring::new;
#[cfg(feature = "aws-lc-rs")]
pub(crate) use aws_lc::new;
#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
pub(crate) use rust_crypto::new;

/// The nonce size in bytes.
pub(crate) const NONCE_BYTES: usize = 12;
/// The authentication tag size in bytes.
pub(crate) const TAG_BYTES: usize = 16;

/// A nonce. It must be unique for each encryption.
pub(crate) type Nonce = [u8; NONCE_BYTES];
/// A tag that authenticates a ciphertext along with its additional data.
pub(crate) type Tag = [u8; TAG_BYTES];

/// The error for a ciphertext that fails authentication, or for an input of an unsupported length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// AES with one key and its expanded key schedule.
pub(crate) trait AesCipher: Send + Sync {
    /// Encrypts `buffer` in place with GCM (NIST SP 800-38D).
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Result<Tag, Failed>;

    /// Decrypts a ciphertext and its tag with GCM into `plaintext`. Both must be equally long.
    /// After an error, the caller must not use the contents of `plaintext`.
    fn gcm_decrypt(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        sealed: (&[u8], &Tag),
        plaintext: &mut [u8],
    ) -> Result<(), Failed>;

    /// Encrypts or decrypts `buffer` in place with CTR (NIST SP 800-38A), starting at `counter`.
    fn ctr(&self, counter: &[u8; 16], buffer: &mut [u8]) -> Result<(), Failed>;

    /// Decrypts `ciphertext` with CTR into `plaintext`. Both must be equally long.
    fn ctr_decrypt(
        &self,
        counter: &[u8; 16],
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Failed>;
}

/// Returns the first counter for CTR: the nonce followed by a one (Parquet Modular Encryption,
/// section 4.2.2).
pub(crate) fn first_counter(nonce: &Nonce) -> [u8; 16] {
    let mut counter = [0; 16];
    counter[..NONCE_BYTES].copy_from_slice(nonce);
    counter[15] = 1;
    counter
}
