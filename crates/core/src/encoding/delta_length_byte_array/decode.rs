//! Decodes page bytes to values (Encodings, "Delta-length byte array (DELTA_LENGTH_BYTE_ARRAY = 6)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::delta::DeltaDecoder;

use crate::encoding::byte_array::{ByteSink, EachValue};
use crate::encoding::ends_early;
use crate::malformed;

/// The number of lengths to unpack at once. Kept small enough for the lengths to stay in the L1 cache until they're
/// used.
pub(crate) const BLOCK: usize = 2048;

/// A position in a page's values.
pub(crate) struct DeltaLengthByteArray {
    page: Buffer,
    lengths: Lengths,
    /// The page offset of the next value's bytes.
    position: usize,
}

impl DeltaLengthByteArray {
    /// Creates a decoder that starts at the first value.
    pub(crate) fn new(page: Buffer) -> Result<Self> {
        let (lengths, position) = Lengths::new(page.clone())?;
        Ok(Self {
            page,
            lengths,
            position,
        })
    }

    /// Appends the next `n` values.
    pub(crate) fn append_to(&mut self, n: usize, sink: &mut impl ByteSink) -> Result<()> {
        let mut left = n;
        while left > 0 {
            let lengths = self.lengths.exactly(left.min(BLOCK))?;
            let passed = lengths.len();
            self.position = sink
                .append_lengths(lengths, &self.page, self.position)
                .map_err(malformed)?;
            self.lengths.pass(passed);
            left -= passed;
        }
        Ok(())
    }

    /// Skips the next `n` values.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.append_to(n, &mut EachValue(|_: &[u8]| Ok(())))
    }

    /// Returns true if there are more values after the consumed ones.
    pub(crate) fn has_more(&self) -> bool {
        self.lengths.has_more()
    }

    /// Returns the byte count of all remaining values.
    pub(crate) fn most_bytes(&self) -> usize {
        self.page.len().saturating_sub(self.position)
    }

    /// Returns how many of the next `n` values fit into `budget` bytes, with `overhead` additional bytes per value.
    pub(crate) fn values_that_fit(
        &mut self,
        n: usize,
        overhead: usize,
        budget: usize,
    ) -> Result<usize> {
        let most = self.page.len().saturating_sub(self.position);
        if most.saturating_add(n.saturating_mul(overhead)) <= budget {
            return Ok(n);
        }
        let lengths = self.lengths.peek(n)?;
        Ok(fit(lengths.iter().copied(), overhead, budget).unwrap_or(n))
    }
}

/// Returns how many values of these `lengths` fit into `budget` bytes, with `overhead` additional bytes per value.
/// Returns `None` if they all fit.
///
/// An invalid length counts as 0 here, because the append will report the error.
pub(crate) fn fit(
    lengths: impl Iterator<Item = i32>,
    overhead: usize,
    budget: usize,
) -> Option<usize> {
    let mut left = budget;
    for (fitting, length) in lengths.enumerate() {
        let length = usize::try_from(length).unwrap_or(0);
        match left.checked_sub(length.saturating_add(overhead)) {
            Some(rest) => left = rest,
            None => return Some(fitting),
        }
    }
    None
}

/// Lengths encoded with DELTA_BINARY_PACKED.
pub(crate) struct Lengths {
    data: Buffer,
    decoder: DeltaDecoder<i32>,
    /// Unpacked lengths. The ones before `next` are consumed.
    ready: Vec<i32>,
    next: usize,
}

impl Lengths {
    /// Creates a decoder for the lengths at the beginning of `data`. Also returns the offset of the bytes that follow.
    pub(crate) fn new(data: Buffer) -> Result<(Self, usize)> {
        let decoder = DeltaDecoder::new(&data).map_err(malformed)?;
        let end = decoder.end(&data).map_err(malformed)?;
        let lengths = Self {
            data,
            decoder,
            ready: Vec::new(),
            next: 0,
        };
        Ok((lengths, end))
    }

    /// Returns the next `n` lengths without consuming them. Near the end of the page there can be fewer.
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[i32]> {
        let ready = self.ready.len() - self.next;
        if ready < n {
            self.ready.drain(..self.next);
            self.next = 0;
            let more = (n - ready).min(self.decoder.left());
            self.decoder
                .extend(&self.data, more, &mut self.ready)
                .map_err(malformed)?;
        }
        let end = self.ready.len().min(self.next.saturating_add(n));
        Ok(self.ready.get(self.next..end).unwrap_or_default())
    }

    /// Returns the next `n` lengths without consuming them, failing if there are fewer.
    pub(crate) fn exactly(&mut self, n: usize) -> Result<&[i32]> {
        let lengths = self.peek(n)?;
        if lengths.len() < n {
            return Err(ends_early());
        }
        Ok(lengths)
    }

    /// Returns true if there are more lengths after the consumed ones.
    pub(crate) fn has_more(&self) -> bool {
        self.next < self.ready.len() || self.decoder.left() > 0
    }

    /// Consumes `n` of the lengths that [`Self::peek`] returned.
    pub(crate) fn pass(&mut self, n: usize) {
        self.next = self.next.saturating_add(n).min(self.ready.len());
    }
}
