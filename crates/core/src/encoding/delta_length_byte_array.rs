//! DELTA_LENGTH_BYTE_ARRAY: all lengths, then the bytes of all values back to back.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::delta::DeltaDecoder;

use super::ends_early;
use crate::malformed;

/// Lengths that are kept between unpacking and use.
const BLOCK: usize = 1024;

/// A position in the values of a page.
pub(crate) struct DeltaLengthByteArray {
    page: Buffer,
    lengths: Lengths,
    /// Where in the page the bytes of the next value are.
    position: usize,
}

/// Lengths encoded with DELTA_BINARY_PACKED.
pub(crate) struct Lengths {
    decoder: DeltaDecoder<i32>,
    /// Lengths that are decoded, the next one last.
    ready: Vec<i32>,
}

impl Lengths {
    /// The lengths in `data`, and where they end.
    pub(crate) fn new(data: &[u8]) -> Result<(Self, usize)> {
        let decoder = DeltaDecoder::new(data).map_err(malformed)?;
        let end = decoder.end(data).map_err(malformed)?;
        Ok((
            Self {
                decoder,
                ready: Vec::new(),
            },
            end,
        ))
    }

    /// The next length; `data` is as for [`Self::new`].
    pub(crate) fn next(&mut self, data: &[u8]) -> Result<usize> {
        if self.ready.is_empty() {
            let n = self.decoder.left().min(BLOCK);
            self.decoder
                .extend(data, n, &mut self.ready)
                .map_err(malformed)?;
            self.ready.reverse();
        }
        let length = self.ready.pop().ok_or_else(ends_early)?;
        usize::try_from(length).map_err(|_| Error::corrupt("a byte array of negative length"))
    }
}

impl DeltaLengthByteArray {
    /// Stands before the first value.
    pub(crate) fn new(page: Buffer) -> Result<Self> {
        let (lengths, position) = Lengths::new(&page)?;
        Ok(Self {
            page,
            lengths,
            position,
        })
    }

    /// Shows the next `n` values to `see`.
    pub(crate) fn for_each(
        &mut self,
        n: usize,
        mut see: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        for _ in 0..n {
            let length = self.lengths.next(&self.page)?;
            let rest = self.page.get(self.position..).unwrap_or_default();
            see(rest.get(..length).ok_or_else(ends_early)?)?;
            self.position += length;
        }
        Ok(())
    }
}
