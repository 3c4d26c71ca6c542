//! BROTLI: one Brotli stream (RFC 7932).

use super::{Codec, broken, too_long};
use ::brotli::enc::StandardAlloc;
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
