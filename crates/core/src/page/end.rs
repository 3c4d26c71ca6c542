//! Looks at the end of a data page, where padding may follow, or values that the header does not declare.
//!
//! The latter are an error. They would not harm this page, but they would shift the rows of all later pages.

use herringbone_format::Result;
use herringbone_kernels::hybrid::Leftover;

use crate::created_by::CreatedBy;
use crate::encoding::Rest;
use crate::encoding::rest::{ValueCounts, more_than_declared};
use crate::levels::Levels;

/// A data page whose declared levels and values have all been taken.
pub(crate) struct PageEnd<'a> {
    /// The repetition levels.
    pub(crate) repetition: &'a Levels,
    /// The definition levels.
    pub(crate) definition: &'a Levels,
    /// The part of the values section that follows the values.
    pub(crate) rest: Rest<'a>,
    /// The number of levels that the header declares.
    pub(crate) num_levels: usize,
    /// The known habits of the writer that made the file.
    pub(crate) created_by: CreatedBy,
}

/// The part of a data page that follows its levels and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing.
    Clean,
    /// Padding.
    Padded,
    /// Padding, or levels that the header does not declare. To know which, the caller must compare the sum over all
    /// headers with the chunk metadata.
    Open,
}

impl PageEnd<'_> {
    /// Returns the form of the part that follows the levels and values.
    ///
    /// The closure `num_non_null` returns the number of values according to other metadata, if it is known there.
    ///
    /// # Errors
    /// Fails with Corrupt if the page has more levels or values than its header declares.
    pub(crate) fn ending(self, num_non_null: impl FnOnce() -> Option<u64>) -> Result<Ending> {
        let mut is_open = false;
        for levels in [self.repetition, self.definition] {
            match levels.leftover() {
                Leftover::Nothing => {}
                Leftover::Padding(_) => is_open = true,
                Leftover::Values => return Err(more_than_declared("levels")),
            }
        }
        let mut is_padded = false;
        if self.definition.are_stored() {
            is_padded = self.rest.check_after_levels(self.created_by, || {
                Ok(ValueCounts {
                    taken: self.definition.num_highest(self.num_levels)?,
                    expected: num_non_null(),
                })
            })?;
        } else {
            // Without stored definition levels, each level is a value. So more values would also mean more levels.
            is_open |= self.rest.check(self.created_by)? != Leftover::Nothing;
        }
        Ok(match (is_open, is_padded) {
            (true, _) => Ending::Open,
            (false, true) => Ending::Padded,
            (false, false) => Ending::Clean,
        })
    }
}
