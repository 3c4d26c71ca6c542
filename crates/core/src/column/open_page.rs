//! How a column comes to its next data page. By their headers it passes over pages of which no row is
//! wanted; it reads the dictionary before what refers to it, and opens the rest.

use herringbone_format::{Error, PageHeader, PageType, Result};

use super::dictionary::is_indices;
use super::selection::SelectionRun;
use super::{ColumnChunkDecoder, OpenPage};
use crate::Step;
use crate::budget::{Budget, MemoryUse};
use crate::encoding::rest::more_than_declared;
use crate::levels::Levels;
use crate::loss::{Loss, Lost, is_damage};
use crate::page::{Page, PagePlace, PageStart};

/// The page that comes next, as far as its header tells.
struct NextPage {
    start: PageStart,
    is_dictionary: bool,
    /// Its values are indices into the dictionary.
    needs_dictionary: bool,
    /// Rows of a data page, if the header tells them.
    rows: Option<usize>,
}

impl ColumnChunkDecoder {
    /// Makes sure that a data page with levels left is open; false behind the last page. Pages
    /// whose rows are known to be unwanted are passed over.
    pub(super) fn open_page(&mut self) -> Result<Step<bool>> {
        loop {
            if self.page.as_ref().is_some_and(|page| page.levels_left > 0) {
                return Ok(Step::Ready(true));
            }
            self.check_used_page()?;
            // Errors from here on belong to the next page, and so does the memory of this one, unless
            // the array keeps parts of it.
            if let Some(left) = self.page.take() {
                self.array.leave_page();
                self.kept_bytes = match self.array.keeps_pages() {
                    true => self.kept_bytes.saturating_add(left.body_bytes),
                    false => 0,
                };
            }
            let place = self.pages.place();
            let opened = self
                .open_next_page(place)
                .map_err(|error| place.of(error))?;
            match opened {
                Step::Ready(true) => {}
                other => return Ok(other),
            }
        }
    }

    /// Makes sure that a page of which all declared levels are used up has nothing else: otherwise its header is wrong, and
    /// the rows of later pages are others than they seem.
    ///
    /// # Errors
    /// Corrupt where the page has more levels or values.
    pub(super) fn check_used_page(&self) -> Result<()> {
        let Some(page) = &self.page else {
            return Ok(());
        };
        let is_used_up = page.levels_left == 0 && self.block.next >= self.block.rep.len();
        if !is_used_up || page.is_lost {
            return Ok(());
        }
        if page.repetition.has_more() || page.definition.has_more() {
            return Err(page.place.of(more_than_declared("levels")));
        }
        let rest = self.array.rest().check(self.pages.created_by());
        rest.map_err(|error| page.place.of(error))
    }

