//! The compression interface for codecs, with helpers shared by several codecs.

use herringbone_format::{Error, Result};

/// A callback between pieces of an input that asks whether to continue. If it returns an error, compression stops with
/// that error.
pub(super) type Ask<'a> = &'a dyn Fn() -> Result<()>;

/// The number of bytes to compress before asking again whether to continue. This is the size of a zstd block.
#[cfg(any(
    feature = "gzip",
    feature = "brotli",
    feature = "libbrotli",
    feature = "zstd"
))]
pub(super) const PIECE: usize = 128 << 10;

/// A codec at one level, with scratch memory retained between pages.
pub(super) trait Compress: Send + Sync {
    /// Appends the compressed `input` to `out`. On an error, the bytes appended so far are unspecified.
    ///
    /// # Errors
    ///
    /// Fails with Argument if the input is larger than the codec allows, and with Io if the library failed.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// Compresses an input of several sections, which begin at `section_starts`, in ascending order. A codec may reset
    /// its model there. A slow codec takes the input in pieces, asking whether to continue before each piece.
    ///
    /// # Errors
    ///
    /// Fails for the same reasons as [`Self::compress`], and with the error that `ask` returns.
    fn compress_sections(
        &mut self,
        input: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
        ask: Ask<'_>,
    ) -> Result<()> {
        let _ = (section_starts, ask);
        self.compress(input, out)
    }
}

/// Returns the section starts worth keeping in an input of `length` bytes, so that each section has at least `least`
/// bytes.
#[cfg(any(feature = "snappy", feature = "zstd"))]
pub(super) fn far_apart(section_starts: &[usize], length: usize, least: usize) -> Vec<usize> {
    let mut last = 0;
    let mut is_far = |start: usize| {
        let is_far = start >= last + least && start + least <= length;
        if is_far {
            last = start;
        }
        is_far
    };
    section_starts
        .iter()
        .copied()
        .filter(|start| is_far(*start))
        .collect()
}

/// Calls `fill` with `bound` zeroed bytes and appends the written bytes to `out`. The closure returns the number of
/// bytes written.
///
/// Use this for libraries that only write to initialised memory.
#[cfg(any(feature = "libdeflate", feature = "lz4"))]
pub(super) fn append(
    out: &mut Vec<u8>,
    bound: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<usize>,
) -> Result<()> {
    let start = out.len();
    out.resize(start + bound, 0);
    let written = fill(out.get_mut(start..).unwrap_or_default())?;
    out.truncate(start + written);
    Ok(())
}

/// Returns the error for a library that failed to compress.
#[cold]
#[allow(
    dead_code,
    reason = "only codecs fail, and all of them may be left out"
)]
pub(super) fn failed(codec: &'static str, reason: impl std::fmt::Display) -> Error {
    Error::from(std::io::Error::other(format!(
        "{codec} cannot compress a page: {reason}"
    )))
}
