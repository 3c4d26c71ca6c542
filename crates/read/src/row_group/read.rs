//! The state machine for reading one row group. It prunes the row group, decodes the tested columns, selects rows, then
//! decodes the other columns for these rows.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, ErrorKind, Result};

use super::pruner::RowGroupPruner;
use super::stages::{SharedStep, StageTask, Stages};
use crate::bytes::FileBytes;
use crate::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::fetch::FetchPolicy;
use herringbone_core::loss::Losses;

/// The read of one row group or part of one.
///
/// It is a state machine without I/O. Either one thread polls it, or several threads take its tasks. Since it owns
/// everything it needs, it can move to another thread at any time.
pub struct RowGroupRead {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    row_group: RowGroupPlan,
    /// True if pages can be skipped, because the plan or a filter only selects some of the rows.
    skips_pages: bool,
    /// The number of rows emitted so far.
    emitted: u64,
    /// The number of rows emitted before a restart. They must be decoded again to reach the next row.
    again: u64,
    /// An upper bound on the number of rows left to emit after the last batch.
    rows_left: u64,
    /// True if an earlier filter has emitted rows before these ones.
    is_rest: bool,
    /// True if work ahead failed. We redo it when the row group is due, since its error can't be reported before then.
    has_failed_ahead: bool,
    state: State,
}

/// The state of a [`RowGroupRead`].
enum State {
    /// Nothing has been done yet.
    Planned,
    Pruning(Box<RowGroupPruner>),
    Open(Box<Stages>),
    Over,
}

/// A position between two batches of a [`RowGroupRead`]. The read can return to it.
#[derive(Debug, Clone, Copy)]
pub struct RowGroupPosition {
    /// The number of rows emitted so far.
    emitted: u64,
    /// The row after the last emitted one, counted within the row group.
    emitted_to: u64,
}

/// The result of one step of a [`RowGroupRead`].
#[derive(Debug)]
pub enum RowGroupStep {
    /// More bytes are needed to continue.
    Pending,
    /// The next batch.
    Batch(RecordBatch),
    /// The row group has no more rows.
    End,
}

/// Adds the row group to a predicate's error, since a predicate only knows values. All other errors already have their
/// location.
fn placed(error: Error, row_group: usize) -> Error {
    match error.kind() {
        ErrorKind::Argument => error.in_row_group(row_group),
        _ => error,
    }
}

impl RowGroupRead {
    /// Begins a plan's row group or part of one.
    pub(crate) fn new(plan: Arc<ReadPlan>, row_group: RowGroupPlan, budget: Arc<Budget>) -> Self {
        Self {
            rows_left: row_group.num_wanted(),
            skips_pages: plan.is_filtered() || row_group.num_wanted() < row_group.num_rows,
            again: 0,
            plan,
            budget,
            row_group,
            emitted: 0,
            is_rest: false,
            has_failed_ahead: false,
            state: State::Planned,
        }
    }

    /// Returns the row group's index in the plan.
    #[must_use]
    pub fn index(&self) -> usize {
        self.row_group.index
    }

    /// Returns the number of rows selected by the plan in the row group, before any filter.
    #[must_use]
    pub fn planned_rows(&self) -> u64 {
        self.row_group.num_wanted()
    }

