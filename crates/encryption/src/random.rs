//! Random bytes from the operating system.

use crate::{Error, ErrorKind, Result};

/// Fills `bytes` with the random number generator of the operating system.
///
/// **Errors**: I/O if the generator fails. Nothing may be encrypted in that case.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        let message = format!("the operating system did not provide random bytes: {error}");
        Error::new(ErrorKind::Io, message)
    })
}

/// Returns `N` random bytes for public values: nonces and identifiers.
pub(crate) fn array<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Returns two arrays of random bytes, with a single system call.
pub(crate) fn pair<const N: usize>() -> Result<[[u8; N]; 2]> {
    let mut bytes = [[0; N]; 2];
    fill(bytes.as_flattened_mut())?;
    Ok(bytes)
}
