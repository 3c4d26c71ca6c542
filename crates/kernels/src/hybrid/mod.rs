//! Decodes and encodes the hybrid of run-length encoding and bit packing, which stores levels, dictionary indices and
//! booleans.
//!
//! ```text
//! run         := rle_run | packed_run
//! rle_run     := varint(count << 1)       value, in as many whole bytes as the bit width needs
//! packed_run  := varint(groups << 1 | 1)  groups × 8 values, least significant bit first
//! ```
//!
//! Runs are short: fifty to ninety values on average, and often eight. So the cost of starting a run dominates, and the
//! header has a fast path for its one-byte form. A decoder is a handful of numbers that borrows nothing, so you pass
//! the runs' bytes to every call. They should be the same bytes each time. Other bytes decode to other values or return
//! an error, but this is never unsafe.
//!
//! With bit width 0, the only value is zero, which repeats without limit and takes no bytes.

use crate::Malformed;
use crate::bitmap::Bitmap;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

mod bits;
mod decode;
mod encode;
mod gather;
#[cfg(target_arch = "x86_64")]
mod gather_avx512;
#[cfg(target_arch = "aarch64")]
mod gather_neon;
#[cfg(target_arch = "x86_64")]
mod gather_x86_64;
mod limit;
mod loops;
mod numbers;
mod run;
mod short;

pub use decode::GROUP;
pub use encode::{Runs, encode_bits, encode_run, encode_u8, encode_u32};
use gather::Entries;
#[cfg(target_arch = "x86_64")]
use gather_avx512::InRegisters;
use loops::Loops;
use numbers::{Indices, Levels};
use run::Run;

/// The number of values in each packed run that DuckDB writes. The last ones may be padding.
pub const PACKED_BLOCK: usize = 256;

/// The part of a section of runs that follows the taken values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// No values.
    Nothing,
    /// The given number of values, at least one, in a form that writers leave as padding. They may also be values, so
    /// the caller must compare the number of values with a count from elsewhere.
    Padding(usize),
    /// Values, because no writer leaves padding of this form.
    Values,
}

impl Leftover {
    /// Returns `Padding` for one value or more.
    fn of_padding(values: usize) -> Self {
        match values {
            0 => Self::Nothing,
            _ => Self::Padding(values),
        }
    }
}

/// A decoder of runs, which is positioned between two values.
#[derive(Debug, Clone)]
pub struct HybridDecoder {
    /// The number of bits per value.
    width: u8,
    /// The byte position after the current run, at which the next header begins.
    position: usize,
    /// The rest of the current run.
    run: Run,
}

impl HybridDecoder {
    /// Creates a decoder at the start of runs whose values have `width` bits, 0 to 32.
    ///
    /// If the width is greater, every call that reads values returns an error.
    pub fn new(width: u8) -> Self {
        Self {
            width,
            position: 0,
            run: Run::EMPTY,
        }
    }

    /// Returns the bit width of the values.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Appends `n` values of one bit to `out`, and returns the number of ones among them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early or have wider values. Some values may already have been appended
    /// then.
    pub fn extend_bitmap(
        &mut self,
        data: &[u8],
        n: usize,
        out: &mut Bitmap,
    ) -> Result<usize, Malformed> {
        self.check_width(1)?;
        // On x86-64, AVX2 is enough, because AVX-512 could only count the bits faster.
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2::detect() {
            return cpu.extend_bitmap(self, data, n, out);
        }
        Scalar.extend_bitmap(self, data, n, out)
    }

