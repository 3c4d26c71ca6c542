//! Compresses pages.
//!
//! Each thread keeps its most recently used compressors, so that it doesn't have to allocate a codec's contexts for
//! every page.

use super::compressor::{Ask, Compress};
use super::{Compression, absent};
use herringbone_format::Result;
use std::cell::RefCell;

/// The number of compressors retained per thread. This is enough for a file with different codecs per column.
const KEPT: usize = 8;

thread_local! {
    /// This thread's compressors, most recently used last.
    static COMPRESSORS: RefCell<Vec<Compressor>> = const { RefCell::new(Vec::new()) };
}

/// Compresses a page and appends it to `out`. This uses the thread's compressor of this kind, creating it on first use.
///
/// # Errors
///
/// Fails with:
///
/// - [Feature](herringbone_format::ErrorKind::Feature) if the codec was not compiled in. The error names the cargo
///   feature.
/// - [Argument](herringbone_format::ErrorKind::Argument) if the input is larger than the codec allows.
/// - [Io](herringbone_format::ErrorKind::Io) if the codec's library failed.
pub fn compress(compression: Compression, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    compress_sections(compression, input, &[], out, &|| Ok(()))
}

/// Compresses like [`compress`], but for an input of several sections, such as levels followed by values, or the
/// streams of BYTE_STREAM_SPLIT. `section_starts` contains the start of each section except the first, in ascending
/// order.
///
/// Slow levels can take seconds per page, so at these levels the codec calls `ask` between pieces of the input. This
/// applies to zstd from level 13 on, Brotli from 5 on, and GZIP from 7 on. With the feature `libdeflate`, GZIP never
/// asks, since that library only takes whole pages, but it's fast. Note that the compressed bytes don't depend on the
/// calls.
///
/// # Errors
///
/// Fails for the same reasons as [`compress`], and with the error that `ask` returns.
pub fn compress_sections(
    compression: Compression,
    input: &[u8],
    section_starts: &[usize],
    out: &mut Vec<u8>,
    ask: &dyn Fn() -> Result<()>,
) -> Result<()> {
    // We take the compressor out of the list, because `ask` might run code that compresses too.
    let known = COMPRESSORS.with_borrow_mut(|compressors| {
        let index = compressors
            .iter()
            .position(|known| known.compression == compression)?;
        Some(compressors.remove(index))
    });
    let mut compressor = match known {
        Some(known) => known,
        None => Compressor::new(compression)?,
    };
    let done = compressor.compress_sections(input, section_starts, out, ask);
    COMPRESSORS.with_borrow_mut(|compressors| {
        if compressors.len() == KEPT {
            compressors.remove(0);
        }
        compressors.push(compressor);
    });
    done
}

/// A compressor for one codec. Reuse it for many pages, because its contexts are only allocated once.
pub(crate) struct Compressor {
    compression: Compression,
    inner: Box<dyn Compress>,
}

impl Compressor {
    /// Creates a compressor of this kind.
    ///
    /// # Errors
    ///
    /// Fails with Feature, naming the cargo feature, if the codec was not compiled in. Fails with Io if the codec's
    /// library could not allocate memory.
    pub(crate) fn new(compression: Compression) -> Result<Self> {
        let inner: Box<dyn Compress> = match compression {
            Compression::Uncompressed => Box::new(Uncompressed),
            #[cfg(feature = "snappy")]
            Compression::Snappy => Box::new(super::snappy::SnappyCompressor::default()),
            #[cfg(feature = "libdeflate")]
            Compression::Gzip(level) => {
                Box::new(super::libdeflate::LibdeflateCompressor::new(level)?)
            }
            #[cfg(all(feature = "gzip", not(feature = "libdeflate")))]
            Compression::Gzip(level) => Box::new(super::gzip::GzipCompressor::new(level)),
            #[cfg(feature = "libbrotli")]
            Compression::Brotli(level) => {
                Box::new(super::libbrotli::LibbrotliCompressor::new(level))
            }
            #[cfg(all(feature = "brotli", not(feature = "libbrotli")))]
            Compression::Brotli(level) => Box::new(super::brotli::BrotliCompressor::new(level)),
            #[cfg(feature = "zstd")]
            Compression::Zstd(level) => Box::new(super::zstd::ZstdCompressor::new(level)?),
            #[cfg(feature = "lz4")]
            Compression::Lz4Raw => Box::new(super::lz4::Lz4RawCompressor::new()),
            #[allow(
                unreachable_patterns,
                reason = "reachable as soon as a codec is left out"
            )]
            other => return Err(absent(other.codec())),
        };
        Ok(Self { compression, inner })
    }

    /// Appends the compressed `input` to `out`. Note that most codecs produce some output even if `input` is empty.
    ///
    /// # Errors
    ///
    /// Fails with Argument if the input is larger than the codec allows, with Io if the library failed, and with the
    /// error that `ask` returns. On an error, `out` is unchanged.
    pub(crate) fn compress_sections(
        &mut self,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
        ask: Ask<'_>,
    ) -> Result<()> {
        let start = out.len();
        let done = self
            .inner
            .compress_sections(input, section_starts, out, ask);
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}

/// A codec that stores bytes unchanged. If you can, write the input directly instead.
struct Uncompressed;

impl Compress for Uncompressed {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(input);
        Ok(())
    }
}
