//! Keys. They are wiped on drop and never printed.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Error, ErrorKind, Result,
    cipher::{self, AesCipher, Failed},
    random,
};

/// The maximum number of encryptions with one key (NIST SP 800-38D, section 8.3).
pub const MAX_INVOCATIONS: u64 = 1 << 32;

/// The length of an AES key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum KeyLength {
    /// 16 bytes, the default of other writers.
    #[default]
    Bits128,
    /// 24 bytes.
    Bits192,
    /// 32 bytes.
    Bits256,
}

impl KeyLength {
    /// Returns the length in bytes.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Bits128 => 16,
            Self::Bits192 => 24,
            Self::Bits256 => 32,
        }
    }

    /// Returns the key length for this number of bits.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if it is not 128, 192 or 256.
    pub fn from_bits(bits: u32) -> Result<Self> {
        match bits {
            128 => Ok(Self::Bits128),
            192 => Ok(Self::Bits192),
            256 => Ok(Self::Bits256),
            _ => Err(Error::argument(format!(
                "a key must have 128, 192 or 256 bits, not {bits}"
            ))),
        }
    }

    fn from_bytes(bytes: usize) -> Result<Self> {
        match bytes {
            16 => Ok(Self::Bits128),
            24 => Ok(Self::Bits192),
            32 => Ok(Self::Bits256),
            _ => Err(Error::argument(format!(
                "a key must have 16, 24 or 32 bytes, not {bytes}"
            ))),
        }
    }
}

/// An AES key of 128, 192 or 256 bits.
///
/// Clones share the bytes, the invocation counter and the key schedule. The schedule is only
/// expanded once. When the last clone is dropped, everything is wiped. If one key serves a footer
/// and some columns, pass clones rather than creating it twice, so that its invocations are counted
/// together.
///
/// ```
/// use herringbone::encryption::{Key, KeyLength};
///
/// let key = Key::new(b"0123456789012345")?;
/// assert_eq!(key.length(), KeyLength::Bits128);
/// assert_eq!(format!("{key:?}").contains("0123"), false);
/// assert!(Key::new(b"too short").is_err());
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Clone)]
pub struct Key(Arc<Inner>);

struct Inner {
    // The bytes are on the heap, so that moving a key doesn't leave a copy behind.
    bytes: Zeroizing<Box<[u8]>>,
    length: KeyLength,
    cipher: Box<dyn AesCipher>,
    invocations: AtomicU64,
}

impl Key {
    /// Creates a key of 16, 24 or 32 bytes. You have to wipe `bytes` yourself.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if it has any other length, or if all bytes are
    /// zero.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let length = KeyLength::from_bytes(bytes.len())?;
        let zeros = [0; 32];
        if bool::from(bytes.ct_eq(zeros.get(..bytes.len()).unwrap_or_default())) {
            return Err(Error::argument(
                "a key of only zeros is refused: it was most likely never set",
            ));
        }
        let cipher = cipher::new(length, bytes)
            .map_err(|Failed| Error::argument("the implementation of AES refuses the key"))?;
        Ok(Self(Arc::new(Inner {
            bytes: Zeroizing::new(bytes.into()),
            length,
            cipher,
            invocations: AtomicU64::new(0),
        })))
    }

    /// Creates a new key with the operating system's random number generator.
    ///
    /// # Errors
    /// Fails with [Io](ErrorKind::Io) if the generator fails.
    pub fn generate(length: KeyLength) -> Result<Self> {
        let mut bytes = Zeroizing::new(vec![0; length.bytes()]);
        random::fill(&mut bytes)?;
        Self::new(&bytes)
    }

    /// Returns the length of the key.
    #[must_use]
    pub fn length(&self) -> KeyLength {
        self.0.length
    }

    /// Returns the key's bytes, so that you can wrap them. If you copy the bytes, you have to wipe
    /// the copies.
    #[must_use]
    pub fn expose_bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns this key's AES cipher for decryption.
    pub(crate) fn cipher(&self) -> &dyn AesCipher {
        self.0.cipher.as_ref()
    }

    /// Counts one encryption and returns this key's AES cipher for it.
    ///
    /// This fails with a key error if the key has already been used for [`MAX_INVOCATIONS`]
    /// encryptions.
    pub(crate) fn cipher_for_encryption(&self) -> Result<&dyn AesCipher> {
        let count = |count| (count < MAX_INVOCATIONS).then_some(count + 1);
        let invocations = &self.0.invocations;
        match invocations.fetch_update(Ordering::Relaxed, Ordering::Relaxed, count) {
            Ok(_) => Ok(self.cipher()),
            Err(_) => Err(Error::new(
                ErrorKind::Key,
                "a key has encrypted 2^32 modules, the most that AES-GCM allows; use a new key for \
                 each file",
            )),
        }
    }
}

impl PartialEq for Key {
    /// Compares in constant time, so that timing reveals nothing about the bytes.
    fn eq(&self, other: &Self) -> bool {
        self.0.bytes.ct_eq(&other.0.bytes).into()
    }
}

impl Eq for Key {}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({} bits, redacted)", self.0.length.bytes() * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_lengths_and_zeros_are_refused() {
        for length in 0..70 {
            let key = Key::new(&vec![7; length]);
            assert_eq!(key.is_ok(), matches!(length, 16 | 24 | 32), "{length}");
        }
        for length in [16, 24, 32] {
            let mut bytes = vec![0; length];
            let error = Key::new(&bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Argument);
            bytes[length - 1] = 1;
            assert!(Key::new(&bytes).is_ok());
        }
    }

    #[test]
    fn debug_shows_no_key() {
        let key = Key::new(b"0123456789012345").unwrap();
        assert_eq!(format!("{key:?}"), "Key(128 bits, redacted)");
    }

    #[test]
    fn generated_keys_differ() {
        for length in [KeyLength::Bits128, KeyLength::Bits192, KeyLength::Bits256] {
            let (a, b) = (
                Key::generate(length).unwrap(),
                Key::generate(length).unwrap(),
            );
            assert_eq!(a.expose_bytes().len(), length.bytes());
            assert_ne!(a, b);
            assert_eq!(a, Key::new(a.expose_bytes()).unwrap());
        }
    }

    #[test]
    fn invocations_are_counted_over_all_clones() {
        let key = Key::new(b"0123456789012345").unwrap();
        let clone = key.clone();
        key.0
            .invocations
            .store(MAX_INVOCATIONS - 2, Ordering::Relaxed);
        assert!(key.cipher_for_encryption().is_ok());
        assert!(clone.cipher_for_encryption().is_ok());
        for _ in 0..3 {
            let error = key.cipher_for_encryption().err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Key);
            assert!(error.message().contains("2^32"), "{error}");
        }
    }
}
