//! A range of rows, counted over all files.

use herringbone::ParquetFile;
use herringbone::ReadOptions;
use herringbone_arrow::array::RecordBatch;
use herringbone_interchange::read::Work;

use super::{Request, count, options};
use crate::args::Part;
use crate::base::failure::Result;
use crate::input::Input;

/// A range of rows, counted over all files. It shrinks to the remaining part as files are read.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    /// The number of rows to skip.
    pub(crate) offset: u64,
    /// The maximum number of rows to read.
    pub(crate) limit: Option<u64>,
}

impl Window {
    /// Returns the window that the user has chosen.
    pub(crate) fn of(part: &Part) -> Self {
        Self {
            offset: part.offset,
            limit: part.limit,
        }
    }

    /// Returns how many of `rows` rows are in the window.
    pub(crate) fn rows(self, rows: u64) -> u64 {
        let left = rows.saturating_sub(self.offset);
        left.min(self.limit.unwrap_or(u64::MAX))
    }

    /// Returns the amount of work for writing the window's rows, if the row count of the input is
    /// known.
    pub(crate) fn work(self, rows: Option<u64>) -> Work {
        rows.map_or(Work::Unknown, |rows| Work::Rows(self.rows(rows)))
    }

    /// Returns the options for reading the next file's rows in the window, if there are any. Moves
    /// the window past the file.
    pub(super) fn options(
        &mut self,
        (at, input): (usize, &Input),
        file: &ParquetFile,
        request: &Request<'_>,
    ) -> Result<Option<ReadOptions>> {
        if self.limit == Some(0) {
            return Ok(None);
        }
        let mut options = options((at, input), file, request)?;
        if options.filter.is_some() || options.row_ranges.is_some() {
            // We only know how many rows match after reading them, so we must not move the window
            // yet.
            options.limit = self.limit.map(|limit| limit.saturating_add(self.offset));
            return Ok(Some(options));
        }
        let rows = count(input, file, &options)?;
        if rows <= self.offset {
            self.offset -= rows;
            return Ok(None);
        }
        options = options.offset(self.offset);
        if let Some(limit) = &mut self.limit {
            options = options.limit(*limit);
            // Lost rows count too, so that damage doesn't affect which rows are chosen.
            *limit = limit.saturating_sub(rows - self.offset);
        }
        self.offset = 0;
        Ok(Some(options))
    }

    /// Cuts a batch to the window, moving the window past the batch.
    pub(super) fn take(&mut self, batch: &RecordBatch) -> RecordBatch {
        let rows = batch.num_rows() as u64;
        let passed = rows.min(self.offset);
        self.offset -= passed;
        let taken = (rows - passed).min(self.limit.unwrap_or(u64::MAX));
        if let Some(limit) = &mut self.limit {
            *limit -= taken;
        }
        // Both numbers are at most the batch's row count, so they fit.
        batch.slice(passed as usize, taken as usize)
    }

    /// Returns true if the window is used up.
    pub(super) fn is_past(self) -> bool {
        self.limit == Some(0)
    }
}
