//! Encodes sort keys as bytes that compare like the rows.
//!
//! ```text
//! row = column, column, …      most significant first
//! column = [0 or 2 for a null, 1 for a value]  value      the first byte only if there may be nulls
//! ```
//!
//! A value is encoded such that `memcmp` follows its column's order, with its bytes inverted for a descending column.
//! Fixed-width values keep their width, and so do their nulls. Texts end with a mark that sorts before any
//! continuation, and variable-length numbers start with their length. Floats follow the IEEE 754 total order if their
//! column does. Otherwise, zeros are equal, and NaNs are equal and greater than any number.

mod column;
mod values;

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result, SortingColumn};
use herringbone_schema::ColumnOrderKind;

use super::levels::LeafPath;
use super::settings::ColumnSettings;
use column::{Decoded, KeyColumn};

/// An encoder for sort keys. Comparing encoded keys is a byte comparison, so a sort never has to look at the columns
/// again.
pub struct SortKeys {
    columns: Vec<KeyColumn>,
    /// The number of key bytes per row, or `None` if it varies.
    width: Option<usize>,
    decoded: Decoded,
}

/// The encoded keys of some rows.
#[derive(Debug, Default)]
pub struct RowKeys {
    bytes: Vec<u8>,
    /// The end of each row. Empty if all rows have the same `width`.
    ends: Vec<usize>,
    width: Option<usize>,
    num_rows: usize,
}

impl RowKeys {
    /// Returns the number of rows.
    #[must_use]
    pub fn num_rows(&self) -> usize {
        self.num_rows
    }

    /// Returns a row's key bytes, or no bytes if the row does not exist.
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

    /// Replaces the rows starting at `first` with the rows at these ordinals.
    pub fn rearrange(&mut self, first: usize, rows: &[usize]) {
        let start = match (self.width, first.checked_sub(1)) {
            (Some(width), _) => width * first,
            (None, before) => before.map_or(0, |before| self.ends[before]),
        };
        let mut bytes = Vec::with_capacity(self.bytes.len() - start);
        let mut ends = Vec::new();
        for row in rows {
            bytes.extend_from_slice(self.row(*row));
            ends.push(start + bytes.len());
        }
        self.bytes.truncate(start);
        self.bytes.append(&mut bytes);
        if self.width.is_none() {
            self.ends.truncate(first);
            self.ends.append(&mut ends);
        }
        self.num_rows = first + rows.len();
    }

    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.bytes.capacity() + size_of::<usize>() * self.ends.capacity()
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.num_rows = 0;
    }
}

impl SortKeys {
    /// Creates keys without columns.
    pub(super) fn new() -> Self {
        Self {
            columns: Vec::new(),
            width: Some(0),
            decoded: Decoded::new(),
        }
    }

    /// Adds the next column, less significant than all columns before it.
    ///
    /// # Errors
    /// Fails with `Argument` if the column's values have no order, or if a row can have several of them.
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

    /// Returns the number of key bytes per row, or `None` if it varies.
    #[must_use]
    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Appends the keys of a batch's rows to `out`. It must only be used with these keys.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the batch cannot be compared.
    pub fn append(&mut self, batch: &RecordBatch, out: &mut RowKeys) -> Result<()> {
        let num_rows = batch.num_rows();
        let mut end = out.bytes.len();
        // Each row has a cursor: the offset to write its next column at.
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
            // Each cursor is now past its row's last column, that is, at the end of the row.
            out.ends.append(&mut cursors);
        }
        Ok(())
    }
}
