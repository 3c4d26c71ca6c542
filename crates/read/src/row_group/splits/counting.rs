//! Splits columns below lists, where rows only become known from the levels in the pages.
//!
//! ```text
//! pages     |  0  |  1  |  2  |  3  |  4  |  5  |  6  |  7  |  8  |
//! groups    |       0         |       1         |       2         |
//! splits    |        0           |       1          |     2       |
//! ```
//!
//! Threads decompress page groups in any order, counting the rows that start there. Once all pages up to a split's end
//! are counted, the split can be decoded from the decompressed pages.

use std::collections::VecDeque;

use herringbone_format::Result;

use super::splitter::{DataPage, Splitter};
use crate::row_group::open::OpenRowGroup;
use herringbone_core::column::{ColumnSplit, RowCounter};
use herringbone_core::page::SharedPage;

/// A column whose pages are being counted.
pub(crate) struct Counting {
    ordinal: usize,
    /// The groups that no thread has begun to count.
    groups: VecDeque<Vec<DataPage>>,
    /// The groups begun but not split yet, in order.
    begun: VecDeque<Begun>,
    /// The number of groups before those in `begun`.
    num_split: usize,
    splitter: Splitter,
    /// The number of rows in all split groups.
    rows: u64,
}

/// A group that is being counted or has been counted.
struct Begun {
    pages: Vec<DataPage>,
    rows: Option<Result<Vec<u64>>>,
}

impl Counting {
    /// Creates the page groups of the column at `ordinal`. Each group has about `group_work` bytes of work.
    pub(super) fn new(
        ordinal: usize,
        pages: Vec<DataPage>,
        splitter: Splitter,
        group_work: u64,
    ) -> Self {
        let mut groups = VecDeque::new();
        let (mut group, mut work) = (Vec::new(), 0);
        for mut page in pages {
            // The decompressed page has two users: the counter of its rows, and the split containing them.
            page.shared = Some(SharedPage::new(page.place.page, 2));
            work += page.work;
            group.push(page);
            if work >= group_work {
                groups.push_back(std::mem::take(&mut group));
                work = 0;
            }
        }
        if !group.is_empty() {
            groups.push_back(group);
        }
        Self {
            ordinal,
            groups,
            begun: VecDeque::new(),
            num_split: 0,
            splitter,
            rows: 0,
        }
    }

    /// Returns true if there is a group left that no thread has begun to count.
    pub(crate) fn has_more(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Returns the number of groups begun but not split yet.
    pub(crate) fn num_started(&self) -> usize {
        self.begun.len()
    }

    /// Takes the next group. The caller must count it.
    pub(crate) fn begin(
        &mut self,
        row_group: &OpenRowGroup,
    ) -> Option<(usize, Result<Box<RowCounter>>)> {
        let pages = self.groups.pop_front()?;
        let shared = pages.iter().filter_map(|page| page.shared.clone());
        let counter = row_group.row_counter(self.ordinal, shared.collect());
        self.begun.push_back(Begun { pages, rows: None });
        Some((self.num_split + self.begun.len() - 1, counter))
    }

    /// Records the number of rows starting in each page of a group. Returns any newly known splits. If counting failed,
    /// the rest of the column is one split that fails for the same reason.
    pub(crate) fn counted(&mut self, group: usize, rows: Result<Vec<u64>>) -> Vec<ColumnSplit> {
        let index = group.checked_sub(self.num_split);
        if let Some(begun) = index.and_then(|index| self.begun.get_mut(index)) {
            begun.rows = Some(rows);
        }
        let mut splits = Vec::new();
        while self.begun.front().is_some_and(|begun| begun.rows.is_some())
            && let Some(Begun { pages, rows }) = self.begun.pop_front()
        {
            self.num_split += 1;
            let rows = rows
                .and_then(Result::ok)
                .filter(|rows| rows.len() == pages.len());
            if rows.is_none() {
                self.groups.clear();
                self.begun.clear();
            }
            // If a group couldn't be counted, the rest begins with its first page.
            let rows = rows.unwrap_or_else(|| vec![0]);
            for (mut page, rows) in pages.into_iter().zip(rows) {
                page.place.rows_before = self.rows;
                self.rows += rows;
                splits.extend(self.splitter.add(page));
            }
        }
        if self.groups.is_empty() && self.begun.is_empty() {
            splits.extend(self.splitter.end());
        }
        splits
    }
}
