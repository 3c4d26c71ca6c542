//! A page of a BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY column, for the layouts that read such columns.

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Encoding, Error, Result};

use crate::encoding::Rest;
use crate::encoding::byte_array::ByteArrays;
use crate::encoding::dictionary::Indices;

/// The values section of a page. It holds either the values themselves or indices into the chunk's dictionary.
pub(super) enum ByteArrayPage {
    Direct(ByteArrays),
    Dictionary(Indices),
}

impl ByteArrayPage {
    /// The page before the first one. It has no values.
    pub(super) const EMPTY: Self = Self::Direct(ByteArrays::Empty);

    /// Creates the page from its values section. `width` is the byte count of each FIXED_LEN_BYTE_ARRAY value, or
    /// `None` for BYTE_ARRAY.
    pub(super) fn new(encoding: Encoding, values: Buffer, width: Option<usize>) -> Result<Self> {
        Ok(match encoding {
            Encoding::RleDictionary | Encoding::PlainDictionary if !values.is_empty() => {
                Self::Dictionary(Indices::new(values)?)
            }
            _ => Self::Direct(ByteArrays::new(encoding, values, width)?),
        })
    }

    /// Skips the next `n` values.
    pub(super) fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Self::Direct(values) => values.skip(n),
            Self::Dictionary(indices) => indices.skip(n),
        }
    }

    /// Returns the rest of the page, after the values taken or skipped so far.
    pub(super) fn rest(&self) -> Rest<'_> {
        match self {
            Self::Direct(values) => values.rest(),
            Self::Dictionary(indices) => indices.rest(),
        }
    }
}

/// Returns the error for indices without an earlier dictionary page.
#[cold]
pub(super) fn no_dictionary() -> Error {
    Error::corrupt("dictionary indices without a dictionary page")
}
