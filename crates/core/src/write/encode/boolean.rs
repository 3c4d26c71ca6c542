//! BOOLEAN as PLAIN, a bit a value, or as RLE, the hybrid of runs with its length in front.

use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::hybrid::{self, Runs};

use super::{ValueEncoder, mismatch};
use crate::malformed;
use crate::write::values::Values;

pub(super) struct Booleans {
    bits: Bitmap,
    rle: bool,
}

impl Booleans {
    pub(super) fn plain() -> Self {
        Self {
            bits: Bitmap::new(),
            rle: false,
        }
    }

    pub(super) fn rle() -> Self {
        Self {
            bits: Bitmap::new(),
            rle: true,
        }
    }
}

impl ValueEncoder for Booleans {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        let Values::Boolean { bits, first, len } = *values else {
            return Err(mismatch());
        };
        self.bits
            .append_packed(bits, first, len)
            .map(|_| ())
            .map_err(malformed)
    }

    fn page_bytes(&self) -> usize {
        self.bits.len().div_ceil(8)
    }

    fn finish_page(&mut self, out: &mut Vec<u8>) {
        let bits = self.bits.finish_boolean();
        let (bytes, len) = (bits.values(), bits.len());
        if self.rle {
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            hybrid::encode_bits(bytes, 0, len, Runs::Shortest, out);
            // Fits: there are fewer bits than an `i32` counts.
            let length = (out.len() - start - 4) as u32;
            if let Some(prefix) = out.get_mut(start..start + 4) {
                prefix.copy_from_slice(&length.to_le_bytes());
            }
        } else {
            out.extend_from_slice(bytes.get(..len.div_ceil(8)).unwrap_or(bytes));
        }
    }

    fn heap_bytes(&self) -> usize {
        self.bits.heap_bytes()
    }
}
