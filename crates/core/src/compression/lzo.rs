//! LZO: LZO1X blocks in Hadoop's framing, as the codec of Hadoop and Hive writes them, or one bare
//! block a page: Compression, "LZO".

use super::{Codec, broken, hadoop, too_long};
use herringbone_format::Result;

/// Decodes LZO, framed or not.
#[derive(Default)]
pub(super) struct Lzo {
    /// The page before had no framing: one writer wrote the whole column chunk.
    is_bare: bool,
}

impl Codec for Lzo {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        for is_bare in [self.is_bare, !self.is_bare] {
            if let Ok(written) = attempt(is_bare, input, output)
                && written == output.len()
            {
                self.is_bare = is_bare;
                return Ok(written);
            }
        }
        Err(broken(
            "LZO",
            "neither Hadoop framing nor one LZO1X block of the announced size",
        ))
    }
}

/// Decompresses as if the page were one bare block or not.
fn attempt(is_bare: bool, input: &[u8], output: &mut [u8]) -> Result<usize> {
    match is_bare {
        true => block(input, output),
        false => hadoop::decompress(input, output, block),
    }
}

/// Decompresses one LZO1X block to the front of `output`.
fn block(input: &[u8], output: &mut [u8]) -> Result<usize> {
    lzokay::decompress::decompress(input, output).map_err(|error| match error {
        lzokay::Error::OutputOverrun => too_long("LZO"),
        error => broken("LZO", error),
    })
}
