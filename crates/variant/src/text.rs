//! Writes bytes as base64 text, and parses it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Appends bytes as the base64 of RFC 4648, section 4, with padding.
pub(crate) fn push_base64(out: &mut String, bytes: &[u8]) {
    STANDARD.encode_string(bytes, out);
}

/// Parses base64 as [`push_base64`] writes it.
pub(crate) fn parse_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}
