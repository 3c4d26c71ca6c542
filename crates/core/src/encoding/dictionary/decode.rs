//! Decodes the indices of a page (Encodings, "Dictionary Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY = 8)").
//!
//! ```text
//! bit width (one byte, 0 to 32) | runs of indices, in the RLE and bit-packing hybrid
//! ```

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::hybrid::HybridDecoder;

use crate::encoding::Rest;
use crate::malformed;

/// The format's maximum bit width for an index.
const MAX_WIDTH: u8 = 32;
/// The number of indices to buffer between unpacking and copying.
const BLOCK: usize = 1024;

/// A position in a page's indices.
#[derive(Clone)]
pub(crate) struct Indices {
    /// The page's bytes from the first run on.
    runs: Buffer,
    decoder: HybridDecoder,
}

impl Indices {
    /// Creates a decoder that starts at the first index.
    pub(crate) fn new(values: Buffer) -> Result<Self> {
        let Some(&width) = values.first() else {
            return Err(Error::corrupt(
                "the bit width of the dictionary indices is missing",
            ));
        };
        if width > MAX_WIDTH {
            return Err(Error::corrupt(format!(
                "dictionary indices of {width} bits"
            )));
        }
        Ok(Self {
            runs: values.slice(1),
            decoder: HybridDecoder::new(width),
        })
    }

    /// Returns the decoder's state and the runs to decode.
    pub(crate) fn parts(&mut self) -> (&mut HybridDecoder, &[u8]) {
        (&mut self.decoder, &self.runs)
    }

    /// Appends the dictionary entries at the next `n` indices.
    pub(crate) fn gather<T: Copy + 'static>(
        &mut self,
        n: usize,
        dictionary: &[T],
        out: &mut Vec<T>,
    ) -> Result<()> {
        self.decoder
            .gather(&self.runs, n, dictionary, out)
            .map_err(malformed)
    }

    /// Appends the dictionary entries at the next `n` indices. Each entry has `width` elements.
    pub(crate) fn gather_wide<T: Copy>(
        &mut self,
        n: usize,
        dictionary: &[T],
        width: usize,
        out: &mut Vec<T>,
    ) -> Result<()> {
        let mut indices = Vec::with_capacity(n.min(BLOCK));
        let mut left = n;
        while left > 0 {
            let step = left.min(BLOCK);
            indices.clear();
            self.extend(step, &mut indices)?;
            out.reserve(step * width);
            for &index in &indices {
                let entry = (index as usize)
                    .checked_mul(width)
                    .and_then(|start| dictionary.get(start..)?.get(..width))
                    .ok_or_else(|| Error::corrupt("an index past the end of the dictionary"))?;
                out.extend_from_slice(entry);
            }
            left -= step;
        }
        Ok(())
    }

    /// Appends the next `n` indices. Note that the indices aren't checked, so they can lie past the end of the
    /// dictionary.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Vec<u32>) -> Result<()> {
        self.decoder
            .extend_u32(&self.runs, n, out)
            .map_err(malformed)
    }

    /// Returns the rest of the page, after the consumed indices.
    pub(crate) fn rest(&self) -> Rest<'_> {
        self.decoder.leftover(&self.runs).into()
    }

    /// Skips the next `n` indices.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        self.decoder.skip(&self.runs, n).map_err(malformed)
    }
}
