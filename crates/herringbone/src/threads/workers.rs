//! What threads do with the state that they share: the workers' life, and each of their jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use herringbone_core::budget::Budget;
use herringbone_core::column::{ColumnBatch, ColumnChunkDecoder};
use herringbone_core::read::{OpenRowGroup, ReadPlan, too_few_rows};
use herringbone_format::Result;

use super::BATCHES_AHEAD;
use super::state::{DueRowGroup, Failed, Job, Place, State, Task, open_column};
use crate::blocking::{count_rows, next_column_batch};
use crate::parts::{self, SplitColumn};
use crate::source::Source;

pub(super) struct Shared {
    pub(super) threads: usize,
    pub(super) plan: Arc<ReadPlan>,
    pub(super) source: Arc<dyn Source>,
    pub(super) budget: Arc<Budget>,
    pub(super) state: Mutex<State>,
    /// A task became ready, or everything is over.
    pub(super) work: Condvar,
    /// A column batch was delivered.
    pub(super) delivered: Condvar,
}

/// How many workers there may be work for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wake {
    One,
    All,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most urgent thing that may be done: nothing ahead of time where memory is short.
    pub(super) fn job(&self, state: &mut State) -> Option<Job> {
        let ahead = if self.budget.is_short() {
            0
        } else {
            BATCHES_AHEAD
        };
        state.job(&self.plan, self.threads, ahead)
    }

    /// The life of a worker.
    pub(super) fn work(&self) {
        let mut state = self.lock();
        while !state.stop {
            if let Some(job) = self.job(&mut state) {
                drop(state);
                let outcome = catch_unwind(AssertUnwindSafe(|| self.run(job)));
                state = self.lock();
                if let Err(panic) = outcome {
                    state.panic = Some(panic);
                    self.wake(state, Wake::All);
                    return;
                }
            } else {
                state = self.wait_for_work(state);
            }
        }
    }

    /// Sleeps until there may be work.
    fn wait_for_work<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.workers_waiting += 1;
        let wait = self.work.wait(state);
        let mut state = wait.unwrap_or_else(PoisonError::into_inner);
        state.workers_waiting -= 1;
        state
    }

    /// Sleeps until something may have been delivered.
    pub(super) fn wait_for_delivery(&self, mut state: MutexGuard<'_, State>) {
        state.caller_waits = true;
        let wait = self.delivered.wait(state);
        wait.unwrap_or_else(PoisonError::into_inner).caller_waits = false;
    }

    /// Wakes whoever waits for what the state has now. A call to the system that wakes nobody takes
    /// as long as the decoding of some column batches, so there is none.
    pub(super) fn wake(&self, state: MutexGuard<'_, State>, workers: Wake) {
        let (workers_wait, caller_waits) = (state.workers_waiting > 0, state.caller_waits);
        drop(state);
        match workers {
            _ if !workers_wait => {}
            Wake::One => self.work.notify_one(),
            Wake::All => self.work.notify_all(),
        }
        if caller_waits {
            self.delivered.notify_one();
        }
    }

    pub(super) fn run(&self, job: Job) {
        match job {
            Job::Decode(task, mut column) => {
                let column_batch = next_column_batch(&mut column, &*self.source)
                    .and_then(|column_batch| column_batch.ok_or_else(too_few_rows))
                    .map_err(|error| Failed {
                        error,
                        is_split_wrong: column.is_split_wrong(),
                    });
                self.deliver(task, column, column_batch);
            }
            Job::Count(place, group, counter) => {
                let rows = counter.and_then(|mut counter| count_rows(&mut counter, &*self.source));
                let mut state = self.lock();
                state.counted(place, (group, rows), self.threads);
                self.wake(state, Wake::All);
            }
            Job::Open(index) => {
                let read = |range| self.source.read(range);
                let row_group = OpenRowGroup::mapped(&self.plan, index, &self.budget, read);
                let row_group = row_group.map(Arc::new);
                let cuts = row_group.as_ref().map_or(Vec::new(), |row_group| {
                    parts::of_row_group(row_group, &self.source, &self.plan, self.threads)
                });
                self.opened(index, row_group, cuts);
            }
        }
    }

    fn deliver(
        &self,
        task: Task,
        column: Box<ColumnChunkDecoder>,
        column_batch: Result<ColumnBatch, Failed>,
    ) {
        let mut state = self.lock();
        let Some(part) = state.part(&task) else {
            return;
        };
        if column_batch.is_ok() && !column.is_done() {
            part.column = Some(column);
        } else {
            part.is_over = true;
        }
        part.column_batches.push_back(column_batch);
        state.go_on(&task);
        self.wake(state, Wake::One);
    }

    fn opened(&self, index: usize, row_group: Result<Arc<OpenRowGroup>>, cuts: Vec<SplitColumn>) {
        let mut state = self.lock();
        state.opening = false;
        match row_group {
            Err(error) => state.open_error = Some(error),
            Ok(row_group) => {
                let first_batch = state
                    .open
                    .back()
                    .map_or(state.due, |row_group| row_group.end_batch);
                let rows_left = self
                    .plan
                    .row_groups()
                    .get(index)
                    .map_or(0, |g| g.num_wanted());
                let batch_rows = row_group.batch_rows() as u64;
                let end_batch = first_batch + rows_left.div_ceil(batch_rows);
                let is_cut = cuts.iter().any(|cut| !matches!(cut, SplitColumn::Whole));
                let mut columns = Vec::with_capacity(row_group.num_columns());
                for (ordinal, cut) in cuts.into_iter().enumerate() {
                    let column = open_column(&row_group, ordinal, cut, first_batch);
                    let place = Place {
                        row_group: index,
                        column: ordinal,
                    };
                    if column.counting.is_some() {
                        state.uncounted.insert(place);
                    }
                    let first = column.next_task(place, 0, true);
                    if index == state.front || !column.is_cut {
                        state.ready.extend(first);
                    } else {
                        state.ahead.extend(first);
                    }
                    let ahead = 1..=self.threads;
                    let ahead = ahead.filter_map(|part| column.next_task(place, part, false));
                    state.ahead.extend(ahead);
                    columns.push(column);
                }
                state.open.push_back(DueRowGroup {
                    _row_group: row_group,
                    columns,
                    rows_left,
                    is_begun: false,
                    batch_rows,
                    end_batch,
                    is_cut,
                });
            }
        }
        self.wake(state, Wake::All);
    }

    /// Counts rows that were given out, and makes way for the column batches behind them.
    pub(super) fn give_out(&self, rows: u64) {
        let mut state = self.lock();
        let Some(row_group) = state.open.front_mut() else {
            return;
        };
        row_group.rows_left = row_group.rows_left.saturating_sub(rows);
        if row_group.rows_left == 0 {
            let end = row_group.end_batch;
            state.open.pop_front();
            state.front += 1;
            state.due = end;
            state.take_turn();
        } else {
            let batches_left = row_group.rows_left.div_ceil(row_group.batch_rows);
            state.due = row_group.end_batch - batches_left;
        }
        self.wake(state, Wake::All);
    }
}
