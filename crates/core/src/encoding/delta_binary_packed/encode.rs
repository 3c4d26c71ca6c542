//! Encodes values to page bytes (Encodings, "Delta Encoding (DELTA_BINARY_PACKED = 5)").

use herringbone_kernels::delta::{self, Blocks};

use crate::compression::Compression;
use crate::encoding::whole_page::EncodePage;

/// The shape of a page's blocks.
pub(in crate::encoding) struct BlockShape(Blocks);

impl BlockShape {
    /// Returns the shape for pages with this codec. We only choose the fastest blocks to read if there's no codec,
    /// because a codec benefits from smaller blocks.
    pub(in crate::encoding) fn new(compression: Compression) -> Self {
        Self(match compression {
            Compression::Uncompressed => Blocks::FastToRead,
            _ => Blocks::Smallest,
        })
    }
}

impl EncodePage<i32> for BlockShape {
    fn encode(&mut self, values: &[i32], out: &mut Vec<u8>) {
        delta::encode_i32(values, self.0, out);
    }
}

impl EncodePage<i64> for BlockShape {
    fn encode(&mut self, values: &[i64], out: &mut Vec<u8>) {
        delta::encode_i64(values, self.0, out);
    }
}
