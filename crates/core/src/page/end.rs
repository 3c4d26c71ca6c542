//! Looks at the end of a data page, where there can be padding or undeclared values.
//!
//! Undeclared values are an error. They wouldn't harm this page, but they'd shift the rows of all later pages.

use herringbone_format::Result;
use herringbone_kernels::hybrid::Leftover;

use crate::created_by::CreatedBy;
use crate::encoding::Rest;
use crate::encoding::rest::{ValueCounts, more_than_declared};
use crate::levels::Levels;

/// A data page after taking all of its declared levels and values.
pub(crate) struct PageEnd<'a> {
    /// The repetition levels.
    pub(crate) repetition: &'a Levels,
    /// The definition levels.
    pub(crate) definition: &'a Levels,
    /// The rest of the values section, after the values.
    pub(crate) rest: Rest<'a>,
    /// The level count declared in the header.
    pub(crate) num_levels: usize,
    /// The writer's known quirks.
    pub(crate) created_by: CreatedBy,
}

/// The rest of a data page, after its levels and values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Nothing.
    Clean,
    /// Padding.
    Padded,
    /// Either padding or undeclared levels. To find out which, the caller has to compare the sum over all headers with
    /// the chunk metadata.
    Open,
}

impl PageEnd<'_> {
    /// Classifies the rest of the page, after the levels and values.
    ///
    /// The closure `num_non_null` returns the number of values according to other metadata, if known.
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
            // Without stored definition levels, each level is a value, so more values would also mean more levels.
            is_open |= self.rest.check(self.created_by)? != Leftover::Nothing;
        }
        Ok(match (is_open, is_padded) {
            (true, _) => Ending::Open,
            (false, true) => Ending::Padded,
            (false, false) => Ending::Clean,
        })
    }
}