    /// Opens or passes over one page; false behind the last one.
    fn open_next_page(&mut self, place: PagePlace) -> Result<Step<bool>> {
        if self.map.is_some() && self.jump_by_map()? {
            return Ok(Step::Ready(true));
        }
        let next = match self.next_page()? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(None) => return Ok(Step::Ready(false)),
            Step::Ready(Some(next)) => next,
        };
        if self.jump_to_split(&next) {
            return Ok(Step::Ready(true));
        }
        if let Some(rows) = next.rows.filter(|_| !next.is_dictionary) {
            self.check_map(next.start, rows)?;
        }
        if let Some(cut) = &mut self.cut {
            cut.check_end(next.start, self.selection.position())?;
        }
        if self.skip_unwanted(&next)? || self.return_to_dictionary(&next) {
            return Ok(Step::Ready(true));
        }
        self.read_page(&next, place)
    }

    /// The page that comes next, by its header; none behind the last one.
    fn next_page(&mut self) -> Result<Step<Option<NextPage>>> {
        let is_flat = self.plan.max_rep_level == 0;
        let header = match self.pages.header(&mut self.memory)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(None) => return Ok(Step::Ready(None)),
            Step::Ready(Some(header)) => header,
        };
        let is_dictionary = header.type_ == PageType::DictionaryPage;
        if is_flat {
            check_flat_counts(header)?;
        }
        let rows = match is_dictionary {
            true => None,
            false => rows_of_page(header, is_flat),
        };
        let needs_dictionary = refers_to_dictionary(header);
        Ok(Step::Ready(Some(NextPage {
            start: self.pages.start(),
            is_dictionary,
            needs_dictionary,
            rows,
        })))
    }

    /// Goes to the page that a part of the chunk begins with, once, from the first data page; whether it did.
    fn jump_to_split(&mut self, next: &NextPage) -> bool {
        let cut = self.cut.as_mut().filter(|_| !next.is_dictionary);
        let Some(begin) = cut.and_then(|cut| cut.begin.take()) else {
            return false;
        };
        self.pages.jump(begin.page);
        let rows = usize::try_from(begin.rows_before).unwrap_or(usize::MAX);
        self.selection.advance(rows.min(self.unwanted_rows()));
        true
    }

    /// Passes over a page of which no row is wanted, as far as its header tells; whether it did.
    fn skip_unwanted(&mut self, next: &NextPage) -> Result<bool> {
        let unwanted = self.unwanted_rows();
        let is_believed = |rows: &usize| self.believes_headers || *rows == 0;
        let rows = next.rows.filter(is_believed);
        let Some(rows) = rows.filter(|&rows| rows <= unwanted) else {
            return Ok(false);
        };
        self.pages.pass()?;
        self.memory.metrics().pages_passed_over.add(1);
        self.selection.advance(rows);
        Ok(true)
    }

    /// Rows that are not wanted before the next one that is.
    fn unwanted_rows(&self) -> usize {
        match self.selection.run() {
            SelectionRun::Skip(rows) => rows,
            SelectionRun::Take(_) | SelectionRun::Unknown | SelectionRun::Done => 0,
        }
    }

    /// Goes back to the dictionary where the page needs it and it was let go of; whether it did.
    fn return_to_dictionary(&mut self, next: &NextPage) -> bool {
        if !next.needs_dictionary {
            return false;
        }
        let dictionary = self.dictionary.return_for(next.start);
        dictionary
            .inspect(|place| self.pages.read_dictionary_again(*place))
            .is_some()
    }

    /// Reads and opens the page, or loses it where damaged pages become nulls.
    fn read_page(&mut self, next: &NextPage, place: PagePlace) -> Result<Step<bool>> {
        let another = self.array.keeps_pages();
        let shared = self.cut.as_ref().and_then(|cut| cut.shared(next.start));
        let opened = match self.pages.body(another, shared, &mut self.memory) {
            Ok(Step::Need(range)) => return Ok(Step::Need(range)),
            Ok(Step::Ready(page)) => {
                self.memory.metrics().pages_read.add(1);
                self.open_body(page, place, next.start)
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
            // A budget that is too small is no fault of the page.
            Err(error) if self.plan.null_pages && is_damage(&error) && !Budget::refused(&error) => {
                self.dictionary_is_lost |= next.is_dictionary;
                self.lose_page(error, next.rows.unwrap_or(0), place);
            }
            opened => opened?,
        }
        Ok(Step::Ready(true))
    }

    fn open_body(&mut self, page: Page, place: PagePlace, start: PageStart) -> Result<()> {
        match page {
            Page::Dictionary { values, num_values } => {
                // Entries without a byte are an error still to come.
                let entries = num_values.min(values.len());
                let bytes = self.array.dictionary_bytes(values.len(), entries);
                self.memory
                    .hold_at_least(MemoryUse::Dictionary, bytes as u64)?;
                self.array.set_dictionary(&values, num_values)
            }
            Page::Data(page) if self.dictionary_is_lost && is_indices(page.encoding) => {
                Err(Error::corrupt("the dictionary of the page is damaged"))
            }
            Page::Data(page) => {
                self.check_rows_of_page(start, &page)?;
                let copied = self.array.page_bytes(page.encoding, page.values.len());
                self.memory.hold(MemoryUse::Copy, copied as u64)?;
                let body_bytes = page.bytes();
                self.array
                    .set_page(page.encoding, page.values, page.num_values)?;
                self.page = Some(OpenPage {
                    place,
                    repetition: Levels::new(page.repetition, self.plan.max_rep_level),
                    definition: Levels::new(page.definition, self.plan.max_def_level),
                    levels_left: page.num_values,
                    body_bytes,
                    is_lost: false,
                });
                Ok(())
            }
        }
    }

    /// Puts nulls in the place of a damaged page: none for a dictionary.
    fn lose_page(&mut self, error: Error, rows: usize, place: PagePlace) {
        let error = place.of(error).in_column(self.plan.path());
        self.losses.push(Loss {
            error: error.in_row_group(self.row_group),
            lost: Lost::Values(rows as u64),
        });
        let max_def = self.plan.max_def_level;
        self.page = Some(OpenPage {
            place,
            repetition: Levels::constant(0, 0),
            definition: Levels::constant(max_def.saturating_sub(1), max_def),
            levels_left: rows,
            body_bytes: 0,
            is_lost: true,
        });
    }
}

/// Whether the values of a page are indices into the dictionary.
fn refers_to_dictionary(header: &PageHeader) -> bool {
    header.type_ != PageType::DictionaryPage && header.encoding().is_some_and(is_indices)
}

/// Makes sure that the header of a page of version 2, of a column without lists, has as many rows as values.
///
/// # Errors
/// Corrupt where the counts differ: nothing tells which of them is right.
fn check_flat_counts(header: &PageHeader) -> Result<()> {
    match &header.data_page_header_v2 {
        Some(v2) if v2.num_rows != v2.num_values => Err(Error::corrupt(format!(
            "the page header declares {} rows and {} values, and the column has no lists",
            v2.num_rows, v2.num_values
        ))),
        _ => Ok(()),
    }
}

/// How many rows a data page has, as far as its header tells. Nothing is wanted of a page without
/// levels, whatever its body decompresses to.
pub(crate) fn rows_of_page(header: &PageHeader, flat: bool) -> Option<usize> {
    let (num_values, num_rows) = match (&header.data_page_header, &header.data_page_header_v2) {
        (Some(v1), _) if header.type_ == PageType::DataPage => (v1.num_values, None),
        // A page that starts no row goes on with the last one, which may be wanted.
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
