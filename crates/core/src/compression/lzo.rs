//! LZO: LZO1X blocks in Hadoop's framing, as the codec of Hadoop and Hive writes them.

use super::{Codec, broken, hadoop, too_long};
use herringbone_format::Result;

/// Decodes LZO.
pub(super) struct Lzo;

impl Codec for Lzo {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        hadoop::decompress(input, output, |part, plain| {
            lzokay::decompress::decompress(part, plain).map_err(|error| match error {
                lzokay::Error::OutputOverrun => too_long("LZO"),
                error => broken("LZO", error),
            })
        })
    }
}
