//! PLAIN booleans (Encodings, "Plain (PLAIN = 0)"). These have one bit per value, least significant first.

use std::ops::Range;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::spread_bits;

use crate::encoding::{Rest, ends_early};
use crate::malformed;

/// A position in a page's bits.
pub(crate) struct PlainBooleans {
    bits: Buffer,
    /// The number of bits consumed so far.
    position: usize,
}

impl PlainBooleans {
    /// Creates a decoder that starts at the first bit.
    pub(crate) fn new(bits: Buffer) -> Self {
        Self { bits, position: 0 }
    }

    /// Appends the next `n` booleans.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        out.append_packed(&self.bits, self.position, n)
            .map_err(malformed)?;
        self.position += n;
        Ok(())
    }

    /// Appends the next `n` booleans at the set bits of `validity`'s slots, filling the other slots with false.
    pub(crate) fn spread(
        &mut self,
        n: usize,
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Bitmap,
    ) -> Result<()> {
        let first = self.position;
        self.skip(n)?;
        spread_bits(&self.bits, first, validity, slots.start, slots.len(), out);
        Ok(())
    }

    /// Returns the bytes that follow the last consumed bit.
    pub(crate) fn rest(&self) -> Rest<'_> {
        Rest::bytes(&self.bits, self.position.div_ceil(8), 1)
    }

    /// Skips the next `n` booleans.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        let end = self.position.checked_add(n).ok_or_else(ends_early)?;
        if end.div_ceil(8) > self.bits.len() {
            return Err(ends_early());
        }
        self.position = end;
        Ok(())
    }
}

/// Appends the first `len` of `bits` as the values section of a page.
pub(crate) fn append_bits(bits: &[u8], len: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(bits.get(..len.div_ceil(8)).unwrap_or(bits));
}
