//! BROTLI in pure Rust. A page is one Brotli stream (RFC 7932; Compression, "BROTLI").

use super::compressor::{Ask, Compress, PIECE, failed};
use super::{BrotliLevel, COUNTED, Codec, broken, too_long};
use brotli::enc::StandardAlloc;
use brotli::enc::backward_references::BrotliEncoderParams;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use herringbone_format::Result;
use std::io::{self, Read};

/// A decoder for Brotli streams, which creates a new state for each page. The state's ring buffer never exceeds the 16
/// MiB window of RFC 7932, because large windows stay off.
pub(super) struct Brotli;

impl Codec for Brotli {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let alloc = StandardAlloc::default;
        let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
        let (mut input_left, mut input_at) = (input.len(), 0);
        let (mut output_left, mut output_at, mut written) = (output.len(), 0, 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut input_at,
            input,
            &mut output_left,
            &mut output_at,
            output,
            &mut written,
            &mut state,
        );
        match result {
            BrotliResult::ResultSuccess if input_left == 0 => Ok(output_at),
            BrotliResult::ResultSuccess => {
                Err(broken("BROTLI", "bytes after the end of the stream"))
            }
            BrotliResult::NeedsMoreOutput => Err(too_long("BROTLI")),
            BrotliResult::NeedsMoreInput => Err(broken("BROTLI", "the stream ends early")),
            BrotliResult::ResultFailure => Err(broken("BROTLI", "the stream is malformed")),
        }
    }
}

/// Counts a stream's decompressed bytes, but stops once they exceed `uncompressed`.
///
/// # Errors
/// Fails with Corrupt if the stream is malformed or ends early.
pub(super) fn count(input: &[u8], uncompressed: usize) -> Result<usize> {
    let alloc = StandardAlloc::default;
    let mut state = BrotliState::new_strict(alloc(), alloc(), alloc());
    let mut output = vec![0; COUNTED];
    let (mut input_left, mut input_at, mut written) = (input.len(), 0, 0);
    loop {
        let (mut output_left, mut output_at) = (output.len(), 0);
        let result = BrotliDecompressStream(
            &mut input_left,
            &mut input_at,
            input,
            &mut output_left,
            &mut output_at,
            &mut output,
            &mut written,
            &mut state,
        );
        match result {
            BrotliResult::NeedsMoreOutput if written <= uncompressed => {}
            BrotliResult::ResultSuccess | BrotliResult::NeedsMoreOutput => return Ok(written),
            BrotliResult::NeedsMoreInput => return Err(broken("BROTLI", "the stream ends early")),
            BrotliResult::ResultFailure => return Err(broken("BROTLI", "the stream is malformed")),
        }
    }
}

/// The binary logarithm of the window size. RFC 7932 allows up to 24.
const WINDOW_BITS: i32 = 22;

/// An encoder for Brotli streams.
pub(super) struct BrotliCompressor(BrotliLevel);

impl BrotliCompressor {
    pub(super) fn new(level: BrotliLevel) -> Self {
        Self(level)
    }
}

impl Compress for BrotliCompressor {
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
        let parameters = BrotliEncoderParams {
            quality: self.0.get(),
            lgwin: WINDOW_BITS,
            size_hint: input.len(),
            ..BrotliEncoderParams::default()
        };
        let mut pieces = Pieces {
            input,
            ask,
            piece: match self.0.get() <= BrotliLevel::default().get() {
                true => usize::MAX,
                false => PIECE,
            },
            taken: 0,
            answer: Ok(()),
        };
        let done = brotli::BrotliCompress(&mut pieces, out, &parameters);
        pieces.answer?;
        done.map_err(|error| failed("BROTLI", error))?;
        Ok(())
    }
}

/// A reader that asks whether to continue after each piece.
struct Pieces<'a> {
    input: &'a [u8],
    ask: Ask<'a>,
    /// The maximum number of bytes passed to the codec at once.
    piece: usize,
    taken: usize,
    answer: Result<()>,
}

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken >= self.piece && !self.input.is_empty() {
            self.taken = 0;
            self.answer = (self.ask)();
            if self.answer.is_err() {
                return Err(io::ErrorKind::Other.into());
            }
        }
        let read = self.input.read(buffer)?;
        self.taken += read;
        Ok(read)
    }
}
