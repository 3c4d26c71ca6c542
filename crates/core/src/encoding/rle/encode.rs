//! Booleans to runs.

use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::hybrid::{self, Runs};

use super::decode::LENGTH_BYTES;
use crate::encoding::values::Values;
use crate::encoding::{ValueEncoder, mismatch};
use crate::malformed;

/// The booleans of the page under construction, as bits until it ends.
#[derive(Default)]
pub(crate) struct RleBooleanEncoder {
    bits: Bitmap,
}

impl ValueEncoder for RleBooleanEncoder {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        let Values::Boolean { bits, first, len } = *values else {
            return Err(mismatch());
        };
        let appended = self.bits.append_packed(bits, first, len);
        appended.map(drop).map_err(malformed)
    }

    fn page_bytes(&self) -> usize {
        self.bits.len().div_ceil(8)
    }

    fn finish_page(&mut self, out: &mut Vec<u8>) {
        let bits = self.bits.finish_boolean();
        let start = out.len();
        out.extend_from_slice(&[0; LENGTH_BYTES]);
        hybrid::encode_bits(bits.values(), 0, bits.len(), Runs::Shortest, out);
        // Fits: there are fewer bits than an `i32` counts.
        let length = (out.len() - start - LENGTH_BYTES) as u32;
        if let Some(prefix) = out.get_mut(start..start + LENGTH_BYTES) {
            prefix.copy_from_slice(&length.to_le_bytes());
        }
    }

    fn heap_bytes(&self) -> usize {
        self.bits.heap_bytes()
    }
}
