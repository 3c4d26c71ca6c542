//! BROTLI: one Brotli stream (RFC 7932), through libbrotli: Compression, "BROTLI".

use super::compressor::{Compress, failed};
use super::{BrotliLevel, COUNTED, Codec, broken, too_long};
use std::io::Write;

use brotlic::decode::DecoderInfo;
use brotlic::{BrotliDecoder, BrotliEncoderOptions, CompressorWriter, Quality, WindowSize};
use herringbone_format::Result;

/// The decoder of Brotli streams. The library cannot reset its state, so each page creates a new one. Its ring
/// buffer has at most 16 MiB, the largest window of RFC 7932, because large windows stay off.
pub(super) struct Libbrotli;

impl Codec for Libbrotli {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let decoded = BrotliDecoder::new()
            .decompress(input, output)
            .map_err(|_| broken("BROTLI", "the stream is malformed"))?;
        match decoded.info {
            DecoderInfo::Finished if decoded.bytes_read == input.len() => Ok(decoded.bytes_written),
            DecoderInfo::Finished => Err(broken("BROTLI", "bytes after the end of the stream")),
            DecoderInfo::NeedsMoreOutput => Err(too_long("BROTLI")),
            DecoderInfo::NeedsMoreInput => Err(broken("BROTLI", "the stream ends early")),
        }
    }
}

/// Counts the decompressed bytes of a stream, but stops once they exceed `uncompressed`.
///
/// # Errors
/// Corrupt if the stream is malformed or ends early.
pub(super) fn count(mut input: &[u8], uncompressed: usize) -> Result<usize> {
    let mut decoder = BrotliDecoder::new();
    let mut output = vec![0; COUNTED];
    let mut counted = 0;
    loop {
        let decoded = decoder
            .decompress(input, &mut output)
            .map_err(|_| broken("BROTLI", "the stream is malformed"))?;
        input = input.get(decoded.bytes_read..).unwrap_or_default();
        counted += decoded.bytes_written;
        match decoded.info {
            DecoderInfo::NeedsMoreOutput if counted <= uncompressed => {}
            DecoderInfo::Finished | DecoderInfo::NeedsMoreOutput => return Ok(counted),
            DecoderInfo::NeedsMoreInput => return Err(broken("BROTLI", "the stream ends early")),
        }
    }
}

/// Log2 of the window size. RFC 7932 allows up to 24.
const WINDOW_BITS: u8 = 22;

/// The encoder of Brotli streams. The library cannot reset its state, so each page creates a new one.
pub(super) struct LibbrotliCompressor(BrotliLevel);

impl LibbrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for LibbrotliCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| failed("BROTLI", error);
        let level = u8::try_from(self.0.get()).unwrap_or_default();
        let quality = Quality::new(level).map_err(|error| failed(&error))?;
        let window = WindowSize::new(WINDOW_BITS).map_err(|error| failed(&error))?;
        let encoder = BrotliEncoderOptions::new()
            .quality(quality)
            .window_size(window)
            .build()
            .map_err(|error| failed(&error))?;
        // Passing all input at once is faster than passing small parts, and the streams are smaller.
        let mut stream = CompressorWriter::with_encoder(encoder, out);
        stream.write_all(input).map_err(|error| failed(&error))?;
        stream
            .into_inner()
            .map_err(|error| failed(&error.error()))?;
        Ok(())
    }
}
