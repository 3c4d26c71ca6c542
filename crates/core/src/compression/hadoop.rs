//! Hadoop's framing around LZ4 and LZO blocks (Compression, "LZ4").
//!
//! ```text
//! page  = block*
//! block = u32 BE uncompressed size, part*             parts follow until the uncompressed size is reached
//! part  = u32 BE compressed size, that many bytes
//! ```
//!
//! A part's uncompressed size isn't stored, so we only know it after decompressing the part.

use herringbone_format::{Error, Result};

/// Decompresses the framed `input` to the front of `output` and returns the number of bytes written.
///
/// The closure `part` decompresses one part to the front of the given slice, that is, the remainder of the block, and
/// returns the number of bytes written.
///
/// # Errors
///
/// Fails with Corrupt if a size does not fit the available bytes, or if `part` fails.
pub(super) fn decompress(
    mut input: &[u8],
    output: &mut [u8],
    mut part: impl FnMut(&[u8], &mut [u8]) -> Result<usize>,
) -> Result<usize> {
    let mut written = 0;
    while !input.is_empty() {
        let uncompressed = take_size(&mut input)?;
        let block = output
            .get_mut(written..)
            .and_then(|rest| rest.get_mut(..uncompressed))
            .ok_or_else(|| framing("a block extends past the size of the page"))?;
        let mut filled = 0;
        while filled < uncompressed {
            let compressed = take_size(&mut input)?;
            let Some((bytes, rest)) = input.split_at_checked(compressed) else {
                return Err(framing("a part extends past the end of the page"));
            };
            input = rest;
            let left = block.get_mut(filled..).unwrap_or_default();
            filled += part(bytes, left)?;
        }
        written += uncompressed;
    }
    Ok(written)
}

/// Takes the big-endian size off the front of `input`.
fn take_size(input: &mut &[u8]) -> Result<usize> {
    let (size, rest) = input
        .split_first_chunk()
        .ok_or_else(|| framing("a size is cut off"))?;
    *input = rest;
    usize::try_from(u32::from_be_bytes(*size))
        .map_err(|_| framing("a size exceeds the address space"))
}

#[cold]
fn framing(what: &'static str) -> Error {
    Error::corrupt(format!("the Hadoop framing of a page is broken: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies bytes unchanged, as the part decoder of these tests.
    fn copy(input: &[u8], output: &mut [u8]) -> Result<usize> {
        output[..input.len()].copy_from_slice(input);
        Ok(input.len())
    }

    #[test]
    fn a_block_may_have_several_parts_and_a_page_several_blocks() {
        let input = b"\0\0\0\x05\0\0\0\x02ab\0\0\0\x03cde\0\0\0\0\0\0\0\x01\0\0\0\x01f";
        let mut output = [0; 6];
        assert_eq!(decompress(input, &mut output, copy).unwrap(), 6);
        assert_eq!(&output, b"abcdef");
    }

    #[test]
    fn sizes_are_checked() {
        let mut output = [0; 3];
        for input in [
            &b"\0\0\0"[..],
            b"\0\0\0\x02",
            b"\0\0\0\x02\0\0\0\x01a",
            b"\0\0\0\x02\0\0\0\x03ab",
            b"\0\0\0\x04\0\0\0\x04abcd",
            b"\xff\xff\xff\xff\0\0\0\x01a",
            b"\0\0\0\x02\xff\xff\xff\xffab",
        ] {
            assert!(decompress(input, &mut output, copy).is_err(), "{input:?}");
        }
    }
}
