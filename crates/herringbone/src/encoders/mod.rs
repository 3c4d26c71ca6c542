//! Encoding the columns of row groups under construction, on one thread or several.
//!
//! Each column has a queue of tasks that append rows or end a row group. A thread takes a column
//! with queued tasks and stays with it for a while, so that only one thread at a time works on a
//! column and its memory stays near one core. The column with the most bytes is taken first.
//! Batches are split into *slices*, and we bound how many slices the caller can be ahead of the
//! slowest column. With large slices, the bound is two.
//!
//! If there are more threads than columns with tasks, or if pages are large, a column's thread
//! hands out its pages. Other threads then compress and encrypt these pages while the column's own
//! thread is encoding the next ones. A task completes when its last page is finished.
//!
//! The file must be the same for any number of threads. To get that, we decide if a row group is
//! large enough from the columns' state a fixed number of slices ago, however fast the threads are.
//! If the slices since then might exceed the memory limit, the caller waits until they are encoded,
//! even with one thread. If several tasks fail, the earliest slice's error is reported, then the
//! first column's, then the first page's.

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

/// The number of ended row groups allowed to be still encoding on several threads while the next
/// one starts.
const ROW_GROUPS_AHEAD: usize = 1;

/// The size in bytes from which a file's first slice is worth several threads. For smaller slices,
/// the threads only start with the second slice, because short files don't need them.
const BYTES_FOR_THREADS: usize = 1 << 20;

/// The number of threads that a few columns' pages can keep busy.
const PAGE_THREADS: usize = 8;

/// The columns of all row groups under construction.
pub(crate) struct Encoders {
    crew: Crew<Encoding>,
    threads: usize,
}

impl Encoders {
    /// Starts with the row group of this ordinal in the file.
    pub(crate) fn new(plan: Arc<WritePlan>, row_group: usize) -> Result<Self> {
        let columns = (0..plan.num_columns())
            .map(|column| Ok(Column::new(Writing::new(&plan, column, row_group, None)?)))
            .collect::<Result<Vec<_>>>()?;
        let most = match columns.len() {
            0 => 1,
            columns => columns.max(PAGE_THREADS),
        };
        let threads = threads(plan.options().threads).min(most);
        let spawn = plan.options().spawn.clone();
        let crew = Crew::new(
            Encoding { plan },
            State::new(columns, row_group),
            threads,
            spawn,
        );
        Ok(Self { crew, threads })
    }

    /// Returns the number of ended row groups not fetched yet, complete or not.
    pub(crate) fn in_flight(&self) -> usize {
        self.crew.look(|state| state.row_groups.len())
    }

    /// Returns the maximum number of row groups in flight.
    pub(crate) fn most_in_flight(&self) -> usize {
        match self.crew.look(|state| state.threads > 1) {
            true => ROW_GROUPS_AHEAD,
            false => 0,
        }
    }

    /// Returns the row count of the row groups in flight.
    pub(crate) fn rows_in_flight(&self) -> u64 {
        let rows = |state: &State| state.row_groups.iter().map(|group| group.rows).sum();
        self.crew.look(rows)
    }

    /// Returns the bytes buffered by all columns, handed-out pages and row groups in flight, as of
    /// their last completed tasks.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.crew.look(State::heap_bytes)
    }

    /// Returns true if the oldest row group in flight is complete.
    pub(crate) fn has_row_group(&self) -> bool {
        self.crew.look(State::oldest_is_complete)
    }

    /// Appends a slice of a batch, about `array_bytes` bytes, to all columns. Returns true if the
    /// row group is large enough.
    pub(crate) fn write(
        &mut self,
        batch: &RecordBatch,
        rows: Range<usize>,
        array_bytes: usize,
    ) -> Result<bool> {
        // We compute the sizes here, because all leaves of a field share one.
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

    /// Waits for all slices except the last few, or for all of them if there is only one thread or
    /// memory might run short. Returns true if the open row group was then large enough.
    fn catch_up(&mut self) -> Result<bool> {
        let plan = self.crew.work().plan.clone();
        let mut is_large = false;
        self.crew
            .next(|state| state.catch_up(plan.options(), &mut is_large));
        self.check()?;
        Ok(is_large)
    }

    /// Returns the first error. This waits until no earlier task can still fail, so that the
    /// reported error does not depend on timing.
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

    /// Ends the row group after `rows` rows. If `is_last` is true, no row group follows.
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

    /// Returns the next column of the oldest ended row group, if that column is complete.
    pub(crate) fn complete_column(&mut self) -> Option<EncodedColumn> {
        self.crew.update(State::take_column)
    }

    /// Waits for the next column of the oldest ended row group, or returns `None` after its last
    /// column.
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

    /// Removes the oldest ended row group once all its columns are fetched, returning its row
    /// count.
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

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::Int32Array;
    use herringbone_arrow::schema::{DataType, Field, Schema};
    use herringbone_write::WriteOptions;

    use super::*;

    /// A file of one small slice needs no other thread, and no row group may wait without one.
    #[test]
    fn a_row_group_may_wait_if_several_threads_have_work() {
        let field = Field::new("c", DataType::Int32, false);
        let schema = Arc::new(Schema::new(vec![field]));
        let values: ArrayRef = Arc::new(Int32Array::from(vec![7; 10]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![values]).unwrap();
        for (threads, slices, most) in [(1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 1), (8, 3, 1)] {
            let options = WriteOptions::default().threads(threads);
            let plan = WritePlan::new(Arc::clone(&schema), &options, None).unwrap();
            let mut encoders = Encoders::new(Arc::new(plan), 0).unwrap();
            for _ in 0..slices {
                encoders.write(&batch, 0..10, 40).unwrap();
            }
            let found = encoders.most_in_flight();
            assert_eq!(found, most, "{threads} threads, {slices} slices");
        }
    }
}
