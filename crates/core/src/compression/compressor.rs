//! The interface of a codec for compression, and helpers shared by several codecs.

use herringbone_format::{Error, Result};

/// A codec at one level, with the scratch memory that it retains between pages.
pub(super) trait Compress: Send {
    /// Appends the compressed `input` to `out`. On an error, the bytes appended so far are unspecified.
    ///
    /// # Errors
    ///
    /// Argument if the input is larger than the codec allows. Io if the library failed.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// Compresses an input of several sections, which begin at `cuts`, in ascending order. A codec may reset its model
    /// there.
    ///
    /// # Errors
    ///
    /// See [`Self::compress`].
    fn compress_cut(&mut self, input: &[u8], cuts: &[usize], out: &mut Vec<u8>) -> Result<()> {
        let _ = cuts;
        self.compress(input, out)
    }
}

/// Returns the cuts of an input of `length` bytes that leave sections of at least `least` bytes.
#[cfg(any(feature = "snappy", feature = "zstd"))]
pub(super) fn far_apart(cuts: &[usize], length: usize, least: usize) -> Vec<usize> {
    let mut last = 0;
    let mut is_far = |cut: usize| {
        let is_far = cut >= last + least && cut + least <= length;
        if is_far {
            last = cut;
        }
        is_far
    };
    cuts.iter().copied().filter(|cut| is_far(*cut)).collect()
}

/// Calls `fill` with `bound` zeroed bytes and appends those it wrote to `out`. `fill` returns their number.
///
/// For libraries that write only to initialised memory.
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

/// Returns the error of a library that failed to compress.
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
