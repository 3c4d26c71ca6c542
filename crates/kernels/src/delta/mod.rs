//! DELTA_BINARY_PACKED, which is encoding 5, stores a first value and bit-packed differences.
//!
//! ```text
//! header      values per block | miniblocks per block | total number of values | first value (zigzag)
//! block       least delta (zigzag) | a width byte for each miniblock | miniblocks
//! miniblock   (delta - least delta) in `width` bits each, always padded to a full miniblock
//! ```
//!
//! All header fields except the width bytes are ULEB128. A value is the previous one plus its delta, and sums wrap
//! around. The last block may lack the miniblocks that contain no values.
//!
//! We unpack differences, raise them by the least delta and sum them within vector registers, and write the results
//! once, straight to the output. A miniblock of width 0 is an arithmetic progression.
//!
//! Functions fail with [`Malformed`] if headers break the rules or bytes end early. We reserve memory for the values
//! that a caller requests, and never for the number that a header claims.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod encode;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
#[cfg(test)]
mod tests;

pub use encode::{Blocks, encode_i32, encode_i64};

use std::mem::MaybeUninit;

use crate::Malformed;
use crate::plain::Plain;
use crate::simd_lanes::Packed;

/// The number of values that we decode at once in order to skip them.
const SKIPPED_AT_ONCE: usize = 1024;

mod sealed {
    pub trait Sealed {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
}

/// A number type that DELTA_BINARY_PACKED encodes, which is `i32` or `i64`.
pub trait Delta: Plain + sealed::Sealed + Eq + std::fmt::Debug {
    /// The number of bits in the number, to which wider deltas are truncated.
    const BITS: u8;

    /// Returns the lowest bits of `value`.
    fn wrap(value: i64) -> Self;

    /// Runs [`DeltaDecoder::extend`] with the best kernel.
    #[doc(hidden)]
    fn extend(
        decoder: &mut DeltaDecoder<Self>,
        data: &[u8],
        n: usize,
        out: &mut Vec<Self>,
    ) -> Result<(), Malformed>;
}

macro_rules! delta {
    ($type:ident) => {
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        impl Delta for $type {
            const BITS: u8 = $type::BITS as u8;

            #[inline]
            fn wrap(value: i64) -> Self {
                value as _
            }

            fn extend(
                decoder: &mut DeltaDecoder<Self>,
                data: &[u8],
                n: usize,
                out: &mut Vec<Self>,
            ) -> Result<(), Malformed> {
                #[cfg(target_arch = "x86_64")]
                {
                    if crate::cpu::Avx512::detect().is_some() {
                        // SAFETY: the token proves the target features of the function.
                        return unsafe { avx512::$type(decoder, data, n, out) };
                    }
                    if crate::cpu::Avx2::detect().is_some() {
                        // SAFETY: the token proves the target features of the function.
                        return unsafe { avx2::$type(decoder, data, n, out) };
                    }
                }
                #[cfg(target_arch = "aarch64")]
                if crate::cpu::Neon::detect().is_some() {
                    // SAFETY: the token proves the target features of the function.
                    return unsafe { neon::$type(decoder, data, n, out) };
                }
                scalar::$type(decoder, data, n, out)
            }
        }
    };
}
delta!(i32);
delta!(i64);

/// A position in DELTA_BINARY_PACKED data. The data is not part of it, so every call must pass the same bytes.
///
/// ```
/// use herringbone_kernels::delta::DeltaDecoder;
///
/// // Blocks of 128 values in 4 miniblocks, 5 values, the first is 1; least delta 1, widths 0.
/// let data = [0x80, 0x01, 4, 5, 2, 2, 0, 0, 0, 0];
/// let mut decoder = DeltaDecoder::<i32>::new(&data)?;
/// let mut values = Vec::new();
/// decoder.extend(&data, 5, &mut values)?;
/// assert_eq!(values, [1, 2, 3, 4, 5]);
/// # Ok::<_, herringbone_kernels::Malformed>(())
/// ```
#[derive(Debug, Clone)]
pub struct DeltaDecoder<T> {
    /// The number of miniblocks per block.
    miniblocks: usize,
    /// The number of values per miniblock.
    miniblock_values: usize,
    total: usize,
    /// The number of values that have not been read or skipped yet, including the first one.
    left: usize,
    /// True if `last` is the header's first value and has not been read yet.
    first_is_next: bool,
    /// The value before the next one.
    last: T,
    /// The block's least delta.
    least: T,
    /// The position of the block's width bytes.
    widths: usize,
    /// The index of the next miniblock in its block.
    next_miniblock: usize,
    /// The position of the miniblock's packed bits.
    bits: usize,
    /// The end of the miniblock's packed bits.
    end: usize,
    width: u8,
    /// The number of the miniblock's values that have been read or skipped.
    passed: usize,
}

impl<T: Delta> DeltaDecoder<T> {
    /// Reads the header.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the header ends early or breaks the rules of the format.
    pub fn new(data: &[u8]) -> Result<Self, Malformed> {
        let mut at = 0;
        let block_values = uleb128(data, &mut at)?;
        let miniblocks = uleb128(data, &mut at)?;
        let total = uleb128(data, &mut at)?;
        let first = zigzag(uleb128(data, &mut at)?);
        if block_values == 0 || block_values % 128 != 0 || block_values > u64::from(u32::MAX) {
            return Err(Malformed("the delta block size is not a multiple of 128"));
        }
        if miniblocks == 0 || block_values % miniblocks != 0 {
            return Err(Malformed(
                "the delta miniblock count does not divide the block",
            ));
        }
        let miniblock_values = block_values / miniblocks;
        if miniblock_values % 32 != 0 {
            return Err(Malformed(
                "the delta miniblock size is not a multiple of 32",
            ));
        }
        let total = usize::try_from(total).map_err(|_| Malformed("too many delta values"))?;
        let [miniblocks, miniblock_values] = [miniblocks, miniblock_values].map(|n| n as usize);
        Ok(Self {
            miniblocks,
            miniblock_values,
            total,
            left: total,
            first_is_next: true,
            last: T::wrap(first),
            least: T::default(),
            widths: 0,
            // This is the state after the last miniblock of a block that ends where the first block starts.
            next_miniblock: miniblocks,
            bits: at,
            end: at,
            width: 0,
            passed: miniblock_values,
        })
    }

