//! Decodes page bytes to values (Encodings, "Plain (PLAIN = 0)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::plain::{self, Plain};

use crate::encoding::{Rest, ends_early, product};

/// A position in PLAIN values.
pub(crate) struct PlainDecoder {
    values: Buffer,
    /// The number of bytes consumed so far.
    position: usize,
}

impl PlainDecoder {
    /// Creates a decoder that starts at the first value.
    pub(crate) fn new(values: Buffer) -> Self {
        Self {
            values,
            position: 0,
        }
    }

    /// Appends the next `n` units.
    pub(crate) fn extend<U: Plain>(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        plain::extend(self.take::<U>(n)?, out);
        Ok(())
    }

    /// Returns the bytes not consumed yet. A value takes `value_bytes` of them.
    pub(crate) fn rest(&self, value_bytes: usize) -> Rest<'_> {
        Rest::bytes(&self.values, self.position, value_bytes)
    }

    /// Skips the next `n` units.
    pub(crate) fn skip<U>(&mut self, n: usize) -> Result<()> {
        self.take::<U>(n).map(drop)
    }

    /// Consumes the next `n` units and returns their bytes.
    pub(crate) fn take<U>(&mut self, n: usize) -> Result<&[u8]> {
        let bytes = product(n, size_of::<U>())?;
        let rest = self.values.get(self.position..).ok_or_else(ends_early)?;
        let taken = rest.get(..bytes).ok_or_else(ends_early)?;
        self.position += bytes;
        Ok(taken)
    }

    /// Consumes the next `n` units and returns them in place. Returns `None` and consumes nothing if they are not
    /// aligned.
    pub(crate) fn slice<U: Plain>(&mut self, n: usize) -> Result<Option<Buffer>> {
        let start = self.position;
        let bytes = self.take::<U>(n)?;
        let length = bytes.len();
        if plain::view::<U>(bytes).is_none() {
            self.position = start;
            return Ok(None);
        }
        Ok(Some(self.values.slice_with_length(start, length)))
    }
}
