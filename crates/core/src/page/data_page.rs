//! Splits a data page body into sections.
//!
//! ```text
//! v1, after decompression:  [length u32 | repetition levels] [length u32 | definition levels] [values]
//!                           a BIT_PACKED section has no length: ceil(num_values * width / 8) bytes
//! v2, before decompression: [repetition levels] [definition levels] [values, compressed or not]
//! ```
//!
//! A section is missing if its highest level is 0.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};

use crate::levels::{LevelSection, level_width};

/// Splits the levels section of a v1 page, with levels up to `max_level`, off the front of `body`.
pub(super) fn split_levels_v1(
    body: &mut Buffer,
    encoding: Encoding,
    num_values: usize,
    max_level: u8,
) -> Result<Option<LevelSection>> {
    if max_level == 0 {
        return Ok(None);
    }
    let (length, bit_packed) = match encoding {
        Encoding::Rle => {
            let Some(&length) = body.first_chunk::<4>() else {
                return Err(Error::corrupt(
                    "page body ends inside the length of its levels",
                ));
            };
            body.advance(4);
            (u32::from_le_bytes(length) as usize, false)
        }
        Encoding::BitPacked => {
            let bits = num_values.checked_mul(usize::from(level_width(max_level)));
            let bits = bits.ok_or_else(|| Error::corrupt("page declares too many levels"))?;
            (bits.div_ceil(8), true)
        }
        other => {
            return Err(Error::corrupt(format!(
                "levels cannot be encoded as {other}"
            )));
        }
    };
    if length > body.len() {
        return Err(Error::corrupt(format!(
            "levels need {length} bytes, but the page has {} left",
            body.len()
        )));
    }
    Ok(Some(LevelSection {
        bit_packed,
        bytes: take_front(body, length),
    }))
}

/// Splits one levels section of `length` bytes off the front of a v2 page.
pub(super) fn split_levels_v2(
    body: &mut Buffer,
    length: i32,
    max_level: u8,
) -> Result<Option<LevelSection>> {
    let length = usize::try_from(length).map_err(|_| {
        Error::corrupt(format!("the page header declares {length} bytes of levels"))
    })?;
    if length > body.len() {
        return Err(Error::corrupt(format!(
            "levels need {length} bytes, but the page has {}",
            body.len()
        )));
    }
    let bytes = take_front(body, length);
    Ok((max_level > 0).then_some(LevelSection {
        bit_packed: false,
        bytes,
    }))
}

/// Removes and returns the first `length` bytes of `body`. The caller must have checked that `length` is within `body`.
fn take_front(body: &mut Buffer, length: usize) -> Buffer {
    let front = body.slice_with_length(0, length);
    body.advance(length);
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_of_levels() {
        assert_eq!([0, 1, 2, 3, 4, 255].map(level_width), [0, 1, 2, 2, 3, 8]);
    }

    #[test]
    fn v1_sections_have_a_length_before_them() {
        let mut body = Buffer::from(&[2u8, 0, 0, 0, 8, 1, 77][..]);
        let levels = split_levels_v1(&mut body, Encoding::Rle, 4, 1)
            .unwrap()
            .unwrap();
        assert_eq!(&levels.bytes[..], &[8, 1]);
        assert_eq!(&body[..], &[77]);
    }

    #[test]
    fn bit_packed_sections_have_none() {
        let mut body = Buffer::from(&[0b0101_0101u8, 0b0100_0000, 77][..]);
        let levels = split_levels_v1(&mut body, Encoding::BitPacked, 5, 2)
            .unwrap()
            .unwrap();
        assert!(levels.bit_packed);
        assert_eq!(levels.bytes.len(), 2);
        assert_eq!(&body[..], &[77]);
    }

    #[test]
    fn a_length_beyond_the_body_is_corrupt() {
        for body in [
            &[9u8, 0, 0, 0, 1][..],
            &[1, 0, 0],
            &[0xff, 0xff, 0xff, 0xff, 0],
        ] {
            let mut body = Buffer::from(body);
            assert!(split_levels_v1(&mut body, Encoding::Rle, 1, 1).is_err());
        }
        assert!(split_levels_v2(&mut Buffer::from(&[1u8][..]), 2, 1).is_err());
        assert!(split_levels_v2(&mut Buffer::from(&[1u8][..]), -2, 1).is_err());
    }
}
