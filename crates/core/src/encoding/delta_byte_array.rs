//! DELTA_BYTE_ARRAY: how much each value shares with the one before it, and what follows then.
//!
//! ```text
//! prefix lengths (DELTA_BINARY_PACKED) | suffix lengths (likewise) | suffixes back to back
//! ```

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::plain::{self, Plain};

use super::delta_length_byte_array::Lengths;
use super::{ValueDecoder, ends_early};

/// A position in the values of a page.
pub(crate) struct DeltaByteArray {
    page: Buffer,
    prefixes: Lengths,
    /// Where in the page the suffix lengths start.
    suffixes_start: usize,
    suffixes: Lengths,
    /// Where in the page the suffix of the next value is.
    position: usize,
    /// The value before the next one.
    last: Vec<u8>,
}

impl DeltaByteArray {
    /// Stands before the first value.
    pub(crate) fn new(page: Buffer) -> Result<Self> {
        let (prefixes, suffixes_start) = Lengths::new(&page)?;
        let (suffixes, end) = Lengths::new(page.get(suffixes_start..).unwrap_or_default())?;
        let position = suffixes_start + end;
        Ok(Self {
            page,
            prefixes,
            suffixes_start,
            suffixes,
            position,
            last: Vec::new(),
        })
    }

    /// Shows the next `n` values to `see`.
    pub(crate) fn for_each(
        &mut self,
        n: usize,
        mut see: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..n {
            let prefix = self.prefixes.next(&self.page)?;
            let lengths = self.page.get(self.suffixes_start..).unwrap_or_default();
            let suffix = self.suffixes.next(lengths)?;
            if prefix > self.last.len() {
                return Err(Error::corrupt(
                    "a value shares more than the value before it has",
                ));
            }
            let rest = self.page.get(self.position..).unwrap_or_default();
            self.last.truncate(prefix);
            self.last
                .extend_from_slice(rest.get(..suffix).ok_or_else(ends_early)?);
            self.position += suffix;
            see(&self.last)?;
        }
        Ok(())
    }
}

/// FIXED_LEN_BYTE_ARRAY values, which must all have the length of the type.
pub(crate) struct FixedLength {
    values: DeltaByteArray,
    width: usize,
    /// Bytes of values on their way to units.
    bytes: Vec<u8>,
}

impl FixedLength {
    /// Stands before the first value of `width` bytes.
    pub(crate) fn new(page: Buffer, width: usize) -> Result<Self> {
        Ok(Self {
            values: DeltaByteArray::new(page)?,
            width,
            bytes: Vec::new(),
        })
    }

    /// Shows the values of the next `bytes` bytes to `see`.
    fn for_each(&mut self, bytes: usize, mut see: impl FnMut(&[u8])) -> Result<()> {
        let width = self.width;
        self.values
            .for_each(bytes.checked_div(width).unwrap_or(0), |value| {
                if value.len() != width {
                    return Err(Error::corrupt("a fixed-length value of another length"));
                }
                see(value);
                Ok(())
            })
    }
}

impl<U: Plain> ValueDecoder<U> for FixedLength {
    fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        self.for_each(n * size_of::<U>(), |value| bytes.extend_from_slice(value))?;
        plain::extend(&bytes, out);
        self.bytes = bytes;
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.for_each(n * size_of::<U>(), |_| {})
    }
}
