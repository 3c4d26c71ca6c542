//! Decodes page bytes to values (Encodings, "Delta Strings (DELTA_BYTE_ARRAY = 7)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::bytes::delta_byte_array_bytes;
use herringbone_kernels::plain::{self, Plain};

use crate::encoding::byte_array::{ByteSink, EachValue};
use crate::encoding::delta_length_byte_array::{BLOCK, Lengths, fit};
use crate::encoding::{ValueDecoder, ends_early};
use crate::malformed;

/// A position in a page's values.
pub(crate) struct DeltaByteArray {
    page: Buffer,
    prefixes: Lengths,
    suffixes: Lengths,
    /// The page offset of the next value's suffix.
    position: usize,
    /// The previous value, kept because the next value can share a prefix with it.
    last: Vec<u8>,
    /// The length of each value, for a fixed-length type.
    width: Option<usize>,
}

impl DeltaByteArray {
    /// Creates a decoder that starts at the first value. If a `width` is given, values of any other length are errors.
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

    /// Skips the next `n` values.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.append_to(n, &mut EachValue(|_: &[u8]| Ok(())))
    }

    /// Returns true if there are more values after the consumed ones.
    pub(crate) fn has_more(&self) -> bool {
        self.prefixes.has_more() || self.suffixes.has_more()
    }

    /// Returns the byte count of the next `n` values. This ignores malformed values, because the append will report the
    /// error.
    pub(crate) fn most_bytes(&mut self, n: usize) -> usize {
        match (self.prefixes.peek(n), self.suffixes.peek(n)) {
            (Ok(prefixes), Ok(suffixes)) => delta_byte_array_bytes(prefixes, suffixes).unwrap_or(0),
            _ => 0,
        }
    }

    /// Returns how many of the next `n` values fit into `budget` bytes, with `overhead` additional bytes per value.
    ///
    /// We have to add up the lengths. The page size is no bound, because values repeat prefixes of their predecessors.
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

/// Fails if a prefix and its suffix do not add up to `width`.
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

/// FIXED_LEN_BYTE_ARRAY values, all of the type's length.
pub(crate) struct FixedLength {
    values: DeltaByteArray,
    width: usize,
    /// Scratch memory for the values' bytes before they are converted to units.
    bytes: Vec<u8>,
}

impl FixedLength {
    /// Creates a decoder that starts at the first value. Values have `width` bytes.
    pub(crate) fn new(page: Buffer, width: usize) -> Result<Self> {
        Ok(Self {
            values: DeltaByteArray::new(page, Some(width))?,
            width,
            bytes: Vec::new(),
        })
    }

    /// Returns the number of values that `units` units make up.
    fn num_values<U>(&self, units: usize) -> usize {
        (units * size_of::<U>())
            .checked_div(self.width)
            .unwrap_or(0)
    }
}

impl<U: Plain> ValueDecoder<U> for FixedLength {
    fn extend(&mut self, n: usize, out: &mut Vec<U>) -> Result<()> {
        let n = self.num_values::<U>(n);
        let Self { values, bytes, .. } = self;
        bytes.clear();
        let mut sink = EachValue(|value: &[u8]| {
            bytes.extend_from_slice(value);
            Ok(())
        });
        values.append_to(n, &mut sink)?;
        plain::extend(bytes, out);
        Ok(())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        let n = self.num_values::<U>(n);
        self.values.skip(n)
    }

    fn has_more(&self) -> bool {
        self.values.has_more()
    }
}
