//! A read's row groups in output order.

use std::collections::VecDeque;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::modular_encryption::KeyRequest;
use herringbone_format::{Error, Result};

use super::bytes::FileBytes;
use super::plan::{OffsetLimit, new_budget};
use super::row_group::{RowGroupRead, RowGroupStep, missing_keys};
use super::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::Budget;
use herringbone_core::loss::{Loss, Losses, Lost};
use herringbone_core::metrics::ReadMetrics;
use herringbone_filter::Predicate;

/// A read's row groups in output order, along with the number of rows left to emit.
///
/// One thread [advances](Self::advance) the sequence. Alternatively, several threads take [row
/// groups](Self::next_row_group) from it, returning their batches [in order](Self::emit).
pub struct ReadSequence {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    /// The row groups begun so far. The first one is due, that is, its batches are the next to be emitted.
    begun: VecDeque<RowGroupRead>,
    /// The plan index of the next row group to begin.
    next: usize,
    /// The number of rows selected in the row groups starting at `next`, before the filter.
    rows_after: u64,
    /// The rows to skip and to emit, counted among the filtered rows.
    window: OffsetLimit,
    losses: Losses,
    /// True if the due row group was restarted because memory was short.
    is_short: bool,
    /// The number of retries left for the due row group after it has been refused a page's memory.
    tries_left: u32,
    /// True if the driver waits for memory, rather than failing at once, when the pool refuses the bytes of a page.
    may_wait: bool,
    /// True if the last step was refused memory and can be retried.
    is_refused: bool,
}

/// The number of retries for a row group that has been refused a page's memory. It is small because, without page
/// indexes, each retry decodes the row group from its start.
const TRIES: u32 = 8;

/// The result of one step of a [`ReadSequence`].
#[derive(Debug)]
pub enum ReadStep {
    /// More bytes are needed to continue.
    Pending,
    /// Keys of encrypted columns are needed to continue.
    NeedsKeys(Vec<KeyRequest>),
    /// The next batch.
    Batch(RecordBatch),
    /// There are no more rows.
    Finished,
}

