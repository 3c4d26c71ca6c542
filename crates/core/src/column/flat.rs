//! Decodes columns without repetition levels, where each level is a row.

use herringbone_format::{Error, Result};

use super::ColumnChunkDecoder;
use super::selection::SelectionRun;
use crate::Step;

impl ColumnChunkDecoder {
    /// Decodes until the column batch has `max_rows` rows or is full, or until no selected row is left.
    pub(super) fn fill_flat(&mut self, max_rows: usize) -> Result<Step<()>> {
        while self.batch.rows() < max_rows {
            if matches!(self.rows.run(), SelectionRun::Done | SelectionRun::Unknown) {
                break;
            }
            match self.open_page()? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(true) => {}
                Step::Ready(false) => {
                    return Err(Error::corrupt("column chunk ends before its last row"));
                }
            }
            if let Some(mask) = self.mask() {
                if !self.take_masked(&mask, max_rows - self.batch.rows())? {
                    break;
                }
                continue;
            }
            // We look at the run again, because opening a page might have skipped rows.
            match self.rows.run() {
                SelectionRun::Done | SelectionRun::Unknown => break,
                SelectionRun::Skip(rows) => self.skip_flat(rows)?,
                SelectionRun::Take(rows) => {
                    if !self.take_flat(rows.min(max_rows - self.batch.rows()))? {
                        break;
                    }
                }
            }
        }
        if self.rows.is_done() {
            self.pages.check_split_end(self.rows.position())?;
        }
        Ok(Step::Ready(()))
    }

    /// Skips `rows` rows, but no further than the end of the open page.
    pub(super) fn skip_flat(&mut self, rows: usize) -> Result<()> {
        let rows = rows.min(self.pages.levels_left());
        let values = self.pages.skip_levels(rows)?;
        self.batch.skip_values(values)?;
        self.rows.advance(rows);
        Ok(())
    }

    /// Takes `rows` rows, stopping at the end of the open page. Returns false if the column batch is full.
    fn take_flat(&mut self, rows: usize) -> Result<bool> {
        // A row has at most one value, so if this many values fit, this many rows fit too.
        let rows = rows.min(self.pages.levels_left());
        let rows = self.batch.fitting(rows, self.pages.is_lost())?;
        if rows == 0 {
            return Ok(false);
        }
        let rows = self.batch.append_rows(&mut self.pages, rows)?;
        self.rows.advance(rows);
        Ok(true)
    }
}
