//! Records the algorithm a second time, in an authenticated place.
//!
//! A file with an encrypted footer has its crypto metadata in plaintext. An attacker can change it
//! to make readers take AES_GCM_V1 pages for AES_GCM_CTR_V1 pages, which aren't authenticated. So
//! our writer repeats the algorithm in the footer's key-value metadata.

use herringbone_format::KeyValue;
use herringbone_format::modular_encryption::ALGORITHM_KEY;

use crate::{Algorithm, Error, ErrorKind, Result};

/// Returns the entry that a writer adds to the footer.
pub(crate) fn key_value(algorithm: Algorithm) -> KeyValue {
    KeyValue::new(ALGORITHM_KEY, algorithm.name())
}

/// Rejects a footer naming another algorithm. It can also name none, since only our files name one.
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