impl ReadSequence {
    /// Creates the sequence of a plan's row groups.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        // Without a filter, the plan has already applied the offset and the limit, so we emit each planned row.
        let window = match plan.is_filtered() {
            true => OffsetLimit::of(plan.options()),
            false => OffsetLimit::all(),
        };
        Self {
            rows_after: plan.row_groups().iter().map(RowGroupPlan::num_wanted).sum(),
            budget: new_budget(&plan),
            plan,
            begun: VecDeque::new(),
            next: 0,
            window,
            losses: Losses::default(),
            is_short: false,
            tries_left: TRIES,
            may_wait: false,
            is_refused: false,
        }
    }

    /// Chooses if the driver waits for memory. If it does, it can retry a refused step.
    pub(crate) fn wait_for_memory(&mut self, may_wait: bool) {
        self.may_wait = may_wait;
    }

    /// Gives up waiting for memory. The due row group isn't retried after its next refusal.
    pub(crate) fn wait_no_longer(&mut self) {
        self.tries_left = 0;
    }

    /// Returns true if the last step was refused memory and the driver can retry it.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Returns the plan used to begin row groups.
    #[must_use]
    pub fn plan(&self) -> &Arc<ReadPlan> {
        &self.plan
    }

    /// Returns the read's memory budget.
    #[must_use]
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the read's counts so far, such as requests and pages.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.budget.read_metrics()
    }

    /// Returns an upper bound on the number of rows left to emit. The filter might leave fewer.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.rows_left_with(self.begun.iter().map(RowGroupRead::rows_left).sum())
    }

    /// Returns an upper bound on the number of rows left to emit, if `begun` of them are in
    /// [taken](Self::next_row_group) row groups.
    #[must_use]
    pub fn rows_left_with(&self, begun: u64) -> u64 {
        self.rows_after.saturating_add(begun).min(self.window.left)
    }

    /// Returns the number of rows to find before the read is complete, including rows skipped by the offset.
    #[must_use]
    pub fn rows_to_find(&self) -> u64 {
        self.window.wanted()
    }

    /// Returns the damage left out of the batches so far.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Takes the damage left out of the batches since the last call.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Returns the row groups begun so far, the due one first.
    pub(crate) fn begun(&mut self) -> &mut VecDeque<RowGroupRead> {
        &mut self.begun
    }

    /// Returns true if the due row group was restarted because memory was short. It then has all of the memory.
    pub(crate) fn has_started_again(&self) -> bool {
        self.is_short
    }

    /// Returns true if memory is too short to work ahead.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.is_short || self.budget.is_short()
    }

    /// Returns the number of bytes that can be requested ahead. It is at most half of the free memory.
    #[must_use]
    pub fn memory_ahead(&self) -> u64 {
        self.budget.most_ahead()
    }

    /// Returns any keys that the next row group is still missing.
    #[must_use]
    pub fn missing_keys(&self) -> Vec<KeyRequest> {
        missing_keys(&self.plan, self.next)
    }

    /// Begins the next row group, or returns `None` after the last one or once the limit is reached.
    pub fn next_row_group(&mut self) -> Option<RowGroupRead> {
        let row_group = self.plan.row_groups().get(self.next);
        let row_group = row_group.filter(|_| self.window.left > 0)?.clone();
        self.next += 1;
        self.rows_after = self.rows_after.saturating_sub(row_group.num_wanted());
        let (plan, budget) = (self.plan.clone(), self.budget.clone());
        Some(RowGroupRead::new(plan, row_group, budget))
    }

    /// Takes back row groups that were taken and then dropped, starting at `index` and with `rows` planned rows.
    pub fn return_row_groups(&mut self, index: usize, rows: u64) {
        self.next = index;
        self.rows_after += rows;
        self.budget.close_row_groups_from(index);
    }

    /// Replaces the filter with an equal or tighter one. It applies to all rows not selected so far.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the filter might select rows ruled out by
    /// the old one, because these might already be gone, or if it does not fit the file.
    pub fn tighten_filter(&mut self, filter: &Predicate) -> Result<()> {
        let plan = self.plan.tightened(filter)?;
        self.replace_plan(Arc::new(plan));
        Ok(())
    }

    /// Continues with a plan derived from this one by [`ReadPlan::tightened`].
    pub fn replace_plan(&mut self, plan: Arc<ReadPlan>) {
        for row_group in &mut self.begun {
            row_group.tighten_filter(&plan);
        }
        self.plan = plan;
    }

    /// Returns the part of a batch to emit after applying the offset and the limit, or `None` if there are no such
    /// rows.
    pub fn emit(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        self.window.clip_batch(batch)
    }

    /// Records damage left out of emitted batches.
    pub fn add_losses(&mut self, losses: Losses) {
        self.losses.append(losses);
    }

    /// Records that an error lost `rows` rows of a row group, provided that the options allow the read to go on.
    ///
    /// # Errors
    /// Otherwise, returns the error itself.
    pub fn lose(&mut self, error: Error, rows: u64) -> Result<()> {
        if !self.plan.options().on_error.goes_on(&error) {
            return Err(error);
        }
        let lost = Lost::Rows(rows);
        self.losses.push(Loss { error, lost });
        Ok(())
    }

    /// Ends the read, dropping all row groups and their memory.
    pub fn finish(&mut self) {
        self.begun.clear();
        self.next = self.plan.row_groups().len();
        self.rows_after = 0;
    }

    /// Decodes the next batch on this thread.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file. Errors from predicates and from `bytes` are
    /// returned too.
    pub fn advance(&mut self, bytes: &mut dyn FileBytes) -> Result<ReadStep> {
        self.is_refused = false;
        loop {
            if self.window.left == 0 {
                self.finish();
                return Ok(ReadStep::Finished);
            }
            if self.begun.is_empty() {
                let keys = self.missing_keys();
                if !keys.is_empty() {
                    return Ok(ReadStep::NeedsKeys(keys));
                }
                let Some(row_group) = self.next_row_group() else {
                    return Ok(ReadStep::Finished);
                };
                self.begun.push_back(row_group);
                (self.is_short, self.tries_left) = (false, TRIES);
            }
            let (most, tests_ahead) = (self.window.wanted(), !self.is_short());
            let Some(row_group) = self.begun.front_mut() else {
                continue;
            };
            match row_group.poll(most, tests_ahead, bytes) {
                Ok(RowGroupStep::Pending) => return Ok(ReadStep::Pending),
                Ok(RowGroupStep::Batch(batch)) => {
                    let losses = row_group.take_losses();
                    self.losses.append(losses);
                    if let Some(batch) = self.window.clip_batch(batch) {
                        return Ok(ReadStep::Batch(batch));
                    }
                }
                Ok(RowGroupStep::End) => {
                    let losses = row_group.take_losses();
                    self.losses.append(losses);
                    self.begun.pop_front();
                }
                Err(error) if Budget::refused(&error) && self.drop_ahead(bytes) => {}
                Err(error) if Budget::refused(&error) && self.is_to_wait() => {
                    self.give_up_memory(bytes);
                    return Err(error);
                }
                Err(error) => {
                    let rows = self.begun.pop_front().map_or(0, |begun| begun.rows_left());
                    self.lose(error, rows)?;
                }
            }
        }
    }

    fn is_to_wait(&self) -> bool {
        self.may_wait && self.tries_left > 0
    }

    /// Gives back all memory until the read is retried. All that remains is the position in the due row group.
    fn give_up_memory(&mut self, bytes: &mut dyn FileBytes) {
        bytes.drop_ahead();
        if let Some(row_group) = self.begun.front_mut() {
            row_group.restart();
        }
        self.tries_left -= 1;
        (self.is_short, self.is_refused) = (true, true);
    }

    /// Drops all work and bytes ahead of the due row group, and restarts it after the emitted rows. The read can then
    /// continue with the freed memory. Returns false if there is nothing to drop.
    fn drop_ahead(&mut self, bytes: &mut dyn FileBytes) -> bool {
        let has_ahead = self.begun.len() > 1;
        if self.is_short || !bytes.drop_ahead() && !has_ahead {
            return false;
        }
        while self.begun.len() > 1
            && let Some(row_group) = self.begun.pop_back()
        {
            self.return_row_groups(row_group.index(), row_group.planned_rows());
        }
        if let Some(row_group) = self.begun.front_mut() {
            row_group.restart();
        }
        self.is_short = true;
        true
    }
}
