//! Slices, ended row groups, and the first error.

use std::collections::VecDeque;

use herringbone_format::Error;
use herringbone_write::EncodedColumn;

/// Some rows of all columns, and the size that the columns have after them.
pub(crate) struct Slice {
    pub(crate) row_group: usize,
    pub(crate) rows: usize,
    /// The byte count of the arrays.
    pub(crate) array_bytes: usize,
    /// The number of columns that have not reported this slice yet.
    pub(crate) columns_left: usize,
    pub(crate) estimated_bytes: usize,
    pub(crate) heap_bytes: usize,
}

pub(crate) struct RowGroup {
    pub(crate) rows: u64,
    pub(super) columns: VecDeque<Ended>,
    /// The number of columns that were fetched.
    pub(super) fetched: usize,
    /// The number of columns that have not reported the row group's end yet.
    pub(super) columns_left: usize,
}

/// A column's chunk in an ended row group.
pub(super) enum Ended {
    /// Some of the chunk's rows are not encoded yet.
    No,
    /// Some of the chunk's pages are not finished, and the chunk has this number of bytes.
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
    /// Returns a row group that has just ended, with `rows` rows and `columns` columns.
    pub(crate) fn new(rows: u64, columns: usize) -> Self {
        Self {
            rows,
            columns: (0..columns).map(|_| Ended::No).collect(),
            fetched: 0,
            columns_left: columns,
        }
    }

    /// Returns a column's entry, unless the column was fetched.
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
    /// Returns the place of this error in the order of errors. The first error is reported.
    pub(super) fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}
