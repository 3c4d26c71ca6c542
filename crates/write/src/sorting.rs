//! Checks that rows are sorted as the file declares.

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result};

use super::sort_keys::{RowKeys, SortKeys};

/// A check comparing each row with its predecessor, across all batches of a file.
pub struct SortingCheck {
    keys: SortKeys,
    /// The sort keys of a batch's rows.
    rows: RowKeys,
    /// The key of the previous batch's last row, or `None` before the first row.
    last: Option<Vec<u8>>,
    num_rows: u64,
}

impl SortingCheck {
    /// Creates a check that compares rows by these keys.
    pub(super) fn new(keys: SortKeys) -> Self {
        Self {
            keys,
            rows: RowKeys::default(),
            last: None,
            num_rows: 0,
        }
    }

    /// Forgets the last row, since the order restarts when the caller ends a row group.
    pub fn restart(&mut self) {
        self.last = None;
    }

    /// Compares a batch's rows with each other and with the last row before them.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if a row is out of order. The message names the
    /// first such row, counted in the whole file.
    pub fn check(&mut self, batch: &RecordBatch) -> Result<()> {
        match self.first_unsorted(batch)? {
            None => Ok(()),
            Some(row) => Err(Error::argument(format!(
                "row {row} is not sorted: it belongs before the previous row"
            ))),
        }
    }

    /// Returns the first row in a batch that is less than its predecessor, counted in the whole file. Returns `None` if
    /// the rows are sorted.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the batch cannot be compared.
    pub fn first_unsorted(&mut self, batch: &RecordBatch) -> Result<Option<u64>> {
        self.rows.clear();
        self.keys.append(batch, &mut self.rows)?;
        for row in 0..batch.num_rows() {
            let current = self.rows.row(row);
            let last = match row.checked_sub(1) {
                Some(before) => Some(self.rows.row(before)),
                None => self.last.as_deref(),
            };
            if last.is_some_and(|last| last > current) {
                return Ok(Some(self.num_rows + row as u64));
            }
        }
        if let Some(last) = batch.num_rows().checked_sub(1) {
            self.last = Some(self.rows.row(last).to_vec());
        }
        self.num_rows += batch.num_rows() as u64;
        Ok(None)
    }
}
