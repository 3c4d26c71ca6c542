//! LZO (Compression, "LZO"). A page consists either of LZO1X blocks in Hadoop's framing, as written by the codec of
//! Hadoop and Hive, or of one bare block.

use super::{Codec, broken, hadoop, too_long};
use herringbone_format::Result;

/// A decoder for LZO, with or without framing.
#[derive(Default)]
pub(super) struct Lzo {
    /// True if the previous page had no framing. We try the previous framing first, because the whole column chunk has
    /// one writer.
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
            "neither Hadoop framing nor one LZO1X block of the declared size",
        ))
    }
}

/// Decompresses `input` as one bare block if `is_bare`, otherwise with Hadoop's framing.
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
