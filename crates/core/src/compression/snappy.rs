//! SNAPPY: the raw Snappy block format, without the framing that Snappy's own files
//! have: Compression, "SNAPPY".

use super::compress::{Compress, append, failed};
use super::{Codec, broken};
use herringbone_format::{Error, Result};

/// Decodes raw Snappy blocks, with the kernel of that name.
pub(super) struct Snappy;

impl Codec for Snappy {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        herringbone_kernels::snappy::decompress(input, output)
            .map_err(|malformed| broken("SNAPPY", malformed.0))
    }
}

/// Makes raw Snappy blocks, with the `snap` library.
pub(super) struct SnappyCompressor(snap::raw::Encoder);

impl SnappyCompressor {
    pub(super) fn new() -> Self {
        Self(snap::raw::Encoder::new())
    }
}

impl Compress for SnappyCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let bound = snap::raw::max_compress_len(input.len());
        append(out, bound, |space| {
            self.0.compress(input, space).map_err(|error| match error {
                snap::Error::TooBig { .. } => {
                    Error::argument("a page is larger than the 4 GiB that SNAPPY can hold")
                }
                error => failed("SNAPPY", error),
            })
        })
    }
}
