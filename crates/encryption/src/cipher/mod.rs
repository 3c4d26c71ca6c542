//! AES in the two modes that Parquet uses, as a trait with several implementations to choose from.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc;
#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
mod ring;
// With `aws-lc-rs`, only tests use this implementation, as a reference.
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

/// The byte count of a nonce.
pub(crate) const NONCE_BYTES: usize = 12;
/// The byte count of an authentication tag.
pub(crate) const TAG_BYTES: usize = 16;

/// A nonce, which must be unique for each encryption.
pub(crate) type Nonce = [u8; NONCE_BYTES];
/// A tag, which authenticates a ciphertext together with its additional data.
pub(crate) type Tag = [u8; TAG_BYTES];

/// The ciphertext is not authentic, or the cipher does not support an input of this length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failed;

/// AES with one key, whose key schedule has been expanded.
pub(crate) trait AesCipher: Send + Sync {
    /// Encrypts `buffer` in place with GCM (NIST SP 800-38D).
    fn gcm_encrypt(&self, nonce: &Nonce, aad: &[u8], buffer: &mut [u8]) -> Result<Tag, Failed>;

    /// Decrypts a ciphertext and its tag with GCM to `plaintext`, which must be as long as the
    /// ciphertext. After an error, the caller must not use the contents of `plaintext`.
    fn gcm_decrypt(
        &self,
        nonce: &Nonce,
        aad: &[u8],
        sealed: (&[u8], &Tag),
        plaintext: &mut [u8],
    ) -> Result<(), Failed>;

    /// Encrypts or decrypts `buffer` in place with CTR (NIST SP 800-38A). The counters start with
    /// `counter`.
    fn ctr(&self, counter: &[u8; 16], buffer: &mut [u8]) -> Result<(), Failed>;

    /// Decrypts `ciphertext` with CTR to `plaintext`, which must be as long as the ciphertext.
    fn ctr_decrypt(
        &self,
        counter: &[u8; 16],
        ciphertext: &[u8],
        plaintext: &mut [u8],
    ) -> Result<(), Failed>;
}

/// Returns the first counter for CTR. It is the nonce followed by a one (Parquet Modular
/// Encryption, section 4.2.2).
pub(crate) fn first_counter(nonce: &Nonce) -> [u8; 16] {
    let mut counter = [0; 16];
    counter[..NONCE_BYTES].copy_from_slice(nonce);
    counter[15] = 1;
    counter
}
