//! The values of data pages, both ways: one folder an encoding, whatever Arrow layout the values go to
//! or come from.
//!
//! ```text
//! decoder   encoding + physical type → ValueDecoder      encoder   the reverse → ValueEncoder
//! boolean, byte_array   types whose values are not appended as units
//! ```

// One folder an encoding: its bytes to values, and back.
mod alp;
pub(crate) mod byte_stream_split;
mod delta_binary_packed;
mod delta_byte_array;
mod delta_length_byte_array;
pub mod dictionary;
pub(crate) mod plain;
mod rle;
// Which of them serves what.
pub(crate) mod boolean;
pub(crate) mod byte_array;
mod decoder;
mod encoder;
pub(crate) mod rest;
pub mod values;

use herringbone_format::{Error, Result};

pub(crate) use decoder::{Native, Page, ValueDecoder};
pub use encoder::{ValueEncoder, value_encoder};
pub use rest::Rest;

/// Bytes of a page from which on its memory does not go to the next page: it has few values that are large, which others
/// need not have.
pub const LARGE_PAGE: usize = 8 << 20;

/// Bytes that encryption may put behind a page, which is not moved to have room for them.
pub const BEHIND_PAGE: usize = 16;

/// A page has fewer values than its header or its levels say.
#[cold]
pub(crate) fn ends_early() -> Error {
    Error::corrupt("the values of the page end early")
}

/// `n` values of `units` each.
pub(crate) fn product(n: usize, units: usize) -> Result<usize> {
    n.checked_mul(units).ok_or_else(ends_early)
}

/// A length as the format stores it.
///
/// # Errors
/// Limit where it exceeds 2^31 - 1.
pub fn length(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| {
        Error::beyond_format("bytes of a value or page", bytes as u64, i32::MAX as u64)
    })
}

/// Values of another type than the encoder's: a mistake of ours.
#[cold]
pub(crate) fn mismatch() -> Error {
    Error::argument("values of another physical type than the column's")
}
