//! ZSTD: one or more Zstandard frames (RFC 8878), through libzstd: Compression, "ZSTD".

use super::compressor::{Compress, failed};
use super::{Codec, ZstdLevel, broken};
use herringbone_format::{Error, Result};
use std::io::Cursor;

/// Decodes Zstandard frames. libzstd walks all frames of the input, skippable ones included, and
/// decodes straight into the output, which also serves as its window.
pub(super) struct Zstd(::zstd::bulk::Decompressor<'static>);

impl Zstd {
    /// # Errors
    ///
    /// Io: libzstd got no memory for its context.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(
            ::zstd::bulk::Decompressor::new().map_err(Error::from)?,
        ))
    }
}

impl Codec for Zstd {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        self.0
            .decompress_to_buffer(input, output)
            .map_err(|error| broken("ZSTD", error))
    }
}

/// How many bytes a single frame says that it holds.
pub(super) fn content_size(input: &[u8]) -> Option<u64> {
    ::zstd::zstd_safe::find_frame_compressed_size(input)
        .ok()
        .filter(|length| *length == input.len())
        .and_then(|_| ::zstd::zstd_safe::get_frame_content_size(input).ok())
        .flatten()
}

/// Makes one Zstandard frame a page, which says how many uncompressed bytes it holds.
pub(super) struct ZstdCompressor(::zstd::bulk::Compressor<'static>);

impl ZstdCompressor {
    /// # Errors
    ///
    /// Io: libzstd got no memory for its context.
    pub(super) fn new(level: ZstdLevel) -> Result<Self> {
        Ok(Self(
            ::zstd::bulk::Compressor::new(level.get()).map_err(Error::from)?,
        ))
    }
}

impl Compress for ZstdCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.reserve(::zstd::zstd_safe::compress_bound(input.len()));
        // libzstd writes to the reserved memory behind what is there, which need not be zeroed.
        let mut tail = Cursor::new(out);
        tail.set_position(tail.get_ref().len() as u64);
        self.0
            .compress_to_buffer(input, &mut tail)
            .map_err(|error| failed("ZSTD", error))?;
        Ok(())
    }
}
