//! Slices, ended row groups, and the first error.

use std::collections::VecDeque;

use herringbone_format::Error;
use herringbone_write::EncodedColumn;

/// Some rows of all columns, and the size of the columns after them.
pub(crate) struct Slice {
    pub(crate) row_group: usize,
    pub(crate) rows: usize,
    /// The size of the arrays in bytes.
    pub(crate) array_bytes: usize,
    /// The number of columns that have not reported.
    pub(crate) columns_left: usize,
    pub(crate) estimated_bytes: usize,
    pub(crate) heap_bytes: usize,
}

pub(crate) struct RowGroup {
    pub(crate) rows: u64,
    pub(super) columns: VecDeque<Ended>,
    /// The number of fetched columns.
    pub(super) fetched: usize,
    /// The number of columns that have not reported.
    pub(super) columns_left: usize,
}

/// The chunk of a column in an ended row group.
pub(super) enum Ended {
    /// Some of its rows are not encoded yet.
    No,
    /// Some pages are not finished. The chunk has this number of bytes.
    Waiting(usize),
    Complete(Box<EncodedColumn>),
    Failed,
}

pub(crate) struct Failure {
    pub(super) slice: usize,
    /// True if the error occurred after the slice, at the end of a row group.
    pub(super) at_end: bool,
    pub(super) column: usize,
    pub(super) row_group: usize,
    pub(crate) error: Error,
}

impl RowGroup {
    /// Returns a row group with `rows` rows and `columns` columns that has just ended.
    pub(crate) fn new(rows: u64, columns: usize) -> Self {
        Self {
            rows,
            columns: (0..columns).map(|_| Ended::No).collect(),
            fetched: 0,
            columns_left: columns,
        }
    }

    /// Returns the entry of a column, unless it was fetched.
    pub(super) fn place(&mut self, column: usize) -> Option<&mut Ended> {
        self.columns.get_mut(column.wrapping_sub(self.fetched))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let columns = self.columns.iter().map(|column| match column {
            Ended::No | Ended::Failed => 0,
            Ended::Waiting(bytes) => *bytes,
            Ended::Complete(chunk) => chunk.heap_bytes(),
        });
        columns.sum()
    }
}

impl Failure {
    /// Returns the order of errors: the first one is reported.
    pub(super) fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}
