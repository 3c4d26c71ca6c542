//! Column chunks on several threads, their findings in order.
//!
//! A task is a column chunk, or the order of rows in a row group. Whoever is free takes the next one,
//! the caller included while it waits; nobody goes further ahead of the caller than a few tasks, as
//! findings wait in memory.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use herringbone_core::page::byte_range;
use herringbone_format::Result;
use herringbone_format::modular_encryption::KeyStep;

use super::part::{self, Outcome, Task};
use herringbone::ParquetFile;
use herringbone::workers::Workers;

/// Tasks of each thread that may wait for the caller.
const AHEAD: u64 = 2;

/// Gives out the outcomes of all tasks of a file, in order.
pub(super) struct Ahead {
    shared: Arc<Shared>,
    workers: Workers,
}

struct Shared {
    file: ParquetFile,
    state: Mutex<State>,
    /// How many tasks may be taken before the caller has the first of them.
    most: u64,
    /// A task may be taken, or everything is over.
    work: Condvar,
    /// An outcome is there.
    delivered: Condvar,
}

struct State {
    next: Option<Task>,
    /// Bytes of the column chunks that were taken.
    bytes: u64,
    /// Tasks that were taken, and those whose outcome the caller has.
    taken: u64,
    given: u64,
    outcomes: BTreeMap<u64, Result<Outcome>>,
    stop: bool,
    panic: Option<Box<dyn Any + Send>>,
}

impl Ahead {
    pub(super) fn new(file: ParquetFile, threads: usize) -> Self {
        let state = State {
            next: first(&file, 0),
            bytes: 0,
            taken: 0,
            given: 0,
            outcomes: BTreeMap::new(),
            stop: false,
            panic: None,
        };
        Self {
            shared: Arc::new(Shared {
                file,
                state: Mutex::new(state),
                most: AHEAD.saturating_mul(threads as u64),
                work: Condvar::new(),
                delivered: Condvar::new(),
            }),
            workers: Workers::new(threads.saturating_sub(1)),
        }
    }

    /// The outcome of the next task; `None` behind the last one.
    ///
    /// # Errors
    /// Io.
    pub(super) fn next(&mut self) -> Result<Option<Outcome>> {
        let shared = &self.shared;
        self.workers.start(|| {
            let shared = shared.clone();
            move || shared.work()
        });
        let mut state = shared.lock();
        loop {
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            let due = state.given;
            if let Some(outcome) = state.outcomes.remove(&due) {
                state.given += 1;
                drop(state);
                shared.work.notify_one();
                return outcome.map(Some);
            }
            if let Some((ordinal, task)) = shared.take(&mut state) {
                drop(state);
                let outcome = part::check(&shared.file, task);
                state = shared.lock();
                state.outcomes.insert(ordinal, outcome);
            } else if state.taken == due {
                return Ok(None);
            } else {
                let woken = shared.delivered.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        self.workers.join();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a worker.
    fn work(&self) {
        let mut state = self.lock();
        while !state.stop {
            let Some((ordinal, task)) = self.take(&mut state) else {
                if state.next.is_none() {
                    return;
                }
                let woken = self.work.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let outcome = catch_unwind(AssertUnwindSafe(|| part::check(&self.file, task)));
            state = self.lock();
            match outcome {
                Ok(outcome) => {
                    state.outcomes.insert(ordinal, outcome);
                    self.delivered.notify_one();
                }
                Err(panic) => {
                    state.panic = Some(panic);
                    self.delivered.notify_one();
                    return;
                }
            }
        }
    }

    /// The next task, unless it is too early for it.
    fn take(&self, state: &mut State) -> Option<(u64, Task)> {
        if state.taken >= state.given.saturating_add(self.most) {
            return None;
        }
        let mut task = state.next?;
        let ordinal = state.taken;
        state.bytes = state.bytes.saturating_add(chunk_bytes(&self.file, task));
        let length = self.file.source().len().max(1);
        if state.bytes > length.saturating_mul(self.file.limits().overlap_ratio as u64) {
            let (Task::Chunk { row_group, .. }
            | Task::Order { row_group }
            | Task::Overlap { row_group, .. }) = task;
            let ratio = state.bytes.div_ceil(length);
            task = Task::Overlap { row_group, ratio };
        }
        state.next = behind(&self.file, task);
        state.taken += 1;
        Some((ordinal, task))
    }
}

/// The first task of a row group, or of what is behind the last one.
fn first(file: &ParquetFile, row_group: usize) -> Option<Task> {
    if row_group >= file.metadata().num_row_groups() {
        return None;
    }
    Some(chunk_or_order(file, row_group, 0))
}

fn behind(file: &ParquetFile, task: Task) -> Option<Task> {
    match task {
        Task::Chunk { row_group, leaf } => Some(chunk_or_order(file, row_group, leaf + 1)),
        Task::Order { row_group } => first(file, row_group + 1),
        Task::Overlap { .. } => None,
    }
}

/// Bytes of the column chunk that a task is about.
fn chunk_bytes(file: &ParquetFile, task: Task) -> u64 {
    let Task::Chunk { row_group, leaf } = task else {
        return 0;
    };
    let chunk = file.metadata().readable_chunk(row_group, leaf);
    let chunk = chunk.and_then(KeyStep::ready);
    let range = chunk.and_then(|chunk| byte_range(&chunk.layout, file.source().len()));
    // Those that lie nowhere are reported with the file.
    range.map_or(0, |range| range.end - range.start)
}

fn chunk_or_order(file: &ParquetFile, row_group: usize, leaf: usize) -> Task {
    let leaves = file.parquet_schema().leaves().len();
    if leaf < file.metadata().num_columns(row_group).min(leaves) {
        Task::Chunk { row_group, leaf }
    } else {
        Task::Order { row_group }
    }
}
