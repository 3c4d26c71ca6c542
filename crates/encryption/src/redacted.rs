//! Makes `Debug` output for bytes that must not appear in logs.

use std::fmt;

/// A byte count, printed in place of the bytes because these must not be printed.
pub(crate) struct Redacted(pub usize);

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, redacted", self.0)
    }
}

/// Redacts bytes that might be absent.
pub(crate) fn redacted(bytes: Option<&[u8]>) -> Option<Redacted> {
    bytes.map(|bytes| Redacted(bytes.len()))
}
