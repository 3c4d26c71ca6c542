//! The way to compressed pages.

use super::compressor::Compress;
use super::{Compression, absent};
use herringbone_format::Result;
use std::cell::RefCell;

/// How many compressors a thread keeps: enough for a file whose columns have different ones.
const KEPT: usize = 8;

thread_local! {
    /// The compressors of this thread, the oldest first.
    static COMPRESSORS: RefCell<Vec<Compressor>> = const { RefCell::new(Vec::new()) };
}

/// Compresses a page with the thread's compressor of that kind, which is made when it is first
/// needed, and appends it to `out`.
///
/// # Errors
///
/// Feature when the codec was not compiled in, naming the cargo feature. Argument when the codec cannot hold
/// so much. Io when its library failed.
pub fn compress(compression: Compression, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    compress_cut(compression, input, &[], out)
}

/// [`compress`] of an input that is of another kind behind each of the `cuts`, which ascend: levels in front of values,
/// or the streams of BYTE_STREAM_SPLIT.
///
/// # Errors
///
/// As [`compress`].
pub fn compress_cut(
    compression: Compression,
    input: &[u8],
    cuts: &[usize],
    out: &mut Vec<u8>,
) -> Result<()> {
    COMPRESSORS.with_borrow_mut(|compressors| {
        let known = compressors
            .iter()
            .position(|known| known.compression == compression);
        let index = match known {
            Some(index) => index,
            None => {
                let new = Compressor::new(compression)?;
                if compressors.len() == KEPT {
                    compressors.remove(0);
                }
                compressors.push(new);
                compressors.len() - 1
            }
        };
        match compressors.get_mut(index) {
            Some(compressor) => compressor.compress_cut(input, cuts, out),
            None => Err(absent(compression.codec())),
        }
    })
}

/// Compresses pages with one codec. Keep it for many pages: contexts are allocated once.
pub(crate) struct Compressor {
    compression: Compression,
    inner: Box<dyn Compress>,
}

impl Compressor {
    /// A compressor of this kind.
    ///
    /// # Errors
    ///
    /// Feature when the codec was not compiled in, naming the cargo feature. Io when its library
    /// got no memory.
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

    /// Appends the compressed `input` to `out`. An empty `input` gives what the codec makes of it,
    /// which is seldom empty.
    ///
    /// # Errors
    ///
    /// Argument: the codec cannot hold so much. Io: the library failed. `out` is as it was then.
    pub(crate) fn compress_cut(
        &mut self,
        input: &[u8],
        cuts: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let done = match cuts {
            [] => self.inner.compress(input, out),
            cuts => self.inner.compress_cut(input, cuts, out),
        };
        if done.is_err() {
            out.truncate(start);
        }
        done
    }
}

/// Bytes that are stored as they are. Who can write them from where they are should do so.
struct Uncompressed;

impl Compress for Uncompressed {
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(input);
        Ok(())
    }
}
