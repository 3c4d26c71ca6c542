//! SNAPPY: the raw Snappy block format, without the framing that Snappy's own files have.

use super::{Codec, broken};
use herringbone_format::Result;

/// Decodes raw Snappy blocks, with the kernel of that name.
pub(super) struct Snappy;

impl Codec for Snappy {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        herringbone_kernels::snappy::decompress(input, output)
            .map_err(|malformed| broken("SNAPPY", malformed.0))
    }
}
