//! Threads sharing a stage of a row group: their tasks and the resulting batches.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

use super::super::columns::{self, ColumnSet, ColumnTask};
use super::super::selected_rows::{Joiner, SelectedRows, Tested};
use super::super::splits;
use super::Stages;
use crate::assemble::BatchAssembler;
use crate::bytes::FileBytes;
use crate::plan::FilterPlan;

/// A unit of work on the stage shared by threads.
pub enum StageTask {
    /// Work on one column of a stage.
    Column {
        /// The column's stage.
        stage: usize,
        /// The work to do.
        task: ColumnTask,
    },
    /// Assembles a batch and tests it, unless it is from the last stage.
    Batch(Box<Assembly>),
}

/// The column batches forming one record batch.
pub struct Assembly {
    stage: usize,
    assembler: BatchAssembler,
    rows_left: u64,
    /// The tested columns to join with the batch.
    joiner: Option<Joiner>,
    /// The filter to test the batch with, unless this is the last stage.
    filter: Option<Arc<FilterPlan>>,
    result: Result<Option<Assembled>>,
}

/// The result of an [`Assembly`].
enum Assembled {
    Batch(RecordBatch),
    Tested(Tested),
}

impl StageTask {
    /// Does the work. `bytes` must have everything the task needs, because a task cannot wait.
    pub fn run(&mut self, bytes: &mut dyn FileBytes) {
        match self {
            Self::Column { task, .. } => task.run(bytes),
            Self::Batch(assembly) => assembly.run(),
        }
    }
}

impl Assembly {
    /// Assembles the batch, then tests it unless it is from the last stage.
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

/// The state of the stage shared by threads.
pub enum SharedStep {
    /// Tasks are in progress or queued.
    Pending,
    /// The next stage's columns must be [split](crate::RowGroupRead::share).
    Split,
    /// The column batches of the next batch are complete.
    Batch(Box<Assembly>),
    /// The row group has no more rows.
    End,
}

impl Stages {
    /// Continues with the first stage that has rows left to decode, splitting its columns among `threads` threads. The
    /// page headers are read from `bytes`.
    pub(crate) fn share(&mut self, threads: usize, bytes: &mut dyn FileBytes) {
        // A limit might have ended the stage before all of its rows were tested.
        if let Some(stage) = self.shared
            && let Some(rows) = self.rows.get_mut(stage).filter(|rows| !rows.is_tested())
        {
            let accepted = rows.end();
            self.pass_on(stage, accepted);
        }
        let stage = self.active();
        self.shared = Some(stage);
        if let Some(set) = self.sets.get_mut(stage) {
            let splits = splits::of_row_group(set.row_group(), set.plan(), threads, bytes);
            set.share(splits, threads);
        }
    }

    /// Returns the state of the stage shared by threads. At most `most` rows have to be found.
    ///
    /// # Errors
    /// Returns the due error.
    pub(crate) fn poll_shared(&mut self, most: u64) -> Result<SharedStep> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(stage) = self.shared else {
            return Ok(SharedStep::Split);
        };
        if stage < self.rows.len() {
            if self.is_stage_over(most) {
                return Ok(SharedStep::Split);
            }
            // A thread tests the gathered batch later, but a column's error is due at once.
            if let Some(set) = self.sets.get_mut(stage) {
                set.gather(None)?;
            }
            return Ok(SharedStep::Pending);
        }
        if self.rows_of(stage) == 0 {
            return Ok(SharedStep::End);
        }
        let is_complete = match self.sets.get_mut(stage) {
            Some(set) => set.gather(None)?,
            None => false,
        };
        let assembly = is_complete.then(|| self.assembly(stage)).flatten();
        Ok(assembly.map_or(SharedStep::Pending, SharedStep::Batch))
    }

    /// Returns true if the shared stage has tested all rows. The last testing stage is also over once `most` selected
    /// rows are found.
    pub(crate) fn is_stage_over(&self, most: u64) -> bool {
        let Some((stage, rows)) = self
            .shared
            .and_then(|stage| Some((stage, self.rows.get(stage)?)))
        else {
            return false;
        };
        let has_enough = stage + 1 == self.rows.len() && rows.num_selected() >= most;
        self.error.is_none() && (rows.is_tested() || has_enough)
    }

