//! Slices, ended row groups, and the first error.

use std::collections::VecDeque;

use herringbone_format::Error;
use herringbone_write::EncodedColumn;

/// Some rows of all columns, together with the columns' size after them.
pub(crate) struct Slice {
    pub(crate) row_group: usize,
    pub(crate) rows: usize,
    /// The byte count of the arrays.
    pub(crate) array_bytes: usize,
    /// The number of columns still to report this slice.
    pub(crate) columns_left: usize,
    pub(crate) estimated_bytes: usize,
    pub(crate) heap_bytes: usize,
}

pub(crate) struct RowGroup {
    pub(crate) rows: u64,
    pub(super) columns: VecDeque<Ended>,
    /// The number of columns already fetched.
    pub(super) fetched: usize,
    /// The number of columns still to report the row group's end.
    pub(super) columns_left: usize,
}

/// A column's chunk in an ended row group.
pub(super) enum Ended {
    /// Some of the chunk's rows are not encoded yet.
    No,
    /// All rows are encoded, into this number of bytes, but some pages are unfinished.
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
    /// Returns a just ended row group of `rows` rows and `columns` columns.
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
    /// Returns the error's sort key. The error with the smallest key is reported.
    pub(super) fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}
