//! GZIP through libdeflate, which decodes whole buffers two to three times as fast as a streaming
//! inflate: Compression, "GZIP".
//!
//! It takes one member and does not tell where that ended. So a page counts as one sound member
//! when it fills the output and the size at the end of the page says the same; everything else,
//! errors included, is left to the decoder that knows about members. (A second member with the very
//! same bytes goes unnoticed: the output is right as far as the page announces it.)

use super::compress::{Compress, append, failed};
use super::{Codec, GzipLevel, gzip::Gzip};
use herringbone_format::Result;

/// Decodes pages of one gzip member, and hands the others on.
pub(super) struct Libdeflate {
    whole: libdeflater::Decompressor,
    /// Made when the first page turns out to need it.
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
        // The size is kept modulo 2^32.
        let size = (output.len() as u32).to_le_bytes();
        if input.ends_with(&size) && self.whole.gzip_decompress(input, output) == Ok(output.len()) {
            return Ok(output.len());
        }
        self.members
            .get_or_insert_with(Gzip::new)
            .decompress(input, output)
    }
}

/// Makes pages of one gzip member.
pub(super) struct LibdeflateCompressor(libdeflater::Compressor);

impl LibdeflateCompressor {
    /// # Errors
    ///
    /// Io: libdeflate has no such level, which no [`GzipLevel`] is.
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
