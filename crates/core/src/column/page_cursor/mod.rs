//! Moves a column through the pages of its chunk. Pages without a selected row are skipped based on their headers or
//! the page map, and all other pages are opened. The dictionary is read before any pages that refer to it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::{Error, PageHeader, PageType, Result};

use super::batch_builder::BatchBuilder;
use super::row_walk::RowWalk;
use super::{ColumnPlan, ColumnSplit};
use crate::Step;
use crate::budget::Budget;
use crate::levels::Levels;
use crate::loss::is_damage;
use crate::page::{
    Ending, Page, PageEnd, PageMap, PageReader, PageReaderChunk, PageReaderOptions, PageStart,
};

mod dictionary_lifetime;
mod levels;
mod map_seek;
mod page_count;
mod split_ends;

use dictionary_lifetime::{DictionaryLifetime, is_indices};
use levels::{LevelBlock, OpenPage};
use map_seek::MapSeek;
use page_count::{CountCause, PageCount};
use split_ends::SplitEnds;

/// A column's position among its chunk's pages, with the levels of the open page.
pub(super) struct PageCursor {
    plan: Arc<ColumnPlan>,
    /// The reader, boxed because allocators are slower for allocations of more than a kilobyte.
    pages: Box<PageReader>,
    page: Option<OpenPage>,
    block: LevelBlock,
    count: PageCount,
    /// The page map, if the column uses one.
    map: Option<MapSeek>,
    /// True if we trust the row counts in headers to skip pages. If an index contradicts a header, only the page body
    /// can show which is right, so we read the body in that case.
    believes_headers: bool,
    /// The split's ends, if the column only decodes a part of the chunk. Boxed, because few columns have them.
    split: Option<Box<SplitEnds>>,
    dictionary: DictionaryLifetime,
    dictionary_is_lost: bool,
}

/// The result of a [`PageCursor`] step.
pub(super) enum PageStep {
    /// A page with undecoded levels is open.
    Levels,
    /// Some unselected rows were skipped, perhaps 0. The cursor can make another step.
    Skipped(usize),
    /// There are no more pages.
    End,
}

/// The next page, as described by its header.
struct NextPage {
    start: PageStart,
    is_dictionary: bool,
    /// True if the page's values are indices into the dictionary.
    needs_dictionary: bool,
    /// True if the header declares values but no rows.
    lacks_rows: bool,
    /// The number of rows in a data page, if declared in its header.
    rows: Option<usize>,
}

impl PageCursor {
    pub(super) fn new(
        plan: Arc<ColumnPlan>,
        pages: Arc<PageReaderOptions>,
        chunk: PageReaderChunk,
    ) -> Self {
        Self {
            plan,
            pages: Box::new(PageReader::new(pages, chunk)),
            page: None,
            block: LevelBlock::default(),
            count: PageCount::default(),
            map: None,
            believes_headers: true,
            split: None,
            dictionary: DictionaryLifetime::default(),
            dictionary_is_lost: false,
        }
    }

    /// Uses this map to jump to pages with selected rows, unless the map is contradicted.
    pub(super) fn use_map(&mut self, map: Arc<PageMap>) {
        self.believes_headers = !map.is_contradicted();
        self.map = self.believes_headers.then(|| MapSeek::new(map));
    }

    /// Restricts the cursor to the pages of `split`.
    pub(super) fn restrict(&mut self, split: ColumnSplit) {
        self.split = Some(Box::new(SplitEnds::new(split)));
    }

    /// Returns true if the next split starts with a different row than expected.
    pub(super) fn is_split_wrong(&self) -> bool {
        self.split.as_ref().is_some_and(|split| split.is_wrong())
    }

    /// Checks that taking all of the split's rows, up to `position`, has reached its end.
    ///
    /// # Errors
    /// Fails with Corrupt if the next split starts with a different row than expected.
    pub(super) fn check_split_end(&mut self, position: u64) -> Result<()> {
        // With lists, the split looks into the next page for the end of its last row, and that's where it checks the
        // page.
        let is_used_up = self.plan.max_rep_level == 0 && self.levels_left() == 0;
        let Some(split) = &mut self.split else {
            return Ok(());
        };
        if is_used_up {
            // If the split ends with the last row of a page, we haven't checked the next page yet.
            split.check_page(self.pages.start(), position)?;
        }
        split.check_end()
    }

