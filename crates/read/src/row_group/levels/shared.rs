//! Threads that share the level of a row group: their tasks, and the batches that these result in.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

use super::super::columns::{self, ColumnSet, ColumnTask};
use super::super::selected_rows::{Joiner, SelectedRows, Tested};
use super::super::splits;
use super::Levels;
use crate::assemble::BatchAssembler;
use crate::bytes::FileBytes;
use crate::plan::FilterPlan;

/// A unit of work on the level shared by threads.
pub enum LevelTask {
    /// Work on one column.
    Column {
        /// The level of the column.
        level: usize,
        /// The work.
        task: ColumnTask,
    },
    /// Assembles a batch. Tests it unless it is of the last level.
    Batch(Box<Assembly>),
}

/// The column batches to be assembled into one record batch.
pub struct Assembly {
    level: usize,
    assembler: BatchAssembler,
    rows_left: u64,
    /// The tested columns to join with the batch.
    joiner: Option<Joiner>,
    /// The filter that tests the batch.
    filter: Option<Arc<FilterPlan>>,
    result: Result<Option<Assembled>>,
}

/// The result of an [`Assembly`].
enum Assembled {
    Batch(RecordBatch),
    Tested(Tested),
}

impl LevelTask {
    /// Does the work. `bytes` must have all bytes of the task.
    pub fn run(&mut self, bytes: &mut dyn FileBytes) {
        match self {
            Self::Column { task, .. } => task.run(bytes),
            Self::Batch(assembly) => assembly.run(),
        }
    }
}

impl Assembly {
    /// Assembles the batch, and tests it unless it is of the last level.
    pub fn run(&mut self) {
        self.result = self.assemble().map(Some);
    }

    fn assemble(&mut self) -> Result<Assembled> {
        let most = self.joiner.as_ref().map_or(usize::MAX, Joiner::most_rows);
        let mut batch = self.assembler.next_batch(self.rows_left, most)?;
        if let Some(joiner) = &mut self.joiner {
            batch = joiner.join(&batch)?;
        }
        Ok(match &self.filter {
            Some(filter) => Assembled::Tested(filter.test(&batch)?),
            None => Assembled::Batch(batch),
        })
    }
}

/// The state of the level shared by threads.
pub enum SharedStep {
    /// Tasks are in progress, or wait for a thread.
    Pending,
    /// The columns of the next level must be [split](crate::RowGroupRead::share).
    Split,
    /// The column batches of the next batch are complete.
    Batch(Box<Assembly>),
    /// The row group has no more rows.
    End,
}

impl Levels {
    /// Continues with the first level that still has rows to decode, and splits its columns among `threads`. Page
    /// headers are read from `bytes`.
    pub(crate) fn share(&mut self, threads: usize, bytes: &mut dyn FileBytes) {
        // A limit may end a level before all of its rows are tested.
        if let Some(level) = self.shared
            && let Some(rows) = self.rows.get_mut(level).filter(|rows| !rows.is_tested())
        {
            let accepted = rows.end();
            self.pass_on(level, accepted);
        }
        let level = self.active();
        self.shared = Some(level);
        if let Some(set) = self.sets.get_mut(level) {
            let splits = splits::of_row_group(set.row_group(), set.plan(), threads, bytes);
            set.share(splits, threads);
        }
    }

