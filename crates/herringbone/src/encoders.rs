//! The columns of the row groups under construction, on one or several threads.
//!
//! Each column has a queue of tasks: rows to append, and the end of a row group. Whoever is free
//! takes a column that has tasks and works through them, so a column is never in two hands; the
//! caller works too, instead of waiting. Batches are cut to *slices*; the caller is at most
//! [`SLICES_AHEAD`] slices ahead of the slowest column.
//!
//! Whether a row group is large enough is asked of the columns as they were [`SLICES_AHEAD`] slices
//! ago, however fast the threads are. Where the slices since then might take more memory than is
//! allowed, they are waited for, also with one thread alone. Of errors, those of the first slice, and
//! there of the first column, count. Hence the file is the same for any number of threads.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use herringbone_arrow::array::{ArrayRef, RecordBatch};
use herringbone_core::write::{ColumnWriter, EncodedColumn, WritePlan};
use herringbone_format::{Error, Result};

use crate::workers::{self, Workers};

/// Slices that columns may be behind the caller.
const SLICES_AHEAD: usize = 2;

/// Row groups that may be encoded while the next one begins, if there are several threads.
const ROW_GROUPS_AHEAD: usize = 1;

/// Bytes that a byte of an array may become while it is encoded, as a rule: small integers become
/// codes of four bytes.
const GROWTH: usize = 4;

/// Bytes that a column may take for its first rows: tables of its dictionary, mostly.
const FIRST_BYTES: usize = 256 << 10;

/// The columns of the row groups under construction.
pub(crate) struct Encoders {
    shared: Arc<Shared>,
    /// Started with the second slice: short files need none.
    workers: Workers,
    /// There was a slice.
    started: bool,
}

struct Shared {
    plan: Arc<WritePlan>,
    state: Mutex<State>,
    /// A column has tasks, or everything is over.
    work: Condvar,
    /// A task is done.
    done: Condvar,
}

