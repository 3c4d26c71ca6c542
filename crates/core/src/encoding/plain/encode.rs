//! Values to bytes of a page: Encodings, "Plain (PLAIN = 0)".

use herringbone_format::Result;
use herringbone_kernels::bytes::append_byte_arrays;
use herringbone_kernels::plain;

use crate::encoding::values::Values;
use crate::encoding::{ValueEncoder, length, mismatch};

/// Every type but BOOLEAN.
#[derive(Default)]
pub(crate) struct Plain {
    bytes: Vec<u8>,
}

/// Bytes that encryption may put behind a page, which is not moved to have room for them.
const BEHIND: usize = 16;

/// Bytes of a page from which on they are not copied: of few values that are large, which the next page need not be.
const LARGE: usize = 8 << 20;

/// Appends values in their PLAIN form.
pub(crate) fn append_plain(values: &Values<'_>, out: &mut Vec<u8>) -> Result<()> {
    match values {
        Values::Int32(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Int64(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Float(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Double(values) => out.extend_from_slice(plain::bytes(values)),
        Values::Fixed { bytes, .. } => out.extend_from_slice(bytes),
        Values::ByteArray(values) => {
            for value in values {
                length(value.len())?;
            }
            append_byte_arrays(values, out);
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
        if self.bytes.len() >= LARGE {
            // What is there already goes in front, so that nothing as large is there twice.
            self.bytes.splice(0..0, out.drain(..));
            *out = std::mem::take(&mut self.bytes);
            return;
        }
        // The next page will be about as large.
        out.reserve(self.bytes.len() + BEHIND);
        if out.is_empty() {
            std::mem::swap(out, &mut self.bytes);
        } else {
            out.append(&mut self.bytes);
        }
    }

    fn heap_bytes(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_behind_the_levels_of_pages_of_any_size() {
        let mut plain = Plain::default();
        for bytes in [0, 9, LARGE - 1, LARGE, LARGE + 5, 9] {
            let values: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
            for levels in [&b""[..], b"levels"] {
                let fixed = Values::Fixed {
                    bytes: &values,
                    width: 1,
                };
                plain.append(&fixed).unwrap();
                let mut page = levels.to_vec();
                plain.finish_page(&mut page);
                assert_eq!(page, [levels, &values].concat(), "{bytes} bytes");
                assert_eq!(plain.page_bytes(), 0);
            }
        }
    }

    #[test]
    fn a_page_has_room_for_what_encryption_puts_behind_it() {
        let mut plain = Plain::default();
        let values = vec![7_i32; 1000];
        for levels in [&b""[..], b"levels"] {
            let mut page = Vec::new();
            for _ in 0..3 {
                page = levels.to_vec();
                plain.append(&Values::Int32(&values)).unwrap();
                plain.finish_page(&mut page);
            }
            assert!(page.capacity() >= levels.len() + 4000 + BEHIND);
        }
    }
}
