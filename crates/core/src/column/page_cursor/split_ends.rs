//! The ends of a part of a column chunk.

use herringbone_format::{Error, Result};

use crate::column::{ColumnSplit, PageOfRow};
use crate::page::{PageStart, SharedPage};

/// The ends of a part of a column chunk, as its column uses them.
pub(super) struct SplitEnds {
    /// The page to begin with, until the column went there.
    pub(super) begin: Option<PageOfRow>,
    /// A page still to come, before which other rows may start than expected.
    end: Option<PageOfRow>,
    /// Pages that other parts decode too.
    shared: Vec<SharedPage>,
    is_wrong: bool,
}

impl SplitEnds {
    pub(super) fn new(part: ColumnSplit, is_flat: bool) -> Self {
        Self {
            begin: Some(part.begin),
            // The headers that were counted are all there is to know of rows without lists.
            end: part.end.filter(|_| !is_flat),
            shared: part.shared,
            is_wrong: false,
        }
    }

    /// Returns the page that starts at `page`, if other parts decode it too.
    pub(super) fn shared(&self, page: PageStart) -> Option<&SharedPage> {
        let found = self
            .shared
            .binary_search_by_key(&page.offset, |shared| shared.start().offset);
        found.ok().and_then(|index| self.shared.get(index))
    }

    /// Checks that the number of rows before `page`, which comes next, is the expected one.
    pub(super) fn check_page(&mut self, page: PageStart, rows_before: u64) -> Result<()> {
        if let Some(end) = self.end.filter(|end| end.page.offset == page.offset) {
            if end.rows_before != rows_before {
                return Err(self.wrong());
            }
            self.end = None;
        }
        Ok(())
    }

    /// Checks, once all rows of the part were taken, that its end was reached.
    pub(super) fn check_end(&mut self) -> Result<()> {
        match self.end {
            Some(_) => Err(self.wrong()),
            None => Ok(()),
        }
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.is_wrong
    }

    fn wrong(&mut self) -> Error {
        self.is_wrong = true;
        Error::corrupt("a page begins with another row than its header or the offset index says")
    }
}
