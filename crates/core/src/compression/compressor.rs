//! The interface that codecs implement for compression, and helpers that several codecs share.

use herringbone_format::{Error, Result};

/// A question between pieces of an input, whether to continue. If the answer is an error, the compression ends and
/// returns it.
pub(super) type Ask<'a> = &'a dyn Fn() -> Result<()>;

/// The number of bytes that a codec compresses before it asks again whether to continue. This is the size of a zstd
/// block.
#[cfg(any(
    feature = "gzip",
    feature = "brotli",
    feature = "libbrotli",
    feature = "zstd"
))]
pub(super) const PIECE: usize = 128 << 10;

/// A codec at one level, with the scratch memory that it retains between pages.
pub(super) trait Compress: Send + Sync {
    /// Appends the compressed `input` to `out`. On an error, the bytes appended so far are unspecified.
    ///
    /// # Errors
    ///
    /// Fails with Argument if the input is larger than the codec allows, and with Io if the library failed.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// Compresses an input of several sections, which begin at `section_starts`, in ascending order. A codec may reset
    /// its model there. A slow codec takes the input in pieces, and asks before each of them whether to continue.
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

/// Returns those section starts of an input of `length` bytes that leave sections of at least `least` bytes.
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

/// Calls `fill` with `bound` zeroed bytes and appends the bytes that it wrote to `out`. The closure returns their
/// number.
///
/// This is for libraries that write only to initialised memory.
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
