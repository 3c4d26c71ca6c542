//! GZIP through libdeflate, which decodes whole buffers two to three times as fast as a streaming inflate (Compression,
//! "GZIP").
//!
//! This library decodes one member without reporting where it ended. So we only accept a page as a single valid member
//! if the member fills the output and the size at the end of the page matches. Everything else, including errors, is
//! left to the multi-member decoder. (We don't notice a second member with the very same bytes, but the output is
//! correct up to the page's declared size.)

use super::compressor::{Compress, append, failed};
use super::{Codec, GzipLevel, gzip::Gzip};
use herringbone_format::Result;

/// A fast decoder for pages with one gzip member. It passes on all other pages.
pub(super) struct Libdeflate {
    whole: libdeflater::Decompressor,
    /// The multi-member fallback, created for the first page that needs it.
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
        // The format stores the size modulo 2^32.
        let size = (output.len() as u32).to_le_bytes();
        if input.ends_with(&size) && self.whole.gzip_decompress(input, output) == Ok(output.len()) {
            return Ok(output.len());
        }
        self.members
            .get_or_insert_with(Gzip::new)
            .decompress(input, output)
    }
}

/// An encoder for pages with one gzip member.
pub(super) struct LibdeflateCompressor(libdeflater::Compressor);

impl LibdeflateCompressor {
    /// # Errors
    ///
    /// Fails with Io if libdeflate does not have this level, which cannot happen for a [`GzipLevel`].
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
