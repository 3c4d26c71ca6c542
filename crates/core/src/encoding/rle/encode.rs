//! Encodes booleans to runs (Encodings, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)").

use herringbone_kernels::hybrid::{self, Runs};

use super::decode::LENGTH_BYTES;

/// Appends the first `len` of `bits` as the values section of a page.
pub(crate) fn append_runs(bits: &[u8], len: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    hybrid::encode_bits(bits, 0, len, Runs::Shortest, out);
    // The cast is lossless, because there are fewer bits than `i32::MAX`.
    let length = (out.len() - start - LENGTH_BYTES) as u32;
    if let Some(prefix) = out.get_mut(start..start + LENGTH_BYTES) {
        prefix.copy_from_slice(&length.to_le_bytes());
    }
}
