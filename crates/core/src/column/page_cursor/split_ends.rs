//! The ends of a column chunk's split.
//!
//! A split begins at a page whose first row is known in advance, for example from headers or an offset index. Since
//! either can be wrong, each split checks that it ends with the row before the next split's first row. Otherwise the
//! column fails, and the chunk has to be read as a whole.

use herringbone_format::{Error, Result};

use crate::column::{ColumnSplit, PageOfRow};
use crate::page::{PageStart, SharedPage};

/// The ends of a column chunk's split, and the column's progress towards them.
pub(super) struct SplitEnds {
    /// The first page of the split, until the column has jumped to it.
    pub(super) begin: Option<PageOfRow>,
    /// The page with the first row after the split, until it's checked. `None` if there is no such page.
    end: Option<PageOfRow>,
    /// The pages shared with other splits.
    shared: Vec<SharedPage>,
    is_wrong: bool,
}

impl SplitEnds {
    pub(super) fn new(split: ColumnSplit) -> Self {
        Self {
            begin: Some(split.begin),
            end: split.end,
            shared: split.shared,
            is_wrong: false,
        }
    }

    /// Returns the shared page at `page`, if other splits decode it too.
    pub(super) fn shared(&self, page: PageStart) -> Option<&SharedPage> {
        let found = self
            .shared
            .binary_search_by_key(&page.offset, |shared| shared.start().offset);
        found.ok().and_then(|index| self.shared.get(index))
    }

    /// Compares the number of rows before the next page, `page`, with the expected number.
    pub(super) fn check_page(&mut self, page: PageStart, rows_before: u64) -> Result<()> {
        if let Some(end) = self.end.filter(|end| end.page.offset == page.offset) {
            if end.rows_before != rows_before {
                return Err(self.wrong());
            }
            self.end = None;
        }
        Ok(())
    }

    /// Checks that taking all of the split's rows has reached its end.
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
        Error::corrupt("the first row of a page is not the one in its header or the offset index")
    }
}
