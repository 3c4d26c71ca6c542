//! How a column goes by the map of its pages: straight to those that have rows that are wanted.
//!
//! A map is made of an index that somebody wrote beside the pages, and may be wrong. So wherever it is looked at, it must
//! agree with the rows that were counted. As long as no page was passed over for its sake, a map that does not agree
//! is left aside; behind that, rows cannot be told any more, and the column fails.

use std::sync::Arc;

use herringbone_format::{Error, Result};

use super::ColumnChunkDecoder;
use super::selection::SelectionRun;
use crate::page::{DataPage, PageMap, PageStart};

/// The map of a column chunk, as its column uses it.
pub(super) struct MapUse {
    map: Arc<PageMap>,
    /// Whether pages were passed over for its sake.
    has_jumped: bool,
    /// The data page that it was jumped to last, by its number, until its rows were counted.
    uncounted: Option<usize>,
}

impl MapUse {
    pub(super) fn new(map: Arc<PageMap>) -> Self {
        Self {
            map,
            has_jumped: false,
            uncounted: None,
        }
    }

    /// Whether it agrees that the page at hand, a data page, starts with the row at `position`.
    fn agrees(&self, page: PageStart, position: u64) -> bool {
        let mapped = self.map.get(page.data_pages_before);
        mapped.is_some_and(|it| it.range.start == page.offset && it.rows.start == position)
    }
}

/// What the index says of rows is not what pages say.
fn contradicted() -> Error {
    Error::corrupt("the offset index says other rows of a page than the pages do")
}

impl ColumnChunkDecoder {
    /// Goes to the next page that has a wanted row, where that is not the next page; whether it did.
    ///
    /// # Errors
    /// Corrupt where the map is wrong, and pages were passed over before.
    pub(super) fn jump_by_map(&mut self) -> Result<bool> {
        let (Some(used), Some(page)) = (&mut self.map, self.pages.next_start()) else {
            return Ok(false);
        };
        // A part of the chunk goes to its own first page.
        if self.cut.as_ref().is_some_and(|cut| cut.begin.is_some()) {
            return Ok(false);
        }
        let (map, position) = (&used.map, self.selection.position());
        if page.data_pages_before == map.len() {
            return Ok(false);
        }
        let first = map.get(0).map_or(u64::MAX, |page| page.range.start);
        let is_behind = page.offset >= first;
        if is_behind && !used.agrees(page, position) {
            return self.leave_map().map(|()| false);
        }
        let (row, end) = match self.selection.run() {
            SelectionRun::Skip(rows) => (position + rows as u64, None),
            SelectionRun::Take(rows) => (position, Some(position + rows as u64)),
            SelectionRun::Unknown | SelectionRun::Done => return Ok(false),
        };
        // The row that was taken last may go on in the next page, whatever the index says.
        if self.plan.max_rep_level > 0 && self.block.row_is_wanted {
            return Ok(false);
        }
        let next = map.page_of(row);
        if !is_behind {
            // The dictionary comes first.
            let end = if next > 0 { first } else { self.pages.end() };
            self.pages.set_wanted_end(end);
            return Ok(false);
        }
        let last = end.map_or(next, |end| map.page_of(end - 1));
        if let Some(last) = map.get(last) {
            self.pages.set_wanted_end(last.range.end);
        }
        let (Some(start), Some(mapped)) = (map.start(next, page), map.get(next)) else {
            return Ok(false);
        };
        self.pages
            .expect_page(mapped.range.end - mapped.range.start);
        if start.offset == page.offset {
            return Ok(false);
        }
        let passed_over = start
            .data_pages_before
            .saturating_sub(page.data_pages_before);
        let metrics = self.memory.metrics();
        metrics.pages_passed_over.add(passed_over as u64);
        self.pages.jump_by_index(start);
        // It is at most what the selection passes over, which is a number of rows.
        self.selection
            .advance((mapped.rows.start - position) as usize);
        used.has_jumped = true;
        used.uncounted = Some(next);
        Ok(true)
    }

    /// Compares the map with the rows that the header of the next page tells.
    ///
    /// # Errors
    /// As [`Self::jump_by_map`].
    pub(super) fn check_map(&mut self, page: PageStart, rows: usize) -> Result<()> {
        let Some(used) = &self.map else {
            return Ok(());
        };
        let mapped = used.map.get(page.data_pages_before);
        let is_right = mapped.is_some_and(|mapped| {
            mapped.range.start == page.offset && mapped.rows.end - mapped.rows.start == rows as u64
        });
        match is_right {
            true => Ok(()),
            false => self.leave_map(),
        }
    }

    /// Compares the map with the rows that start in a page that was jumped to, by its repetition levels: headers do not
    /// always state them. A page that goes on with a row of the page before is none that a map can lead to.
    ///
    /// # Errors
    /// Corrupt where they differ.
    pub(super) fn check_rows_of_page(&mut self, page: PageStart, opened: &DataPage) -> Result<()> {
        let Some(used) = &mut self.map else {
            return Ok(());
        };
        let is_uncounted = used
            .uncounted
            .take_if(|it| *it == page.data_pages_before)
            .is_some();
        let max_level = self.plan.max_rep_level;
        if !is_uncounted || max_level == 0 {
            return Ok(());
        }
        let mapped = used.map.get(page.data_pages_before);
        let mapped = mapped.map(|it| it.rows.end - it.rows.start);
        let (rows, starts_row) = opened.row_starts(max_level)?;
        match starts_row && mapped == Some(rows) {
            true => Ok(()),
            false => Err(contradicted()),
        }
    }

    /// Leaves a map that is wrong aside.
    fn leave_map(&mut self) -> Result<()> {
        match self.map.take() {
            Some(used) if used.has_jumped => Err(contradicted()),
            _ => {
                self.believes_headers = false;
                let end = self.pages.chunk_end();
                self.pages.set_wanted_end(end);
                Ok(())
            }
        }
    }
}