#[derive(Default)]
struct State {
    columns: Vec<Column>,
    /// Columns with tasks that nobody works on.
    ready: VecDeque<usize>,
    /// The last slices, finished or not.
    slices: VecDeque<Slice>,
    /// Ordinal of the first of `slices`, counted over the whole file.
    first_slice: usize,
    /// Bytes that the open row group held after the last slice before them; none before there was one.
    known_bytes: Option<usize>,
    /// Row groups that have ended, the oldest first.
    row_groups: VecDeque<RowGroup>,
    /// Ordinal of the first of `row_groups`.
    first_row_group: usize,
    /// The error that counts so far.
    error: Option<Failure>,
    stop: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// One column, over all row groups.
struct Column {
    /// Absent while somebody works on it, and after an error.
    writer: Option<Box<ColumnWriter>>,
    tasks: VecDeque<Task>,
    heap_bytes: usize,
    /// Somebody works on it, or will.
    taken: bool,
}

enum Task {
    /// Rows of an array.
    Append {
        slice: usize,
        array: ArrayRef,
        rows: Range<usize>,
    },
    /// The end of a row group, behind the slice.
    End { slice: usize, row_group: usize },
}

/// A task, and the column that it is for.
struct Job {
    column: usize,
    writer: Option<Box<ColumnWriter>>,
    task: Task,
}

/// What the columns said after some rows.
struct Slice {
    row_group: usize,
    /// Bytes of its arrays.
    array_bytes: usize,
    columns_left: usize,
    estimated_bytes: usize,
    heap_bytes: usize,
}

struct RowGroup {
    rows: u64,
    columns: Vec<Option<EncodedColumn>>,
    columns_left: usize,
}

struct Failure {
    slice: usize,
    column: usize,
    error: Error,
}

impl Encoders {
    pub(crate) fn new(plan: Arc<WritePlan>) -> Result<Self> {
        let columns = (0..plan.num_columns())
            .map(|column| {
                Ok(Column {
                    writer: Some(Box::new(plan.column_writer(column, 0)?)),
                    tasks: VecDeque::new(),
                    heap_bytes: 0,
                    taken: false,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        let threads = workers::threads(plan.options().threads);
        Ok(Self {
            workers: Workers::new(threads.min(columns.len()).saturating_sub(1)),
            shared: Arc::new(Shared {
                plan,
                state: Mutex::new(State {
                    columns,
                    ..State::default()
                }),
                work: Condvar::new(),
                done: Condvar::new(),
            }),
            started: false,
        })
    }

    /// Row groups that have ended and wait to be fetched, complete or not.
    pub(crate) fn in_flight(&self) -> usize {
        self.shared.lock().row_groups.len()
    }

    /// How many of them there may be.
    pub(crate) fn most_in_flight(&self) -> usize {
        if self.workers.is_empty() {
            0
        } else {
            ROW_GROUPS_AHEAD
        }
    }

    /// Their rows.
    pub(crate) fn rows_in_flight(&self) -> u64 {
        let state = self.shared.lock();
        state.row_groups.iter().map(|group| group.rows).sum()
    }

    /// Bytes held by all columns, as far as they have said, and by row groups in flight.
    pub(crate) fn heap_bytes(&self) -> usize {
        let state = self.shared.lock();
        let open: usize = state.columns.iter().map(|column| column.heap_bytes).sum();
        let chunks = state.row_groups.iter().flat_map(|group| &group.columns);
        let ended: usize = chunks.flatten().map(EncodedColumn::heap_bytes).sum();
        open + ended
    }

    /// Whether the oldest row group in flight is complete.
    pub(crate) fn has_row_group(&self) -> bool {
        let state = self.shared.lock();
        let oldest = state.row_groups.front();
        oldest.is_some_and(|group| group.columns_left == 0)
    }

    /// Appends rows of a batch, of so many bytes, to all columns; whether the row group is large
    /// enough.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        array_bytes: usize,
    ) -> Result<bool> {
        if self.started {
            self.start_workers();
        }
        self.started = true;
        let mut state = self.shared.lock();
        let slice = state.first_slice + state.slices.len();
        let next = Slice {
            row_group: state.next_row_group(),
            array_bytes,
            columns_left: state.columns.len(),
            estimated_bytes: 0,
            heap_bytes: 0,
        };
        state.slices.push_back(next);
        for column in 0..state.columns.len() {
            let field = self.shared.plan.field_of(column).unwrap_or(usize::MAX);
            let array = batch
                .columns()
                .get(field)
                .ok_or_else(|| Error::argument("the batch has fewer columns than the file"))?;
            let task = Task::Append {
                slice,
                array: array.clone(),
                rows: rows.clone(),
            };
            state.push(column, task);
        }
        self.shared.work.notify_all();
        self.wait_for_slices(state)
    }

    /// Waits for all slices but the last [`SLICES_AHEAD`], and for these as well if memory may be
    /// short; whether the open row group was large enough then.
    fn wait_for_slices<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<bool> {
        let ahead = if self.workers.is_empty() {
            0
        } else {
            SLICES_AHEAD
        };
        while !state.are_finished(state.slices.len().saturating_sub(ahead)) {
            state = self.shared.work_or_wait(state);
        }
        let mut state = self.shared.check(state)?;
        let options = self.shared.plan.options();
        let mut is_large = false;
        while state.slices.len() > SLICES_AHEAD {
            let Some(slice) = state.slices.pop_front() else {
                break;
            };
            state.first_slice += 1;
            if slice.row_group == state.next_row_group() {
                state.known_bytes = Some(slice.heap_bytes);
                is_large |= slice.estimated_bytes >= options.row_group_bytes
                    || slice.heap_bytes >= options.memory_bytes;
            }
        }
        if !is_large && state.most_bytes() >= options.memory_bytes {
            while !state.are_finished(state.slices.len()) {
                state = self.shared.work_or_wait(state);
            }
            let state = self.shared.check(state)?;
            let last = state.slices.back();
            is_large = last.is_some_and(|slice| slice.heap_bytes >= options.memory_bytes);
        }
        Ok(is_large)
    }

    /// Ends the row group, which has so many rows.
    pub(crate) fn end_row_group(&mut self, rows: u64) -> Result<()> {
        let mut state = self.shared.lock();
        let columns = state.columns.len();
        let row_group = state.next_row_group();
        state.row_groups.push_back(RowGroup {
            rows,
            columns: (0..columns).map(|_| None).collect(),
            columns_left: columns,
        });
        state.known_bytes = None;
        let slice = (state.first_slice + state.slices.len()).saturating_sub(1);
        for column in 0..columns {
            state.push(column, Task::End { slice, row_group });
        }
        self.shared.work.notify_all();
        drop(self.shared.check(state)?);
        Ok(())
    }

    /// The oldest row group that has ended: its rows and its columns.
    pub(crate) fn next_row_group(&mut self) -> Result<(u64, Vec<EncodedColumn>)> {
        let mut state = self.shared.lock();
        while state
            .row_groups
            .front()
            .is_some_and(|group| group.columns_left > 0)
        {
            state = self.shared.work_or_wait(state);
        }
        let mut state = self.shared.check(state)?;
        let group = state
            .row_groups
            .pop_front()
            .ok_or_else(|| Error::argument("no row group has ended"))?;
        state.first_row_group += 1;
        Ok((group.rows, group.columns.into_iter().flatten().collect()))
    }

    fn start_workers(&mut self) {
        self.workers.start(|| {
            let shared = self.shared.clone();
            move || shared.work()
        });
    }
}

impl Drop for Encoders {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        self.workers.join();
    }
}

impl State {
    /// Ordinal of the row group that is open.
    fn next_row_group(&self) -> usize {
        self.first_row_group + self.row_groups.len()
    }

    /// Bytes that the open row group may hold, by what is known of it.
    fn most_bytes(&self) -> usize {
        let known = self.known_bytes;
        let known = known.unwrap_or_else(|| FIRST_BYTES.saturating_mul(self.columns.len()));
        let open = self.next_row_group();
        let waiting = self.slices.iter().filter(|slice| slice.row_group == open);
        let waiting: usize = waiting.map(|slice| slice.array_bytes).sum();
        known.saturating_add(waiting.saturating_mul(GROWTH))
    }

    /// Whether the first `n` of the slices are finished.
    fn are_finished(&self, n: usize) -> bool {
        self.slices
            .iter()
            .take(n)
            .all(|slice| slice.columns_left == 0)
    }

    fn push(&mut self, ordinal: usize, task: Task) {
        if let Some(column) = self.columns.get_mut(ordinal) {
            column.tasks.push_back(task);
            if !column.taken {
                column.taken = true;
                self.ready.push_back(ordinal);
            }
        }
    }

    fn next_job(&mut self) -> Option<Job> {
        let ordinal = self.ready.pop_front()?;
        let column = self.columns.get_mut(ordinal)?;
        let task = column.tasks.pop_front()?;
        Some(Job {
            column: ordinal,
            writer: column.writer.take(),
            task,
        })
    }

    /// Takes the column of a job back.
    fn report(&mut self, ordinal: usize, outcome: Outcome) {
        let Outcome {
            slice,
            writer,
            finished,
            error,
        } = outcome;
        let Some(column) = self.columns.get_mut(ordinal) else {
            return;
        };
        column.heap_bytes = writer.as_ref().map_or(0, |writer| writer.heap_bytes());
        let estimated_bytes = writer.as_ref().map_or(0, |writer| writer.estimated_bytes());
        let heap_bytes = column.heap_bytes;
        column.writer = writer;
        column.taken = !column.tasks.is_empty();
        if column.taken {
            self.ready.push_back(ordinal);
        }
        match finished {
            Some((row_group, chunk)) => {
                let index = row_group.wrapping_sub(self.first_row_group);
                if let Some(group) = self.row_groups.get_mut(index) {
                    group.columns_left -= 1;
                    if let Some(place) = group.columns.get_mut(ordinal) {
                        *place = chunk;
                    }
                }
            }
            None => {
                let index = slice.wrapping_sub(self.first_slice);
                if let Some(slice) = self.slices.get_mut(index) {
                    slice.columns_left -= 1;
                    slice.estimated_bytes += estimated_bytes;
                    slice.heap_bytes += heap_bytes;
                }
            }
        }
        if let Some(error) = error {
            let is_first = self
                .error
                .as_ref()
                .is_none_or(|known| (slice, ordinal) < (known.slice, known.column));
            if is_first {
                self.error = Some(Failure {
                    slice,
                    column: ordinal,
                    error,
                });
            }
        }
    }
}

/// What became of a job.
struct Outcome {
    slice: usize,
    writer: Option<Box<ColumnWriter>>,
    /// Of the end of a row group: its ordinal, and the chunk unless there was an error.
    finished: Option<(usize, Option<EncodedColumn>)>,
    error: Option<Error>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error that counts, or the panic of a worker. An error counts when no earlier slice can
    /// have another one.
    fn check<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<MutexGuard<'a, State>> {
        while let Some(failure) = &state.error {
            let earlier = (failure.slice + 1).saturating_sub(state.first_slice);
            if state.are_finished(earlier) {
                break;
            }
            state = self.work_or_wait(state);
        }
        if let Some(panic) = state.panic.take() {
            state.stop = true;
            drop(state);
            resume_unwind(panic);
        }
        match state.error.take() {
            Some(failure) => Err(failure.error),
            None => Ok(state),
        }
    }

    /// Works on one task; waits for another thread to be done with one if there is none.
    fn work_or_wait<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if let Some(panic) = state.panic.take() {
            state.stop = true;
            drop(state);
            resume_unwind(panic);
        }
        let Some(job) = state.next_job() else {
            return self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        drop(state);
        let column = job.column;
        let outcome = self.run(job);
        state = self.lock();
        state.report(column, outcome);
        state
    }

    /// What a worker does until everything is over.
    fn work(&self) {
        let mut state = self.lock();
        while !state.stop {
            let Some(job) = state.next_job() else {
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let column = job.column;
            let outcome = catch_unwind(AssertUnwindSafe(|| self.run(job)));
            state = self.lock();
            match outcome {
                Ok(outcome) => state.report(column, outcome),
                Err(panic) => {
                    state.panic = Some(panic);
                    state.stop = true;
                }
            }
            self.done.notify_all();
        }
    }

    fn run(&self, job: Job) -> Outcome {
        let Job {
            column,
            writer,
            task,
        } = job;
        match task {
            Task::Append { slice, array, rows } => {
                let appended = writer.map(|mut writer| {
                    writer.write(&array, rows)?;
                    Ok(writer)
                });
                let (writer, error) = split(appended);
                Outcome {
                    slice,
                    writer,
                    finished: None,
                    error,
                }
            }
            Task::End { slice, row_group } => {
                let ended = writer.map(|writer| {
                    let chunk = writer.finish()?;
                    Ok((
                        chunk,
                        Box::new(self.plan.column_writer(column, row_group + 1)?),
                    ))
                });
                let (ended, error) = split(ended);
                let (chunk, writer) = ended.unzip();
                Outcome {
                    slice,
                    writer,
                    finished: Some((row_group, chunk)),
                    error,
                }
            }
        }
    }
}

/// The value and the error of what was done, if it was.
fn split<T>(result: Option<Result<T>>) -> (Option<T>, Option<Error>) {
    match result {
        Some(Ok(value)) => (Some(value), None),
        Some(Err(error)) => (None, Some(error)),
        None => (None, None),
    }
}