    /// Supplies bytes of the file that start at `offset`.
    pub(super) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.pages.supply(offset, bytes);
    }

    /// Returns the column chunk's range in the file.
    pub(super) fn chunk(&self) -> Range<u64> {
        self.pages.chunk()
    }

    /// Returns the next page's offset. Bytes before it are no longer needed.
    pub(super) fn next_offset(&self) -> u64 {
        self.count.start().unwrap_or(self.pages.start()).offset
    }

    /// Returns the end of the column chunk in the file, or the end of the next needed pages if known.
    pub(super) fn end(&self) -> u64 {
        self.pages.end()
    }

    /// Returns true if the open page's values are lost.
    pub(super) fn is_lost(&self) -> bool {
        self.page.as_ref().is_some_and(|page| page.is_lost)
    }

    /// Returns the size of the open page if all of its levels are decoded, since the column is about to leave the page.
    /// Otherwise this returns 0.
    pub(super) fn used_up_bytes(&self) -> usize {
        let page = self.page.as_ref().filter(|page| page.levels_left == 0);
        page.map_or(0, |page| page.body_bytes)
    }

    /// Adds the open page's place to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        match &self.page {
            Some(page) => page.place.locate(error),
            None => error,
        }
    }

    /// Drops an idle dictionary between two column batches.
    pub(super) fn drop_dictionary(&mut self, batch: &mut BatchBuilder) -> Result<()> {
        if self.dictionary.is_idle() && batch.is_empty() {
            self.dictionary.set_dropped(batch.drop_dictionary()?);
        }
        Ok(())
    }

    /// Advances towards a data page with undecoded levels, skipping pages without selected rows.
    pub(super) fn step(
        &mut self,
        rows: &RowWalk,
        batch: &mut BatchBuilder,
    ) -> Result<Step<PageStep>> {
        if self.levels_left() > 0 {
            return Ok(Step::Ready(PageStep::Levels));
        }
        self.check_used_page(batch)?;
        if let Step::Need(range) = self.compare_count(batch)? {
            return Ok(Step::Need(range));
        }
        // From here on, errors belong to the next page. The old page's memory is freed unless the array borrows from
        // it.
        if let Some(left) = self.page.take() {
            batch.release_page(left.body_bytes);
        }
        let place = self.pages.start();
        self.open_next_page(place, rows, batch)
            .map_err(|error| place.locate(error))
    }

    /// Checks that a used-up page contains only padding after its declared levels. Otherwise its header is wrong, and
    /// later pages don't have the rows they seem to have.
    ///
    /// # Errors
    /// Fails with Corrupt if the page has more levels or values.
    pub(super) fn check_used_page(&mut self, batch: &BatchBuilder) -> Result<()> {
        let Some(page) = &self.page else {
            return Ok(());
        };
        let is_used_up = page.levels_left == 0 && self.block.is_used_up();
        if !is_used_up || page.is_lost {
            return Ok(());
        }
        let end = PageEnd {
            repetition: &page.repetition,
            definition: &page.definition,
            rest: batch.rest_of_page(),
            num_levels: page.num_levels,
            created_by: self.pages.created_by(),
        };
        let by_metadata = || self.pages.num_non_null(page.num_levels);
        let ending = end.ending(|| page.num_non_null.or_else(by_metadata));
        if ending.map_err(|error| page.place.locate(error))? == Ending::Open {
            self.count.request(CountCause::Ending);
        }
        Ok(())
    }

    /// Opens or skips one page.
    fn open_next_page(
        &mut self,
        place: PageStart,
        rows: &RowWalk,
        batch: &mut BatchBuilder,
    ) -> Result<Step<PageStep>> {
        let skipped = |rows| Ok(Step::Ready(PageStep::Skipped(rows)));
        if self.map.is_some()
            && let Some(rows) = self.jump_by_map(rows, batch)?
        {
            return skipped(rows);
        }
        let next = match self.next_page(batch)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(None) => return Ok(Step::Ready(PageStep::End)),
            Step::Ready(Some(next)) => next,
        };
        if next.lacks_rows {
            let num_values = next.rows.unwrap_or_default();
            if self.count.request(CountCause::NoRows { num_values }) {
                return skipped(0);
            }
        }
        if let Some(rows) = self.jump_to_split(&next, rows) {
            return skipped(rows);
        }
        if let Some(rows) = next.rows.filter(|_| !next.is_dictionary) {
            self.check_map(next.start, rows)?;
        }
        if let Some(split) = &mut self.split {
            split.check_page(next.start, rows.position())?;
        }
        if let Some(rows) = self.skip_unselected(&next, rows, batch)? {
            return skipped(rows);
        }
        if self.return_to_dictionary(&next) {
            return skipped(0);
        }
        self.read_page(&next, place, batch)
    }

    /// Returns the next page as its header describes it, or `None` after the last page.
    fn next_page(&mut self, batch: &mut BatchBuilder) -> Result<Step<Option<NextPage>>> {
        let is_flat = self.plan.max_rep_level == 0;
        let header = match self.pages.header(batch.memory())? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(None) => return Ok(Step::Ready(None)),
            Step::Ready(Some(header)) => header,
        };
        let is_dictionary = header.type_ == PageType::DictionaryPage;
        let lacks_rows = is_flat && lacks_rows(header)?;
        let rows = match is_dictionary {
            true => None,
            false => rows_of_page(header, is_flat),
        };
        let needs_dictionary = refers_to_dictionary(header);
        Ok(Step::Ready(Some(NextPage {
            start: self.pages.start(),
            is_dictionary,
            needs_dictionary,
            lacks_rows,
            rows,
        })))
    }

    /// Jumps from the first data page to the split's first page. Returns the number of rows skipped, or `None` if there
    /// was no jump.
    fn jump_to_split(&mut self, next: &NextPage, rows: &RowWalk) -> Option<usize> {
        let split = self.split.as_mut().filter(|_| !next.is_dictionary)?;
        let begin = split.begin.take()?;
        self.pages.jump_by_index(begin.page);
        let before = usize::try_from(begin.rows_before).unwrap_or(usize::MAX);
        Some(before.min(rows.unselected()))
    }

    /// Skips a page and returns its row count, if the header shows that none of the page's rows are selected.
    fn skip_unselected(
        &mut self,
        next: &NextPage,
        rows: &RowWalk,
        batch: &mut BatchBuilder,
    ) -> Result<Option<usize>> {
        let unselected = rows.unselected();
        let is_believed = |rows: &usize| self.believes_headers || *rows == 0;
        let rows = next.rows.filter(is_believed);
        let Some(rows) = rows.filter(|&rows| rows <= unselected) else {
            return Ok(None);
        };
        self.pages.pass()?;
        batch.memory().metrics().pages_skipped.add(1);
        Ok(Some(rows))
    }

    /// Returns to the dictionary if the page needs it but it was dropped. Returns true if so.
    fn return_to_dictionary(&mut self, next: &NextPage) -> bool {
        if !next.needs_dictionary {
            return false;
        }
        let dictionary = self.dictionary.return_for(next.start);
        dictionary
            .inspect(|place| self.pages.read_dictionary_again(*place))
            .is_some()
    }

    /// Reads and opens the page. If the page is damaged and we're replacing damaged pages by nulls, this opens a page
    /// of nulls instead.
    fn read_page(
        &mut self,
        next: &NextPage,
        place: PageStart,
        batch: &mut BatchBuilder,
    ) -> Result<Step<PageStep>> {
        let another = batch.borrows_pages();
        let shared = self.split.as_ref();
        let shared = shared.and_then(|split| split.shared(next.start));
        let opened = match self.pages.body(another, shared, batch.memory()) {
            Ok(Step::Need(range)) => return Ok(Step::Need(range)),
            Ok(Step::Ready(page)) => {
                batch.memory().metrics().pages_read.add(1);
                self.open_body(page, place, next.start, batch)
            }
            Err(error) => {
                self.pages.pass()?;
                Err(error)
            }
        };
        if !next.is_dictionary {
            self.dictionary.count(next.needs_dictionary);
        } else if let Some(page) = self.dictionary.read(next.start) {
            self.pages.jump(page);
        }
        match opened {
            // If the budget is too small, the page isn't at fault, so it doesn't become null.
            Err(error) if self.plan.null_pages && is_damage(&error) && !Budget::refused(&error) => {
                self.dictionary_is_lost |= next.is_dictionary;
                let rows = next.rows.unwrap_or(0);
                batch.lose(place.locate(error), rows);
                self.open_lost(rows, place);
            }
            opened => opened?,
        }
        Ok(Step::Ready(PageStep::Skipped(0)))
    }

    fn open_body(
        &mut self,
        page: Page,
        place: PageStart,
        start: PageStart,
        batch: &mut BatchBuilder,
    ) -> Result<()> {
        match page {
            Page::Dictionary { values, num_values } => batch.set_dictionary(&values, num_values),
            Page::Data(page) if self.dictionary_is_lost && is_indices(page.encoding) => {
                Err(Error::corrupt("the dictionary of the page is damaged"))
            }
            Page::Data(page) => {
                self.check_rows_of_page(start, &page)?;
                let body_bytes = page.bytes();
                batch.set_page(page.encoding, page.values, page.num_values)?;
                self.page = Some(OpenPage {
                    place,
                    repetition: Levels::new(page.repetition, self.plan.max_rep_level),
                    definition: Levels::new(page.definition, self.plan.max_def_level),
                    num_levels: page.num_values,
                    num_non_null: page.num_non_null,
                    levels_left: page.num_values,
                    body_bytes,
                    is_lost: false,
                });
                Ok(())
            }
        }
    }

    /// Replaces a damaged page by nulls. A dictionary page has 0 rows, so it adds no nulls.
    fn open_lost(&mut self, rows: usize, place: PageStart) {
        let max_def = self.plan.max_def_level;
        self.page = Some(OpenPage {
            place,
            repetition: Levels::constant(0, 0),
            definition: Levels::constant(max_def.saturating_sub(1), max_def),
            num_levels: rows,
            num_non_null: None,
            levels_left: rows,
            body_bytes: 0,
            is_lost: true,
        });
    }
}

