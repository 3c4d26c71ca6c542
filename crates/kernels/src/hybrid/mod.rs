//! The hybrid of run-length encoding and bit packing: levels, dictionary indices and booleans.
//!
//! ```text
//! run         := rle_run | packed_run
//! rle_run     := varint(count << 1)       value, in as many whole bytes as the bit width needs
//! packed_run  := varint(groups << 1 | 1)  groups × 8 values, least significant bit first
//! ```
//!
//! Runs are short: fifty to ninety values on average, and often eight. What matters is the cost of
//! starting one, so the header has a fast path for its one-byte form and a decoder is a handful of
//! numbers without a borrow: the run bytes are passed to every call. They should be the same bytes
//! every time. With other ones the values are other ones, or it is an error, but nothing worse.
//!
//! Bit width 0 has one value, zero, as often as asked for and without any bytes.

use crate::Malformed;
use crate::bit_unpack;
use crate::bitmap::Bitmap;

mod run;
mod scalar;

use run::Run;

/// A decoder of runs, standing between two values.
#[derive(Debug, Clone)]
pub struct HybridDecoder {
    /// Bits of a value.
    width: u8,
    /// Byte position behind the current run: where the next header is.
    position: usize,
    /// What is left of the current run.
    run: Run,
}

impl HybridDecoder {
    /// A decoder at the start of runs with values of `width` bits; 0 to 32 are valid.
    ///
    /// With a greater width every call that asks for values is an error.
    pub fn new(width: u8) -> Self {
        Self {
            width,
            position: 0,
            run: Run::EMPTY,
        }
    }

    /// The bit width of the values.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Appends `n` values of one bit to `out`, and returns how many of them are 1.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or have wider values. Values may have been appended.
    pub fn extend_bitmap(
        &mut self,
        data: &[u8],
        n: usize,
        out: &mut Bitmap,
    ) -> Result<usize, Malformed> {
        self.check_width(1)?;
        let before = out.count_set();
        let mut left = n;
        while left > 0 {
            let taken = match self.take(data, left)? {
                Run::Repeated { value, left } => {
                    out.append_run(value != 0, left);
                    left
                }
                Run::Packed { start, next, left } => {
                    out.append_packed(data.get(start..).unwrap_or_default(), next, left)?;
                    left
                }
            };
            left -= taken;
        }
        Ok(out.count_set() - before)
    }

    /// Appends `n` values of at most 8 bits, none of them above `max`.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or hold a value above `max`. Values may have been
    /// appended.
    pub fn extend_u8(
        &mut self,
        data: &[u8],
        n: usize,
        max: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        self.check_width(8)?;
        let too_great = Malformed("a level is greater than the column's greatest");
        let any_fits = (1_u32 << self.width) - 1 <= u32::from(max);
        let mut left = n;
        while left > 0 {
            let taken = match self.take(data, left)? {
                Run::Repeated { value, left } => {
                    let value = u8::try_from(value).ok().filter(|value| *value <= max);
                    out.resize(out.len() + left, value.ok_or(too_great)?);
                    left
                }
                Run::Packed { start, next, left } => {
                    let before = out.len();
                    let bytes = data.get(start..).unwrap_or_default();
                    bit_unpack::extend_u8(bytes, next, self.width, left, out)?;
                    if !any_fits && !scalar::all_at_most(&out[before..], max) {
                        return Err(too_great);
                    }
                    left
                }
            };
            left -= taken;
        }
        Ok(())
    }

    /// Appends `n` values of at most 32 bits.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early. Values may have been appended.
    pub fn extend_u32(
        &mut self,
        data: &[u8],
        n: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), Malformed> {
        self.check_width(32)?;
        let mut left = n;
        while left > 0 {
            let taken = match self.take(data, left)? {
                Run::Repeated { value, left } => {
                    out.resize(out.len() + left, value);
                    left
                }
                Run::Packed { start, next, left } => {
                    let bytes = data.get(start..).unwrap_or_default();
                    bit_unpack::extend_u32(bytes, next, self.width, left, out)?;
                    left
                }
            };
            left -= taken;
        }
        Ok(())
    }

    /// Appends the dictionary entries that the next `n` values are the indices of.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or an index is not below `dictionary.len()`. Entries
    /// may have been appended.
    pub fn gather<T: Copy>(
        &mut self,
        data: &[u8],
        n: usize,
        dictionary: &[T],
        out: &mut Vec<T>,
    ) -> Result<(), Malformed> {
        self.check_width(32)?;
        out.reserve(n.min(data.len().saturating_mul(8)));
        let mut left = n;
        while left > 0 {
            let taken = match self.take(data, left)? {
                Run::Repeated { value, left } => {
                    let entry = dictionary.get(value as usize).ok_or(scalar::BEYOND)?;
                    out.resize(out.len() + left, *entry);
                    left
                }
                Run::Packed { start, next, left } => {
                    let bytes = data.get(start..).unwrap_or_default();
                    scalar::gather(bytes, next, self.width, left, dictionary, out)?;
                    left
                }
            };
            left -= taken;
        }
        Ok(())
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early.
    pub fn skip(&mut self, data: &[u8], n: usize) -> Result<(), Malformed> {
        self.check_width(32)?;
        let mut left = n;
        while left > 0 {
            left -= self.take(data, left)?.left();
        }
        Ok(())
    }

    /// Passes over `n` values of one bit, and returns how many of them are 1.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or have wider values.
    pub fn skip_count_ones(&mut self, data: &[u8], n: usize) -> Result<usize, Malformed> {
        self.check_width(1)?;
        let mut ones = 0;
        let mut left = n;
        while left > 0 {
            let taken = match self.take(data, left)? {
                Run::Repeated { value, left } => {
                    ones += if value != 0 { left } else { 0 };
                    left
                }
                Run::Packed { start, next, left } => {
                    ones += scalar::count_ones(data.get(start..).unwrap_or_default(), next, left);
                    left
                }
            };
            left -= taken;
        }
        Ok(ones)
    }

    /// Whether values of this width fit into `bits` bits.
    #[inline]
    fn check_width(&self, bits: u8) -> Result<(), Malformed> {
        if self.width > bits {
            Err(Malformed("a bit width is too wide"))
        } else {
            Ok(())
        }
    }

    /// The next values, of one run: at least one and at most `n`.
    #[inline(always)]
    fn take(&mut self, data: &[u8], n: usize) -> Result<Run, Malformed> {
        while self.run.left() == 0 {
            self.run = run::next(data, &mut self.position, self.width)?;
        }
        Ok(self.run.split(n))
    }
}

#[cfg(test)]
mod tests;
