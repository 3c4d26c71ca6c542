//! Bytes of a page to values.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::bytes::delta_byte_array_bytes;
use herringbone_kernels::plain::{self, Plain};

use crate::encoding::byte_array::ByteSink;
use crate::encoding::delta_length_byte_array::{BLOCK, Lengths, fit};
use crate::encoding::{ValueDecoder, ends_early};
use crate::malformed;

/// A position in the values of a page.
pub(crate) struct DeltaByteArray {
    page: Buffer,
    prefixes: Lengths,
    suffixes: Lengths,
    /// Where in the page the suffix of the next value is.
    position: usize,
    /// The value before the next one.
    last: Vec<u8>,
    /// The length of each value, if the type has one.
    width: Option<usize>,
}

impl DeltaByteArray {
    /// Stands before the first value; values of another length than `width` are errors.
    pub(crate) fn new(page: Buffer, width: Option<usize>) -> Result<Self> {
        let (prefixes, start) = Lengths::new(page.clone())?;
        let (suffixes, end) = Lengths::new(page.slice(start))?;
        Ok(Self {
            page,
            prefixes,
            suffixes,
            position: start + end,
            last: Vec::new(),
            width,
        })
    }

    /// Appends the next `n` values.
    pub(crate) fn append_to(&mut self, n: usize, sink: &mut impl ByteSink) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let step = left.min(BLOCK);
            let prefixes = self.prefixes.exactly(step)?;
            let suffixes = self.suffixes.exactly(step)?;
            check_width(prefixes, suffixes, self.width)?;
            let bytes = self.page.get(self.position..).ok_or_else(ends_early)?;
            self.position += sink
                .append_delta_byte_array(prefixes, suffixes, bytes, &mut self.last)
                .map_err(malformed)?;
            self.prefixes.pass(step);
            self.suffixes.pass(step);
            left -= step;
        }
        Ok(())
    }

    /// Shows the next `n` values to `see`.
    pub(crate) fn for_each(
        &mut self,
        n: usize,
        mut see: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..n {
            let prefix = self.prefixes.next()?;
            let suffix = self.suffixes.next()?;
            if prefix > self.last.len() {
                return Err(Error::corrupt(
                    "a value shares more than the value before it has",
                ));
            }
            let rest = self.page.get(self.position..).unwrap_or_default();
            let suffix = rest.get(..suffix).ok_or_else(ends_early)?;
            self.last.truncate(prefix);
            self.last.extend_from_slice(suffix);
            self.position += suffix.len();
            if self.width.is_some_and(|width| width != self.last.len()) {
                return Err(wrong_width());
            }
            see(&self.last)?;
        }
        Ok(())
    }

    /// Passes over the next `n` values.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.for_each(n, |_| Ok(()))
    }

    /// Bytes of the next `n` values; what is broken in them is left to the append that meets it.
    pub(crate) fn most_bytes(&mut self, n: usize) -> usize {
        match (self.prefixes.peek(n), self.suffixes.peek(n)) {
            (Ok(prefixes), Ok(suffixes)) => delta_byte_array_bytes(prefixes, suffixes).unwrap_or(0),
            _ => 0,
        }
    }

    /// How many of the next `n` values fit into `budget` bytes, at `overhead` bytes more for each.
    ///
    /// Values repeat what the ones before them had, so that the page's size is no bound.
    pub(crate) fn values_that_fit(
        &mut self,
        n: usize,
        overhead: usize,
        budget: usize,
    ) -> Result<usize> {
        let prefixes = self.prefixes.peek(n)?;
        let suffixes = self.suffixes.peek(n)?;
        if prefixes.len() == suffixes.len()
            && let Ok(bytes) = delta_byte_array_bytes(prefixes, suffixes)
            && bytes.saturating_add(n.saturating_mul(overhead)) <= budget
        {
            return Ok(n);
        }
        let lengths = prefixes.iter().zip(suffixes);
        let lengths = lengths.map(|(prefix, suffix)| prefix.saturating_add(*suffix));
        Ok(fit(lengths, overhead, budget).unwrap_or(n))
    }
}

/// Fails where prefix and suffix do not add up to `width`.
fn check_width(prefixes: &[i32], suffixes: &[i32], width: Option<usize>) -> Result<()> {
    let Some(width) = width else {
        return Ok(());
    };
    let mut lengths = prefixes.iter().zip(suffixes);
    if lengths.all(|(p, s)| usize::try_from(p.wrapping_add(*s)) == Ok(width)) {
        return Ok(());
    }
    Err(wrong_width())
}

#[cold]
fn wrong_width() -> Error {
    Error::corrupt("a fixed-length value of another length")
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
            values: DeltaByteArray::new(page, Some(width))?,
            width,
            bytes: Vec::new(),
        })
    }

    /// Shows the values of the next `bytes` bytes to `see`.
    fn for_each(&mut self, bytes: usize, mut see: impl FnMut(&[u8])) -> Result<()> {
        let n = bytes.checked_div(self.width).unwrap_or(0);
        self.values.for_each(n, |value| {
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
