//! Counts the rows starting in each page when only the repetition levels can tell.
//!
//! Version 1 headers count levels, not rows. To decode pages of lists in parallel, a reader must first know which rows
//! they contain. Counting means decompressing, so we keep the decompressed pages for the decoders to reuse.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::{Error, Result};

use crate::Step;
use crate::budget::{Budget, ColumnMemory, Reservation};
use crate::page::{Page, PageReader, PageReaderChunk, PageReaderOptions, SharedPage};

/// A counter of the rows starting in each of a column chunk's pages.
pub struct RowCounter {
    pages: PageReader,
    /// The pages not counted yet.
    uncounted: VecDeque<SharedPage>,
    max_rep_level: u8,
    memory: ColumnMemory,
    budget: Arc<Budget>,
}

impl RowCounter {
    /// Creates a row counter for the `uncounted` pages of a column chunk.
    pub fn new(
        max_rep_level: u8,
        (options, chunk): (Arc<PageReaderOptions>, PageReaderChunk),
        uncounted: VecDeque<SharedPage>,
        budget: Arc<Budget>,
    ) -> Self {
        let mut pages = PageReader::new(options, chunk);
        if let Some(first) = uncounted.front() {
            pages.jump(first.start());
        }
        Self {
            pages,
            uncounted,
            max_rep_level,
            memory: ColumnMemory::new(budget.clone()),
            budget,
        }
    }

    /// Supplies bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.pages.supply(offset, bytes);
    }

    /// Returns the end of the column chunk in the file.
    #[must_use]
    pub fn chunk_end(&self) -> u64 {
        self.pages.end()
    }

    /// Returns the number of rows starting in the next page, or `None` after the last page.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt),
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) or [Limit](herringbone_format::ErrorKind::Limit), but
    /// without a location, because the page's decoder reports the error in more detail.
    pub fn poll(&mut self) -> Result<Step<Option<u64>>> {
        let Some(shared) = self.uncounted.front() else {
            return Ok(Step::Ready(None));
        };
        let header = match self.pages.header(&mut self.memory)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(header) => header,
        };
        let bytes = header.map_or(0, |header| header.uncompressed_page_size);
        if self.pages.start() != shared.start() {
            return Err(Error::corrupt("a page is no longer at the same offset"));
        }
        let mut memory = Reservation::new(self.budget.clone());
        // If memory is too short to keep the body, it is decompressed again later.
        let is_kept =
            self.pages.is_compressed() && memory.resize(u64::try_from(bytes).unwrap_or(0)).is_ok();
        let to_keep = Some(shared).filter(|_| is_kept);
        let page = match self.pages.body(false, to_keep, &mut self.memory)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(page) => page,
        };
        if is_kept {
            shared.set_memory(memory);
        } else {
            drop(shared.take());
        }
        self.uncounted.pop_front();
        match page {
            Page::Data(page) => {
                let (rows, _) = page.row_starts(self.max_rep_level)?;
                Ok(Step::Ready(Some(rows)))
            }
            Page::Dictionary { .. } => Err(Error::corrupt("a page is no longer of the same type")),
        }
    }
}
