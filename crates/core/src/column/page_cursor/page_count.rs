//! Compares page headers with the chunk metadata.
//!
//! Anything after a page's levels is either padding or undeclared levels. That page's own rows come first, so they're
//! right either way, but undeclared levels would shift the rows of all later pages. So before the column opens the next
//! page, it walks once over the chunk's remaining headers and compares the total number of declared levels with the
//! chunk metadata. A single wrong header is enough to make them differ.

use herringbone_format::{Error, Result};

use super::{BatchBuilder, PageCursor};
use crate::Step;
use crate::budget::Budget;
use crate::loss::is_damage;
use crate::page::{PageReaderState, PageStart};

/// The state of the comparison.
#[derive(Default)]
pub(super) enum PageCount {
    /// All pages so far end with their levels.
    #[default]
    Unneeded,
    /// The count must be compared before opening the next page.
    Needed(CountCause),
    /// Some of the headers are counted.
    Started(Box<PageReaderState>, CountCause),
    /// The headers agree with the chunk metadata.
    Agrees,
}

/// The reason for the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CountCause {
    /// Something follows a page's levels.
    Ending,
    /// The next page header declares these values, but no rows.
    NoRows {
        /// The number of levels.
        num_values: usize,
    },
}

impl CountCause {
    /// Explains an error found by the comparison, naming the reason for comparing.
    fn explain(self, error: &Error) -> Error {
        let found = error.message();
        Error::corrupt(match self {
            Self::Ending => format!(
                "the page has more levels than its header declares, or one of the headers after it is damaged: {found}"
            ),
            Self::NoRows { num_values } => format!(
                "the page header declares 0 rows and {num_values} values, and the page headers of the column chunk do \
                 not confirm the values: {found}"
            ),
        })
    }
}

impl PageCount {
    /// Requests a comparison, unless it was already made. Returns true if a comparison is due.
    pub(super) fn request(&mut self, cause: CountCause) -> bool {
        if matches!(self, Self::Unneeded) {
            *self = Self::Needed(cause);
        }
        !matches!(self, Self::Agrees)
    }

    /// Returns the page to continue with after the comparison.
    pub(super) fn start(&self) -> Option<PageStart> {
        match self {
            Self::Started(state, _) => Some(state.start()),
            Self::Unneeded | Self::Needed(_) | Self::Agrees => None,
        }
    }
}

impl PageCursor {
    /// Compares the levels in all headers with the chunk metadata, if a page requested this.
    ///
    /// # Errors
    /// Fails with Corrupt if the numbers differ. The error has both numbers and the place of the page.
    pub(super) fn compare_count(&mut self, batch: &mut BatchBuilder) -> Result<Step<()>> {
        let cause = match &self.count {
            PageCount::Unneeded | PageCount::Agrees => return Ok(Step::Ready(())),
            PageCount::Needed(cause) => {
                let cause = *cause;
                self.count = PageCount::Started(Box::new(self.pages.start_count()), cause);
                cause
            }
            PageCount::Started(_, cause) => *cause,
        };
        match self.pages.count(batch.memory()) {
            Ok(Step::Need(range)) => return Ok(Step::Need(range)),
            Ok(Step::Ready(())) => {}
            Err(error) if is_damage(&error) && !Budget::refused(&error) => {
                let start = self.count.start().unwrap_or(self.pages.start());
                let place = self.page.as_ref().map_or(start, |page| page.place);
                return Err(place.locate(cause.explain(&error)));
            }
            Err(error) => return Err(error),
        }
        if let PageCount::Started(state, _) = std::mem::replace(&mut self.count, PageCount::Agrees)
        {
            self.pages.return_to(*state);
        }
        Ok(Step::Ready(()))
    }
}
