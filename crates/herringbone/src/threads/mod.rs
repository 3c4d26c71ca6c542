//! Several threads, the caller's included.
//!
//! A task decodes the next column batch of one column. Tasks are ordered by the batch that the column batch
//! belongs to, then by column: whoever is free takes the first one, so the batch that is due is
//! always worked on first. Workers run ahead of the caller by a few batches and no further, which
//! bounds the memory; the caller works too instead of waiting, as long as there is work.
//!
//! A column that would keep the others waiting is cut into [parts]. Threads that have nothing to do for
//! the batches that come next work on its later parts, whose column batches wait until it is their turn.
//!
//! Column batches depend on nothing but the bytes, so batches and errors are those of the plain loop. Only
//! the memory that is held at a time does not: where the budget refuses, as it may refuse the plain loop, the plain loop
//! decides ([`Threads::into_inline`]). So it does where a column turns out to be cut wrong.

mod filtered;
mod row_groups;
mod state;
mod workers;

use std::panic::resume_unwind;
use std::sync::{Arc, Condvar, Mutex};

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::Budget;
use herringbone_core::loss::Losses;
use herringbone_core::read::{BatchAssembler, ReadPlan};
use herringbone_format::Result;

use crate::inline::Inline;
use crate::source::Source;
use crate::workers::Workers;
pub(crate) use filtered::FilteredThreads;
pub(crate) use row_groups::RowGroupThreads;
use state::take_column_batches;
use workers::{Shared, Wake};

/// Batches, behind the one that is due, that workers may decode column batches of.
const BATCHES_AHEAD: u64 = 3;

/// How many columns there are for each job that the caller does before it looks again whether all of them have delivered: to
/// look at thousands takes longer than a job may.
const COLUMNS_A_JOB: usize = 64;

/// Decodes on several threads.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    assembler: BatchAssembler,
    workers: Workers,
}

impl Threads {
    /// Decodes the rows of a plan. No memory of `budget` is in use by others.
    pub(crate) fn new(
        plan: Arc<ReadPlan>,
        source: Arc<dyn Source>,
        threads: usize,
        budget: Arc<Budget>,
    ) -> Self {
        let assembler = BatchAssembler::new(plan.clone(), &budget);
        let shared = Shared {
            threads,
            plan,
            source,
            budget,
            state: Mutex::default(),
            work: Condvar::new(),
            delivered: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            assembler,
            workers: Workers::new(threads - 1),
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.start_workers();
        let jobs_a_look = 1 + self.shared.plan.num_columns() / COLUMNS_A_JOB;
        let mut jobs = 0;
        loop {
            let mut state = self.shared.lock();
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            if state.open.is_empty() && !state.opening {
                if let Some(error) = state.open_error.take() {
                    return Err(error);
                }
                if state.front >= self.shared.plan.row_groups().len() {
                    return Ok(None);
                }
            }
            let mut job = None;
            if jobs % jobs_a_look > 0 {
                job = self.shared.job(&mut state);
            }
            if job.is_none() {
                if take_column_batches(&mut state, &mut self.assembler, self.shared.threads)? {
                    drop(state);
                    let batch = self.assembler.assemble()?;
                    self.shared.give_out(batch.num_rows() as u64);
                    return Ok(Some(batch));
                }
                job = self.shared.job(&mut state);
            }
            match job {
                Some(job) => {
                    drop(state);
                    self.shared.run(job);
                    jobs += 1;
                }
                None => {
                    self.shared.wait_for_delivery(state);
                    jobs = 0;
                }
            }
        }
    }

    /// Gives up the row group that the last batch failed in; the rows that are lost.
    pub(crate) fn skip_row_group(&mut self) -> u64 {
        self.assembler.clear();
        let mut state = self.shared.lock();
        let rows = match state.open.pop_front() {
            Some(row_group) => {
                state.due = row_group.end_batch;
                row_group.rows_left
            }
            // It could not even be opened.
            None => {
                let row_group = self.shared.plan.row_groups().get(state.front);
                row_group.map_or(0, |row_group| row_group.num_wanted())
            }
        };
        state.front += 1;
        state.take_turn();
        self.shared.wake(state, Wake::All);
        rows
    }

    /// Whether the last batch failed as a column was cut wrong.
    pub(crate) fn is_split_wrong(&self) -> bool {
        self.shared.lock().is_split_wrong
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        self.assembler.take_losses()
    }

    /// Stops, and has the plain loop start again where the row group that is due starts.
    pub(crate) fn into_inline(self) -> Inline {
        let (plan, source) = (self.shared.plan.clone(), self.shared.source.clone());
        let budget = self.shared.budget.clone();
        let state = self.shared.lock();
        let row_groups = state.front;
        let rows_left = state.open.front().map(|row_group| row_group.rows_left);
        drop(state);
        let rows = plan
            .row_groups()
            .get(row_groups)
            .map_or(0, |g| g.num_wanted());
        let rows_given = rows - rows_left.unwrap_or(rows).min(rows);
        drop(self);
        Inline::new_behind(plan, source, budget, row_groups, rows_given)
    }

    fn start_workers(&mut self) {
        self.workers.start(|| {
            let shared = self.shared.clone();
            move || shared.work()
        });
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.stop = true;
        self.shared.wake(state, Wake::All);
        self.workers.join();
    }
}
