//! What rows are sorted by, as bytes that compare as the rows do.
//!
//! ```text
//! row = column, column, …      most significant first
//! column = [0 or 2 for a null, 1 for a value]  value      the first byte only where there may be nulls
//! ```
//!
//! A value is written so that `memcmp` has the order of its column, and inverted where the column
//! descends. Values of one width keep it, nulls too; others end with a mark that is less than what may
//! follow. Where a column has the total order of IEEE 754, floats do; otherwise zeros are equal, NaNs are
//! equal, and greater than any number.

mod column;
mod values;

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result, SortingColumn};
use herringbone_schema::ColumnOrderKind;

use super::levels::LeafPath;
use super::settings::ColumnSettings;
use column::{Decoded, KeyColumn};

/// Encodes what rows are sorted by.
pub struct SortKeys {
    columns: Vec<KeyColumn>,
    /// Bytes of a row, where all have as many.
    width: Option<usize>,
    decoded: Decoded,
}

/// The bytes of some rows.
#[derive(Debug, Default)]
pub struct RowKeys {
    bytes: Vec<u8>,
    /// Where each row ends; empty where all are of one `width`.
    ends: Vec<usize>,
    width: Option<usize>,
    num_rows: usize,
}

impl RowKeys {
    /// The number of rows.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// The bytes of a row; none behind the last.
    #[must_use]
    pub fn row(&self, row: usize) -> &[u8] {
        let range = match self.width {
            Some(width) => width * row..width * (row + 1),
            None => match (row.checked_sub(1), self.ends.get(row)) {
                (None, Some(end)) => 0..*end,
                (Some(before), Some(end)) => self.ends[before]..*end,
                _ => return &[],
            },
        };
        self.bytes.get(range).unwrap_or_default()
    }

    /// Bytes held.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<usize>() * self.ends.capacity()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.num_rows = 0;
    }
}

impl SortKeys {
    /// No columns yet.
    pub(super) fn new() -> Self {
        Self {
            columns: Vec::new(),
            width: Some(0),
            decoded: Decoded::new(),
        }
    }

    /// Adds the next column, less significant than those before.
    ///
    /// # Errors
    /// Argument where its values have no order, or a row may have several of them.
    pub(super) fn push(
        &mut self,
        settings: Arc<ColumnSettings>,
        path: Arc<LeafPath>,
        field: usize,
        sorting: SortingColumn,
    ) -> Result<()> {
        let leaf = &settings.leaf;
        if leaf.max_rep_level > 0 || leaf.order == ColumnOrderKind::Undefined {
            let column = leaf.path.join(".");
            let error = Error::argument("rows cannot be compared by this column");
            return Err(error.in_column(column));
        }
        let column = KeyColumn {
            settings,
            path,
            field,
            sorting,
        };
        self.width = self
            .width
            .zip(column.width())
            .map(|(row, column)| row + column);
        self.columns.push(column);
        Ok(())
    }

    /// Bytes of a row, where all have as many.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Appends the rows of a batch. `out` belongs to these keys alone.
    ///
    /// # Errors
    /// Argument where the batch cannot be compared.
    pub fn append(&mut self, batch: &RecordBatch, out: &mut RowKeys) -> Result<()> {
        let num_rows = batch.num_rows();
        let mut end = out.bytes.len();
        // Where the next column of each row goes.
        let mut cursors = Vec::with_capacity(num_rows);
        if let Some(width) = self.width {
            cursors.extend((0..num_rows).map(|row| end + width * row));
            end += width * num_rows;
        } else {
            cursors.resize(num_rows, 0);
            for column in &self.columns {
                self.decoded.values(column, batch, |values, is_valid| {
                    column.add_lengths(values, is_valid, &mut cursors);
                })?;
            }
            for cursor in &mut cursors {
                let length = std::mem::replace(cursor, end);
                end += length;
            }
        }
        out.bytes.resize(end, 0);
        for column in &self.columns {
            self.decoded.values(column, batch, |values, is_valid| {
                column.write(values, is_valid, &mut cursors, &mut out.bytes);
            })?;
        }
        out.width = self.width;
        out.num_rows += num_rows;
        if self.width.is_none() {
            // Behind its last column a row ends.
            out.ends.append(&mut cursors);
        }
        Ok(())
    }
}
