//! The columns of the row groups under construction, on one or several threads.
//!
//! Each column has a queue of tasks: rows to append, and the end of a row group. A thread takes a column that has tasks, and
//! goes on with it for a while. So a column is never with two threads, and its memory stays near one core. The column that
//! holds most comes first. Batches are cut into *slices*. The caller is at most some slices ahead of the slowest column,
//! two if they are large.
//!
//! Threads that work on columns hand out pages if fewer columns have tasks than there are threads, or if pages are large.
//! Others compress and encrypt these pages while the values of the next ones are encoded. A task is done when its last
//! page is.
//!
//! Whether a row group is large enough follows from the columns as they were that many slices ago, however fast the threads
//! are. If the slices since then might take more memory than is allowed, the caller waits for them, also with one thread.
//! The error that counts is that of the first slice, there of the first column, and there of the first page. Hence the
//! file is the same for any number of threads.

mod pages;
mod state;
mod work;

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone_format::{Error, Result};
use herringbone_pipeline::{Crew, threads};
use herringbone_write::{EncodedColumn, WritePlan};

use self::state::{Column, RowGroup, Slice, State, Task, Writing};
use self::work::Encoding;

/// Row groups that may be encoded while the next one begins, if there are several threads.
const ROW_GROUPS_AHEAD: usize = 1;

/// Bytes of a first slice that are worth more threads. Others come with the second slice: short files need none.
const BYTES_FOR_THREADS: usize = 1 << 20;

/// Threads that a few columns can keep busy by their pages.
const PAGE_THREADS: usize = 8;

/// The columns of the row groups under construction.
pub(crate) struct Encoders {
    crew: Crew<Encoding>,
    threads: usize,
}

impl Encoders {
    pub(crate) fn new(plan: Arc<WritePlan>) -> Result<Self> {
        let columns = (0..plan.num_columns())
            .map(|column| Ok(Column::new(Writing::new(&plan, column, 0, None)?)))
            .collect::<Result<Vec<_>>>()?;
        let most = match columns.len() {
            0 => 1,
            columns => columns.max(PAGE_THREADS),
        };
        let threads = threads(plan.options().threads).min(most);
        let spawn = plan.options().spawn.clone();
        let crew = Crew::new(Encoding { plan }, State::new(columns), threads, spawn);
        Ok(Self { crew, threads })
    }

    /// Returns the number of row groups that have ended and wait to be fetched, complete or not.
    pub(crate) fn in_flight(&self) -> usize {
        self.crew.look(|state| state.row_groups.len())
    }

    /// Returns how many of them there may be.
    pub(crate) fn most_in_flight(&self) -> usize {
        match self.crew.look(|state| state.threads > 1) {
            true => ROW_GROUPS_AHEAD,
            false => 0,
        }
    }

    /// Returns the number of their rows.
    pub(crate) fn rows_in_flight(&self) -> u64 {
        let rows = |state: &State| state.row_groups.iter().map(|group| group.rows).sum();
        self.crew.look(rows)
    }

    /// Returns the bytes held by all columns, by pages and by row groups in flight, as of their last tasks that are done.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.crew.look(State::heap_bytes)
    }

    /// Returns true if the oldest row group in flight is complete.
    pub(crate) fn has_row_group(&self) -> bool {
        self.crew.look(State::oldest_is_complete)
    }

    /// Appends rows of a batch, of `array_bytes` bytes, to all columns. Returns true if the row group is large enough.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        array_bytes: usize,
    ) -> Result<bool> {
        // Once for all leaves of a field.
        let arrays = batch.columns().iter();
        let arrays: Vec<(&ArrayRef, usize)> = arrays
            .map(|array| (array, array.get_buffer_memory_size()))
            .collect();
        let plan = &self.crew.work().plan;
        self.crew.update(|state| -> Result<()> {
            let slice = state.next_slice();
            if slice > 0 || array_bytes >= BYTES_FOR_THREADS {
                state.threads = self.threads;
            }
            state.slices.push_back(Slice {
                row_group: state.next_row_group(),
                rows: rows.len(),
                array_bytes,
                columns_left: state.columns.len(),
                estimated_bytes: 0,
                heap_bytes: 0,
            });
            for column in 0..state.columns.len() {
                let field = plan.field_of(column).unwrap_or(usize::MAX);
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
            Ok(())
        })?;
        self.catch_up()
    }

    /// Waits for all slices but the last ones. Waits for these as well if memory may be short, or there is but one thread.
    /// Returns true if the open row group was large enough then.
    fn catch_up(&mut self) -> Result<bool> {
        let plan = self.crew.work().plan.clone();
        let mut is_large = false;
        self.crew
            .next(|state| state.catch_up(plan.options(), &mut is_large));
        self.check()?;
        Ok(is_large)
    }

    /// Returns the error that counts, once no task that is before it can fail any more.
    fn check(&mut self) -> Result<()> {
        let failure = self.crew.next(|state| {
            let failure = state.error.as_ref();
            let is_decided = failure.is_none_or(|failure| state.is_first(failure));
            is_decided.then(|| state.error.take())
        });
        match failure.flatten() {
            Some(failure) => Err(failure.error),
            None => Ok(()),
        }
    }

    /// Ends the row group, which has so many rows. No row group follows the last one.
    pub(crate) fn end_row_group(&mut self, rows: u64, is_last: bool) -> Result<()> {
        self.crew.update(|state| {
            let columns = state.columns.len();
            let row_group = state.next_row_group();
            state.row_groups.push_back(RowGroup::new(rows, columns));
            state.known_bytes = None;
            let slice = state.next_slice().saturating_sub(1);
            for column in 0..columns {
                let task = Task::End {
                    slice,
                    row_group,
                    is_last,
                };
                state.push(column, task);
            }
        });
        self.check()
    }

    /// Returns the next column of the oldest row group that has ended, if it is complete.
    pub(crate) fn complete_column(&mut self) -> Option<EncodedColumn> {
        self.crew.update(State::take_column)
    }

    /// Waits for the next column of the oldest row group that has ended; `None` after the last one.
    pub(crate) fn next_column(&mut self) -> Result<Option<EncodedColumn>> {
        let column = self.crew.next(|state| match state.take_column() {
            None if state.row_groups.is_empty() || state.oldest_is_complete() => Some(None),
            column => column.map(Some),
        });
        let column = column.flatten();
        if column.is_none() {
            self.check()?;
        }
        Ok(column)
    }

    /// Forgets the oldest row group that has ended, whose columns were all fetched. Returns the number of its rows.
    pub(crate) fn pop_row_group(&mut self) -> Result<u64> {
        self.crew.update(|state| {
            let group = state
                .row_groups
                .pop_front()
                .ok_or_else(|| Error::argument("no row group has ended"))?;
            state.first_row_group += 1;
            Ok(group.rows)
        })
    }
}
