//! Booleans: PLAIN bits, least significant first, and RLE.
//!
//! ```text
//! RLE    length of the runs in bytes (u32) | runs of bits, in the RLE and bit-packing hybrid
//! ```

use std::ops::Range;

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::spread_bits;
use herringbone_kernels::hybrid::HybridDecoder;

use super::ends_early;
use crate::malformed;

/// Bytes of the length in front of the runs.
const LENGTH_BYTES: usize = 4;

/// The booleans of one data page, from the next one on.
pub(crate) enum Booleans {
    /// One bit a value.
    Plain {
        /// The bits.
        bits: Buffer,
        /// Bits passed.
        position: usize,
    },
    /// Runs.
    Rle {
        /// The runs, without their length.
        runs: Buffer,
        /// Where in the runs.
        decoder: HybridDecoder,
    },
}

impl Booleans {
    /// No booleans.
    pub(crate) fn empty() -> Self {
        Self::Plain {
            bits: Buffer::from_vec(Vec::<u8>::new()),
            position: 0,
        }
    }

    /// The booleans of a page.
    ///
    /// # Errors
    /// Unsupported for encodings that do not serve booleans, Corrupt for runs that end early.
    pub(crate) fn new(encoding: Encoding, values: Buffer) -> Result<Self> {
        match encoding {
            Encoding::Plain => Ok(Self::Plain {
                bits: values,
                position: 0,
            }),
            _ if values.is_empty() => Ok(Self::empty()),
            Encoding::Rle => {
                let length = values
                    .first_chunk::<LENGTH_BYTES>()
                    .ok_or_else(ends_early)?;
                let length = u32::from_le_bytes(*length) as usize;
                if length > values.len() - LENGTH_BYTES {
                    return Err(Error::corrupt("the runs of booleans end early"));
                }
                let runs = values.slice_with_length(LENGTH_BYTES, length);
                Ok(Self::Rle {
                    runs,
                    decoder: HybridDecoder::new(1),
                })
            }
            _ => Err(Error::unsupported(format!("{encoding} for BOOLEAN"))),
        }
    }

    /// Appends the next `n` booleans.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Bitmap) -> Result<()> {
        match self {
            Self::Plain { bits, position } => {
                out.append_packed(bits, *position, n).map_err(malformed)?;
                *position += n;
                Ok(())
            }
            Self::Rle { runs, decoder } => decoder
                .extend_bitmap(runs, n, out)
                .map(drop)
                .map_err(malformed),
        }
    }

    /// Appends the next `n` booleans at the set bits of the slots of `validity`, and false elsewhere;
    /// false, and nothing done, where they must be decoded first.
    pub(crate) fn spread(
        &mut self,
        n: usize,
        validity: &Bitmap,
        slots: Range<usize>,
        out: &mut Bitmap,
    ) -> Result<bool> {
        let Self::Plain { bits, position } = self else {
            return Ok(false);
        };
        let first = *position;
        *position = plain_end(bits, first, n)?;
        spread_bits(bits, first, validity, slots.start, slots.len(), out);
        Ok(true)
    }

    /// Passes over the next `n` booleans.
    pub(crate) fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Self::Plain { bits, position } => {
                *position = plain_end(bits, *position, n)?;
                Ok(())
            }
            Self::Rle { runs, decoder } => decoder.skip(runs, n).map_err(malformed),
        }
    }
}

/// The bit behind `n` more.
fn plain_end(bits: &[u8], position: usize, n: usize) -> Result<usize> {
    let end = position.checked_add(n).ok_or_else(ends_early)?;
    if end.div_ceil(8) > bits.len() {
        return Err(ends_early());
    }
    Ok(end)
}
