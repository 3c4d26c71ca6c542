//! Columns without repetition levels: a level is a row.

use herringbone_format::{Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::nesting;

use super::selection::SelectionRun;
use super::{BLOCK_LEVELS, ColumnChunkDecoder};
use crate::Step;

impl ColumnChunkDecoder {
    /// Decodes until the column batch has `max_rows` rows, is full, or no wanted row is left.
    pub(super) fn fill_flat(&mut self, max_rows: usize) -> Result<Step<()>> {
        while self.rows < max_rows {
            let run = self.selection.run();
            if matches!(run, SelectionRun::Done | SelectionRun::Unknown) {
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
                if !self.take_masked(&mask, max_rows - self.rows)? {
                    break;
                }
                continue;
            }
            // Opening a page may have passed over others.
            match self.selection.run() {
                SelectionRun::Done | SelectionRun::Unknown => break,
                SelectionRun::Skip(rows) => self.skip_flat(rows)?,
                SelectionRun::Take(rows) => {
                    let rows = rows.min(max_rows - self.rows);
                    if !self.take_flat(rows)? {
                        break;
                    }
                }
            }
        }
        Ok(Step::Ready(()))
    }

    /// Passes over `rows` rows, or what the open page has of them.
    pub(super) fn skip_flat(&mut self, rows: usize) -> Result<()> {
        let Some(page) = &mut self.page else {
            return Ok(());
        };
        let rows = rows.min(page.levels_left);
        let values = page.definition.skip(rows, &mut self.block.def)?;
        self.array.skip(values)?;
        page.levels_left -= rows;
        self.selection.advance(rows);
        Ok(())
    }

    /// Takes `rows` rows, or what the open page has of them; false when the column batch is full.
    fn take_flat(&mut self, rows: usize) -> Result<bool> {
        let Some(left) = self.page.as_ref().map(|page| page.levels_left) else {
            return Ok(true);
        };
        // There are at most as many values as rows, so rows that fit as values fit.
        let rows = self.fitting(rows.min(left))?;
        if rows == 0 {
            return Ok(false);
        }
        let rows = self.append_flat(rows)?;
        self.rows += rows;
        Ok(true)
    }

    /// Appends the next rows of the open page, which has as many and fit; how many it were.
    pub(super) fn append_flat(&mut self, mut rows: usize) -> Result<usize> {
        if self.plan.max_def_level == 0 {
            self.array.append(rows)?;
            self.validity.append_run(true, rows);
        } else {
            if !self.levels_are_bits() {
                rows = rows.min(BLOCK_LEVELS);
            }
            let mut validity = std::mem::take(&mut self.validity);
            let start = validity.len();
            let values = self.extend_validity(rows, &mut validity);
            self.validity = validity;
            self.array
                .append_spread(values?, &self.validity, start, rows)?;
        }
        if let Some(page) = &mut self.page {
            page.levels_left -= rows;
        }
        self.selection.advance(rows);
        Ok(rows)
    }

    /// Whether the definition levels are the validity, and nothing else.
    fn levels_are_bits(&self) -> bool {
        self.plan.max_def_level == 1 && self.nesting_builders.is_empty()
    }

    /// Notes in `validity` which of the next rows of the open page, at most a block unless levels are bits, have a value;
    /// how many do.
    pub(super) fn extend_validity(&mut self, rows: usize, validity: &mut Bitmap) -> Result<usize> {
        let (are_bits, levels) = (self.levels_are_bits(), &mut self.block.def);
        let Some(page) = &mut self.page else {
            return Ok(0);
        };
        if are_bits {
            return page.definition.extend_bitmap(rows, levels, validity);
        }
        // Structs above the leaf may be null too.
        levels.clear();
        page.definition.extend(rows, levels)?;
        // No repetition levels: the kernels take none for zeros.
        let (rep, def) = (&[][..], &levels[..]);
        for nesting_builder in &mut self.nesting_builders {
            nesting_builder.record(rep, def)?;
        }
        let highest = self.plan.max_def_level;
        nesting::slot_validity(rep, def, 0, 0, highest, validity);
        Ok(nesting::count_ge(def, highest))
    }
}