    /// Returns the state of the level shared by threads. At most `most` rows need to be found.
    ///
    /// # Errors
    /// The due error.
    pub(crate) fn poll_shared(&mut self, most: u64) -> Result<SharedStep> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(level) = self.shared else {
            return Ok(SharedStep::Split);
        };
        if level < self.rows.len() {
            if self.is_level_over(most) {
                return Ok(SharedStep::Split);
            }
            // A thread tests the gathered batch, but an error is due at once.
            if let Some(set) = self.sets.get_mut(level) {
                set.gather(None)?;
            }
            return Ok(SharedStep::Pending);
        }
        if self.rows_of(level) == 0 {
            return Ok(SharedStep::End);
        }
        let is_complete = match self.sets.get_mut(level) {
            Some(set) => set.gather(None)?,
            None => false,
        };
        let assembly = is_complete.then(|| self.assembly(level)).flatten();
        Ok(assembly.map_or(SharedStep::Pending, SharedStep::Batch))
    }

    /// Returns true if the level shared by threads has tested all rows. The last testing level is also over once
    /// `most` selected rows are found.
    pub(crate) fn is_level_over(&self, most: u64) -> bool {
        let Some((level, rows)) = self
            .shared
            .and_then(|level| Some((level, self.rows.get(level)?)))
        else {
            return false;
        };
        let has_enough = level + 1 == self.rows.len() && rows.num_selected() >= most;
        self.error.is_none() && (rows.is_tested() || has_enough)
    }

    /// Returns the number of rows known so far that a level still has to decode.
    fn rows_of(&self, level: usize) -> u64 {
        match level.checked_sub(1).and_then(|below| self.rows.get(below)) {
            Some(below) => below.num_selected(),
            None => self
                .rows
                .first()
                .map_or(self.rows_left, SelectedRows::untested),
        }
    }

    /// Takes the parts of the next batch of a level.
    fn assembly(&mut self, level: usize) -> Option<Box<Assembly>> {
        let rows_left = self.rows_of(level);
        let assembler = self.sets.get_mut(level)?.take_assembler()?;
        let below = level.checked_sub(1);
        let below = below.and_then(|below| self.rows.get_mut(below));
        Some(Box::new(Assembly {
            level,
            assembler,
            rows_left,
            joiner: below.and_then(SelectedRows::take_joiner),
            filter: self.rows.get(level).map(|rows| rows.filter().clone()),
            result: Ok(None),
        }))
    }

    /// Takes the most urgent task of the level shared by threads, among the batches up to `ahead` after the due one.
    pub(crate) fn take_task(&mut self, ahead: u64) -> Option<LevelTask> {
        let level = self.shared.filter(|_| self.error.is_none())?;
        let is_tested = self.rows.get(level).map(SelectedRows::is_tested);
        if is_tested == Some(true) {
            return None;
        }
        let set = self.sets.get_mut(level)?;
        if is_tested.is_some() {
            match set.gather(None) {
                Ok(true) => return self.assembly(level).map(LevelTask::Batch),
                Ok(false) => {}
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
        let task = self.sets.get_mut(level)?.take_task(ahead)?;
        Some(LevelTask::Column { level, task })
    }

    /// Returns true if [`Self::take_task`] would find a task.
    pub(crate) fn has_task(&self, ahead: u64) -> bool {
        let set = self.shared.and_then(|level| self.sets.get(level));
        self.error.is_none() && set.is_some_and(|set| set.has_task(ahead))
    }

    /// Takes back a task after it ran. Returns the batch if it is of the last level.
    ///
    /// # Errors
    /// The error of a batch of the last level.
    pub(crate) fn deliver(&mut self, task: LevelTask) -> Result<Option<RecordBatch>> {
        match task {
            LevelTask::Column { level, task } => {
                if let Some(set) = self.sets.get_mut(level) {
                    set.deliver(task);
                }
                Ok(None)
            }
            LevelTask::Batch(assembly) => self.deliver_batch(assembly),
        }
    }

    fn deliver_batch(&mut self, assembly: Box<Assembly>) -> Result<Option<RecordBatch>> {
        let level = assembly.level;
        // A limit may have ended the level in the meantime.
        if self.shared.is_some_and(|shared| level < shared) {
            return Ok(None);
        }
        let is_last = level == self.rows.len();
        let result = assembly.result.and_then(|result| match result {
            Some(Assembled::Batch(batch)) => Ok((batch.num_rows() as u64, Some(batch), None)),
            Some(Assembled::Tested(tested)) => Ok((tested.num_rows(), None, Some(tested))),
            None => Err(columns::not_read()),
        });
        let (rows, batch, tested) = match result {
            Ok(result) => result,
            Err(error) if is_last => return Err(error),
            Err(error) => {
                self.error = Some(error);
                return Ok(None);
            }
        };
        if let Some(set) = self.sets.get_mut(level) {
            set.put_assembler(assembly.assembler, rows);
        }
        let below = level.checked_sub(1);
        if let (Some(below), Some(joiner)) = (
            below.and_then(|below| self.rows.get_mut(below)),
            assembly.joiner,
        ) {
            below.put_joiner(joiner, rows);
        }
        if self.rows.is_empty() {
            self.rows_left = self.rows_left.saturating_sub(rows);
        }
        if let (Some(tested), Some(rows)) = (tested, self.rows.get_mut(level)) {
            match rows.record(tested) {
                Ok(pieces) => self.pass_on(level, pieces),
                Err(error) => self.error = Some(error),
            }
        }
        Ok(batch)
    }

    /// Returns the number of batches still to be emitted, if the last level is in progress.
    pub(crate) fn batches_left(&self) -> Option<u64> {
        let level = self.shared.filter(|level| *level == self.rows.len())?;
        self.sets.get(level).map(ColumnSet::batches_left)
    }

    /// Returns true if a column was split at a wrong row. One thread must then decode the row group.
    pub(crate) fn is_split_wrong(&self) -> bool {
        self.sets.iter().any(ColumnSet::is_split_wrong)
    }
}
