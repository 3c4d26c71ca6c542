//! Bytes of a page to values: Encodings, "Delta-length byte array (DELTA_LENGTH_BYTE_ARRAY = 6)".

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::delta::DeltaDecoder;

use crate::encoding::byte_array::{ByteSink, EachValue};
use crate::encoding::ends_early;
use crate::malformed;

/// Lengths unpacked at once: they stay in the first cache until they are used.
pub(crate) const BLOCK: usize = 2048;

/// A position in the values of a page.
pub(crate) struct DeltaLengthByteArray {
    page: Buffer,
    lengths: Lengths,
    /// Where in the page the bytes of the next value are.
    position: usize,
}

impl DeltaLengthByteArray {
    /// Stands before the first value.
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

    /// Passes over the next `n` values.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.append_to(n, &mut EachValue(|_: &[u8]| Ok(())))
    }

    /// Tells whether there are values beyond those that were taken.
    pub(crate) fn has_more(&self) -> bool {
        self.lengths.has_more()
    }

    /// Bytes of all values to come.
    pub(crate) fn most_bytes(&self) -> usize {
        self.page.len().saturating_sub(self.position)
    }

    /// How many of the next `n` values fit into `budget` bytes, at `overhead` bytes more for each.
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

/// How many `lengths` fit into `budget` bytes, at `overhead` bytes more for each; `None` if all do.
///
/// A length that is an error is left to the append that meets it.
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
    /// Lengths that are unpacked, used up before `next`.
    ready: Vec<i32>,
    next: usize,
}

impl Lengths {
    /// The lengths at the beginning of `data`, and the position behind them.
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

    /// The next `n` lengths, fewer only where there are no more; they stay the next ones.
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

    /// The next `n` lengths; they stay the next ones.
    pub(crate) fn exactly(&mut self, n: usize) -> Result<&[i32]> {
        let lengths = self.peek(n)?;
        if lengths.len() < n {
            return Err(ends_early());
        }
        Ok(lengths)
    }

    /// Tells whether there are lengths beyond those that were passed.
    pub(crate) fn has_more(&self) -> bool {
        self.next < self.ready.len() || self.decoder.left() > 0
    }

    /// Passes over `n` lengths that [`Self::peek`] showed.
    pub(crate) fn pass(&mut self, n: usize) {
        self.next = self.next.saturating_add(n).min(self.ready.len());
    }
}
