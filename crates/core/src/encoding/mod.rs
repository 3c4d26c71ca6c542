//! Reads and writes the values of data pages, with one folder per encoding. This is independent of the Arrow layout.
//!
//! ```text
//! decoder   encoding + physical type → ValueDecoder      encoder   the reverse → ValueEncoder
//! boolean, byte_array   types whose values are not appended as units
//! ```

// Each encoding has a folder that decodes its bytes to values and encodes values again.
mod alp;
pub(crate) mod byte_stream_split;
mod delta_binary_packed;
mod delta_byte_array;
mod delta_length_byte_array;
pub mod dictionary;
pub(crate) mod plain;
mod rle;
// These modules select an encoding's implementation and hold the types shared by several encodings.
pub(crate) mod boolean;
pub(crate) mod byte_array;
mod decoder;
mod encoder;
pub(crate) mod rest;
pub mod physical_values;
mod whole_page;

use herringbone_format::{Error, Result};

pub(crate) use decoder::{Native, Page, ValueDecoder};
pub use encoder::{ValueEncoder, value_encoder};
pub use rest::Rest;

/// The smallest page size in bytes at which we don't reuse the page's memory. Such a page usually has a few large
/// values, and other pages might not have any.
pub const LARGE_PAGE: usize = 8 << 20;

/// The number of bytes to reserve after a page for encryption, so that we don't have to move the page.
pub const BEHIND_PAGE: usize = 16;

/// Returns the error for a page with fewer values than its header or its levels require.
#[cold]
pub(crate) fn ends_early() -> Error {
    Error::corrupt("the values of the page end early")
}

/// Returns the number of units in `n` values of `units` units each.
pub(crate) fn product(n: usize, units: usize) -> Result<usize> {
    n.checked_mul(units).ok_or_else(ends_early)
}

/// Converts a length to its stored type.
///
/// # Errors
/// Fails with [Limit](herringbone_format::ErrorKind::Limit) if it exceeds 2^31 - 1.
pub fn length(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| {
        Error::beyond_format("bytes of a value or page", bytes as u64, i32::MAX as u64)
    })
}

/// Returns the error for values that don't have the encoder's type, which would be a bug in this crate.
#[cold]
pub(crate) fn mismatch() -> Error {
    Error::argument("the values have a different physical type than the column")
}
