//! The walk of a column over the rows of its row group.

use std::ops::Range;

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::{Error, Result};

use super::ColumnRows;
use super::selection::{RowSelector, SelectionCursor, SelectionRun};

/// The walk of a column over the rows of its row group, selected and unselected, and where its column batches end.
pub(super) struct RowWalk {
    selection: SelectionCursor,
    /// Rows of the row group.
    num_rows: u64,
    /// Selected rows between two places where column batches end.
    batch_rows: usize,
    /// Selected rows of earlier column batches.
    emitted: usize,
    /// The row that the last used level belongs to is selected.
    is_in_selected_row: bool,
}

impl RowWalk {
    pub(super) fn new(rows: &ColumnRows) -> Self {
        Self {
            selection: rows.selection(),
            num_rows: rows.num_rows,
            batch_rows: rows.batch_rows.max(1),
            emitted: usize::try_from(rows.rows_before).unwrap_or(usize::MAX),
            is_in_selected_row: false,
        }
    }

    /// Returns the selected rows that are left.
    pub(super) fn selection(&self) -> &SelectionCursor {
        &self.selection
    }

    /// Keeps the selected rows within `rows` only.
    pub(super) fn restrict(&mut self, rows: &Range<u64>) {
        self.selection = self.selection.within(rows);
    }

    /// Selects more rows, which come after all others.
    pub(super) fn extend(&mut self, piece: RowSelector) {
        self.selection.extend(piece);
    }

    /// Notes that no more rows will be selected.
    pub(super) fn close(&mut self) {
        self.selection.close();
    }

    /// Returns the run of rows that comes next.
    #[inline]
    pub(super) fn run(&self) -> SelectionRun {
        self.selection.run()
    }

    /// Returns the number of unselected rows before the next selected one.
    pub(super) fn unselected(&self) -> usize {
        match self.run() {
            SelectionRun::Skip(rows) => rows,
            SelectionRun::Take(_) | SelectionRun::Unknown | SelectionRun::Done => 0,
        }
    }

    /// Returns the mask of the next rows, if they are selected by one.
    pub(super) fn mask(&self) -> Option<BooleanBuffer> {
        self.selection.mask()
    }

    /// Returns the number of rows taken and skipped so far.
    pub(super) fn position(&self) -> u64 {
        self.selection.position()
    }

    /// Moves on by `rows`: at most the rows of [`Self::run`], or of the [mask](Self::mask).
    pub(super) fn advance(&mut self, rows: usize) {
        self.selection.advance(rows);
    }

    /// Notes if the row that starts now is selected.
    pub(super) fn start_row(&mut self, is_selected: bool) {
        self.is_in_selected_row = is_selected;
    }

    /// Returns true if the last level belongs to a selected row, which may go on in the next page.
    pub(super) fn is_in_selected_row(&self) -> bool {
        self.is_in_selected_row
    }

    /// Returns true if no selected row is left.
    pub(super) fn is_done(&self) -> bool {
        self.run() == SelectionRun::Done
    }

    /// Returns the number of rows of the column batch at hand, if its bytes do not end it earlier.
    pub(super) fn batch_rows(&self) -> usize {
        self.batch_rows - self.emitted % self.batch_rows
    }

    /// Returns the batch of the row group that the next column batch belongs to.
    pub(super) fn next_batch(&self) -> u64 {
        (self.emitted / self.batch_rows) as u64
    }

    /// Counts the rows of a column batch.
    pub(super) fn emit(&mut self, rows: usize) {
        self.emitted += rows;
    }

    /// Checks at the end of the chunk that every selected row has started.
    ///
    /// # Errors
    /// Corrupt if the chunk has too few rows.
    pub(super) fn check_end(&self) -> Result<()> {
        match self.run() {
            SelectionRun::Done | SelectionRun::Unknown => Ok(()),
            _ => Err(Error::corrupt(format!(
                "column chunk has {} rows, its row group {}",
                self.position(),
                self.num_rows
            ))),
        }
    }

    /// Checks that a row may start, if no selected row is left.
    ///
    /// # Errors
    /// Corrupt if all rows of the row group have started.
    pub(super) fn check_not_full(&self) -> Result<()> {
        if self.position() == self.num_rows {
            return Err(Error::corrupt(format!(
                "column chunk has more than the {} rows of its row group",
                self.num_rows
            )));
        }
        Ok(())
    }
}
