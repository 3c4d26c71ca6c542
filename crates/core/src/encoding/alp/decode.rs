//! Decodes page bytes to values (Encodings, "Adaptive Lossless floating-Point (ALP = 10)").

use herringbone_arrow::buffer::Buffer;
use herringbone_format::Result;
use herringbone_kernels::alp::{AlpDecoder, AlpFloat};

use crate::encoding::ValueDecoder;
use crate::malformed;

/// A position in a page's values.
pub(crate) struct Decoder<T> {
    values: Buffer,
    decoder: AlpDecoder<T>,
}

impl<T: AlpFloat> Decoder<T> {
    /// Creates a decoder that starts at the first value.
    pub(crate) fn new(values: Buffer) -> Result<Self> {
        let decoder = AlpDecoder::new(&values).map_err(malformed)?;
        Ok(Self { values, decoder })
    }
}

impl<T: AlpFloat> ValueDecoder<T> for Decoder<T> {
    fn extend(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.decoder.extend(&self.values, n, out).map_err(malformed)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.decoder.skip(n).map_err(malformed)
    }

    fn has_more(&self) -> bool {
        self.decoder.left() > 0
    }
}
