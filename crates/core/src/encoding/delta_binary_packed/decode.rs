//! Decodes page bytes to values (Encodings, "Delta Encoding (DELTA_BINARY_PACKED = 5)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::delta::{Delta, DeltaDecoder};

use crate::encoding::ValueDecoder;
use crate::malformed;

/// A position in a page's values.
pub(crate) struct Decoder<T> {
    values: Buffer,
    decoder: DeltaDecoder<T>,
}

impl<T: Delta> Decoder<T> {
    /// Creates a decoder that starts at the first value.
    pub(crate) fn new(values: Buffer) -> Result<Self> {
        let decoder = DeltaDecoder::new(&values).map_err(malformed)?;
        Ok(Self { values, decoder })
    }
}

impl<T: Delta> ValueDecoder<T> for Decoder<T> {
    fn extend(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.decoder.extend(&self.values, n, out).map_err(malformed)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.decoder.skip(&self.values, n).map_err(malformed)
    }

    fn has_more(&self) -> bool {
        self.decoder.left() > 0
    }
}
