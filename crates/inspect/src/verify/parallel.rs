//! Checks column chunks on several threads, returning their findings in order.
//!
//! A task is either a column chunk or the sort order of a row group. We keep threads at most a few
//! tasks ahead of the caller, because queued findings take up memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use herringbone_core::page::byte_range;
use herringbone_format::Result;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_pipeline::{Crew, Shared, Spawn, Work};

use super::task::{self, Outcome, Task};
use herringbone::ParquetFile;

/// The maximum number of tasks to run ahead of the caller, per thread.
const TASKS_AHEAD: u64 = 2;

/// Checks all tasks of a file.
pub(super) struct ParallelVerifier(Crew<Checks>);

struct Checks {
    file: ParquetFile,
    /// The maximum number of outstanding tasks, that is, taken by a thread but not yet returned to
    /// the caller.
    max_ahead: u64,
}

struct State {
    /// The next task, or `None` after the last one.
    next: Option<Task>,
    /// The byte count of the column chunks taken so far.
    bytes: u64,
    /// The number of tasks taken so far.
    taken: u64,
    /// The number of tasks returned to the caller.
    returned: u64,
    outcomes: BTreeMap<u64, Result<Outcome>>,
}

impl ParallelVerifier {
    pub(super) fn new(file: ParquetFile, threads: usize, spawn: Option<Arc<dyn Spawn>>) -> Self {
        let state = State {
            next: first(&file, 0),
            bytes: 0,
            taken: 0,
            returned: 0,
            outcomes: BTreeMap::new(),
        };
        let checks = Checks {
            file,
            max_ahead: TASKS_AHEAD.saturating_mul(threads as u64),
        };
        Self(Crew::new(checks, state, threads, spawn))
    }

    /// Returns the outcome of the next task, or `None` after the last one.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn next(&mut self) -> Result<Option<Outcome>> {
        let outcome = self.0.next(|state| {
            let outcome = state.outcomes.remove(&state.returned)?;
            state.returned += 1;
            Some(outcome)
        });
        outcome.transpose()
    }
}

impl Work for Checks {
    type State = State;
    type Task = (u64, Task);
    type Output = (u64, Result<Outcome>);
    type Scratch = ();

    fn take(&self, state: &mut State, (): &mut ()) -> Option<(u64, Task)> {
        if !self.wants_help(state) {
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
        state.next = following(&self.file, task);
        state.taken += 1;
        Some((ordinal, task))
    }

    fn wants_help(&self, state: &mut State) -> bool {
        state.next.is_some() && state.taken < state.returned.saturating_add(self.max_ahead)
    }

    fn run(&self, (ordinal, task): (u64, Task), (): &mut (), _: &Shared<Self>) -> Self::Output {
        (ordinal, task::check(&self.file, task))
    }

    fn finish(&self, state: &mut State, (ordinal, outcome): Self::Output) {
        state.outcomes.insert(ordinal, outcome);
    }
}

/// Returns a row group's first task, or `None` after the last row group.
fn first(file: &ParquetFile, row_group: usize) -> Option<Task> {
    if row_group >= file.metadata().num_row_groups() {
        return None;
    }
    Some(chunk_or_order(file, row_group, 0))
}

/// Returns the next task after another.
fn following(file: &ParquetFile, task: Task) -> Option<Task> {
    match task {
        Task::Chunk { row_group, leaf } => Some(chunk_or_order(file, row_group, leaf + 1)),
        Task::Order { row_group } => first(file, row_group + 1),
        Task::Overlap { .. } => None,
    }
}

/// Returns the byte count of a task's column chunk.
fn chunk_bytes(file: &ParquetFile, task: Task) -> u64 {
    let Task::Chunk { row_group, leaf } = task else {
        return 0;
    };
    let chunk = file.metadata().readable_chunk(row_group, leaf);
    let chunk = chunk.and_then(KeyStep::ready);
    let range = chunk.and_then(|chunk| byte_range(&chunk.layout, file.source().len()));
    // The file-level check reports a chunk that is out of bounds.
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
