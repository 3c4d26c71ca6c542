//! Compresses and decompresses pages, with one file and one cargo feature for each codec.
//!
//! Readers use [`decompress`]. Writers use [`compress`] and choose a codec with its level as a [`Compression`].
//!
//! A page header declares the decompressed size. The codec receives a slice of exactly that size and must fill it. So
//! whatever the compressed bytes claim, the codec cannot write past the end of the slice, and no buffer grows with a
//! number from the file.
//!
//! | codec | feature | library |
//! |---|---|---|
//! | SNAPPY | `snappy` | our own: reads 1.2 to 1.4 times as fast as snap, writes smaller blocks |
//! | GZIP | `gzip`, and `libdeflate` for speed | zlib-rs, libdeflate (C) |
//! | BROTLI | `brotli`, or `libbrotli` for speed | brotli, libbrotli (C) |
//! | ZSTD | `zstd`, or `ruzstd` to read without C | libzstd (C), ruzstd |
//! | LZ4, LZ4_RAW | `lz4` | lz4_flex |
//! | LZO | `lzo` | lzokay |

#[cfg(feature = "brotli")]
#[cfg_attr(
    all(feature = "libbrotli", not(test)),
    allow(dead_code, reason = "libbrotli is faster")
)]
mod brotli;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(any(feature = "lz4", feature = "lzo"))]
mod hadoop;
#[cfg(feature = "libdeflate")]
mod libdeflate;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "libbrotli")]
mod libbrotli;
#[cfg(feature = "ruzstd")]
#[cfg_attr(
    all(feature = "zstd", not(test)),
    allow(dead_code, reason = "libzstd is faster")
)]
mod ruzstd;
#[cfg(feature = "lzo")]
mod lzo;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

mod choice;
mod compressor;
mod compress;
mod level;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod compress_tests;

pub use choice::Compression;
pub use compress::compress;
pub use compress::compress_sections;
pub use level::{BrotliLevel, GzipLevel, ZstdLevel};

use std::cell::RefCell;

use herringbone_format::{CompressionCodec, Error, Result};

/// A codec, with scratch memory retained between pages.
trait Codec: Send + Sync {
    /// Decompresses all of `input` to the front of `output` and returns the number of bytes written.
    ///
    /// # Errors
    ///
    /// Fails with Corrupt if `input` violates the codec's format, ends early, or contains more than `output.len()`
    /// decompressed bytes.
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize>;
}

thread_local! {
    /// This thread's decompressors, at most one for each codec.
    static DECOMPRESSORS: RefCell<Vec<Decompressor>> = const { RefCell::new(Vec::new()) };
}

/// Decompresses a page with this thread's decompressor for `codec`, creating it on first use. We keep decompressors per
/// thread rather than per column chunk, because there are far fewer threads than open column chunks.
///
/// # Errors
///
/// On an error, the contents of `output` are unspecified. Fails with:
///
/// - [Feature](herringbone_format::ErrorKind::Feature) if the codec was not compiled in. The error names the cargo
///   feature.
/// - [Unsupported](herringbone_format::ErrorKind::Unsupported) if the specification does not define the codec.
/// - [Corrupt](herringbone_format::ErrorKind::Corrupt) if `input` violates the codec's format, or if its decompressed
///   size differs from the length of `output`.
pub fn decompress(codec: CompressionCodec, input: &[u8], output: &mut [u8]) -> Result<()> {
    DECOMPRESSORS.with_borrow_mut(|decompressors| {
        let known = decompressors.iter().position(|known| known.codec == codec);
        let index = match known {
            Some(index) => index,
            None => {
                decompressors.push(Decompressor::new(codec)?);
                decompressors.len() - 1
            }
        };
        match decompressors.get_mut(index) {
            Some(decompressor) => decompressor.decompress(input, output),
            None => Err(absent(codec)),
        }
    })
}

/// Checks that `input` can contain `uncompressed` bytes, without allocating memory for them. Note that [`decompress`]
/// can still refuse a size after this check passes.
///
/// # Errors
///
/// Fails with Corrupt if it cannot contain this number of bytes.
pub(crate) fn check_uncompressed_size(
    codec: CompressionCodec,
    input: &[u8],
    uncompressed: usize,
) -> Result<()> {
    let is_possible = match codec {
        // A match of 64 bytes takes three bytes.
        CompressionCodec::Snappy => input.len().saturating_mul(22) >= uncompressed,
        // A match of 258 bytes takes two bits.
        CompressionCodec::Gzip => input.len().saturating_mul(1032) >= uncompressed,
        // Each additional byte extends a match by 255 bytes.
        CompressionCodec::Lz4 | CompressionCodec::Lz4Raw | CompressionCodec::Lzo => {
            input.len().saturating_mul(256) >= uncompressed
        }
        // A block of 128 KiB takes four bytes.
        CompressionCodec::Zstd => {
            (input.len() / 4).saturating_mul(128 << 10) >= uncompressed
                && zstd_content_size(input).is_none_or(|said| said == uncompressed as u64)
        }
        // No other codec can encode as much in as few bytes, so we sometimes have to count.
        CompressionCodec::Brotli => {
            input.len().saturating_mul(ORDINARY_RATIO) >= uncompressed
                || brotli_count(input, uncompressed).is_ok_and(|counted| counted == uncompressed)
        }
        _ => true,
    };
    match is_possible {
        true => Ok(()),
        false => Err(Error::corrupt(format!(
            "{} bytes of {codec} data cannot expand to the {uncompressed} uncompressed bytes that \
             the page declares",
            input.len()
        ))),
    }
}