    /// Returns the number of rows known so far that a stage has left to decode.
    fn rows_of(&self, stage: usize) -> u64 {
        match stage.checked_sub(1).and_then(|below| self.rows.get(below)) {
            Some(below) => below.num_selected(),
            None => self
                .rows
                .first()
                .map_or(self.rows_left, SelectedRows::untested),
        }
    }

    /// Takes everything needed to assemble a stage's next batch.
    fn assembly(&mut self, stage: usize) -> Option<Box<Assembly>> {
        let rows_left = self.rows_of(stage);
        let assembler = self.sets.get_mut(stage)?.take_assembler()?;
        let below = stage.checked_sub(1);
        let below = below.and_then(|below| self.rows.get_mut(below));
        Some(Box::new(Assembly {
            stage,
            assembler,
            rows_left,
            joiner: below.and_then(SelectedRows::take_joiner),
            filter: self.rows.get(stage).map(|rows| rows.filter().clone()),
            result: Ok(None),
        }))
    }

    /// Takes the shared stage's most urgent task, at most `ahead` batches after the due batch.
    pub(crate) fn take_task(&mut self, ahead: u64) -> Option<StageTask> {
        let stage = self.shared.filter(|_| self.error.is_none())?;
        let is_tested = self.rows.get(stage).map(SelectedRows::is_tested);
        if is_tested == Some(true) {
            return None;
        }
        let set = self.sets.get_mut(stage)?;
        if is_tested.is_some() {
            match set.gather(None) {
                Ok(true) => return self.assembly(stage).map(StageTask::Batch),
                Ok(false) => {}
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
        let task = self.sets.get_mut(stage)?.take_task(ahead)?;
        Some(StageTask::Column { stage, task })
    }

    /// Returns true if [`Self::take_task`] would find a task.
    pub(crate) fn has_task(&self, ahead: u64) -> bool {
        let set = self.shared.and_then(|stage| self.sets.get(stage));
        self.error.is_none() && set.is_some_and(|set| set.has_task(ahead))
    }

    /// Takes back a task after it has run. Returns the completed batch, if it is from the last stage.
    ///
    /// # Errors
    /// Returns the error of a last-stage batch.
    pub(crate) fn deliver(&mut self, task: StageTask) -> Result<Option<RecordBatch>> {
        match task {
            StageTask::Column { stage, task } => {
                if let Some(set) = self.sets.get_mut(stage) {
                    set.deliver(task);
                }
                Ok(None)
            }
            StageTask::Batch(assembly) => self.deliver_batch(assembly),
        }
    }

    fn deliver_batch(&mut self, assembly: Box<Assembly>) -> Result<Option<RecordBatch>> {
        let stage = assembly.stage;
        // A limit might have ended the stage while the task was running.
        if self.shared.is_some_and(|shared| stage < shared) {
            return Ok(None);
        }
        let is_last = stage == self.rows.len();
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
        if let Some(set) = self.sets.get_mut(stage) {
            set.put_assembler(assembly.assembler, rows);
        }
        let below = stage.checked_sub(1);
        if let (Some(below), Some(joiner)) = (
            below.and_then(|below| self.rows.get_mut(below)),
            assembly.joiner,
        ) {
            below.put_joiner(joiner, rows);
        }
        if self.rows.is_empty() {
            self.rows_left = self.rows_left.saturating_sub(rows);
        }
        if let (Some(tested), Some(rows)) = (tested, self.rows.get_mut(stage)) {
            match rows.record(tested) {
                Ok(pieces) => self.pass_on(stage, pieces),
                Err(error) => self.error = Some(error),
            }
        }
        Ok(batch)
    }

    /// Returns the number of batches left to emit, if the last stage is in progress.
    pub(crate) fn batches_left(&self) -> Option<u64> {
        let stage = self.shared.filter(|stage| *stage == self.rows.len())?;
        self.sets.get(stage).map(ColumnSet::batches_left)
    }

    /// Returns true if a column was split at the wrong row. In that case, a single thread must decode the row group
    /// again.
    pub(crate) fn is_split_wrong(&self) -> bool {
        self.sets.iter().any(ColumnSet::is_split_wrong)
    }
}
