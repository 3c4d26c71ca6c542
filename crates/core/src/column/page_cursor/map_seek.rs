//! Uses a page map to jump straight to the pages with selected rows.
//!
//! A map is built from an offset index, and that index might contradict the pages. So the column checks each page
//! against the mapped rows as it reads the page. If the map is wrong but has not skipped any pages yet, we drop it.
//! Otherwise, the column has lost track of its rows, and the read fails.
//!
//! Two kinds of error go unnoticed, since no page we read contradicts them. One is an index that moves pages in the
//! middle, as long as no page at their border is used. The other is a wrong header of a page skipped without an index.

use std::sync::Arc;

use herringbone_format::{Error, Result};

use super::{BatchBuilder, PageCursor, RowWalk};
use crate::column::selection::SelectionRun;
use crate::page::{DataPage, PageMap, PageStart};

/// A column chunk's page map, and the state of its use.
pub(super) struct MapSeek {
    map: Arc<PageMap>,
    /// True if the map has made the column skip pages.
    has_jumped: bool,
    /// The ordinal of the data page last jumped to, until its rows are counted.
    uncounted: Option<usize>,
}

impl MapSeek {
    pub(super) fn new(map: Arc<PageMap>) -> Self {
        Self {
            map,
            has_jumped: false,
            uncounted: None,
        }
    }

    /// Returns true if, according to the map, a data page starts here with the row at `position`.
    fn agrees(&self, page: PageStart, position: u64) -> bool {
        let mapped = self.map.get(page.data_pages_before);
        mapped.is_some_and(|mapped| {
            mapped.range.start == page.offset && mapped.rows.start == position
        })
    }
}

/// Returns the error for an index that disagrees with the pages about their rows.
fn contradicted() -> Error {
    Error::corrupt("the offset index and the pages disagree about the rows of a page")
}

impl PageCursor {
    /// Jumps to the next page with a selected row, unless that page follows anyway. Returns the number of skipped rows,
    /// or `None` if there was no jump.
    ///
    /// # Errors
    /// Fails with Corrupt if the map is wrong and has already skipped pages.
    pub(super) fn jump_by_map(
        &mut self,
        rows: &RowWalk,
        batch: &mut BatchBuilder,
    ) -> Result<Option<usize>> {
        let (Some(used), Some(page)) = (&mut self.map, self.pages.next_start()) else {
            return Ok(None);
        };
        // A split first jumps to its own first page, without the map.
        if self
            .split
            .as_ref()
            .is_some_and(|split| split.begin.is_some())
        {
            return Ok(None);
        }
        let (map, position) = (&used.map, rows.position());
        if page.data_pages_before == map.num_pages() {
            return Ok(None);
        }
        let first = map.get(0).map_or(u64::MAX, |page| page.range.start);
        let is_behind = page.offset >= first;
        if is_behind && !used.agrees(page, position) {
            return self.drop_map().map(|()| None);
        }
        let (row, end) = match rows.run() {
            SelectionRun::Skip(rows) => (position + rows as u64, None),
            SelectionRun::Take(rows) => (position, Some(position + rows as u64)),
            SelectionRun::Unknown | SelectionRun::Done => return Ok(None),
        };
        // Whatever the index claims, the last selected row might continue in the next page, so we read that page.
        if self.plan.max_rep_level > 0 && rows.is_in_selected_row() {
            return Ok(None);
        }
        let next = map.page_of(row);
        if !is_behind {
            // The dictionary page precedes the data pages. If we're going to jump afterwards, we want nothing else
            // before the jump.
            let end = if next > 0 { first } else { self.pages.end() };
            self.pages.set_wanted_end(end);
            return Ok(None);
        }
        let last = end.map_or(next, |end| map.page_of(end - 1));
        if let Some(last) = map.get(last) {
            self.pages.set_wanted_end(last.range.end);
        }
        let (Some(start), Some(mapped)) = (map.start(next, page), map.get(next)) else {
            return Ok(None);
        };
        self.pages
            .expect_page(mapped.range.end - mapped.range.start);
        if start.offset == page.offset {
            return Ok(None);
        }
        let skipped = start
            .data_pages_before
            .saturating_sub(page.data_pages_before);
        let metrics = batch.memory().metrics();
        metrics.pages_skipped.add(skipped as u64);
        self.pages.jump_by_index(start);
        used.has_jumped = true;
        used.uncounted = Some(next);
        // The cast is lossless, because the selection skips at least this many rows and counts them in a `usize`.
        Ok(Some((mapped.rows.start - position) as usize))
    }

    /// Compares the map with the number of rows in the next page header.
    ///
    /// # Errors
    /// Fails with Corrupt if the map is wrong and has already skipped pages.
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
            false => self.drop_map(),
        }
    }

    /// Compares the map with the number of rows starting in the first page after a jump. We count them by repetition
    /// levels, because headers don't always contain a row count. The page must also start with a new row.
    ///
    /// # Errors
    /// Fails with Corrupt if the numbers differ or the page continues a row.
    pub(super) fn check_rows_of_page(&mut self, page: PageStart, opened: &DataPage) -> Result<()> {
        let Some(used) = &mut self.map else {
            return Ok(());
        };
        let is_uncounted = used
            .uncounted
            .take_if(|uncounted| *uncounted == page.data_pages_before)
            .is_some();
        let max_level = self.plan.max_rep_level;
        if !is_uncounted || max_level == 0 {
            return Ok(());
        }
        let mapped = used.map.get(page.data_pages_before);
        let mapped = mapped.map(|mapped| mapped.rows.end - mapped.rows.start);
        let (rows, starts_row) = opened.row_starts(max_level)?;
        match starts_row && mapped == Some(rows) {
            true => Ok(()),
            false => Err(contradicted()),
        }
    }

    /// Drops a wrong map.
    ///
    /// # Errors
    /// Fails with Corrupt if the map has already skipped pages.
    fn drop_map(&mut self) -> Result<()> {
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
