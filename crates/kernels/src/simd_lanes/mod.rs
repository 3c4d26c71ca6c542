//! Unpacks bit-packed values to vector registers, for DELTA_BINARY_PACKED and ALP.
//!
//! Values of `width` bits lie back to back, least significant bit first. We load a register with the bytes that contain
//! one value per lane. One permutation moves to each lane the word in which its value starts, and a second permutation
//! moves the word after it. Two shifts and a mask then extract the value:
//!
//! ```text
//! words        |   w0   |   w1   |   w2   |          lane i starts in word (i * width) / bits,
//! values       | v0 | v1 | v2 | v3 | v4 |            at bit (i * width) % bits of it
//! ```
//!
//! The permutations depend on the width, and on the bit at which the first value starts. We compute them once per run
//! of values, because after each register, the run advances by a whole number of bytes.
//!
//! Each instruction set and lane width has a plan of its own, because the permutations differ. Only `none` and `refit`
//! repeat.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::noise;

use crate::bitmap::{load_bits, low_bits};

/// A run of bit-packed values.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed<'a> {
    /// The bytes from the first value's first byte on. They may extend past the end of the run.
    data: &'a [u8],
    /// The bit at which the first value starts in the first byte, 0 to 7.
    shift: usize,
    /// The number of bits per value, which is at most the number of bits in the target number.
    width: usize,
    /// The number of values.
    n: usize,
}

impl<'a> Packed<'a> {
    /// An empty run, with a width of one bit.
    #[cfg(target_arch = "x86_64")]
    const NONE: Self = Self {
        data: &[],
        shift: 0,
        width: 1,
        n: 0,
    };

    /// Returns the values `first..first + n` that are packed in `data`, or `None` if the bytes end early.
    #[inline]
    pub(crate) fn new(data: &'a [u8], first: usize, width: usize, n: usize) -> Option<Self> {
        let bits = first.checked_add(n)?.checked_mul(width)?;
        if bits.div_ceil(8) > data.len() {
            return None;
        }
        let start = first * width;
        Some(Self {
            data: data.get(start / 8..)?,
            shift: start % 8,
            width,
            n,
        })
    }

    /// Returns the number of values in the run.
    #[inline]
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Returns the number of bits per value.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[inline]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the run's properties that determine a plan.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(crate) fn shape(&self) -> (usize, usize) {
        (self.shift, self.width)
    }

    /// Returns the bytes from the first value on, if it starts on a byte boundary. They may extend past the end of the run.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    pub(crate) fn whole_bytes(&self) -> Option<&'a [u8]> {
        (self.shift == 0).then_some(self.data)
    }

    /// Returns the run without its first `n` values, or nothing if it has fewer.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    pub(crate) fn after(&self, n: usize) -> Self {
        let start = self.shift + n * self.width;
        Self {
            data: self.data.get(start / 8..).unwrap_or_default(),
            shift: start % 8,
            width: self.width,
            n: self.n.saturating_sub(n),
        }
    }

    /// Calls `see` with each of the values, in portable code.
    #[inline]
    pub(crate) fn for_each(&self, mut see: impl FnMut(u64)) {
        let mask = low_bits(self.width);
        let mut done = 0;
        // A value of at most 57 bits lies within the eight bytes that start with its first byte.
        if self.width <= 57 {
            while done < self.n {
                let bit = self.shift + done * self.width;
                let Some(word) = self.data.get(bit / 8..).and_then(|rest| rest.first_chunk())
                else {
                    break;
                };
                see(u64::from_le_bytes(*word) >> (bit % 8) & mask);
                done += 1;
            }
        }
        for i in done..self.n {
            see(load_bits(
                self.data,
                self.shift + i * self.width,
                self.width,
            ));
        }
    }
}
