//! The part of a page after the values declared by its header.

use herringbone_format::{Error, Result};

use crate::created_by::CreatedBy;

/// The number of zeros that fastparquet appends to each data page.
const FASTPARQUET_PADDING: usize = 8;

/// Part of the values section of a page after the consumed values.
///
/// The unused bits of packed runs, of the last block of a delta encoding and of the last byte of booleans are
/// padding. They do not count as a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest<'a> {
    /// Nothing.
    Nothing,
    /// Values: the encoding stores its own number of values, which is larger.
    Values,
    /// Bytes of PLAIN values, at least one.
    Bytes(&'a [u8]),
}

impl<'a> Rest<'a> {
    /// Returns the bytes of a section from `position` on.
    pub(crate) fn bytes(section: &'a [u8], position: usize) -> Self {
        match section.get(position..) {
            None | Some([]) => Self::Nothing,
            Some(bytes) => Self::Bytes(bytes),
        }
    }

    /// Returns `Values` if any are left.
    pub(crate) fn values(are_left: bool) -> Self {
        match are_left {
            true => Self::Values,
            false => Self::Nothing,
        }
    }

    /// Returns the number of bytes.
    pub(crate) fn num_bytes(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Nothing | Self::Values => 0,
        }
    }

    /// Returns an error unless the rest is empty, or padding that the writer of the file is known to append.
    ///
    /// # Errors
    /// Corrupt if the page has more values than its header declares.
    pub(crate) fn check(self, created_by: CreatedBy) -> Result<()> {
        match self {
            Self::Nothing => Ok(()),
            Self::Values => Err(more_than_declared("values")),
            Self::Bytes(bytes) => {
                let is_padding = created_by.appends_zeros
                    && bytes.len() <= FASTPARQUET_PADDING
                    && bytes.iter().all(|byte| *byte == 0);
                match is_padding {
                    true => Ok(()),
                    false => Err(Error::corrupt(format!(
                        "{} bytes are left over after the values that the page header declares",
                        bytes.len()
                    ))),
                }
            }
        }
    }
}

/// Returns the error for a page with more of something than its header declares: the rows of later pages would shift.
#[cold]
pub(crate) fn more_than_declared(what: &str) -> Error {
    Error::corrupt(format!("the page has more {what} than its header declares"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_known_writer_may_leave_bytes() {
        let fastparquet = CreatedBy::new(Some("fastparquet-python version 2024.2.0 (build 0)"));
        let zeros = Rest::bytes(&[7, 0, 0, 0, 0, 0, 0, 0, 0], 1);
        assert_eq!(zeros.num_bytes(), 8);
        zeros.check(fastparquet).unwrap();
        zeros.check(CreatedBy::default()).unwrap_err();
        Rest::bytes(&[0; 9], 0).check(fastparquet).unwrap_err();
        Rest::bytes(&[0, 1], 0).check(fastparquet).unwrap_err();
        Rest::Values.check(fastparquet).unwrap_err();
        assert_eq!(Rest::bytes(&[1], 1), Rest::Nothing);
        Rest::Nothing.check(CreatedBy::default()).unwrap();
    }
}
