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

#[cfg(test)]
mod tests {
    use super::*;

    /// The length has four bytes. A run has twice its length as a varint, and then the value.
    #[test]
    fn runs_follow_their_length_in_bytes() {
        let mut page = b"levels".to_vec();
        append_runs(&[0xff; 13], 100, &mut page);
        assert_eq!(page, [&b"levels"[..], &[3, 0, 0, 0, 0xc8, 1, 1]].concat());
        let mut page = Vec::new();
        append_runs(&[0; 13], 8, &mut page);
        assert_eq!(page, [2, 0, 0, 0, 16, 0]);
    }
}
