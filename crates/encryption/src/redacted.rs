//! `Debug` output for bytes that nobody should find in a log.

use std::fmt;

/// Shows how many bytes there are, and none of them.
pub(crate) struct Redacted(pub usize);

impl fmt::Debug for Redacted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, redacted", self.0)
    }
}

/// The same for bytes that may be absent.
pub(crate) fn redacted(bytes: Option<&[u8]>) -> Option<Redacted> {
    bytes.map(|bytes| Redacted(bytes.len()))
}
