//! ZSTD: one or more Zstandard frames (RFC 8878), through libzstd: Compression, "ZSTD".

use super::compressor::{Compress, failed, far_apart};
use super::{Codec, ZstdLevel, broken};
use ::zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use ::zstd::zstd_safe::{
    CCtx, CParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective, compress_bound,
    get_error_name,
};
use herringbone_format::{Error, Result};
use std::io::Cursor;

/// The decoder of Zstandard frames. libzstd decodes all frames of the input, including skippable ones. It decodes
/// directly into the output, which also serves as its window.
pub(super) struct Zstd(::zstd::bulk::Decompressor<'static>);

impl Zstd {
    /// # Errors
    ///
    /// Io if libzstd could not allocate its context.
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

/// Returns the number of bytes that a single frame claims to contain; `None` for several frames.
pub(super) fn content_size(input: &[u8]) -> Option<u64> {
    ::zstd::zstd_safe::find_frame_compressed_size(input)
        .ok()
        .filter(|length| *length == input.len())
        .and_then(|_| ::zstd::zstd_safe::get_frame_content_size(input).ok())
        .flatten()
}

/// The minimum number of bytes of a section for which the codec builds new code tables. These take up to 100 bytes.
const MIN_PART: usize = 512;

/// The encoder of pages with one Zstandard frame, which declares its decompressed size.
pub(super) struct ZstdCompressor(CCtx<'static>);

impl ZstdCompressor {
    /// # Errors
    ///
    /// Io if libzstd could not allocate its context.
    pub(super) fn new(level: ZstdLevel) -> Result<Self> {
        let mut context = CCtx::try_create().ok_or_else(|| failed("ZSTD", "no memory"))?;
        let level = CParameter::CompressionLevel(level.get());
        context.set_parameter(level).map_err(code)?;
        Ok(Self(context))
    }
}

impl Compress for ZstdCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.reserve(compress_bound(input.len()));
        // libzstd writes to the reserved memory after the existing bytes. It need not be zeroed.
        let mut tail = Cursor::new(out);
        tail.set_position(tail.get_ref().len() as u64);
        self.0.compress2(&mut tail, input).map_err(code)?;
        Ok(())
    }

    /// Ends a block at the end of each section. Each block has its own codes for the bytes that are frequent in it.
    fn compress_sections(
        &mut self,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let section_starts = far_apart(section_starts, input.len(), MIN_PART);
        if section_starts.is_empty() {
            return self.compress(input, out);
        }
        // A block has a header of 3 bytes, and each flush ends a block.
        out.reserve(compress_bound(input.len()) + 16 * (section_starts.len() + 1));
        let size = Some(input.len() as u64);
        self.0.set_pledged_src_size(size).map_err(code)?;
        let start = out.len();
        let mut tail = OutBuffer::around_pos(out, start);
        let mut from = 0;
        for to in section_starts.into_iter().chain([input.len()]) {
            let part = input.get(from..to).unwrap_or_default();
            let end = match to == input.len() {
                true => ZSTD_EndDirective::ZSTD_e_end,
                false => ZSTD_EndDirective::ZSTD_e_flush,
            };
            let mut part = InBuffer::around(part);
            let done = self.0.compress_stream2(&mut tail, &mut part, end);
            if done != Ok(0) {
                self.0.reset(ResetDirective::SessionOnly).map_err(code)?;
                return Err(done.map_or_else(code, |_| failed("ZSTD", "there is too little room")));
            }
            from = to;
        }
        Ok(())
    }
}

#[cold]
fn code(code: ErrorCode) -> Error {
    failed("ZSTD", get_error_name(code))
}
