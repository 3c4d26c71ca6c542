//! Decodes columns with repetition levels. A row starts at a repetition level of 0 and ends where the next row starts,
//! possibly several pages later.

use herringbone_format::{Error, Result};
use herringbone_kernels::nesting;

use super::ColumnChunkDecoder;
use super::selection::SelectionRun;
use crate::Step;

impl ColumnChunkDecoder {
    /// Decodes until the column batch has `max_rows` whole rows or is full, or until no selected row is left.
    pub(super) fn fill_nested(&mut self, max_rows: usize) -> Result<Step<()>> {
        loop {
            match self.load_levels()? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(false) => {
                    self.rows.check_end()?;
                    break;
                }
                Step::Ready(true) => {}
            }
            let rep = self.pages.repetition();
            if rep.first() != Some(&0) {
                // These levels are the rest of a row that started earlier.
                if self.rows.position() == 0 {
                    return Err(Error::corrupt(
                        "the first repetition level of a column is not 0",
                    ));
                }
                let (_, levels) = nesting::row_starts(rep, 0);
                if self.rows.is_in_selected_row() {
                    self.batch.row_must_fit(levels)?;
                    self.take_levels(levels)?;
                } else {
                    self.skip_levels(levels)?;
                }
                continue;
            }
            match self.rows.run() {
                SelectionRun::Done => {
                    self.rows.check_not_full()?;
                    break;
                }
                SelectionRun::Unknown => break,
                SelectionRun::Skip(rows) => {
                    let (rows, levels) = nesting::row_starts(rep, rows);
                    self.rows.start_row(false);
                    self.skip_levels(levels)?;
                    self.rows.advance(rows);
                }
                SelectionRun::Take(rows) => {
                    let most = rows.min(max_rows - self.batch.rows());
                    let (rows, levels) = self.fitting_rows(most)?;
                    if rows == 0 {
                        break;
                    }
                    self.rows.start_row(true);
                    self.take_levels(levels)?;
                    self.batch.add_rows(rows);
                    self.rows.advance(rows);
                }
            }
        }
        if self.rows.is_done() {
            self.pages.check_split_end(self.rows.position())?;
        }
        Ok(Step::Ready(()))
    }

    /// Decodes the next block of levels, unless there are unused levels left. Returns false after the last page.
    fn load_levels(&mut self) -> Result<Step<bool>> {
        if !self.pages.repetition().is_empty() {
            return Ok(Step::Ready(true));
        }
        match self.open_page()? {
            Step::Ready(true) => self.pages.decode_block().map(Step::Ready),
            other => Ok(other),
        }
    }

    /// Returns how many of the next `rows` rows fit into the column batch, followed by the number of decoded levels in
    /// these rows.
    fn fitting_rows(&mut self, mut rows: usize) -> Result<(usize, usize)> {
        loop {
            let (found, levels) = nesting::row_starts(self.pages.repetition(), rows);
            // A level has at most one value, so it's enough if this many values fit.
            let fitting = if found <= 1 && self.batch.rows() == 0 {
                self.batch.row_must_fit(levels)?;
                levels
            } else {
                self.batch.fitting(levels, self.pages.is_lost())?
            };
            if fitting >= levels {
                return Ok((found, levels));
            }
            if found <= 1 {
                return Ok((0, 0));
            }
            rows = found / 2;
        }
    }

    /// Appends the next `levels` decoded levels.
    fn take_levels(&mut self, levels: usize) -> Result<()> {
        let (rep, def) = self.pages.use_block(levels);
        self.batch.append_levels(rep, def)
    }

    /// Skips the next `levels` decoded levels.
    fn skip_levels(&mut self, levels: usize) -> Result<()> {
        let (_, def) = self.pages.use_block(levels);
        let values = nesting::count_ge(def, self.plan.max_def_level);
        self.batch.skip_values(values)
    }
}
