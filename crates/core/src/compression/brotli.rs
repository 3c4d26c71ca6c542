//! BROTLI: one Brotli stream (RFC 7932).

use super::compress::{Compress, failed};
use super::{BrotliLevel, Codec, broken, too_long};
use std::io::Write;

use brotlic::decode::DecoderInfo;
use brotlic::{BrotliDecoder, BrotliEncoderOptions, CompressorWriter, Quality, WindowSize};
use herringbone_format::Result;

/// Decodes Brotli streams. The library cannot reset its state, so each page makes a new one; its
/// ring buffer is at most the 16 MiB window of RFC 7932, because large windows stay off.
pub(super) struct Brotli;

impl Codec for Brotli {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let decoded = BrotliDecoder::new()
            .decompress(input, output)
            .map_err(|_| broken("BROTLI", "the stream is malformed"))?;
        match decoded.info {
            DecoderInfo::Finished if decoded.bytes_read == input.len() => Ok(decoded.bytes_written),
            DecoderInfo::Finished => Err(broken("BROTLI", "bytes behind the stream")),
            DecoderInfo::NeedsMoreOutput => Err(too_long("BROTLI")),
            DecoderInfo::NeedsMoreInput => Err(broken("BROTLI", "the stream ends early")),
        }
    }
}

/// Bytes that are decoded at a time to count them.
const COUNTED: usize = 64 << 10;

/// Whether a stream holds so many bytes: no other codec may say as much in so little.
pub(super) fn holds(mut input: &[u8], plain: usize) -> bool {
    if input.len().saturating_mul(ORDINARY_RATIO) >= plain {
        return true;
    }
    let mut decoder = BrotliDecoder::new();
    let mut output = vec![0; COUNTED];
    let mut counted = 0;
    loop {
        let Ok(decoded) = decoder.decompress(input, &mut output) else {
            return false;
        };
        input = input.get(decoded.bytes_read..).unwrap_or_default();
        counted += decoded.bytes_written;
        match decoded.info {
            DecoderInfo::NeedsMoreOutput if counted <= plain => {}
            DecoderInfo::Finished => return counted == plain,
            _ => return false,
        }
    }
}

/// Plain bytes for each byte of a stream, up to which it is decoded without being counted first.
const ORDINARY_RATIO: usize = 1024;

/// Log2 of the window, the greatest of RFC 7932 but two.
const WINDOW_BITS: u8 = 22;

/// Makes Brotli streams. The library cannot reset its state, so each page makes a new one.
pub(super) struct BrotliCompressor(BrotliLevel);

impl BrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for BrotliCompressor {
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
        // Given all input at once it makes smaller streams, and faster, than in small parts.
        let mut stream = CompressorWriter::with_encoder(encoder, out);
        stream.write_all(input).map_err(|error| failed(&error))?;
        stream
            .into_inner()
            .map_err(|error| failed(&error.error()))?;
        Ok(())
    }
}
