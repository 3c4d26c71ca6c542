//! Decodes runs to booleans (Encodings, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::hybrid::HybridDecoder;

use crate::encoding::{Rest, ends_early};
use crate::malformed;

/// The byte count of the length prefix before the runs.
pub(super) const LENGTH_BYTES: usize = 4;

/// A position in a page's runs.
pub(crate) struct RleBooleans {
    /// The runs, without their length.
    runs: Buffer,
    /// The position in the runs.
    decoder: HybridDecoder,
}

impl RleBooleans {
    /// Creates a decoder that starts at the first boolean.
    ///
    /// # Errors
    /// Fails with Corrupt if the page ends before the runs reach their declared length.
    pub(crate) fn new(values: &Buffer) -> Result<Self> {
        let length = values
            .first_chunk::<LENGTH_BYTES>()
            .ok_or_else(ends_early)?;
        let length = u32::from_le_bytes(*length) as usize;
        if length > values.len() - LENGTH_BYTES {
            return Err(Error::corrupt("the runs of booleans end early"));
        }
        Ok(Self {
            runs: values.slice_with_length(LENGTH_BYTES, length),
            decoder: HybridDecoder::new(1),
        })
    }

    /// Appends the next `n` booleans.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        let appended = self.decoder.extend_bitmap(&self.runs, n, out);
        appended.map(drop).map_err(malformed)
    }

    /// Returns the rest of the page, after the consumed booleans.
    pub(crate) fn rest(&self) -> Rest<'_> {
        self.decoder.leftover(&self.runs).into()
    }

    /// Skips the next `n` booleans.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.decoder.skip(&self.runs, n).map_err(malformed)
    }
}
