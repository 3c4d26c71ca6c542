//! What a codec that compresses has to do, and what several of them need for it.

use herringbone_format::{Error, Result};

/// One codec at one level, with the scratch memory that it keeps between pages.
pub(super) trait Compress: Send {
    /// Appends the compressed `input` to `out`. What it appended before an error is unspecified.
    ///
    /// # Errors
    ///
    /// Argument: the codec cannot hold so much. Io: the library failed.
    fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()>;

    /// The same of an input that is of another kind behind each of the `cuts`, which ascend: a codec may begin anew there.
    ///
    /// # Errors
    ///
    /// As [`Self::compress`].
    fn compress_cut(&mut self, input: &[u8], cuts: &[usize], out: &mut Vec<u8>) -> Result<()> {
        let _ = cuts;
        self.compress(input, out)
    }
}

/// The cuts of an input of so many bytes that leave parts of `least` bytes at least.
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

/// Appends to `out` what `fill` writes to the front of `bound` zeroed bytes; it says how many.
///
/// For libraries that only write to initialised memory.
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

/// The error of a library that does not compress.
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
