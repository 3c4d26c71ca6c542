//! Encodes values to page bytes (Encodings, "Delta-length byte array (DELTA_LENGTH_BYTE_ARRAY = 6)").

use herringbone_format::Result;
use herringbone_kernels::delta::{self, Blocks};

use crate::encoding::physical_values::Values;
use crate::encoding::{ValueEncoder, length, mismatch};

#[derive(Default)]
pub(crate) struct DeltaLength {
    lengths: Vec<i32>,
    bytes: Vec<u8>,
}

impl ValueEncoder for DeltaLength {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        let Values::ByteArray(values) = values else {
            return Err(mismatch());
        };
        self.bytes
            .reserve(values.iter().map(|value| value.len()).sum());
        for value in values {
            self.lengths.push(length(value.len())?);
            self.bytes.extend_from_slice(value);
        }
        Ok(())
    }

    fn page_bytes(&self) -> usize {
        4 * self.lengths.len() + self.bytes.len()
    }

    fn finish_page(&mut self, out: &mut Vec<u8>, section_starts: &mut Vec<usize>) {
        delta::encode_i32(&self.lengths, Blocks::Smallest, out);
        self.lengths.clear();
        section_starts.push(out.len());
        out.append(&mut self.bytes);
    }

    fn heap_bytes(&self) -> usize {
        4 * self.lengths.capacity() + self.bytes.capacity()
    }
}