    /// Returns the total number of values that the header claims, including values that have been read or skipped.
    pub fn total(&self) -> usize {
        self.total
    }

    /// Returns the number of values left.
    pub fn left(&self) -> usize {
        self.left
    }

    /// Appends the next `n` values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if fewer values are left, or if their bytes break the rules. Some values may already
    /// have been appended then.
    pub fn extend(&mut self, data: &[u8], n: usize, out: &mut Vec<T>) -> Result<(), Malformed> {
        T::extend(self, data, n, out)
    }

    /// Skips the next `n` values, which takes as long as reading them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if fewer values are left, or if their bytes break the rules.
    pub fn skip(&mut self, data: &[u8], n: usize) -> Result<(), Malformed> {
        // We need the last skipped value, and it depends on all values before it, so we decode them.
        let mut values = Vec::new();
        let mut left = n;
        while left > 0 {
            let step = left.min(SKIPPED_AT_ONCE);
            values.clear();
            self.extend(data, step, &mut values)?;
            left -= step;
        }
        Ok(())
    }

    /// Implements [`Self::extend`] with `sum` as the kernel. This is inlined into a function that enables the kernel's
    /// instructions.
    ///
    /// `sum` maintains the last value, which it reads from the decoder at first and stores there at the end. It takes a
    /// run of `n` values `v` within one miniblock, the least delta and `n` slots. To the first slot it writes
    /// `last + (v0 + least)`, to the second slot that plus `(v1 + least)`, and so on until all slots are written.
    /// Values in the run may be wider than `T`, because DuckDB subtracts 32-bit values in 64 bits. The upper bits wrap
    /// away.
    ///
    /// # Safety
    /// `sum` writes all of its slots.
    #[inline(always)]
    unsafe fn walk(
        &mut self,
        data: &[u8],
        n: usize,
        out: &mut Vec<T>,
        mut sum: impl FnMut(&Packed<'_>, T, &mut [MaybeUninit<T>]),
    ) -> Result<(), Malformed> {
        // We work on a local copy, so that its fields need not be in memory while we write values.
        let mut at = self.clone();
        at.left = at
            .left
            .checked_sub(n)
            .ok_or(Malformed("the delta values end early"))?;
        out.reserve(n);
        let mut slots = out.spare_capacity_mut().get_mut(..n).unwrap_or_default();
        if at.first_is_next
            && let Some((first, rest)) = std::mem::take(&mut slots).split_first_mut()
        {
            first.write(at.last);
            slots = rest;
            at.first_is_next = false;
        }
        while !slots.is_empty() {
            let step = at.enter_miniblock(data, slots.len())?;
            let (these, rest) = slots.split_at_mut(step);
            sum(&at.run(data, step)?, at.least, these);
            at.passed += step;
            slots = rest;
        }
        *self = at;
        // SAFETY: `n` values were reserved, and all of their slots were written: the first value here if it was
        // next, and the others by `sum`, as the caller promises.
        unsafe { out.set_len(out.len() + n) };
        Ok(())
    }

    /// Returns the position after the last miniblock, at which the data after the values starts.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if a header breaks the rules or the bytes end before the last miniblock does.
    pub fn end(&self, data: &[u8]) -> Result<usize, Malformed> {
        let mut at = self.clone();
        let mut left = at.left - usize::from(at.first_is_next && at.left > 0);
        while left > 0 {
            let step = at.enter_miniblock(data, left)?;
            at.passed += step;
            left -= step;
        }
        let end = at.end;
        if end > data.len() {
            return Err(Malformed("the last delta miniblock ends early"));
        }
        Ok(end)
    }

    /// Moves to the miniblock that contains the next value. Returns how many of the next `n` values this miniblock
    /// contains.
    #[inline(always)]
    fn enter_miniblock(&mut self, data: &[u8], n: usize) -> Result<usize, Malformed> {
        if self.passed == self.miniblock_values {
            self.bits = self.end;
            if self.next_miniblock == self.miniblocks {
                self.least = T::wrap(zigzag(uleb128(data, &mut self.bits)?));
                self.widths = self.bits;
                self.bits = self.bits.saturating_add(self.miniblocks);
                self.next_miniblock = 0;
            }
            self.width = *data
                .get(self.widths + self.next_miniblock)
                .ok_or(Malformed("the widths of the delta miniblocks end early"))?;
            if self.width > 64 {
                return Err(Malformed("a delta miniblock is wider than 64 bits"));
            }
            // The number of values in a miniblock is below 2^32. It is a multiple of 32, so the miniblock fills whole
            // bytes.
            let bytes = self.miniblock_values / 8 * usize::from(self.width);
            self.end = self.bits.saturating_add(bytes);
            self.next_miniblock += 1;
            self.passed = 0;
        }
        Ok(n.min(self.miniblock_values - self.passed))
    }

    /// Returns the miniblock's next `n` values, which are still packed.
    #[inline(always)]
    fn run<'a>(&self, data: &'a [u8], n: usize) -> Result<Packed<'a>, Malformed> {
        data.get(self.bits..)
            .and_then(|bits| Packed::new(bits, self.passed, usize::from(self.width), n))
            .ok_or(Malformed("a delta miniblock ends early"))
    }
}

/// Reads an unsigned LEB128 number with at most 64 bits, and moves `at` past it.
#[inline]
fn uleb128(data: &[u8], at: &mut usize) -> Result<u64, Malformed> {
    if let Some(&byte) = data.get(*at)
        && byte < 0x80
    {
        *at += 1;
        return Ok(byte.into());
    }
    long_uleb128(data, at)
}

/// Implements [`uleb128`] for numbers of any length.
fn long_uleb128(data: &[u8], at: &mut usize) -> Result<u64, Malformed> {
    let mut value = 0;
    for (i, &byte) in data
        .get(*at..)
        .unwrap_or_default()
        .iter()
        .take(10)
        .enumerate()
    {
        value |= u64::from(byte & 0x7f) << (7 * i);
        if byte < 0x80 {
            *at += i + 1;
            return Ok(value);
        }
    }
    Err(Malformed(
        "a delta header ends early or has a number of more than 64 bits",
    ))
}

/// Converts a zigzag number to a signed number.
#[inline]
fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
