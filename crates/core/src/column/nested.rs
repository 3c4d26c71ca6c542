//! Columns with repetition levels: a row starts where the repetition level is 0 and ends where the
//! next one starts, which may be pages later.

use herringbone_format::{Error, Result};
use herringbone_kernels::nesting;

use super::selection::SelectionRun;
use super::{BLOCK_LEVELS, ColumnChunkDecoder};
use crate::Step;

impl ColumnChunkDecoder {
    /// Decodes until the column batch has `max_rows` whole rows, is full, or no wanted row is left.
    pub(super) fn fill_nested(&mut self, max_rows: usize) -> Result<Step<()>> {
        loop {
            match self.load_levels()? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(false) => {
                    self.check_rows()?;
                    break;
                }
                Step::Ready(true) => {}
            }
            let rep = &self.block.rep[self.block.next..];
            if rep.first() != Some(&0) {
                // The rest of a row that started earlier.
                if self.selection.position() == 0 {
                    return Err(Error::corrupt(
                        "the first repetition level of a column is not 0",
                    ));
                }
                let (_, levels) = nesting::row_starts(rep, 0);
                if self.block.row_is_wanted {
                    self.row_must_fit(levels)?;
                    self.take_levels(levels)?;
                } else {
                    self.skip_levels(levels)?;
                }
                continue;
            }
            match self.selection.run() {
                SelectionRun::Done if self.selection.position() == self.num_rows => {
                    return Err(Error::corrupt(format!(
                        "column chunk has more than the {} rows of its row group",
                        self.num_rows
                    )));
                }
                SelectionRun::Done | SelectionRun::Unknown => break,
                SelectionRun::Skip(rows) => {
                    let (rows, levels) = nesting::row_starts(rep, rows);
                    self.block.row_is_wanted = false;
                    self.skip_levels(levels)?;
                    self.selection.advance(rows);
                }
                SelectionRun::Take(rows) => {
                    let (rows, levels) = self.fitting_rows(rows.min(max_rows - self.rows))?;
                    if rows == 0 {
                        break;
                    }
                    self.block.row_is_wanted = true;
                    self.take_levels(levels)?;
                    self.rows += rows;
                    self.selection.advance(rows);
                }
            }
        }
        if self.is_done()
            && let Some(cut) = self.cut.as_mut().filter(|cut| cut.end.is_some())
        {
            return Err(cut.wrong());
        }
        Ok(Step::Ready(()))
    }

    /// Makes sure that the block has levels; false behind the last page.
    fn load_levels(&mut self) -> Result<Step<bool>> {
        if self.block.next < self.block.rep.len() {
            return Ok(Step::Ready(true));
        }
        match self.open_page()? {
            Step::Ready(true) => {}
            other => return Ok(other),
        }
        let Some(page) = &mut self.page else {
            return Ok(Step::Ready(false));
        };
        let levels = page.levels_left.min(BLOCK_LEVELS);
        let block = &mut self.block;
        block.rep.clear();
        block.def.clear();
        block.next = 0;
        page.repetition.extend(levels, &mut block.rep)?;
        page.definition.extend(levels, &mut block.def)?;
        page.levels_left -= levels;
        Ok(Step::Ready(true))
    }

    /// At the end of the chunk, every wanted row must have started.
    fn check_rows(&self) -> Result<()> {
        match self.selection.run() {
            SelectionRun::Done | SelectionRun::Unknown => Ok(()),
            _ => Err(Error::corrupt(format!(
                "column chunk has {} rows, its row group {}",
                self.selection.position(),
                self.num_rows
            ))),
        }
    }

    /// How many of the next `rows` rows fit into the column batch, and the levels of the block they have.
    fn fitting_rows(&mut self, rows: usize) -> Result<(usize, usize)> {
        let mut rows = rows;
        loop {
            let rep = &self.block.rep[self.block.next..];
            let (found, levels) = nesting::row_starts(rep, rows);
            // There are at most as many values as levels.
            let fitting = if found <= 1 && self.rows == 0 {
                self.row_must_fit(levels)?;
                levels
            } else {
                self.fitting(levels)?
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

    /// Takes the next `levels` levels of the block.
    fn take_levels(&mut self, levels: usize) -> Result<()> {
        let next = self.block.next;
        let rep = &self.block.rep[next..next + levels];
        let def = &self.block.def[next..next + levels];
        for nesting_builder in &mut self.nesting_builders {
            nesting_builder.record(rep, def)?;
        }
        for list in &mut self.shared_lists {
            list.add(rep, def);
        }
        let (slot_def, highest) = (self.plan.slot_def, self.plan.max_def_level);
        let start = self.validity.len();
        let values = nesting::count_ge(def, highest);
        let slots = if slot_def == highest {
            self.validity.append_run(true, values);
            values
        } else {
            let deepest = self.plan.max_rep_level;
            nesting::slot_validity(rep, def, deepest, slot_def, highest, &mut self.validity)
        };
        self.array
            .append_spread(values, &self.validity, start, slots)?;
        self.block.next += levels;
        Ok(())
    }

    /// Passes over the next `levels` levels of the block.
    fn skip_levels(&mut self, levels: usize) -> Result<()> {
        let next = self.block.next;
        let def = &self.block.def[next..next + levels];
        self.array
            .skip(nesting::count_ge(def, self.plan.max_def_level))?;
        self.block.next += levels;
        Ok(())
    }
}
