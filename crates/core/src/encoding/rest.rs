//! The part of a page after its declared values.
//!
//! If a header declares fewer values than its page has, the rows of all later pages shift, so this is an error. But
//! many writers leave padding. For example, DuckDB 1.3 leaves a packed block, fastparquet a group and zeros, and others
//! a byte or two. Two questions separate padding from values:
//!
//! 1. **Form**: is this a known form of padding? [`Rest`] and the kernels' [`Leftover`] answer it.
//! 2. **Count**: does a count from elsewhere agree with the header? Headers count levels, so the column compares the
//!    sum over all headers with the chunk metadata (`column/page_cursor/page_count.rs`). In a column with nulls, only
//!    levels count the values, so [`Rest::check_after_levels`] compares them with null counts.

use herringbone_format::{Error, Result};
use herringbone_kernels::hybrid::{GROUP, Leftover, PACKED_BLOCK};

use crate::created_by::CreatedBy;

/// The most zeros left by fastparquet after a data page: eight after all values, plus one after booleans.
const FASTPARQUET_PADDING: usize = 9;

/// The rest of a page's values section, after the consumed values. Used to tell padding from undeclared values.
///
/// Unused bits don't count as a rest, since they're always padding. They can occur in packed runs, a delta encoding's
/// last block and the last byte of booleans.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest<'a> {
    /// Nothing.
    Nothing,
    /// Values in a known form of padding. Their number is at least one.
    Padding(usize),
    /// Values that certainly aren't padding, because the encoding stores a larger value count of its own.
    Values,
    /// Bytes after PLAIN values.
    Bytes {
        /// The bytes, at least one.
        bytes: &'a [u8],
        /// True if they have room for another value.
        hold_value: bool,
    },
}

impl From<Leftover> for Rest<'_> {
    fn from(leftover: Leftover) -> Self {
        match leftover {
            Leftover::Nothing => Self::Nothing,
            Leftover::Padding(values) => Self::Padding(values),
            Leftover::Values => Self::Values,
        }
    }
}

impl<'a> Rest<'a> {
    /// Returns a section's bytes from `position` on, where a value takes at least `value_bytes` bytes.
    pub(crate) fn bytes(section: &'a [u8], position: usize, value_bytes: usize) -> Self {
        match section.get(position..) {
            None | Some([]) => Self::Nothing,
            Some(bytes) => Self::Bytes {
                bytes,
                hold_value: bytes.len() >= value_bytes,
            },
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
            Self::Bytes { bytes, .. } => bytes.len(),
            Self::Nothing | Self::Padding(_) | Self::Values => 0,
        }
    }

    /// Checks the form of the rest. Returns `Nothing` if the rest has no values. Returns `Padding` if its values might
    /// be padding, so that a count has to decide.
    ///
    /// # Errors
    /// Fails with Corrupt if no writer leaves padding of this form.
    pub(crate) fn check(self, created_by: CreatedBy) -> Result<Leftover> {
        match self {
            Self::Nothing => Ok(Leftover::Nothing),
            Self::Padding(values) => Ok(Leftover::Padding(values)),
            Self::Values => Err(more_than_declared("values")),
            Self::Bytes {
                hold_value: false, ..
            } => Ok(Leftover::Nothing),
            Self::Bytes { bytes, .. } => {
                let is_padding = created_by.appends_zeros
                    && bytes.len() <= FASTPARQUET_PADDING
                    && bytes.iter().all(|byte| *byte == 0);
                match is_padding {
                    true => Ok(Leftover::Padding(1)),
                    false => Err(Error::corrupt(format!(
                        "{} bytes are left over after the values that the page header declares",
                        bytes.len()
                    ))),
                }
            }
        }
    }

