//! A column's walk over its row group's rows.
//!
//! Each column walks on its own, because its pages start at different rows than other columns' pages. So that a row
//! group's columns still line up, the walk ends column batches at fixed rows.

use std::ops::Range;

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::{Error, Result};

use super::ColumnRows;
use super::selection::{RowSelector, SelectionCursor, SelectionRun};

/// A column's walk over the selected and unselected rows of its row group. This also determines where column batches
/// end.
pub(super) struct RowWalk {
    selection: SelectionCursor,
    /// The number of rows in the row group.
    num_rows: u64,
    /// The number of selected rows per batch, that is, the distance between the fixed ends of column batches.
    batch_rows: usize,
    /// The number of selected rows in earlier column batches.
    emitted: usize,
    /// True if the last used level belongs to a selected row.
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

    /// Returns the selected rows that remain.
    pub(super) fn selection(&self) -> &SelectionCursor {
        &self.selection
    }

    /// Restricts the selection to `rows`.
    pub(super) fn restrict(&mut self, rows: &Range<u64>) {
        self.selection = self.selection.within(rows);
    }

    /// Selects more rows. They must lie after all rows selected so far.
    pub(super) fn extend(&mut self, piece: RowSelector) {
        self.selection.extend(piece);
    }

    /// Closes the selection: no more rows will be selected.
    pub(super) fn close(&mut self) {
        self.selection.close();
    }

    /// Returns the next run of rows.
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

    /// Returns the mask of the next rows, if a mask selects them.
    pub(super) fn mask(&self) -> Option<BooleanBuffer> {
        self.selection.mask()
    }

    /// Returns the number of rows taken and skipped so far.
    pub(super) fn position(&self) -> u64 {
        self.selection.position()
    }

    /// Advances by `rows` rows. `rows` must not exceed the length of [`Self::run`] or the [mask](Self::mask).
    pub(super) fn advance(&mut self, rows: usize) {
        self.selection.advance(rows);
    }

    /// Records whether the row that starts now is selected.
    pub(super) fn start_row(&mut self, is_selected: bool) {
        self.is_in_selected_row = is_selected;
    }

    /// Returns true if the last level belongs to a selected row, which might continue in the next page.
    pub(super) fn is_in_selected_row(&self) -> bool {
        self.is_in_selected_row
    }

    /// Returns true if no selected row is left.
    pub(super) fn is_done(&self) -> bool {
        self.run() == SelectionRun::Done
    }

    /// Returns the number of rows left to complete the current column batch. A limit on bytes can end the batch
    /// earlier.
    pub(super) fn batch_rows(&self) -> usize {
        self.batch_rows - self.emitted % self.batch_rows
    }

    /// Returns the batch index of the next column batch, counted within the row group.
    pub(super) fn next_batch(&self) -> u64 {
        (self.emitted / self.batch_rows) as u64
    }

    /// Counts an emitted column batch's rows.
    pub(super) fn emit(&mut self, rows: usize) {
        self.emitted += rows;
    }

    /// Checks at the chunk's end that all selected rows have started.
    ///
    /// # Errors
    /// Fails with Corrupt if the chunk has too few rows.
    pub(super) fn check_end(&self) -> Result<()> {
        match self.run() {
            SelectionRun::Done | SelectionRun::Unknown => Ok(()),
            _ => Err(Error::corrupt(format!(
                "the column chunk has {} rows, but its row group has {}",
                self.position(),
                self.num_rows
            ))),
        }
    }

    /// Checks that there's still room for a row after the last selected row.
    ///
    /// # Errors
    /// Fails with Corrupt if all rows of the row group have already started.
    pub(super) fn check_not_full(&self) -> Result<()> {
        if self.position() == self.num_rows {
            return Err(Error::corrupt(format!(
                "the column chunk has more than the {} rows of its row group",
                self.num_rows
            )));
        }
        Ok(())
    }
}
