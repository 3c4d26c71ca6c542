//! ZSTD: one or more Zstandard frames, through libzstd.

use super::{Codec, broken};
use herringbone_format::{Error, Result};

/// Decodes Zstandard frames. libzstd walks all frames of the input, skippable ones included, and
/// decodes straight into the output, which also serves as its window.
pub(super) struct Zstd(::zstd::bulk::Decompressor<'static>);

impl Zstd {
    /// # Errors
    ///
    /// Io: libzstd got no memory for its context.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(
            ::zstd::bulk::Decompressor::new().map_err(Error::from)?,
        ))
    }
}

impl Codec for Zstd {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        self.0
            .decompress_to_buffer(input, output)
            .map_err(|error| broken("ZSTD", error))
    }
}
