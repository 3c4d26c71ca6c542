//! The algorithm, recorded a second time, in an authenticated place.
//!
//! The crypto metadata of a file with an encrypted footer is in plaintext. An attacker can change it, so that
//! readers take pages of AES_GCM_V1 for pages of AES_GCM_CTR_V1, which are not authenticated. Our writer therefore
//! repeats the algorithm in the key-value metadata of the footer.

use herringbone_format::KeyValue;
use herringbone_format::modular_encryption::ALGORITHM_KEY;

use crate::{Algorithm, Error, ErrorKind, Result};

/// Returns the entry that a writer adds to the footer.
pub(crate) fn key_value(algorithm: Algorithm) -> KeyValue {
    KeyValue::new(ALGORITHM_KEY, algorithm.name())
}

/// Rejects a footer that names another algorithm. Only our files name one.
pub(crate) fn check(algorithm: Algorithm, footer: &[KeyValue]) -> Result<()> {
    let recorded = footer.iter().filter(|entry| entry.key == ALGORITHM_KEY);
    for entry in recorded {
        if entry.text() != Some(algorithm.name()) {
            return Err(Error::new(
                ErrorKind::Key,
                format!(
                    "the file declares the encryption {algorithm}, but its footer declares another \
                     one: the file was changed"
                ),
            ));
        }
    }
    Ok(())
}