/// The highest compression ratio of a Brotli stream that we decode without counting its bytes first.
const ORDINARY_RATIO: usize = 1024;

/// The number of bytes to decode at a time while counting a Brotli stream.
#[cfg(any(feature = "brotli", feature = "libbrotli"))]
const COUNTED: usize = 64 << 10;

#[cfg(all(feature = "brotli", not(feature = "libbrotli")))]
use brotli::count as brotli_count;
#[cfg(feature = "libbrotli")]
use libbrotli::count as brotli_count;
#[cfg(not(any(feature = "brotli", feature = "libbrotli")))]
fn brotli_count(_input: &[u8], uncompressed: usize) -> Result<usize> {
    Ok(uncompressed)
}

#[cfg(feature = "zstd")]
use zstd::content_size as zstd_content_size;
#[cfg(not(feature = "zstd"))]
fn zstd_content_size(_input: &[u8]) -> Option<u64> {
    None
}

/// A decompressor for one codec. Reuse it for many pages, because its contexts are only allocated once.
pub(crate) struct Decompressor {
    codec: CompressionCodec,
    inner: Box<dyn Codec>,
}

impl Decompressor {
    /// Creates a decompressor for the pages of a column chunk with this codec.
    ///
    /// # Errors
    ///
    /// Fails with Feature, naming the cargo feature, if the codec was not compiled in. Fails with Unsupported if the
    /// specification does not define the codec.
    pub(crate) fn new(codec: CompressionCodec) -> Result<Self> {
        let inner: Box<dyn Codec> = match codec {
            CompressionCodec::Uncompressed => Box::new(Uncompressed),
            #[cfg(feature = "snappy")]
            CompressionCodec::Snappy => Box::new(snappy::Snappy),
            #[cfg(feature = "libdeflate")]
            CompressionCodec::Gzip => Box::new(libdeflate::Libdeflate::new()),
            #[cfg(all(feature = "gzip", not(feature = "libdeflate")))]
            CompressionCodec::Gzip => Box::new(gzip::Gzip::new()),
            #[cfg(feature = "libbrotli")]
            CompressionCodec::Brotli => Box::new(libbrotli::Libbrotli),
            #[cfg(all(feature = "brotli", not(feature = "libbrotli")))]
            CompressionCodec::Brotli => Box::new(brotli::Brotli),
            #[cfg(feature = "zstd")]
            CompressionCodec::Zstd => Box::new(zstd::Zstd::new()?),
            #[cfg(all(feature = "ruzstd", not(feature = "zstd")))]
            CompressionCodec::Zstd => Box::new(ruzstd::Ruzstd::new()),
            #[cfg(feature = "lz4")]
            CompressionCodec::Lz4Raw => Box::new(lz4::Lz4Raw),
            #[cfg(feature = "lz4")]
            CompressionCodec::Lz4 => Box::new(lz4::Lz4::new()),
            #[cfg(feature = "lzo")]
            CompressionCodec::Lzo => Box::new(lzo::Lzo::default()),
            other => return Err(absent(other)),
        };
        Ok(Self { codec, inner })
    }

    /// Decompresses all of `input`, the compressed bytes of one page, into all of `output`.
    ///
    /// # Errors
    ///
    /// Fails with Corrupt if `input` violates the codec's format, or if its decompressed size differs from the length
    /// of `output`. On an error, the contents of `output` are unspecified.
    pub(crate) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<()> {
        // An empty section is empty in any codec. For example, an all-null v2 page has an empty values section.
        if input.is_empty() && output.is_empty() {
            return Ok(());
        }
        let written = self.inner.decompress(input, output)?;
        if written == output.len() {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "a page declares {} uncompressed bytes, but its {} data ends after {written}",
            output.len(),
            self.codec
        )))
    }
}

/// A codec that stores bytes unchanged. If you can, use a slice of the file instead.
struct Uncompressed;

impl Codec for Uncompressed {
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize> {
        let Some(front) = output.get_mut(..input.len()) else {
            return Err(too_long("UNCOMPRESSED"));
        };
        front.copy_from_slice(input);
        Ok(input.len())
    }
}

/// Returns the error for an unavailable codec.
fn absent(codec: CompressionCodec) -> Error {
    let feature = match codec {
        CompressionCodec::Snappy => "snappy",
        CompressionCodec::Gzip => "gzip",
        CompressionCodec::Brotli => "brotli",
        CompressionCodec::Zstd => "zstd",
        CompressionCodec::Lz4 | CompressionCodec::Lz4Raw => "lz4",
        CompressionCodec::Lzo => "lzo",
        _ => return Error::unsupported(format!("the codec {codec}")),
    };
    Error::feature(format!(
        "pages compressed with {codec} need the cargo feature `{feature}` of herringbone"
    ))
}

/// Returns the error for data extending past the declared size.
#[cold]
fn too_long(codec: &'static str) -> Error {
    Error::corrupt(format!(
        "the {codec} data of a page holds more uncompressed bytes than the page declares"
    ))
}

/// Returns the error for malformed data, with the library's `reason`.
#[cold]
#[allow(
    dead_code,
    reason = "only codecs break, and all of them may be left out"
)]
fn broken(codec: &'static str, reason: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the {codec} data of a page is broken: {reason}"))
}
