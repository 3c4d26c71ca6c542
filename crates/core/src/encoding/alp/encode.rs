//! Encodes values to page bytes (Encodings, "Adaptive Lossless floating-Point (ALP = 10)").

use herringbone_kernels::alp::{AlpEncode, AlpEncoder};

use crate::encoding::whole_page::EncodePage;

impl<T: AlpEncode + Send + Sync> EncodePage<T> for AlpEncoder<T> {
    fn encode(&mut self, values: &[T], out: &mut Vec<u8>) {
        Self::encode(self, values, out);
    }
}