    /// Checks the rest of a page whose definition levels count its values. Returns true if the rest is padding in the
    /// form of values. `counts` is only called if the form leaves the question open.
    ///
    /// # Errors
    /// Fails with Corrupt if the rest has values, because a damaged definition level shifts the later values of the
    /// page.
    pub(crate) fn check_after_levels(
        self,
        created_by: CreatedBy,
        counts: impl FnOnce() -> Result<ValueCounts>,
    ) -> Result<bool> {
        let values = match self.check(created_by)? {
            Leftover::Padding(values) if !matches!(self, Self::Bytes { .. }) => values,
            // We know the form of these bytes, because only one writer leaves them.
            Leftover::Padding(_) | Leftover::Nothing => return Ok(false),
            Leftover::Values => return Err(more_than_declared("values")),
        };
        let ValueCounts { taken, expected } = counts()?;
        match expected {
            Some(expected) if expected == taken as u64 => Ok(true),
            Some(expected) => Err(Error::corrupt(format!(
                "the definition levels of the page count {taken} values, but its other metadata counts {expected}"
            ))),
            // Writers only leave a whole group or block if the values fill the previous group or block.
            None if [GROUP, PACKED_BLOCK].contains(&values) && taken.is_multiple_of(values) => {
                Ok(true)
            }
            None => Err(more_than_declared("values")),
        }
    }
}

/// The number of values in a page whose levels count them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ValueCounts {
    /// The number of definition levels with a value.
    pub(crate) taken: usize,
    /// The number of values according to other metadata, if it is known there.
    pub(crate) expected: Option<u64>,
}

/// Returns the error for a page with more of something than its header declares. We can't ignore this, because the rows
/// of later pages would shift.
#[cold]
pub(crate) fn more_than_declared(what: &str) -> Error {
    Error::corrupt(format!("the page has more {what} than its header declares"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fastparquet() -> CreatedBy {
        CreatedBy::new(Some("fastparquet-python version 2024.2.0 (build 0)"))
    }

    #[test]
    fn only_a_known_writer_may_leave_whole_values() {
        let zeros = Rest::bytes(&[7, 0, 0, 0, 0, 0, 0, 0, 0], 1, 4);
        assert_eq!(zeros.num_bytes(), 8);
        // A count has to decide, because these bytes might also be a value.
        assert_eq!(zeros.check(fastparquet()).unwrap(), Leftover::Padding(1));
        zeros.check(CreatedBy::default()).unwrap_err();
        let nine = Rest::bytes(&[0; 9], 0, 1);
        assert_eq!(nine.check(fastparquet()).unwrap(), Leftover::Padding(1));
        Rest::bytes(&[0; 10], 0, 1)
            .check(fastparquet())
            .unwrap_err();
        Rest::bytes(&[0, 1], 0, 1).check(fastparquet()).unwrap_err();
        Rest::Values.check(fastparquet()).unwrap_err();
    }

    #[test]
    fn fewer_bytes_than_a_value_are_not_a_value() {
        let check =
            |bytes, value_bytes| Rest::bytes(bytes, 0, value_bytes).check(CreatedBy::default());
        assert_eq!(check(&[], 4).unwrap(), Leftover::Nothing);
        assert_eq!(check(&[1, 2, 3], 4).unwrap(), Leftover::Nothing);
        check(&[0, 0, 0, 0], 4).unwrap_err();
        check(&[1], 1).unwrap_err();
    }

    #[test]
    fn counts_of_nulls_tell_padding_from_values() {
        let check = |rest: Rest<'_>, taken, expected| {
            rest.check_after_levels(CreatedBy::default(), || Ok(ValueCounts { taken, expected }))
        };
        assert!(check(Rest::Padding(13), 99, Some(99)).unwrap());
        let error = check(Rest::Padding(8), 96, Some(97)).unwrap_err();
        assert!(error.message().contains("96") && error.message().contains("97"));
        // Without another count, only whole units after whole units count as padding.
        assert!(check(Rest::Padding(8), 96, None).unwrap());
        assert!(check(Rest::Padding(256), 512, None).unwrap());
        check(Rest::Padding(8), 95, None).unwrap_err();
        check(Rest::Padding(256), 96, None).unwrap_err();
        check(Rest::Padding(16), 96, None).unwrap_err();
        check(Rest::Values, 96, Some(96)).unwrap_err();
        assert!(!check(Rest::Nothing, 96, Some(97)).unwrap());
    }
}
