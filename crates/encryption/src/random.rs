//! Random bytes of the operating system.

use crate::{Error, ErrorKind, Result};

/// Fills `bytes` from the generator of the operating system.
///
/// **Errors**: I/O if it gives none; then nothing may be encrypted.
pub(crate) fn fill(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|error| {
        let message = format!("the operating system gives no random bytes: {error}");
        Error::new(ErrorKind::Io, message)
    })
}

/// `N` random bytes, for what is no secret: nonces and identifiers.
pub(crate) fn array<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    fill(&mut bytes)?;
    Ok(bytes)
}

/// Two of them, of which the operating system is asked at once.
pub(crate) fn pair<const N: usize>() -> Result<[[u8; N]; 2]> {
    let mut bytes = [[0; N]; 2];
    fill(bytes.as_flattened_mut())?;
    Ok(bytes)
}
