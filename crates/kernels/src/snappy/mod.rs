//! Snappy blocks, which consist of literal bytes and of copies of bytes that were decoded before.
//!
//! ```text
//! block    = varint plain size, element*
//! element  = tag, then by the low two bits of the tag:
//!     0        a literal of (tag >> 2) + 1 bytes, which follow; if tag >> 2 is 60..63, the length
//!              minus one is in the 1..4 bytes after the tag instead
//!     1        a copy of (tag >> 2 & 7) + 4 bytes from an offset back: the top 3 bits of the tag and
//!              the byte after it
//!     2, 3     a copy of (tag >> 2) + 1 bytes; the offset is in the 2 or 4 bytes after the tag
//! ```
//!
//! The elements of a page are short, with 4 to 7 bytes on average. So we spend most time on finding the next tag, and
//! not on moving bytes. Therefore `rounds`, far from the ends, copies fixed numbers of bytes, often more than needed,
//! instead of looping. It uses one load for a copy and the tag after it. `element` decodes the remaining elements one
//! by one.
//!
//! Functions fail with [`Malformed`] if a block breaks the rules. The output slice bounds everything, and nothing is
//! allocated.

mod compress;
mod element;
mod rounds;
#[cfg(test)]
mod tests;

pub use compress::{Compressor, TooLong};

use crate::Malformed;

/// The progress of decoding.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    /// The number of element bytes that have been read so far. An element starts at this position.
    read: usize,
    /// The number of output bytes that have been written so far.
    written: usize,
}

/// Decompresses a block to the front of `output`, and returns the number of plain bytes.
///
/// # Errors
/// Fails with [`Malformed`] if the block is damaged or larger than `output`.
pub fn decompress(input: &[u8], output: &mut [u8]) -> Result<usize, Malformed> {
    let (plain, elements) = plain_size(input)?;
    let output = output.get_mut(..plain).ok_or(Malformed(
        "it holds more plain bytes than the page announces",
    ))?;
    let mut position = Position::default();
    loop {
        rounds::decode(elements, output, &mut position)?;
        if position.read >= elements.len() {
            break;
        }
        element::decode(elements, output, &mut position)?;
    }
    if position.written == plain {
        Ok(plain)
    } else {
        Err(Malformed("its elements end early"))
    }
}

/// Returns the plain size from the front of a block, and the elements after it.
fn plain_size(input: &[u8]) -> Result<(usize, &[u8]), Malformed> {
    let mut size = 0u64;
    for (place, &byte) in input.iter().take(5).enumerate() {
        size |= u64::from(byte & 0x7f) << (7 * place);
        if byte < 0x80 {
            let elements = input.get(place + 1..).unwrap_or_default();
            let size = u32::try_from(size)
                .ok()
                .and_then(|size| usize::try_from(size).ok());
            return size
                .map(|size| (size, elements))
                .ok_or(Malformed("its size has more than 32 bits"));
        }
    }
    Err(Malformed("its size is not a varint of at most 5 bytes"))
}
