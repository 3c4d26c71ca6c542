//! BROTLI: one Brotli stream (RFC 7932).

use super::compress::{Compress, failed};
use super::{BrotliLevel, Codec, broken, too_long};
use std::io::Write;

use ::brotli::enc::StandardAlloc;
use ::brotli::{BrotliDecompressStream, BrotliResult, BrotliState, CompressorWriter};
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

/// Bytes that go to the output at once.
const BUFFER_BYTES: usize = 4096;

/// Log2 of the window, the greatest of RFC 7932 but two.
const WINDOW_BITS: u32 = 22;

/// Makes Brotli streams. The library cannot reset its state, so each page makes a new one.
pub(super) struct BrotliCompressor(BrotliLevel);

impl BrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for BrotliCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let quality = u32::try_from(self.0.get()).unwrap_or_default();
        // Given all input at once it makes smaller streams, and faster, than in small parts.
        let mut stream = CompressorWriter::new(out, BUFFER_BYTES, quality, WINDOW_BITS);
        stream
            .write_all(input)
            .map_err(|error| failed("BROTLI", error))?;
        stream.into_inner();
        Ok(())
    }
}
