//! Gets random bytes from the operating system.

use crate::{Error, ErrorKind, Result};

/// Fills `bytes` from the operating system's random number generator.
///
/// This fails with an I/O error if the generator fails. In that case, the caller must not encrypt
/// anything.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        let message = format!("the operating system did not provide random bytes: {error}");
        Error::new(ErrorKind::Io, message)
    })
}

/// Returns `N` random bytes for public values (nonces and identifiers).
pub(crate) fn array<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns two arrays of random bytes, taking a single system call.
pub(crate) fn pair<const N: usize>() -> Result<[[u8; N]; 2]> {
    let mut bytes = [[0; N]; 2];
    fill(bytes.as_flattened_mut())?;
    Ok(bytes)
}
