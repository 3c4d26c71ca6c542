//! Row groups decoded concurrently by the host's jobs.
//!
//! ```text
//! PushDecoder ── a row group whose bytes all arrived ──► due │ next │ …   one job each, for one batch
//!      ▲                                                  │      │
//!      └── a row group that failed, and all after it ◄────┼──────┘
//!                                                         └► batches in the order of the file
//! ```
//!
//! The decoder opens row groups, tests their rows and plans their bytes. It only decodes batches
//! itself while there is no row group here. This happens for row groups that do not fit in memory,
//! or that have failed here before.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use herringbone::push::{DetachedRowGroup, PushDecoder};
use herringbone::{Losses, Spawn};
use herringbone_read::{AheadStep, WaitingBatch};

use crate::seat::Job;

/// The number of row groups per thread. One isn't enough, because a decoded row group's batches
/// might have to wait for a while.
const PER_THREAD: usize = 2;

/// The row groups in output order. The first one is due.
pub(crate) struct RowGroups {
    slots: VecDeque<Slot>,
    /// The number of jobs allowed to run concurrently.
    threads: usize,
}

/// A row group being decoded by jobs.
struct Slot {
    work: Work,
    /// The decoded batches waiting until they are due.
    waiting: VecDeque<Box<WaitingBatch>>,
    /// The losses after the last batch.
    losses: Losses,
    /// An upper bound on the rows remaining after the last emitted batch.
    rows_left: u64,
}

/// The state of a row group.
enum Work {
    /// No job is working on it.
    Idle(Box<DetachedRowGroup>),
    Running(Job<(Box<DetachedRowGroup>, AheadStep)>),
    /// All its batches are decoded.
    Over(Box<DetachedRowGroup>),
    Failed(Box<DetachedRowGroup>),
    /// A placeholder while the row group moves to another state.
    Moved,
}

impl RowGroups {
    /// Creates an empty list. With fewer than two threads, it stays empty.
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            slots: VecDeque::new(),
            threads: if threads > 1 { threads } else { 0 },
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the number of row groups that there is still room for.
    pub(crate) fn room(&self) -> usize {
        match self.has_failed() {
            true => 0,
            false => (self.threads * PER_THREAD).saturating_sub(self.slots.len()),
        }
    }

    /// Appends a row group.
    pub(crate) fn push(&mut self, row_group: DetachedRowGroup) {
        self.slots.push_back(Slot {
            rows_left: row_group.rows_left(),
            work: Work::Idle(Box::new(row_group)),
            waiting: VecDeque::new(),
            losses: Losses::default(),
        });
    }

    /// Takes the results of jobs and starts new jobs, the due one first. Work ahead stops while
    /// memory is short.
    pub(crate) fn poll(&mut self, host: Option<&dyn Spawn>, cx: &Context<'_>) {
        for slot in &mut self.slots {
            slot.poll(cx);
        }
        let running = self.slots.iter().filter(|slot| slot.is_running()).count();
        let mut free = self.threads.saturating_sub(running);
        let mut are_earlier_emitted = true;
        for slot in &mut self.slots {
            if free == 0 || matches!(slot.work, Work::Failed(_)) {
                break;
            }
            // Earlier slots can be over without being removed yet. If memory is short, only the due
            // job starts, so we have to recognise it. Otherwise, no waker would be left.
            let is_due = are_earlier_emitted && slot.waiting.is_empty();
            if slot.start(host, is_due) {
                free -= 1;
                // The job might already be over, since the host can run it immediately or drop it.
                // If it's still running, it keeps the waker.
                slot.poll(cx);
            }
            are_earlier_emitted &= slot.is_emitted();
        }
    }

    /// Returns the next batch in output order, adding its losses.
    pub(crate) fn next_batch(&mut self, losses: &mut Losses) -> Option<Box<WaitingBatch>> {
        loop {
            let due = self.slots.front_mut()?;
            if let Some(mut batch) = due.waiting.pop_front() {
                due.rows_left = batch.rows_left;
                losses.append(std::mem::take(&mut batch.losses));
                return Some(batch);
            }
            if !due.is_emitted() {
                return None;
            }
            losses.append(std::mem::take(&mut due.losses));
            self.slots.pop_front();
        }
    }

    fn has_failed(&self) -> bool {
        self.first_failed().is_some()
    }

    fn first_failed(&self) -> Option<usize> {
        let failed = |slot: &Slot| matches!(slot.work, Work::Failed(_));
        self.slots.iter().position(failed)
    }

    /// Puts the first failed row group and all later ones back into the decoder, once no job is
    /// working on them. Their batches are decoded again.
    pub(crate) fn put_back_failed(&mut self, decoder: &mut PushDecoder) {
        let Some(failed) = self.first_failed() else {
            return;
        };
        if self.slots.iter().skip(failed).any(Slot::is_running) {
            return;
        }
        for slot in self.slots.drain(failed..).rev() {
            let (Work::Idle(row_group) | Work::Over(row_group) | Work::Failed(row_group)) =
                slot.work
            else {
                continue;
            };
            let first = slot.waiting.into_iter().next();
            decoder.put_back(*row_group, first.as_deref());
        }
    }

    /// Returns an upper bound on the number of rows not emitted yet.
    pub(crate) fn rows_left(&self) -> u64 {
        let rows = self.slots.iter().map(|slot| slot.rows_left);
        rows.fold(0, u64::saturating_add)
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }
}

impl Slot {
    fn is_running(&self) -> bool {
        matches!(self.work, Work::Running(_))
    }

    /// Returns true if no batch is left to emit.
    fn is_emitted(&self) -> bool {
        matches!(self.work, Work::Over(_)) && self.waiting.is_empty()
    }

    /// Starts the job for the next batch. Returns false if there is no next batch or it has to
    /// wait.
    fn start(&mut self, host: Option<&dyn Spawn>, is_due: bool) -> bool {
        let mut row_group = match std::mem::replace(&mut self.work, Work::Moved) {
            Work::Idle(row_group) if is_due || !row_group.is_short() => row_group,
            work => {
                self.work = work;
                return false;
            }
        };
        self.work = Work::Running(Job::start(host, move || {
            let step = row_group.poll_ahead(is_due);
            (row_group, step)
        }));
        true
    }

    /// Takes the job's result, if it is over.
    fn poll(&mut self, cx: &Context<'_>) {
        let Work::Running(job) = &self.work else {
            return;
        };
        let Poll::Ready((row_group, step)) = job.poll(cx) else {
            return;
        };
        self.work = match step {
            AheadStep::Batch(batch) => {
                self.waiting.push_back(batch);
                Work::Idle(row_group)
            }
            AheadStep::Finished(losses) => {
                self.losses = losses;
                Work::Over(row_group)
            }
            AheadStep::Failed => Work::Failed(row_group),
        };
    }
}
