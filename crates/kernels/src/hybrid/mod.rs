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
use crate::bitmap::Bitmap;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

mod bits;
mod decode;
mod encode;
mod gather;
#[cfg(target_arch = "x86_64")]
mod gather_avx512;
#[cfg(target_arch = "x86_64")]
mod gather_x86_64;
mod limit;
mod loops;
mod numbers;
mod run;
mod short;

use decode::GROUP;
pub use encode::{Runs, encode_bits, encode_run, encode_u8, encode_u32};
use gather::Entries;
#[cfg(target_arch = "x86_64")]
use gather_avx512::InRegisters;
use loops::Loops;
use numbers::{Indices, Levels};
use run::Run;

/// Number of values per packed run of duckdb; the last ones may be padding.
const PACKED_BLOCK: usize = 256;

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
        // Counting bits is all that vectors could do here.
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2::detect() {
            return cpu.extend_bitmap(self, data, n, out);
        }
        Scalar.extend_bitmap(self, data, n, out)
    }

    /// Appends `n` values of at most 8 bits, none of them above `max`.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or hold a value above `max`. Nothing is appended then.
    pub fn extend_u8(
        &mut self,
        data: &[u8],
        n: usize,
        max: u8,
        out: &mut Vec<u8>,
    ) -> Result<(), Malformed> {
        self.check_width(8)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2::detect() {
            return cpu.extend(&Levels::new(cpu, self.width, max), self, data, n, out);
        }
        Scalar.extend(&Levels::new(Scalar, self.width, max), self, data, n, out)
    }

    /// Appends `n` values of at most 32 bits.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early. Nothing is appended then.
    pub fn extend_u32(
        &mut self,
        data: &[u8],
        n: usize,
        out: &mut Vec<u32>,
    ) -> Result<(), Malformed> {
        self.check_width(32)?;
        let width = self.width;
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(cpu) = Avx512::detect() {
                return cpu.extend(&Indices { cpu, width }, self, data, n, out);
            }
            if let Some(cpu) = Avx2::detect() {
                return cpu.extend(&Indices { cpu, width }, self, data, n, out);
            }
        }
        Scalar.extend(&Indices { cpu: Scalar, width }, self, data, n, out)
    }

    /// Appends the dictionary entries that the next `n` values are the indices of.
    ///
    /// # Errors
    /// [`Malformed`] where the runs end early or an index is not below `dictionary.len()`.
    /// Nothing is appended then.
    pub fn gather<T: Copy + 'static>(
        &mut self,
        data: &[u8],
        n: usize,
        dictionary: &[T],
        out: &mut Vec<T>,
    ) -> Result<(), Malformed> {
        self.check_width(32)?;
        let entries = || Entries {
            width: self.width,
            dictionary,
        };
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(cpu) = Avx512::detect()
                && let Some(entries) = InRegisters::new(cpu, entries())
            {
                return cpu.extend(&entries, self, data, n, out);
            }
            if let Some(cpu) = Avx2::detect() {
                return gather_x86_64::extend(cpu, entries(), self, data, n, out);
            }
        }
        Scalar.extend(&entries(), self, data, n, out)
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
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2::detect() {
            return cpu.skip_count_ones(self, data, n);
        }
        Scalar.skip_count_ones(self, data, n)
    }

    /// Tells whether all values of the runs were taken, so that nothing is left but padding.
    ///
    /// Padding is what a packed run has beyond the last value: less than a group, or the rest of a run of one whole block,
    /// as duckdb packs 256 values at a time and leaves any bits behind the last one. Zeros after the last run are padding
    /// too: read as run headers, they are runs without values.
    pub fn is_used_up(&self, data: &[u8]) -> bool {
        if self.width == 0 {
            return self.has_no_more_of_width_0(data);
        }
        let is_padding = match self.run {
            Run::Repeated { left, .. } => left == 0,
            Run::Packed { next, left, .. } => left < GROUP || next + left == PACKED_BLOCK,
        };
        let rest = data.get(self.position..).unwrap_or_default();
        is_padding && rest.iter().all(|byte| *byte == 0)
    }

    /// Compares the values that were taken with those of the run headers, which is all that runs of width 0 consist of.
    /// Runs with fewer values prove nothing: readers need no header to know these values.
    fn has_no_more_of_width_0(&self, data: &[u8]) -> bool {
        let taken = match self.run.left() {
            0 => 0,
            left => usize::MAX - left,
        };
        let (mut position, mut values) = (0, 0_usize);
        while let Some((header, next)) = data
            .get(position)
            .and_then(|_| run::header(data, position).ok())
        {
            let (count, is_packed) = ((header >> 1) as usize, header & 1 == 1);
            let (unit, padding) = match is_packed {
                true => (GROUP, GROUP - 1),
                false => (1, 0),
            };
            values = values.saturating_add(count.saturating_mul(unit));
            if values > taken.saturating_add(padding) {
                return false;
            }
            position = next;
        }
        true
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
