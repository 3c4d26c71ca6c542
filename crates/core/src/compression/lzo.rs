//! LZO (Compression, "LZO"). A page is either LZO1X blocks in Hadoop's framing, as the codec of Hadoop and Hive writes
//! them, or one block without framing.

use super::{Codec, broken, hadoop, too_long};
use herringbone_format::Result;

/// A decoder for LZO, with or without framing.
#[derive(Default)]
pub(super) struct Lzo {
    /// True if the previous page had no framing. We try this first, because the whole column chunk has one writer.
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

/// Decompresses `input`, assuming that it is one block without framing if `is_bare`, and that it has Hadoop's framing
/// otherwise.
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
