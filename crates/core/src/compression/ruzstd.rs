//! ZSTD in pure Rust, for reading only. A page is one or more Zstandard frames (RFC 8878; Compression, "ZSTD").

use super::{Codec, broken, too_long};
use ::ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ::ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use herringbone_format::Result;
use std::io::Read as _;

/// The window size in bytes allowed for every frame, which RFC 8878, section 3.1.1.1.2, recommends decoders to support.
/// If a frame declares its size, its window isn't larger than that.
const WINDOW: usize = 8 << 20;
/// The number of bytes to decode at a time, on top of the window.
const BLOCKS: usize = 1 << 20;

/// A decoder for Zstandard frames.
pub(super) struct Ruzstd(FrameDecoder);

impl Ruzstd {
    pub(super) fn new() -> Self {
        Self(FrameDecoder::new())
    }
}

impl Ruzstd {
    /// Decodes the frame at the front of `input` to the front of `output`, or skips a skippable frame. Returns the
    /// number of bytes written.
    fn frame(&mut self, input: &mut &[u8], output: &mut [u8]) -> Result<usize> {
        let failed = |error: FrameDecoderError| broken("ZSTD", error);
        match self.0.init(&mut *input) {
            Ok(()) => {}
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let rest = usize::try_from(length).ok().and_then(|at| input.get(at..));
                *input = rest.ok_or_else(|| broken("ZSTD", "a frame ends early"))?;
                return Ok(0);
            }
            Err(error) => return Err(failed(error)),
        }
        let mut written = 0;
        while !self.0.is_finished() || self.0.can_collect() > 0 {
            if !self.0.is_finished() {
                let some = BlockDecodingStrategy::UptoBytes(BLOCKS);
                self.0.decode_blocks(&mut *input, some).map_err(failed)?;
            }
            let rest = output.get_mut(written..).unwrap_or_default();
            let read = self.0.read(rest).map_err(|error| broken("ZSTD", error))?;
            written += read;
            if read == 0 && self.0.can_collect() > 0 {
                return Err(too_long("ZSTD"));
            }
        }
        let stored = self.0.get_checksum_from_data();
        if stored.is_some() && stored != self.0.get_calculated_checksum() {
            return Err(broken("ZSTD", "the checksum of a frame is wrong"));
        }
        Ok(written)
    }
}

impl Codec for Ruzstd {
    fn decompress(&mut self, mut input: &[u8], output: &mut [u8]) -> Result<usize> {
        self.0.set_max_window_size(output.len().max(WINDOW) as u64);
        let mut written = 0;
        while !input.is_empty() {
            let rest = output.get_mut(written..).unwrap_or_default();
            written += self.frame(&mut input, rest)?;
        }
        Ok(written)
    }
}
