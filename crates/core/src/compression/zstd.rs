//! ZSTD through libzstd. A page is one or more Zstandard frames (RFC 8878; Compression, "ZSTD").

use super::compressor::{Ask, Compress, PIECE, failed, far_apart};
use super::{Codec, ZstdLevel, broken};
use ::zstd::zstd_safe::zstd_sys::ZSTD_EndDirective;
use ::zstd::zstd_safe::{
    CCtx, CParameter, ErrorCode, InBuffer, OutBuffer, ResetDirective, compress_bound,
    get_error_name,
};
use herringbone_format::{Error, Result};
use std::io::Cursor;

/// A decoder for Zstandard frames. libzstd decodes all frames of the input, including skippable frames. It decodes
/// directly into the output, which doubles as its window.
pub(super) struct Zstd(::zstd::bulk::Decompressor<'static>);

impl Zstd {
    /// # Errors
    ///
    /// Fails with Io if libzstd could not allocate its context.
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

/// Returns the declared content size of a single frame, or `None` if there are several frames.
pub(super) fn content_size(input: &[u8]) -> Option<u64> {
    ::zstd::zstd_safe::find_frame_compressed_size(input)
        .ok()
        .filter(|length| *length == input.len())
        .and_then(|_| ::zstd::zstd_safe::get_frame_content_size(input).ok())
        .flatten()
}

/// The minimum byte count of a section with its own code tables. The tables take up to 100 bytes, so they don't pay off
/// in smaller sections.
const MIN_PART: usize = 512;

/// The first level that can take seconds for a page of text.
const SLOW: i32 = 13;

/// An encoder for pages with one Zstandard frame. The frame declares its decompressed size.
pub(super) struct ZstdCompressor {
    context: CCtx<'static>,
    /// The maximum number of bytes passed to the codec at once.
    piece: usize,
}

impl ZstdCompressor {
    /// # Errors
    ///
    /// Fails with Io if libzstd could not allocate its context.
    pub(super) fn new(level: ZstdLevel) -> Result<Self> {
        let mut context = CCtx::try_create().ok_or_else(|| failed("ZSTD", "no memory"))?;
        let parameter = CParameter::CompressionLevel(level.get());
        context.set_parameter(parameter).map_err(code)?;
        let piece = match level.get() < SLOW {
            true => usize::MAX,
            false => PIECE,
        };
        Ok(Self { context, piece })
    }
}

impl Compress for ZstdCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.reserve(compress_bound(input.len()));
        // libzstd writes to the reserved memory after the existing bytes, so we need not zero it.
        let mut tail = Cursor::new(out);
        tail.set_position(tail.get_ref().len() as u64);
        self.context.compress2(&mut tail, input).map_err(code)?;
        Ok(())
    }

    /// Ends a block at the end of each section, because each block has its own codes for its frequent bytes. At slow
    /// levels, we pass each section in pieces.
    fn compress_sections(
        &mut self,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
        ask: Ask<'_>,
    ) -> Result<()> {
        let section_starts = far_apart(section_starts, input.len(), MIN_PART);
        if section_starts.is_empty() && input.len() <= self.piece {
            return self.compress(input, out);
        }
        // Each flush ends a block, and a block has a header of 3 bytes.
        out.reserve(compress_bound(input.len()) + 16 * (section_starts.len() + 1));
        let size = Some(input.len() as u64);
        self.context.set_pledged_src_size(size).map_err(code)?;
        let start = out.len();
        let mut tail = OutBuffer::around_pos(out, start);
        let mut from = 0;
        let ends = section_starts.into_iter().chain([input.len()]);
        let done = ends.into_iter().try_for_each(|to| {
            let section = input.get(from..to).unwrap_or_default();
            let end = match to == input.len() {
                true => ZSTD_EndDirective::ZSTD_e_end,
                false => ZSTD_EndDirective::ZSTD_e_flush,
            };
            from = to;
            self.section(section, end, &mut tail, ask)
        });
        if done.is_err() {
            self.context
                .reset(ResetDirective::SessionOnly)
                .map_err(code)?;
        }
        done
    }
}

impl ZstdCompressor {
    /// Compresses a section and ends it, asking before each piece but the first. Callers have already asked before the
    /// page.
    fn section(
        &mut self,
        section: &[u8],
        end: ZSTD_EndDirective,
        tail: &mut OutBuffer<'_, Vec<u8>>,
        ask: Ask<'_>,
    ) -> Result<()> {
        let mut rest = section;
        loop {
            let (piece, after) = rest.split_at_checked(self.piece).unwrap_or((rest, &[]));
            let directive = match after.is_empty() {
                true => end,
                false => ZSTD_EndDirective::ZSTD_e_continue,
            };
            let mut piece = InBuffer::around(piece);
            let left = self.context.compress_stream2(tail, &mut piece, directive);
            let left = left.map_err(code)?;
            if after.is_empty() && left == 0 {
                return Ok(());
            }
            if after.is_empty() || piece.pos() < piece.src.len() {
                return Err(failed("ZSTD", "there is too little room"));
            }
            ask()?;
            rest = after;
        }
    }
}

#[cold]
fn code(code: ErrorCode) -> Error {
    failed("ZSTD", get_error_name(code))
}
