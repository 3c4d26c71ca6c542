//! BROTLI: one Brotli stream (RFC 7932).

use super::compress::{Compress, failed};
use super::{BrotliLevel, Codec, broken, too_long};
use ::brotli::enc::{BrotliEncoderParams, StandardAlloc};
use ::brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use herringbone_format::Result;

/// Decodes Brotli streams. The library cannot reset its state, so each page makes a new one; its
/// ring buffer is at most the 16 MiB window of RFC 7932, because large windows stay off.
pub(super) struct Brotli;

impl Codec for Brotli {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let mut state = BrotliState::new_strict(
            StandardAlloc::default(),
            StandardAlloc::default(),
            StandardAlloc::default(),
        );
        let (mut input_left, mut consumed) = (input.len(), 0);
        let (mut output_left, mut written, mut total) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut consumed,
            input,
            &mut output_left,
            &mut written,
            output,
            &mut total,
            &mut state,
        );
        match result {
            BrotliResult::ResultSuccess if input_left == 0 => Ok(written),
            BrotliResult::ResultSuccess => Err(broken("BROTLI", "bytes behind the stream")),
            BrotliResult::NeedsMoreOutput => Err(too_long("BROTLI")),
            BrotliResult::NeedsMoreInput => Err(broken("BROTLI", "the stream ends early")),
            BrotliResult::ResultFailure => Err(broken("BROTLI", "the stream is malformed")),
        }
    }
}

/// Makes Brotli streams. The library cannot reset its state, so each page makes a new one.
pub(super) struct BrotliCompressor(BrotliLevel);

impl BrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for BrotliCompressor {
    fn compress(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let params = BrotliEncoderParams {
            quality: self.0.get(),
            size_hint: input.len(),
            ..BrotliEncoderParams::default()
        };
        ::brotli::BrotliCompress(&mut input, out, &params)
            .map_err(|error| failed("BROTLI", error))?;
        Ok(())
    }
}
