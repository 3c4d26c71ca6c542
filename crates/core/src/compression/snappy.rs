//! SNAPPY: the raw Snappy block format, without the framing that Snappy's own files
//! have: Compression, "SNAPPY".

use herringbone_format::{Error, Result};
use herringbone_kernels::snappy::{Compressor, TooLong, decompress};

use super::compressor::Compress;
use super::{Codec, broken};

/// Decodes raw Snappy blocks, with the kernel of that name.
pub(super) struct Snappy;

impl Codec for Snappy {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        decompress(input, output).map_err(|malformed| broken("SNAPPY", malformed.0))
    }
}

/// Makes raw Snappy blocks, with the kernel of that name.
#[derive(Default)]
pub(super) struct SnappyCompressor(Compressor);

impl Compress for SnappyCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let too_long = "a page is larger than the 4 GiB that SNAPPY can hold";
        let done = self.0.compress(input, out);
        done.map_err(|TooLong| Error::argument(too_long))
    }
}
