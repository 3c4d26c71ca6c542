//! The columns of the row groups under construction, on one or several threads.
//!
//! Each column has a queue of tasks: rows to append, and the end of a row group. Whoever is free
//! takes a column that has tasks, and goes on with it for a while, so a column is never in two hands, and its memory stays
//! near one core; what holds most comes first. The caller works too, instead of waiting. Batches are cut to *slices*; the caller is at most some slices ahead of the slowest
//! column, two if they are large.
//!
//! Where fewer columns have tasks than there are threads, or pages are large, those who work on columns hand out pages: others
//! compress and encrypt them while the values of the next ones are encoded. A task is done when its last page is.
//!
//! Whether a row group is large enough is asked of the columns as they were that many slices ago, however fast the threads
//! are. Where the slices since then might take more memory than is
//! allowed, they are waited for, also with one thread alone. Of errors, those of the first slice, and
//! there of the first column, count, and of a column that of the first page. Hence the file is the same for any number of
//! threads.

mod pages;
mod state;
mod work;

use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use herringbone_arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone_core::write::{EncodedColumn, WritePlan};
use herringbone_format::{Error, Result};

use self::state::{Column, RowGroup, Slice, State, Task, Writing};
use self::work::Shared;
use crate::workers::{self, Workers};

/// Bytes of the slices that columns may be behind the caller, if these are more than two,
const BYTES_AHEAD: usize = 16 << 20;

/// and which part of the memory, or of a row group, they are at most.
const PART_AHEAD: usize = 16;

/// Row groups that may be encoded while the next one begins, if there are several threads.
const ROW_GROUPS_AHEAD: usize = 1;

/// Bytes of a first slice that are worth more threads; others are started with the second one: short files need none.
const BYTES_FOR_THREADS: usize = 1 << 20;

/// Threads that few columns can keep busy by their pages.
const PAGE_THREADS: usize = 8;

/// The columns of the row groups under construction.
pub(crate) struct Encoders {
    shared: Arc<Shared>,
    workers: Workers,
    /// There was a slice.
    started: bool,
}

