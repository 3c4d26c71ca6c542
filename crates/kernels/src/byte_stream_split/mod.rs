//! BYTE_STREAM_SPLIT stores the first bytes of all values, then all second bytes, and so on.
//!
//! ```text
//! values       AA BB CC DD   00 11 22 33   A3 B4 C5 D6
//! data         AA 00 A3   BB 11 B4   CC 22 C5   DD 33 D6
//! ```
//!
//! Reading transposes a matrix of bytes in vector registers. For this, we interleave the streams in pairs, the pairs in
//! pairs, and so on.
//!
//! `values` is the number of values in the data, and so the length of each stream. We read the values
//! `first..first + n`, and fail with [`Malformed`] if the data has fewer values than that.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod split;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

pub use split::split;

use crate::Malformed;
use crate::plain::Plain;

/// The sections of the streams that are to be read.
#[derive(Clone, Copy)]
struct Streams<'a> {
    /// The data, which starts with the first byte to read from the first stream.
    data: &'a [u8],
    /// The distance between the starts of two streams, in bytes.
    stride: usize,
    /// The number of bytes to read from each stream.
    n: usize,
}

impl<'a> Streams<'a> {
    /// Returns the bytes to read from stream `i`. [`Streams::new`] has checked that all streams of a value exist, and
    /// any other stream is empty.
    #[inline]
    fn get(&self, i: usize) -> &'a [u8] {
        self.data
            .get(i * self.stride..)
            .and_then(|stream| stream.get(..self.n))
            .unwrap_or_default()
    }

    /// Creates the streams for values with `width` bytes each.
    fn new(
        data: &'a [u8],
        values: usize,
        width: usize,
        first: usize,
        n: usize,
    ) -> Result<Self, Malformed> {
        let early = Malformed("the byte streams end early");
        let end = first.checked_add(n).ok_or(early)?;
        let bytes = values.checked_mul(width).ok_or(early)?;
        if end > values || bytes > data.len() {
            return Err(early);
        }
        Ok(Self {
            data: data.get(first..bytes).unwrap_or_default(),
            stride: values,
            n,
        })
    }
}

/// Appends values of type `T`, which may have 1, 2, 4, 8 or any other number of bytes.
///
/// # Errors
/// Fails with [`Malformed`] if the data has fewer values.
pub fn extend<T: Plain>(
    data: &[u8],
    values: usize,
    first: usize,
    n: usize,
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    let streams = Streams::new(data, values, size_of::<T>(), first, n)?;
    out.reserve(n);
    let len = out.len();
    // SAFETY: `n` values were reserved after `len`, and `join` writes all of their bytes; any bytes are a valid
    // `T: Plain`.
    unsafe {
        join(&streams, size_of::<T>(), out.as_mut_ptr().add(len).cast());
        out.set_len(len + n);
    }
    Ok(())
}

/// Appends values of `width` bytes each, for any width.
///
/// # Errors
/// Fails with [`Malformed`] if the data has fewer values.
pub fn extend_bytes(
    data: &[u8],
    values: usize,
    width: usize,
    range: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let n = range.len();
    let streams = Streams::new(data, values, width, range.start, n)?;
    // The product cannot overflow, because it is at most the length of `data`.
    let bytes = n * width;
    out.reserve(bytes);
    let len = out.len();
    // SAFETY: `bytes` bytes were reserved after `len`, and `join` writes all of them.
    unsafe {
        join(&streams, width, out.as_mut_ptr().add(len));
        out.set_len(len + bytes);
    }
    Ok(())
}

/// Writes the values to `out`, with `width` bytes each.
///
/// # Safety
/// `out` must be valid for writing `streams.n * width` bytes, and `streams` must have been created for this
/// `width`.
unsafe fn join(streams: &Streams<'_>, width: usize, out: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    {
        if matches!(width, 2 | 4 | 8) && crate::cpu::Avx2::detect().is_some() {
            // SAFETY: the token proves AVX2; the rest is the contract of this function.
            return unsafe { avx2::join(streams, width, out) };
        }
        if width >= 8 {
            // SAFETY: the contract of this function; every x86-64 has SSE2.
            return unsafe { sse2::join(streams, width, out) };
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let Some(cpu) = crate::cpu::Neon::detect() {
        // SAFETY: the contract of this function.
        return unsafe { neon::join(cpu, streams, width, out) };
    }
    // SAFETY: the contract of this function.
    unsafe { scalar::join(streams, 0, width, out) };
}
