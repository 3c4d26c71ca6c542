//! SNAPPY (Compression, "SNAPPY"). This is the raw Snappy block format, without the framing of Snappy's own files.

use herringbone_format::{Error, Result};
use herringbone_kernels::snappy::{Compressor, TooLong, decompress};

use super::compressor::{Ask, Compress, far_apart};
use super::{Codec, broken};

/// The minimum byte count of a section with its own match search. Restarting helps, because after bytes without matches
/// the old search would be advancing in large steps.
const MIN_PART: usize = 256;

/// A decoder for raw Snappy blocks. It uses the Snappy kernel.
pub(super) struct Snappy;

impl Codec for Snappy {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        decompress(input, output).map_err(|malformed| broken("SNAPPY", malformed.0))
    }
}

/// An encoder for raw Snappy blocks. It uses the Snappy kernel.
#[derive(Default)]
pub(super) struct SnappyCompressor(Compressor);

impl Compress for SnappyCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.compress_sections(input, &[], out, &|| Ok(()))
    }

    fn compress_sections(
        &mut self,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
        _: Ask<'_>,
    ) -> Result<()> {
        let too_long = "a page is larger than the 4 GiB that SNAPPY can hold";
        let section_starts = far_apart(section_starts, input.len(), MIN_PART);
        let done = self.0.compress(input, &section_starts, out);
        done.map_err(|TooLong| Error::argument(too_long))
    }
}