/// Returns true if a page's values are indices into the dictionary.
fn refers_to_dictionary(header: &PageHeader) -> bool {
    header.type_ != PageType::DictionaryPage && header.encoding().is_some_and(is_indices)
}

/// Compares the row count with the value count in a version 2 page header, for a column without lists. Returns true if
/// the header declares values but no rows. hangxie's library writes such headers, because it never sets the row count.
///
/// # Errors
/// Fails with Corrupt if the numbers differ in any other way, because nothing shows which is right.
fn lacks_rows(header: &PageHeader) -> Result<bool> {
    match &header.data_page_header_v2 {
        Some(v2) if v2.num_rows == 0 => Ok(v2.num_values > 0),
        Some(v2) if v2.num_rows != v2.num_values => Err(Error::corrupt(format!(
            "the page header declares {} rows and {} values, but the column does not have lists",
            v2.num_rows, v2.num_values
        ))),
        _ => Ok(false),
    }
}

/// Returns the number of rows in a data page, if declared in its header. A page without levels has no rows, whatever
/// its body decompresses to.
pub fn rows_of_page(header: &PageHeader, flat: bool) -> Option<usize> {
    let (num_values, num_rows) = match (&header.data_page_header, &header.data_page_header_v2) {
        (Some(v1), _) if header.type_ == PageType::DataPage => (v1.num_values, None),
        // We ignore a count of 0. A page without a row start continues the last row, and that row might be selected.
        (_, Some(v2)) => (v2.num_values, Some(v2.num_rows).filter(|rows| *rows > 0)),
        _ => return None,
    };
    let rows = if flat || num_values == 0 {
        Some(num_values)
    } else {
        num_rows
    };
    rows.and_then(|rows| usize::try_from(rows).ok())
}
