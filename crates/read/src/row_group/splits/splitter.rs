//! Chooses the rows at which a column's splits end.

use std::sync::Arc;

use herringbone_core::column::{ColumnSplit, PageOfRow};
use herringbone_core::page::SharedPage;

/// A data page, with the properties needed for splitting.
pub(super) struct DataPage {
    pub(super) place: PageOfRow,
    pub(super) work: u64,
    /// The decompressed page, if its rows were counted.
    pub(super) shared: Option<SharedPage>,
}

/// A splitter that takes a column chunk's pages one by one, forming splits with about the same amount of work.
pub(super) struct Splitter {
    num_rows: u64,
    /// The first row of each batch.
    batch_starts: Arc<[u64]>,
    split_work: u64,
    is_flat: bool,
    /// The current split, to which pages are being added.
    open: Option<ColumnSplit>,
    /// The work of the current split's pages so far.
    work: u64,
    /// The first row of the next split. A batch starts there.
    next: Option<u64>,
    /// The last page, with its work.
    last: Option<(PageOfRow, u64)>,
}

impl Splitter {
    pub(super) fn new(
        num_rows: u64,
        batch_starts: Arc<[u64]>,
        split_work: u64,
        is_flat: bool,
    ) -> Self {
        Self {
            num_rows,
            batch_starts,
            split_work,
            is_flat,
            open: None,
            work: 0,
            next: None,
            last: None,
        }
    }

    /// Adds the next page. Returns a split if this page completes it.
    pub(super) fn add(&mut self, page: DataPage) -> Option<ColumnSplit> {
        let place = page.place;
        let next = self.next.take_if(|first| place.rows_before > *first);
        let complete = next.and_then(|first| self.split_before(first));
        // The first split begins at the first batch, since rows before it aren't selected.
        let first_wanted = self.batch_starts.first().copied().unwrap_or_default();
        let open = self.open.get_or_insert_with(|| ColumnSplit {
            rows: first_wanted..self.num_rows,
            begin: place,
            end: None,
            shared: Vec::new(),
        });
        if self.work >= self.split_work && self.next.is_none() {
            // The next split begins with the first batch starting in this page or after it.
            let starts = &self.batch_starts;
            let next = starts.partition_point(|start| *start < place.rows_before);
            let first = starts.get(next).copied();
            self.next = first.filter(|first| open.rows.start < *first);
        }
        open.shared.extend(page.shared);
        self.work += page.work;
        self.last = Some((place, page.work));
        complete
    }

    /// Returns the splits remaining after the last page.
    pub(super) fn end(&mut self) -> impl Iterator<Item = ColumnSplit> {
        let first = self.next.take();
        let before = first.and_then(|first| self.split_before(first));
        before.into_iter().chain(self.open.take())
    }

    /// Begins the next split with the row `first` in the last page. Returns the split before it.
    fn split_before(&mut self, first: u64) -> Option<ColumnSplit> {
        let (begin, work) = self.last?;
        let mut before = self.open.take()?;
        before.rows.end = first;
        before.end = Some(begin);
        let mut shared = Vec::new();
        // Both splits decode this page, so they share it. Below lists, the previous split always looks for the end of
        // its last row in this page.
        if !self.is_flat || begin.rows_before < first {
            let counted = before
                .shared
                .last()
                .filter(|page| page.start() == begin.page);
            shared.push(match counted {
                Some(page) => page.share(),
                None => {
                    let page = SharedPage::new(begin.page, 2);
                    before.shared.push(page.clone());
                    page
                }
            });
        }
        self.open = Some(ColumnSplit {
            rows: first..self.num_rows,
            begin,
            end: None,
            shared,
        });
        self.work = work;
        Some(before)
    }
}
