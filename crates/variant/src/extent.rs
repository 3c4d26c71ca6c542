//! How many bytes a value takes.

use herringbone_format::Result;

use crate::bytes::read_uint;
use crate::container::{Container, ends_early};
use crate::metadata::Metadata;
use crate::types::{BASIC_PRIMITIVE, BASIC_SHORT_STRING};

/// Bytes of the data of each primitive type, by its id; binary and string say it themselves.
const DATA_BYTES: [u8; 21] = [
    0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, 0, 0, 8, 8, 8, 16,
];

/// Bytes of the value that begins `bytes`, or `None` if its type is unknown and so is its size.
///
/// A size may be more than there are bytes, but for objects and arrays.
#[inline]
pub(crate) fn size_of(bytes: &[u8]) -> Result<Option<usize>> {
    let header = *bytes.first().ok_or_else(ends_early)?;
    let id = header >> 2;
    match header & 3 {
        BASIC_PRIMITIVE => match id {
            crate::types::id::BINARY | crate::types::id::STRING => {
                let size = read_uint(bytes, 1, 4).ok_or_else(ends_early)?;
                Ok((size as usize).checked_add(5))
            }
            _ => Ok(DATA_BYTES
                .get(usize::from(id))
                .map(|data| 1 + usize::from(*data))),
        },
        BASIC_SHORT_STRING => Ok(Some(1 + usize::from(id))),
        _ => Ok(Some(
            Container::new(Metadata::EMPTY, bytes)?.as_bytes().len(),
        )),
    }
}
