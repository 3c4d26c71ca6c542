//! Little-endian numbers of one to four bytes, and UTF-8.

use herringbone_format::{Error, Result};

/// Reads an unsigned integer of `width` bytes (1 to 4) at offset `at`. Returns `None` if it's out
/// of bounds.
#[inline]
pub(crate) fn read_uint(bytes: &[u8], at: usize, width: u8) -> Option<u32> {
    let rest = bytes.get(at..)?;
    if let Some(word) = rest.first_chunk::<4>() {
        let unwanted = 32 - 8 * u32::from(width.clamp(1, 4));
        return Some(u32::from_le_bytes(*word) << unwanted >> unwanted);
    }
    let number = rest.get(..usize::from(width))?;
    let mut word = [0; 4];
    word.get_mut(..number.len())?.copy_from_slice(number);
    Some(u32::from_le_bytes(word))
}

/// Appends the `width` low bytes of `number`.
#[inline]
pub(crate) fn push_uint(out: &mut Vec<u8>, number: u32, width: u8) {
    let bytes = number.to_le_bytes();
    out.extend_from_slice(bytes.get(..usize::from(width)).unwrap_or(&bytes));
}

/// Returns the smallest number of bytes, 1 to 4, that fits `number`.
#[inline]
pub(crate) fn width_of(number: u32) -> u8 {
    match number {
        0..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFF_FFFF => 3,
        _ => 4,
    }
}

/// Returns `bytes` as text. `what` names them in the error message.
#[inline]
pub(crate) fn utf8<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str> {
    simdutf8::basic::from_utf8(bytes).map_err(|_| not_utf8(what))
}

#[cold]
fn not_utf8(what: &str) -> Error {
    Error::corrupt(format!("a variant's {what} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_up_to_the_last_byte() {
        let bytes = [0x11, 0x22, 0x33, 0x44, 0x55];
        assert_eq!(read_uint(&bytes, 0, 1), Some(0x11));
        assert_eq!(read_uint(&bytes, 0, 3), Some(0x33_22_11));
        assert_eq!(read_uint(&bytes, 1, 4), Some(0x55_44_33_22));
        assert_eq!(read_uint(&bytes, 3, 2), Some(0x55_44));
        assert_eq!(read_uint(&bytes, 3, 3), None);
        assert_eq!(read_uint(&bytes, 5, 1), None);
        assert_eq!(read_uint(&bytes, 6, 1), None);
        assert_eq!(read_uint(&bytes, usize::MAX, 4), None);
    }

    #[test]
    fn widths_are_the_smallest() {
        for (number, width) in [
            (0, 1),
            (255, 1),
            (256, 2),
            (65_535, 2),
            (65_536, 3),
            (0xFF_FFFF, 3),
            (0x100_0000, 4),
            (u32::MAX, 4),
        ] {
            assert_eq!(width_of(number), width);
            let mut out = Vec::new();
            push_uint(&mut out, number, width);
            assert_eq!(out.len(), usize::from(width));
            assert_eq!(read_uint(&out, 0, width), Some(number));
        }
    }
}
