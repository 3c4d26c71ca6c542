//! SNAPPY: the raw Snappy block format, without the framing that Snappy's own files have.

use super::{Codec, broken, too_long};
use herringbone_format::Result;

/// Decodes raw Snappy blocks.
pub(super) struct Snappy(snap::raw::Decoder);

impl Snappy {
    pub(super) fn new() -> Self {
        Self(snap::raw::Decoder::new())
    }
}

impl Codec for Snappy {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        self.0
            .decompress(input, output)
            .map_err(|error| match error {
                snap::Error::BufferTooSmall { .. } => too_long("SNAPPY"),
                error => broken("SNAPPY", error),
            })
    }
}
