//! GZIP through libdeflate, which decodes whole buffers two to three times as fast as a streaming inflate:
//! Compression, "GZIP".
//!
//! It decodes one member and does not report where the member ended. A page is accepted as one valid member under
//! two conditions: the member fills the output, and the size at the end of the page matches. Everything else,
//! including errors, is left to the decoder that supports several members. (A second member with the very same
//! bytes is not noticed: the output is correct up to the size declared by the page.)

use super::compressor::{Compress, append, failed};
use super::{Codec, GzipLevel, gzip::Gzip};
use herringbone_format::Result;

/// The decoder of pages with one gzip member. Other pages are passed on.
pub(super) struct Libdeflate {
    whole: libdeflater::Decompressor,
    /// The decoder for several members, created for the first page that needs it.
    members: Option<Gzip>,
}

impl Libdeflate {
    pub(super) fn new() -> Self {
        Self {
            whole: libdeflater::Decompressor::new(),
            members: None,
        }
    }
}

impl Codec for Libdeflate {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        // The size is stored modulo 2^32.
        let size = (output.len() as u32).to_le_bytes();
        if input.ends_with(&size) && self.whole.gzip_decompress(input, output) == Ok(output.len()) {
            return Ok(output.len());
        }
        self.members
            .get_or_insert_with(Gzip::new)
            .decompress(input, output)
    }
}

/// The encoder of pages with one gzip member.
pub(super) struct LibdeflateCompressor(libdeflater::Compressor);

impl LibdeflateCompressor {
    /// # Errors
    ///
    /// Io if libdeflate does not have this level, which is not possible for a [`GzipLevel`].
    pub(super) fn new(level: GzipLevel) -> Result<Self> {
        let level = libdeflater::CompressionLvl::new(level.get())
            .map_err(|_| failed("GZIP", format_args!("no level {level}")))?;
        Ok(Self(libdeflater::Compressor::new(level)))
    }
}

impl Compress for LibdeflateCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let bound = self.0.gzip_compress_bound(input.len());
        append(out, bound, |space| {
            self.0
                .gzip_compress(input, space)
                .map_err(|error| failed("GZIP", error))
        })
    }
}
