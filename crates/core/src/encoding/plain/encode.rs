//! Encodes values to page bytes (Encodings, "Plain (PLAIN = 0)").

use herringbone_format::Result;
use herringbone_kernels::bytes::append_byte_arrays;
use herringbone_kernels::plain;

use crate::encoding::physical_values::Values;
use crate::encoding::{BEHIND_PAGE, LARGE_PAGE, ValueEncoder, length, mismatch};

/// The PLAIN encoder for all types except BOOLEAN.
///
/// ```text
/// bytes   room | values
/// page   levels| values      the levels end at the end of the room
/// ```
#[derive(Default)]
pub(crate) struct Plain {
    bytes: Vec<u8>,
    /// The number of bytes to reserve for levels before the values, so that we don't have to move the values. This is
    /// the maximum over all pages so far.
    room: usize,
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
        self.bytes.len() - self.room
    }

    fn finish_page(&mut self, out: &mut Vec<u8>, section_starts: &mut Vec<usize>) {
        let front = std::mem::take(out);
        let start = self.finish_page_after(&front, out, section_starts);
        out.drain(..start);
    }

    fn finish_page_after(&mut self, front: &[u8], out: &mut Vec<u8>, _: &mut Vec<usize>) -> usize {
        if front.len() > self.room {
            // This is the first page, or a page with more levels than any previous one.
            let more = std::iter::repeat_n(0, front.len() - self.room);
            self.bytes.splice(0..0, more);
            self.room = front.len();
        }
        let start = self.room - front.len();
        if let Some(room) = self.bytes.get_mut(start..self.room) {
            room.copy_from_slice(front);
        }
        if self.bytes.len() >= LARGE_PAGE {
            *out = std::mem::take(&mut self.bytes);
        } else {
            // We keep this much memory, because the next page will have about this size.
            out.reserve(self.bytes.len() + BEHIND_PAGE);
            std::mem::swap(out, &mut self.bytes);
        }
        self.bytes.resize(self.room, 0);
        start
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
        for bytes in [0, 9, LARGE_PAGE - 1, LARGE_PAGE, LARGE_PAGE + 5, 9] {
            let values: Vec<u8> = (0..bytes).map(|at| at as u8).collect();
            for levels in [&b""[..], b"levels"] {
                let fixed = Values::Fixed {
                    bytes: &values,
                    width: 1,
                };
                plain.append(&fixed).unwrap();
                assert_eq!(plain.page_bytes(), bytes);
                let mut page = levels.to_vec();
                plain.finish_page(&mut page, &mut Vec::new());
                assert_eq!(page, [levels, &values].concat(), "{bytes} bytes");
                assert_eq!(plain.page_bytes(), 0);
            }
            for front in [3, 0, 9, 3, 7, 9, 20] {
                let fixed = Values::Fixed {
                    bytes: &values,
                    width: 1,
                };
                plain.append(&fixed).unwrap();
                let (front, mut page) = (vec![7; front], Vec::new());
                let start = plain.finish_page_after(&front, &mut page, &mut Vec::new());
                assert_eq!(page[start..], [&front[..], &values].concat());
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
                page.clear();
                plain.append(&Values::Int32(&values)).unwrap();
                let start = plain.finish_page_after(levels, &mut page, &mut Vec::new());
                assert_eq!(page[start..].len(), levels.len() + 4000);
            }
            assert!(page.capacity() >= page.len() + BEHIND_PAGE);
        }
    }
}
