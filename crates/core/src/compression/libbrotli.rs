//! BROTLI through libbrotli. A page is one Brotli stream (RFC 7932; Compression, "BROTLI").

use super::compressor::{Ask, Compress, PIECE, failed};
use super::{BrotliLevel, COUNTED, Codec, broken, too_long};
use std::io::Write;

use brotlic::decode::DecoderInfo;
use brotlic::{BrotliDecoder, BrotliEncoderOptions, CompressorWriter, Quality, WindowSize};
use herringbone_format::Result;

/// A decoder for Brotli streams. The library cannot reset its state, so each page creates a new one. The state's ring
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

/// Counts a stream's decompressed bytes, but stops once they exceed `uncompressed`.
///
/// # Errors
/// Fails with Corrupt if the stream is malformed or ends early.
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

/// The binary logarithm of the window size. RFC 7932 allows up to 24.
const WINDOW_BITS: u8 = 22;

/// The largest input size accepted as a hint by the library.
const MAX_HINT: u32 = 1 << 30;

/// An encoder for Brotli streams. The library cannot reset its state, so each page creates a new one.
pub(super) struct LibbrotliCompressor(BrotliLevel);

impl LibbrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for LibbrotliCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.compress_sections(input, &[], out, &|| Ok(()))
    }

    fn compress_sections(
        &mut self,
        input: &[u8],
        _: &[usize],
        out: &mut Vec<u8>,
        ask: Ask<'_>,
    ) -> Result<()> {
        let failed = |error: &dyn std::fmt::Display| failed("BROTLI", error);
        let level = u8::try_from(self.0.get()).unwrap_or_default();
        let quality = Quality::new(level).map_err(|error| failed(&error))?;
        let window = WindowSize::new(WINDOW_BITS).map_err(|error| failed(&error))?;
        let encoder = BrotliEncoderOptions::new()
            .quality(quality)
            .window_size(window)
            // We pass the whole size as a hint, so that the library writes the same stream regardless of piece size.
            .size_hint(u32::try_from(input.len()).map_or(MAX_HINT, |length| length.min(MAX_HINT)))
            .build()
            .map_err(|error| failed(&error))?;
        let mut stream = CompressorWriter::with_encoder(encoder, out);
        let piece = match self.0.get() <= BrotliLevel::default().get() {
            true => input.len().max(1),
            false => PIECE,
        };
        for (at, piece) in input.chunks(piece).enumerate() {
            if let Err(ended) = if at == 0 { Ok(()) } else { ask() } {
                // We have to take the stream apart, because dropping it would compress the bytes collected so far.
                drop(stream.into_parts());
                return Err(ended);
            }
            stream.write_all(piece).map_err(|error| failed(&error))?;
        }
        stream
            .into_inner()
            .map_err(|error| failed(&error.error()))?;
        Ok(())
    }
}
