//! A page's booleans in any encoding, for reading and writing.

use std::ops::Range;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;

use super::physical_values::Values;
use super::plain::PlainBooleans;
use super::rle::RleBooleans;
use super::{Rest, ValueEncoder, mismatch};
use crate::malformed;

/// The remaining booleans of a data page.
pub(crate) enum Booleans {
    /// One bit per value.
    Plain(PlainBooleans),
    /// Runs.
    Rle(RleBooleans),
}

impl Booleans {
    /// Creates a page without booleans.
    pub(crate) fn empty() -> Self {
        Self::Plain(PlainBooleans::new(Buffer::default()))
    }

    /// Creates a decoder for a page's booleans.
    ///
    /// # Errors
    /// Fails with Unsupported if the encoding does not apply to booleans, and with Corrupt if the runs end early.
    pub(crate) fn new(encoding: Encoding, values: Buffer) -> Result<Self> {
        match encoding {
            Encoding::Plain => Ok(Self::Plain(PlainBooleans::new(values))),
            _ if values.is_empty() => Ok(Self::empty()),
            Encoding::Rle => RleBooleans::new(&values).map(Self::Rle),
            _ => Err(Error::unsupported(format!("{encoding} for BOOLEAN"))),
        }
    }

    /// Appends the next `n` booleans.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        match self {
            Self::Plain(bits) => bits.extend(n, out),
            Self::Rle(runs) => runs.extend(n, out),
        }
    }

    /// Appends the next `n` booleans at the set bits of `validity`'s slots, filling the other slots with false. Returns
    /// false without doing anything if the booleans have to be decoded before spreading.
    pub(crate) fn spread(
        &mut self,
        n: usize,
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Bitmap,
    ) -> Result<bool> {
        match self {
            Self::Plain(bits) => bits.spread(n, validity, slots, out).map(|()| true),
            Self::Rle(_) => Ok(false),
        }
    }

    /// Returns the rest of the page, after the consumed booleans.
    pub(crate) fn rest(&self) -> Rest<'_> {
        match self {
            Self::Plain(bits) => bits.rest(),
            Self::Rle(runs) => runs.rest(),
        }
    }

    /// Skips the next `n` booleans.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Self::Plain(bits) => bits.skip(n),
            Self::Rle(runs) => runs.skip(n),
        }
    }
}

/// The booleans of the page under construction, kept as bits until the page ends.
pub(crate) struct BooleanEncoder {
    bits: Bitmap,
    /// Appends the given number of bits in the page's encoding.
    append: fn(&[u8], usize, &mut Vec<u8>),
}

impl BooleanEncoder {
    /// Creates an encoder for pages whose values section `append` encodes.
    pub(crate) fn new(append: fn(&[u8], usize, &mut Vec<u8>)) -> Self {
        let bits = Bitmap::new();
        Self { bits, append }
    }
}

impl ValueEncoder for BooleanEncoder {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        let Values::Boolean { bits, first, len } = *values else {
            return Err(mismatch());
        };
        let appended = self.bits.append_packed(bits, first, len);
        appended.map(drop).map_err(malformed)
    }

    fn page_bytes(&self) -> usize {
        self.bits.len().div_ceil(8)
    }

    fn finish_page(&mut self, out: &mut Vec<u8>, _: &mut Vec<usize>) {
        let bits = self.bits.finish_boolean();
        (self.append)(bits.values(), bits.len(), out);
    }

    fn heap_bytes(&self) -> usize {
        self.bits.heap_bytes()
    }
}
