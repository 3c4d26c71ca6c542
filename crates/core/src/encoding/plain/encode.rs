//! Values to bytes of a page: Encodings, "Plain (PLAIN = 0)".

use herringbone_format::Result;
use herringbone_kernels::plain;

use crate::encoding::values::Values;
use crate::encoding::{ValueEncoder, length, mismatch};

/// Every type but BOOLEAN.
#[derive(Default)]
pub(crate) struct Plain {
    bytes: Vec<u8>,
}

/// Appends values in their PLAIN form.
pub(crate) fn append_plain(values: &Values<'_>, out: &mut Vec<u8>) -> Result<()> {
    match values {
        Values::Int32(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Int64(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Float(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Double(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Fixed { bytes, .. } => out.extend_from_slice(bytes),
        Values::ByteArray(values) => {
            out.reserve(values.iter().map(|value| 4 + value.len()).sum());
            for value in values {
                out.extend_from_slice(&length(value.len())?.to_le_bytes());
                out.extend_from_slice(value);
            }
        }
        Values::Boolean { .. } => return Err(mismatch()),
    }
    Ok(())
}

impl ValueEncoder for Plain {
    fn append(&mut self, values: &Values<'_>) -> Result<()> {
        append_plain(values, &mut self.bytes)
    }

    fn page_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn finish_page(&mut self, out: &mut Vec<u8>) {
        if out.is_empty() {
            // The next page will be about as large.
            let room = Vec::with_capacity(self.bytes.len());
            *out = std::mem::replace(&mut self.bytes, room);
        } else {
            out.append(&mut self.bytes);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}
