//! The algorithm once more, where it is authenticated.
//!
//! What says how a file with an encrypted footer is encrypted stands in the clear, and whoever changes it there makes readers
//! take the pages of AES_GCM_V1 for those of AES_GCM_CTR_V1, which nothing authenticates. Our writer therefore repeats it in
//! the key-value metadata of the footer.

use herringbone_format::KeyValue;
use herringbone_format::modular_encryption::ALGORITHM_KEY;

use crate::{Algorithm, Error, ErrorKind, Result};

/// What a writer adds to the footer.
pub(crate) fn key_value(algorithm: Algorithm) -> KeyValue {
    KeyValue::new(ALGORITHM_KEY, algorithm.name().to_owned())
}

/// Refuses a footer that names another algorithm. Only our files name one.
pub(crate) fn check(algorithm: Algorithm, footer: &[KeyValue]) -> Result<()> {
    let recorded = footer.iter().filter(|entry| entry.key == ALGORITHM_KEY);
    for entry in recorded {
        if entry.value.as_deref() != Some(algorithm.name()) {
            return Err(Error::new(
                ErrorKind::Key,
                format!(
                    "the file says that it is encrypted by {algorithm}, and its footer says otherwise: it was changed"
                ),
            ));
        }
    }
    Ok(())
}
