//! Determines a value's byte count.

use herringbone_format::Result;

use crate::bytes::read_uint;
use crate::container::{Container, ends_early};
use crate::metadata::Metadata;
use crate::types::{BASIC_PRIMITIVE, BASIC_SHORT_STRING};

/// Data bytes per primitive type ID. Binary and string have 0 here, because they store their own
/// size.
const DATA_BYTES: [u8; 21] = [
    0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, 0, 0, 8, 8, 8, 16,
];

/// Returns the size of the value at the start of `bytes`, or `None` for an unknown type, since its
/// size is unknown too.
///
/// Note that the result can exceed the available bytes, except for objects and arrays.
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
