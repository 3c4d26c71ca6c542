//! LZ4_RAW, and the deprecated LZ4 in the three layouts found in old files (Compression, "LZ4_RAW" and "LZ4").

use super::compressor::{Compress, append, failed};
use super::{Codec, broken, hadoop, too_long};
use herringbone_format::{Error, Result};
use lz4_flex::block::{
    CompressTable, DecompressError, compress_into_with_table, decompress_into,
    get_maximum_output_size,
};
use lz4_flex::frame::FrameDecoder;
use std::io::Read;

/// A decoder for LZ4_RAW, that is, a single LZ4 block without any framing.
pub(super) struct Lz4Raw;

impl Codec for Lz4Raw {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        block("LZ4_RAW", input, output)
    }
}

/// An encoder for LZ4_RAW, that is, a single LZ4 block without any framing.
pub(super) struct Lz4RawCompressor(CompressTable);

impl Lz4RawCompressor {
    pub(super) fn new() -> Self {
        // A small table would do for pages below 64 KiB, but they're rare.
        Self(CompressTable::large())
    }
}

impl Compress for Lz4RawCompressor {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        append(out, get_maximum_output_size(input.len()), |space| {
            compress_into_with_table(input, space, &mut self.0)
                .map_err(|error| failed("LZ4_RAW", error))
        })
    }
}

/// The layout of an LZ4 page. The specification leaves it open, and existing files contain Hadoop's framing, the lz4
/// tool's frame format, and blocks without framing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Hadoop,
    Frame,
    Block,
}

/// A decoder for LZ4 in any layout.
pub(super) struct Lz4 {
    /// The previous page's layout. We try it first, because all pages of a column chunk come from one writer.
    layout: Layout,
}

impl Lz4 {
    pub(super) fn new() -> Self {
        Self {
            layout: Layout::Hadoop,
        }
    }
}

impl Codec for Lz4 {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let first = attempt(self.layout, input, output);
        if matches!(first, Ok(written) if written == output.len()) {
            return first;
        }
        for layout in [Layout::Hadoop, Layout::Frame, Layout::Block] {
            if layout == self.layout {
                continue;
            }
            if let Ok(written) = attempt(layout, input, output)
                && written == output.len()
            {
                self.layout = layout;
                return Ok(written);
            }
        }
        Err(broken(
            "LZ4",
            "neither Hadoop framing, nor LZ4 frames, nor one LZ4 block of the declared size",
        ))
    }
}

/// Decompresses `input`, assuming this layout.
fn attempt(layout: Layout, input: &[u8], output: &mut [u8]) -> Result<usize> {
    match layout {
        Layout::Hadoop => hadoop::decompress(input, output, |part, uncompressed| {
            block("LZ4", part, uncompressed)
        }),
        Layout::Frame => frames(input, output),
        Layout::Block => block("LZ4", input, output),
    }
}

/// Decompresses one LZ4 block into the front of `output` and returns the number of bytes written.
fn block(codec: &'static str, input: &[u8], output: &mut [u8]) -> Result<usize> {
    decompress_into(input, output).map_err(|error| match error {
        DecompressError::OutputTooSmall { .. } => too_long(codec),
        error => broken(codec, error),
    })
}

/// Decompresses LZ4 frames one after another into the front of `output` and returns the number of bytes written.
fn frames(mut input: &[u8], output: &mut [u8]) -> Result<usize> {
    const MAGIC: [u8; 4] = 0x184D_2204_u32.to_le_bytes();

    let mut written = 0;
    while !input.is_empty() {
        if !input.starts_with(&MAGIC) {
            return Err(broken("LZ4", "bytes that do not start a frame"));
        }
        let mut decoder = FrameDecoder::new(input);
        // A frame ends with a read of zero bytes. That only means something for a non-empty buffer, so we probe with
        // one byte.
        loop {
            let mut probe = [0];
            let rest = output.get_mut(written..).unwrap_or_default();
            let full = rest.is_empty();
            let space = if full { &mut probe[..] } else { rest };
            match decoder.read(space).map_err(frame_error)? {
                0 => break,
                _ if full => return Err(too_long("LZ4")),
                read => written += read,
            }
        }
        input = decoder.into_inner();
    }
    Ok(written)
}

#[cold]
fn frame_error(error: std::io::Error) -> Error {
    broken("LZ4", error)
}