impl Encoders {
    pub(crate) fn new(plan: Arc<WritePlan>) -> Result<Self> {
        let columns = (0..plan.num_columns())
            .map(|column| Ok(Column::new(Writing::new(&plan, column, 0, None)?)))
            .collect::<Result<Vec<_>>>()?;
        let threads = workers::threads(plan.options().threads);
        let most = match columns.len() {
            0 => 0,
            columns => columns.max(PAGE_THREADS),
        };
        Ok(Self {
            workers: Workers::new(threads.min(most).saturating_sub(1)),
            shared: Arc::new(Shared {
                plan,
                state: Mutex::new(State::new(columns)),
                work: Condvar::new(),
                done: Condvar::new(),
                callers_memory: Mutex::default(),
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

    /// Bytes held by all columns, as far as they have said, and by pages and row groups in flight.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.shared.lock().heap_bytes()
    }

    /// Whether the oldest row group in flight is complete.
    pub(crate) fn has_row_group(&self) -> bool {
        self.shared.lock().oldest_is_complete()
    }

    /// Appends rows of a batch, of so many bytes, to all columns; whether the row group is large
    /// enough.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        array_bytes: usize,
    ) -> Result<bool> {
        if self.started || array_bytes >= BYTES_FOR_THREADS {
            self.start_workers();
        }
        self.started = true;
        // Once for all leaves of a field.
        let arrays = batch.columns().iter();
        let arrays: Vec<(&ArrayRef, usize)> = arrays
            .map(|array| (array, array.get_buffer_memory_size()))
            .collect();
        let mut state = self.shared.lock();
        let slice = state.first_slice + state.slices.len();
        let next = Slice {
            row_group: state.next_row_group(),
            rows: rows.len(),
            array_bytes,
            columns_left: state.columns.len(),
            estimated_bytes: 0,
            heap_bytes: 0,
        };
        state.slices.push_back(next);
        for column in 0..state.columns.len() {
            let field = self.shared.plan.field_of(column).unwrap_or(usize::MAX);
            let &(array, array_bytes) = arrays
                .get(field)
                .ok_or_else(|| Error::argument("the batch has fewer columns than the file"))?;
            let task = Task::Append {
                slice,
                array: array.clone(),
                array_bytes,
                rows: rows.clone(),
            };
            state.push(column, task);
        }
        self.shared.work.notify_all();
        self.wait_for_slices(state)
    }

    /// Waits for all slices but the last ones, and for these as well if memory may be short, or there is but one thread;
    /// whether the open row group was large enough then.
    fn wait_for_slices<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<bool> {
        let options = self.shared.plan.options();
        let part = options.memory_bytes.min(options.row_group_bytes) / PART_AHEAD;
        let bytes_ahead = part.min(BYTES_AHEAD);
        if self.workers.is_empty() {
            let all = state.slices.len();
            state = self.shared.wait_for(state, all);
        }
        let mut is_large = false;
        while state.is_too_far_ahead(bytes_ahead) {
            state = self.shared.wait_for(state, 1);
            let Some(slice) = state.pop_slice() else {
                break;
            };
            if slice.row_group == state.next_row_group() {
                state.known_bytes = Some(slice.heap_bytes);
                is_large |= slice.estimated_bytes >= options.row_group_bytes
                    || slice.heap_bytes >= options.memory_bytes;
            }
        }
        if !is_large && state.most_bytes() >= options.memory_bytes {
            let all = state.slices.len();
            state = self.shared.wait_for(state, all);
            let last = state.slices.back();
            is_large = last.is_some_and(|slice| slice.heap_bytes >= options.memory_bytes);
        }
        drop(self.shared.check(state)?);
        Ok(is_large)
    }

    /// Ends the row group, which has so many rows. Behind the last one there are none.
    pub(crate) fn end_row_group(&mut self, rows: u64, is_last: bool) -> Result<()> {
        let mut state = self.shared.lock();
        state.is_closed = is_last;
        let columns = state.columns.len();
        let row_group = state.next_row_group();
        state.row_groups.push_back(RowGroup::new(rows, columns));
        state.known_bytes = None;
        let slice = (state.first_slice + state.slices.len()).saturating_sub(1);
        for column in 0..columns {
            let task = Task::End {
                slice,
                row_group,
                is_last,
            };
            state.push(column, task);
        }
        self.shared.work.notify_all();
        drop(self.shared.check(state)?);
        Ok(())
    }

    /// The next column of the oldest row group that has ended, if it is complete.
    pub(crate) fn complete_column(&mut self) -> Option<EncodedColumn> {
        self.shared.lock().take_column()
    }

    /// The next column of the oldest row group that has ended, which is waited for; none behind the last one.
    pub(crate) fn next_column(&mut self) -> Result<Option<EncodedColumn>> {
        let mut state = self.shared.lock();
        loop {
            if let Some(column) = state.take_column() {
                return Ok(Some(column));
            }
            if state.row_groups.is_empty() || state.oldest_is_complete() {
                break;
            }
            state = self.shared.work_or_wait(state);
        }
        drop(self.shared.check(state)?);
        Ok(None)
    }

    /// Forgets the oldest row group that has ended, whose columns were all fetched; its rows.
    pub(crate) fn pop_row_group(&mut self) -> Result<u64> {
        let mut state = self.shared.lock();
        let group = state
            .row_groups
            .pop_front()
            .ok_or_else(|| Error::argument("no row group has ended"))?;
        state.first_row_group += 1;
        Ok(group.rows)
    }

    fn start_workers(&mut self) {
        self.workers.start(|| {
            let shared = self.shared.clone();
            move || shared.work()
        });
        self.shared.lock().threads = 1 + self.workers.len();
    }
}

impl Drop for Encoders {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        self.workers.join();
    }
}