    /// Returns the row group's ordinal in the file.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.row_group.ordinal()
    }

    /// Returns the first selected row, counted in the file.
    pub(crate) fn first_row(&self) -> u64 {
        let first = self.row_group.row_ranges().first();
        self.row_group.first_row + first.map_or(0, |range| range.start)
    }

    /// Returns true if none of the row group's rows have been emitted yet.
    pub(crate) fn is_at_start(&self) -> bool {
        self.emitted == 0 && !self.is_rest
    }

    /// Returns the read's memory budget.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the ranges that pruning or the open columns need next, in decode order per column. They add up to about
    /// `ahead` bytes.
    #[must_use]
    pub fn planned(&mut self, ahead: u64, policy: &FetchPolicy) -> Vec<Range<u64>> {
        match &mut self.state {
            State::Pruning(pruner) => pruner.planned(ahead, policy),
            State::Open(stages) => stages.planned(ahead, policy),
            State::Planned | State::Over => Vec::new(),
        }
    }

    /// Returns the byte ranges of the open column chunks.
    #[must_use]
    pub fn chunk_ranges(&self) -> Vec<Range<u64>> {
        match &self.state {
            State::Open(stages) => stages.chunk_ranges(),
            _ => Vec::new(),
        }
    }

    /// Returns an upper bound on the number of rows left to emit after the last batch.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.rows_left
    }

    /// Takes the damaged pages left out of the batches since the last call.
    pub fn take_losses(&mut self) -> Losses {
        match &mut self.state {
            State::Open(stages) => stages.take_losses(),
            _ => Losses::default(),
        }
    }

    /// Prunes the row group and opens its columns. Returns false if bytes are missing.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](ErrorKind::Corrupt) or [`Unsupported`](ErrorKind::Unsupported) if metadata is invalid,
    /// with [`Key`](ErrorKind::Key) if a key is missing or encrypted data is not authentic, and with
    /// [`Limit`](ErrorKind::Limit) if the read's memory is too short. Errors from predicates and from `bytes` are
    /// returned too.
    pub fn open(&mut self, bytes: &mut dyn FileBytes) -> Result<bool> {
        let ordinal = self.ordinal();
        self.prune_and_open(bytes)
            .map_err(|error| placed(error, ordinal))
    }

    fn prune_and_open(&mut self, bytes: &mut dyn FileBytes) -> Result<bool> {
        if let State::Planned = self.state {
            if !self.skips_pages {
                let maps = Reservation::new(self.budget.clone());
                let stages = Stages::whole(&self.plan, &self.row_group, (&self.budget, maps))?;
                self.state = State::Open(Box::new(stages));
                return Ok(true);
            }
            let (plan, budget) = (self.plan.clone(), self.budget.clone());
            let pruner = RowGroupPruner::new(plan, self.row_group.clone(), budget)?;
            self.state = State::Pruning(Box::new(pruner));
        }
        let State::Pruning(pruner) = &mut self.state else {
            return Ok(true);
        };
        let Some(pruned) = pruner.poll(bytes)? else {
            return Ok(false);
        };
        let is_filtered = self.plan.is_filtered();
        self.state = match Stages::of_pruned(&self.plan, pruned, &self.budget)? {
            None => {
                self.rows_left = 0;
                State::Over
            }
            Some(stages) => {
                if is_filtered {
                    self.rows_left = stages.rows_left();
                }
                State::Open(Box::new(stages))
            }
        };
        Ok(true)
    }

    /// Works ahead, before the row group is due: prunes it, opens its columns and tests its rows, until more bytes or
    /// memory are needed. Returns false if this fails. The error is reported once the row group is due.
    pub(crate) fn open_ahead(&mut self, bytes: &mut dyn FileBytes) -> bool {
        if self.has_failed_ahead {
            return false;
        }
        let result = self.open(bytes).and_then(|_| match &mut self.state {
            State::Open(stages) => stages.test_ahead(&self.budget, bytes),
            _ => Ok(()),
        });
        if result.is_err() {
            self.has_failed_ahead = true;
            self.restart();
        }
        result.is_ok()
    }

    /// Returns the ranges that all remaining rows need, or `None` if they are not known yet or if work ahead failed.
    pub(crate) fn remaining(&mut self, policy: &FetchPolicy) -> Option<Vec<Range<u64>>> {
        let is_known = !self.is_testing() && !self.has_failed_ahead;
        is_known.then(|| self.planned(u64::MAX, policy))
    }

    /// Records that work ahead failed, so that the remaining rows are decoded once they are due.
    pub(crate) fn wait_until_due(&mut self) {
        self.has_failed_ahead = true;
    }

    /// Returns true if the row group is still waiting for bytes that decide which ranges it needs.
    pub(crate) fn is_testing(&self) -> bool {
        match &self.state {
            State::Planned | State::Pruning(_) => true,
            State::Open(stages) => stages.is_testing(),
            State::Over => false,
        }
    }

    /// Decodes the next batch on this thread. Stops testing rows once `most` selected rows are found, since a limit
    /// might need no more.
    ///
    /// With `tests_ahead`, it goes on to test more rows while bytes of other columns are missing.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file. Errors from predicates and from `bytes` are
    /// returned too.
    pub fn poll(
        &mut self,
        most: u64,
        tests_ahead: bool,
        bytes: &mut dyn FileBytes,
    ) -> Result<RowGroupStep> {
        if !matches!(self.state, State::Open(_)) && !self.open(bytes)? {
            return Ok(RowGroupStep::Pending);
        }
        let ordinal = self.ordinal();
        loop {
            let State::Open(stages) = &mut self.state else {
                return Ok(RowGroupStep::End);
            };
            let step = stages.poll(most, tests_ahead, bytes);
            let batch = match step.map_err(|error| placed(error, ordinal))? {
                RowGroupStep::Batch(batch) => batch,
                RowGroupStep::Pending => return Ok(RowGroupStep::Pending),
                RowGroupStep::End => {
                    self.end();
                    return Ok(RowGroupStep::End);
                }
            };
            self.rows_left = stages.rows_left();
            let rows = batch.num_rows();
            let again = usize::try_from(self.again).map_or(rows, |again| again.min(rows));
            self.again -= again as u64;
            if again < rows {
                self.emitted += (rows - again) as u64;
                return Ok(RowGroupStep::Batch(match again {
                    0 => batch,
                    again => batch.slice(again, rows - again),
                }));
            }
            // We drop these losses, since they were reported with the rows the first time.
            stages.take_losses();
        }
    }

    /// Splits the columns to decode next among `threads` threads. The page headers are read from `bytes`.
    pub fn share(&mut self, threads: usize, bytes: &mut dyn FileBytes) {
        if let State::Open(stages) = &mut self.state {
            stages.share(threads, bytes);
        }
    }

    /// Returns the state of a row group whose columns are shared by threads. At most `most` rows have to be found.
    ///
    /// # Errors
    /// Returns the due error.
    pub fn poll_shared(&mut self, most: u64) -> Result<SharedStep> {
        let ordinal = self.ordinal();
        match &mut self.state {
            State::Open(stages) => {
                let step = stages.poll_shared(most);
                step.map_err(|error| placed(error, ordinal))
            }
            _ => Ok(SharedStep::End),
        }
    }

    /// Returns true if the threads have finished the shared columns, so that the next columns must be
    /// [shared](Self::share).
    #[must_use]
    pub fn is_stage_over(&self, most: u64) -> bool {
        matches!(&self.state, State::Open(stages) if stages.is_stage_over(most))
    }

    /// Takes the most urgent task of the shared columns, at most `ahead` batches after the due batch.
    pub fn take_task(&mut self, ahead: u64) -> Option<StageTask> {
        match &mut self.state {
            State::Open(stages) => stages.take_task(ahead),
            _ => None,
        }
    }

    /// Returns true if [`Self::take_task`] would find a task.
    #[must_use]
    pub fn has_task(&self, ahead: u64) -> bool {
        matches!(&self.state, State::Open(stages) if stages.has_task(ahead))
    }

    /// Takes back a task after it has run. Returns the completed batch, if it is from the last stage.
    ///
    /// # Errors
    /// Returns any error from assembling this batch.
    pub fn deliver(&mut self, task: StageTask) -> Result<Option<RecordBatch>> {
        let State::Open(stages) = &mut self.state else {
            return Ok(None);
        };
        let batch = stages.deliver(task);
        let ordinal = self.row_group.ordinal();
        let batch = batch.map_err(|error| placed(error, ordinal))?;
        if let Some(batch) = &batch {
            self.emitted += batch.num_rows() as u64;
            self.rows_left = stages.rows_left();
        }
        Ok(batch)
    }

    /// Returns the number of batches left to emit, if known.
    #[must_use]
    pub fn batches_left(&self) -> Option<u64> {
        match &self.state {
            State::Open(stages) => stages.batches_left(),
            State::Over => Some(0),
            State::Planned | State::Pruning(_) => None,
        }
    }

    /// Returns true if a column was split at the wrong row, for example because its offset index is wrong. In that
    /// case, a single thread must decode the row group again.
    #[must_use]
    pub fn is_split_wrong(&self) -> bool {
        matches!(&self.state, State::Open(stages) if stages.is_split_wrong())
    }

    /// Ends the row group, dropping its state and memory.
    fn end(&mut self) {
        self.state = State::Over;
        self.rows_left = 0;
    }

    /// Returns the position after the last batch. [`Self::restart_at`] can return to it.
    #[must_use]
    pub fn position(&self) -> RowGroupPosition {
        let emitted_to = match &self.state {
            State::Open(stages) => stages.emitted_to(),
            State::Planned | State::Pruning(_) | State::Over => None,
        };
        RowGroupPosition {
            emitted: self.emitted,
            emitted_to: emitted_to.unwrap_or_else(|| self.row_group.end_of(self.emitted)),
        }
    }

    /// Restarts after the last batch, dropping all decoded values.
    pub fn restart(&mut self) {
        self.restart_at(self.position());
    }

    /// Restarts at an earlier position, dropping all decoded values.
    ///
    /// A read of all rows decodes them again from the start, since nothing has checked the headers and indexes needed
    /// to skip them.
    pub fn restart_at(&mut self, position: RowGroupPosition) {
        let rows_before = self.row_group.rows_before + position.emitted;
        if self.skips_pages {
            return self.restart_after(position, rows_before);
        }
        self.emitted = position.emitted;
        self.again = self.emitted;
        self.rows_left = self.row_group.num_wanted().saturating_sub(self.emitted);
        self.state = State::Planned;
    }

    /// Restarts with the rows after a position. `rows_before` of the row group's rows were emitted before it.
    fn restart_after(&mut self, position: RowGroupPosition, rows_before: u64) {
        self.row_group = self.row_group.after(position.emitted_to, rows_before);
        self.is_rest |= position.emitted > 0;
        (self.emitted, self.again, self.skips_pages) = (0, 0, true);
        self.rows_left = self.row_group.num_wanted();
        self.state = match self.rows_left {
            0 => State::Over,
            _ => State::Planned,
        };
    }

    /// Applies the filter of another plan for this read to all rows not selected so far.
    ///
    /// A filter that tests the same columns takes over in place. For any other filter, this restarts the row group
    /// after the emitted rows and returns true.
    pub fn tighten_filter(&mut self, plan: &Arc<ReadPlan>) -> bool {
        let is_same = Arc::ptr_eq(plan, &self.plan);
        self.plan = plan.clone();
        match &mut self.state {
            _ if is_same => false,
            State::Over => false,
            State::Open(stages) if stages.can_replace(plan) => {
                stages.replace_filters(plan);
                false
            }
            _ => {
                self.restart_after(self.position(), 0);
                true
            }
        }
    }
}
