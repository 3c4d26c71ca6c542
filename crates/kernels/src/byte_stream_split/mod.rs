//! BYTE_STREAM_SPLIT: the first bytes of all values, then all second bytes, and so on.
//!
//! ```text
//! values       AA BB CC DD   00 11 22 33   A3 B4 C5 D6
//! data         AA 00 A3   BB 11 B4   CC 22 C5   DD 33 D6
//! ```
//!
//! Reading it back is the transposition of a matrix of bytes: interleave the streams in pairs, the
//! pairs in pairs, and so on, in vector registers.
//!
//! **Shapes**: `values` is the number of values in the data, and so the length of each stream;
//! `first..first + n` are those to read.
//! **Errors**: [`Malformed`] where the data holds fewer values than that.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;
mod split;
#[cfg(target_arch = "x86_64")]
mod sse2;
#[cfg(test)]
mod tests;

pub use split::split;

use crate::Malformed;
use crate::plain::Plain;

/// The part of each stream that is to be read.
#[derive(Clone, Copy)]
struct Streams<'a> {
    /// From the first byte to be read of the first stream on.
    data: &'a [u8],
    /// Bytes from one stream to the next.
    stride: usize,
    /// Bytes to be read of each stream.
    n: usize,
}

impl<'a> Streams<'a> {
    /// The bytes of stream `i` that are to be read. Those of the streams of a value exist, which
    /// [`Streams::new`] has checked; others are empty.
    #[inline]
    fn get(&self, i: usize) -> &'a [u8] {
        self.data
            .get(i * self.stride..)
            .and_then(|stream| stream.get(..self.n))
            .unwrap_or_default()
    }

    /// The streams of `width` bytes a value.
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

/// Appends values of 1, 2, 4, 8 or any other number of bytes.
///
/// # Errors
/// [`Malformed`] where the data holds fewer values.
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
    // SAFETY: `n` values were reserved behind `len`, and `join` writes all of their bytes; any
    // bytes are a valid `T: Plain`.
    unsafe {
        join(&streams, size_of::<T>(), out.as_mut_ptr().add(len).cast());
        out.set_len(len + n);
    }
    Ok(())
}

/// Appends values of `width` bytes, any number of them.
///
/// # Errors
/// [`Malformed`] where the data holds fewer values.
pub fn extend_bytes(
    data: &[u8],
    values: usize,
    width: usize,
    range: std::ops::Range<usize>,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    let n = range.len();
    let streams = Streams::new(data, values, width, range.start, n)?;
    // No overflow: the product is not larger than the length of `data`.
    let bytes = n * width;
    out.reserve(bytes);
    let len = out.len();
    // SAFETY: `bytes` bytes were reserved behind `len`, and `join` writes all of them.
    unsafe {
        join(&streams, width, out.as_mut_ptr().add(len));
        out.set_len(len + bytes);
    }
    Ok(())
}

/// Writes the values, `width` bytes each, to `out`.
///
/// # Safety
/// `out` must be valid for writing `streams.n * width` bytes, and `streams` must have been made
/// for this `width`.
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
    // SAFETY: the contract of this function.
    unsafe { scalar::join(streams, 0, width, out) };
}