    /// Appends `n` values of at most 8 bits, which must not exceed `max`.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early or contain a value above `max`. Nothing is appended in that case.
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
        #[cfg(target_arch = "aarch64")]
        if let Some(cpu) = Neon::detect() {
            return cpu.extend(&Levels::new(cpu, self.width, max), self, data, n, out);
        }
        Scalar.extend(&Levels::new(Scalar, self.width, max), self, data, n, out)
    }

    /// Appends `n` values of at most 32 bits.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early. Nothing is appended in that case.
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
        #[cfg(target_arch = "aarch64")]
        if let Some(cpu) = Neon::detect() {
            return cpu.extend(&Indices { cpu, width }, self, data, n, out);
        }
        Scalar.extend(&Indices { cpu: Scalar, width }, self, data, n, out)
    }

    /// Appends the dictionary entries whose indices are the next `n` values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early or an index is not below `dictionary.len()`. Nothing is appended
    /// in that case.
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
        #[cfg(target_arch = "aarch64")]
        if let Some(cpu) = Neon::detect() {
            return gather_neon::extend(cpu, entries(), self, data, n, out);
        }
        Scalar.extend(&entries(), self, data, n, out)
    }

    /// Skips `n` values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early.
    pub fn skip(&mut self, data: &[u8], n: usize) -> Result<(), Malformed> {
        self.check_width(32)?;
        let mut left = n;
        while left > 0 {
            left -= self.take(data, left)?.left();
        }
        Ok(())
    }

    /// Skips `n` values of one bit, and returns the number of ones among them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the runs end early or have wider values.
    pub fn skip_count_ones(&mut self, data: &[u8], n: usize) -> Result<usize, Malformed> {
        self.check_width(1)?;
        #[cfg(target_arch = "x86_64")]
        if let Some(cpu) = Avx2::detect() {
            return cpu.skip_count_ones(self, data, n);
        }
        Scalar.skip_count_ones(self, data, n)
    }

    /// Returns the part of the runs that follows the taken values.
    ///
    /// The runs do not record how many of their values count, so their form alone decides:
    ///
    /// | leftover | form |
    /// |---|---|
    /// | nothing | the end of the last group or of DuckDB's packed block of 256; zeros; runs without values, also cut ones |
    /// | padding | the rest of the run that holds the last value; one more packed run, if the section ends with it |
    /// | values | any other runs |
    pub fn leftover(&self, data: &[u8]) -> Leftover {
        if self.width == 0 {
            return self.leftover_of_width_0(data);
        }
        let unused = match self.run {
            // The unused bits of a group are not values, because a packed run always has whole groups.
            Run::Packed { left, .. } if left < GROUP => 0,
            // DuckDB packs 256 values at a time, and leaves arbitrary bits after the last one.
            Run::Packed { next, left, .. } if next > 0 && next + left == PACKED_BLOCK => 0,
            Run::Packed { left, .. } | Run::Repeated { left, .. } => left,
        };
        let mut position = self.position;
        loop {
            let before = position;
            let run = match data.get(position) {
                None => return Leftover::of_padding(unused),
                // Zeros are padding, because as run headers they are runs without values.
                Some(0) => {
                    position += 1;
                    continue;
                }
                Some(_) => run::next(data, &mut position, self.width),
            };
            match run {
                Err(_) if run::is_cut(data, before, self.width) => {
                    return Leftover::of_padding(unused);
                }
                Ok(run) if run.left() == 0 => {}
                Ok(Run::Packed { left, .. }) if unused == 0 && position == data.len() => {
                    return Leftover::of_padding(left);
                }
                Ok(_) | Err(_) => return Leftover::Values,
            }
        }
    }

    /// Returns the part that follows the taken values for runs of width 0, whose only content is the number of values.
    /// We accept runs with too few values, because readers need no header for these values.
    fn leftover_of_width_0(&self, data: &[u8]) -> Leftover {
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
            let before = values;
            values = values.saturating_add(count.saturating_mul(unit));
            position = next;
            if values > taken.saturating_add(padding) {
                let holds_last = before < taken || (before == taken && is_packed);
                return match holds_last && position == data.len() {
                    true => Leftover::of_padding(values - taken),
                    false => Leftover::Values,
                };
            }
        }
        Leftover::Nothing
    }

    /// Checks that values of this width fit into `bits` bits.
    #[inline]
    fn check_width(&self, bits: u8) -> Result<(), Malformed> {
        if self.width > bits {
            Err(Malformed("a bit width is too wide"))
        } else {
            Ok(())
        }
    }

    /// Takes the next values of one run, which are at least one and at most `n`.
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
