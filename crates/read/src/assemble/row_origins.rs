//! The row numbers and row group ordinals of the rows being read.

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, Int64Array};
use herringbone_format::{Error, Result};

use crate::plan::VirtualValues;
use crate::{RowGroupPlan, VirtualColumn};
use herringbone_core::column::selection::{RowSelector, SelectionCursor, SelectionRun};

/// The positions of a row group's selected rows, taken batch by batch.
#[derive(Debug)]
pub(super) struct RowOrigins {
    /// The row group's first row, counted in the file.
    first_row: u64,
    row_group: usize,
    /// A cursor over the row group's selected rows.
    walk: SelectionCursor,
}

impl RowOrigins {
    pub(super) fn new() -> Self {
        Self {
            first_row: 0,
            row_group: 0,
            walk: SelectionCursor::new([].into()),
        }
    }

    /// Starts a row group with all planned rows selected.
    pub(super) fn open(&mut self, row_group: &RowGroupPlan) {
        self.first_row = row_group.first_row;
        self.row_group = row_group.ordinal();
        self.walk = SelectionCursor::new(row_group.ranges.clone());
    }

    /// Starts a row group with no rows selected, except those [added later](Self::extend).
    pub(super) fn open_selecting(&mut self, row_group: &RowGroupPlan) {
        self.open(row_group);
        self.walk = SelectionCursor::new([].into());
        self.walk.open();
    }

    /// Selects more rows. They must come after all others.
    pub(super) fn extend(&mut self, piece: &RowSelector) {
        self.walk.extend(piece.clone());
    }

    /// Returns the virtual columns for the next `rows` rows.
    ///
    /// # Errors
    /// Fails with `Unsupported` if a row number does not fit in 63 bits.
    pub(super) fn next(&mut self, columns: &[VirtualColumn], rows: usize) -> Result<Vec<ArrayRef>> {
        if columns.is_empty() {
            return Ok(Vec::new());
        }
        let numbers = match columns.iter().any(is_row_number) {
            true => self.row_numbers(rows)?,
            false => Arc::new(Int64Array::from(Vec::<i64>::new())),
        };
        let array = |column: &VirtualColumn| match column.values() {
            VirtualValues::RowNumber => Ok(numbers.clone()),
            // The cast can't overflow, since no file has 2^63 row groups.
            VirtualValues::RowGroup => {
                let value: ArrayRef = Arc::new(Int64Array::from(vec![self.row_group as i64; rows]));
                Ok(value)
            }
            VirtualValues::Constant(constant) => constant.array(rows),
        };
        columns.iter().map(array).collect()
    }

    fn row_numbers(&mut self, rows: usize) -> Result<ArrayRef> {
        let mut numbers: Vec<i64> = Vec::with_capacity(rows);
        while numbers.len() < rows {
            let run = match self.walk.run() {
                SelectionRun::Skip(run) => {
                    self.walk.advance(run);
                    continue;
                }
                SelectionRun::Take(run) => run.min(rows - numbers.len()),
                SelectionRun::Unknown | SelectionRun::Done => {
                    return Err(Error::argument(
                        "internal error: a batch has unselected rows",
                    ));
                }
            };
            let start = self.first_row.checked_add(self.walk.position());
            let end = start.and_then(|start| start.checked_add(run as u64));
            let range = start.zip(end).and_then(|(start, end)| {
                Some(i64::try_from(start).ok()?..i64::try_from(end).ok()?)
            });
            let range =
                range.ok_or_else(|| Error::unsupported("row numbers of more than 63 bits"))?;
            numbers.extend(range);
            self.walk.advance(run);
        }
        Ok(Arc::new(Int64Array::from(numbers)))
    }
}

fn is_row_number(column: &VirtualColumn) -> bool {
    matches!(column.values(), VirtualValues::RowNumber)
}
