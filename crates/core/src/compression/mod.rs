//! Compressed pages: one file and one cargo feature for each codec.
//!
//! Readers have [`decompress`], writers [`compress`] and [`Compression`], which is a codec with its level.
//!
//! A page says how many bytes it holds when it is decompressed, so a codec is handed that many bytes and
//! has to fill them exactly. The output slice is the bound: whatever the compressed bytes claim,
//! nothing is written behind it and no buffer grows with a number from the file.
//!
//! | codec | feature | library |
//! |---|---|---|
//! | SNAPPY | `snappy` | our own: reads 1.2 to 1.4 times as fast as snap, writes blocks that are smaller |
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
pub use compress::compress_cut;
pub use level::{BrotliLevel, GzipLevel, ZstdLevel};

use std::cell::RefCell;

use herringbone_format::{CompressionCodec, Error, Result};

/// One codec, with the scratch memory that it keeps between pages.
trait Codec: Send {
    /// Decompresses all of `input` into the front of `output`; the number of bytes written.
    ///
    /// # Errors
    ///
    /// Corrupt: `input` breaks the codec's format, ends early, or holds more than `output.len()`
    /// uncompressed bytes.
    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<usize>;
}

thread_local! {
    /// The decompressors of this thread, one a codec at most.
    static DECOMPRESSORS: RefCell<Vec<Decompressor>> = const { RefCell::new(Vec::new()) };
}

/// Decompresses a page with the thread's decompressor for `codec`, which is made when it is first
/// needed: there are far fewer threads than open column chunks.
///
/// # Errors
///
/// Feature when the codec was not compiled in, naming the cargo feature. Unsupported when the id is not one of
/// the specification. Corrupt when `input` breaks the codec's format, or holds fewer or more bytes than
/// `output` has; what `output` holds afterwards is unspecified.
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

/// Looks whether `input` can hold `uncompressed` bytes, without memory for them. What it does not find is found by
/// [`decompress`].
///
/// # Errors
///
/// Corrupt where it cannot.
pub(crate) fn check_uncompressed_size(
    codec: CompressionCodec,
    input: &[u8],
    uncompressed: usize,
) -> Result<()> {
    let is_possible = match codec {
        // A match of 64 bytes takes three.
        CompressionCodec::Snappy => input.len().saturating_mul(22) >= uncompressed,
        // A match of 258 bytes takes two bits.
        CompressionCodec::Gzip => input.len().saturating_mul(1032) >= uncompressed,
        // A byte makes a match longer by 255 bytes.
        CompressionCodec::Lz4 | CompressionCodec::Lz4Raw | CompressionCodec::Lzo => {
            input.len().saturating_mul(256) >= uncompressed
        }
        // A block of 128 KiB takes four.
        CompressionCodec::Zstd => {
            (input.len() / 4).saturating_mul(128 << 10) >= uncompressed
                && zstd_content_size(input).is_none_or(|said| said == uncompressed as u64)
        }
        // No other codec may say as much in so little.
        CompressionCodec::Brotli => {
            input.len().saturating_mul(ORDINARY_RATIO) >= uncompressed
                || brotli_count(input, uncompressed).is_ok_and(|counted| counted == uncompressed)
        }
        _ => true,
    };
    match is_possible {
        true => Ok(()),
        false => Err(Error::corrupt(format!(
            "{} bytes of {codec} data do not hold the {uncompressed} uncompressed bytes that the page announces",
            input.len()
        ))),
    }
}

/// Uncompressed bytes for each byte of a Brotli stream, up to which it is decoded without being counted first.
const ORDINARY_RATIO: usize = 1024;

/// Bytes of a Brotli stream that are decoded at a time to count them.
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

/// Decompresses pages of one codec. Keep it for many pages: contexts are allocated once.
pub(crate) struct Decompressor {
    codec: CompressionCodec,
    inner: Box<dyn Codec>,
}

impl Decompressor {
    /// A decompressor for pages of a column chunk with this codec.
    ///
    /// # Errors
    ///
    /// Feature when the codec was not compiled in, naming the cargo feature; Unsupported when the
    /// id is not one of the specification.
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
    /// Corrupt: `input` breaks the codec's format, or holds fewer or more uncompressed bytes than
    /// `output` has. What `output` holds afterwards is then unspecified.
    pub(crate) fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<()> {
        // A section without bytes (the values of a v2 page full of nulls) is empty in any codec.
        if input.is_empty() && output.is_empty() {
            return Ok(());
        }
        let written = self.inner.decompress(input, output)?;
        if written == output.len() {
            return Ok(());
        }
        Err(Error::corrupt(format!(
            "a page announces {} uncompressed bytes, but its {} data ends after {written}",
            output.len(),
            self.codec
        )))
    }
}

/// Bytes that are stored as they are. Who can use a slice of the file instead should do so.
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

/// Why there is no codec for this id.
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

/// The error of data that goes on behind the announced size.
#[cold]
fn too_long(codec: &'static str) -> Error {
    Error::corrupt(format!(
        "the {codec} data of a page holds more uncompressed bytes than the page announces"
    ))
}

/// The error of data that breaks the codec's format; `reason` is the library's.
#[cold]
#[allow(
    dead_code,
    reason = "only codecs break, and all of them may be left out"
)]
fn broken(codec: &'static str, reason: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("the {codec} data of a page is broken: {reason}"))
}
