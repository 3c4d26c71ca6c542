//! The state that the threads share: the columns with their tasks, the handed-out pages, and the
//! progress of slices and row groups.

mod column;
mod row_group;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use herringbone_write::{EncodedColumn, WriteOptions};

use super::pages::{Chunk, Done, PageJob, Report};
use column::TaskOrder;
pub(super) use column::{Column, ColumnJob, Job, Outcome, Task, Writing};
use row_group::Ended;
pub(super) use row_group::{Failure, RowGroup, Slice};

/// The number of slices by which columns may always lag the caller.
const MIN_SLICES_AHEAD: usize = 2;

/// The maximum number of slices by which columns may lag the caller. It is large enough for small
/// slices, because pages can be processed in parallel only if there are enough rows for them.
const MAX_SLICES_AHEAD: usize = 32;

/// The maximum number of rows in slices ahead, once there are more than [`MIN_SLICES_AHEAD`]
/// slices.
const MAX_ROWS_AHEAD: usize = 1 << 17;

/// The maximum number of bytes in slices ahead, once there are more than [`MIN_SLICES_AHEAD`]
/// slices.
const MAX_BYTES_AHEAD: usize = 16 << 20;

/// The divisor that bounds the bytes of slices ahead to a share of the memory limit and of the row
/// group size.
const SHARE_AHEAD: usize = 16;

/// The maximum number of handed-out pages per thread.
const PAGES_PER_THREAD: usize = 2;

/// The divisor that bounds the bytes of handed-out pages to a share of the memory limit.
const SHARE_OF_PAGES: usize = 16;

/// The size in bytes from which a page takes so long to finish that other threads may run out of
/// work.
const LARGE_PAGE: usize = 1 << 18;

/// The number of slices that a thread may continue with its own column while other columns lag,
/// because its column's memory is near it.
const SLICES_IN_A_ROW: usize = 8;

/// The usual upper bound on the bytes that one byte of an array takes when it is encoded. It is
/// more than one because small integers become codes of four bytes.
const ENCODED_GROWTH: usize = 4;

/// The number of bytes that a column may need for its first rows. Most of them are tables of its
/// dictionary.
const FIRST_BYTES: usize = 256 << 10;

#[derive(Default)]
pub(super) struct State {
    pub(super) columns: Vec<Column>,
    /// The columns that have tasks and no thread. There may also be stale entries of columns that
    /// were taken out of turn.
    ready: BinaryHeap<Ready>,
    /// The number of columns that have tasks or that a thread works on.
    busy: usize,
    /// The number of threads that share the work, including the caller's. It is 0 as long as the
    /// caller works alone.
    pub(super) threads: usize,
    /// Handed-out pages that no thread has taken yet.
    pub(super) pages: VecDeque<PageJob>,
    /// The number of handed-out pages that are not finished yet.
    pages_out: usize,
    /// The byte count of the handed-out pages that are not finished yet.
    page_bytes_out: usize,
    /// The last slices, finished or not.
    pub(super) slices: VecDeque<Slice>,
    /// The ordinal that the first of `slices` has in the file.
    first_slice: usize,
    /// The byte count of the open row group after the last slice before `slices`, or `None` if no
    /// such slice belonged to it.
    pub(super) known_bytes: Option<usize>,
    /// The ended row groups, oldest first.
    pub(super) row_groups: VecDeque<RowGroup>,
    /// The ordinal of the first of `row_groups`.
    pub(super) first_row_group: usize,
    /// The first error so far, in the order of [`Failure::order`].
    pub(super) error: Option<Failure>,
}

/// A column that has tasks and no thread. Threads take the greatest one first: the one with the
/// earliest task, and among several the one with the most bytes. If a large column were last, the
/// other threads would be idle meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ready {
    task: Reverse<TaskOrder>,
    bytes: usize,
    column: Reverse<usize>,
}

impl State {
    pub(super) fn new(columns: Vec<Column>, first_row_group: usize) -> Self {
        Self {
            columns,
            first_row_group,
            ..Self::default()
        }
    }

    /// Returns the number of bytes that all columns had buffered after their last completed tasks,
    /// and that handed-out pages and row groups in flight take.
    pub(super) fn heap_bytes(&self) -> usize {
        let open: usize = self.columns.iter().map(|column| column.heap_bytes).sum();
        let ended: usize = self.row_groups.iter().map(RowGroup::heap_bytes).sum();
        open + ended + self.page_bytes_out
    }

    /// Returns the ordinal of the next slice.
    pub(super) fn next_slice(&self) -> usize {
        self.first_slice + self.slices.len()
    }

    /// Returns the ordinal of the open row group.
    pub(super) fn next_row_group(&self) -> usize {
        self.first_row_group + self.row_groups.len()
    }

    /// Removes the slices that columns must have finished by now. Sets `is_large` if the open row
    /// group was large enough after one of them, or if it uses all memory. Returns `None` if the
    /// caller must wait for columns.
    pub(super) fn catch_up(&mut self, options: &WriteOptions, is_large: &mut bool) -> Option<()> {
        let memory_bytes = options.memory_bytes;
        let part = memory_bytes.min(options.row_group_bytes) / SHARE_AHEAD;
        if self.threads <= 1 && !self.are_finished(self.slices.len()) {
            return None;
        }
        while self.is_too_far_ahead(part.min(MAX_BYTES_AHEAD)) {
            if !self.are_finished(1) {
                return None;
            }
            let slice = self.slices.pop_front()?;
            self.first_slice += 1;
            if slice.row_group == self.next_row_group() {
                self.known_bytes = Some(slice.heap_bytes);
                *is_large |= slice.estimated_bytes >= options.row_group_bytes
                    || slice.heap_bytes >= memory_bytes;
            }
        }
        if !*is_large && self.most_bytes() >= memory_bytes {
            if !self.are_finished(self.slices.len()) {
                return None;
            }
            let last = self.slices.back();
            *is_large = last.is_some_and(|slice| slice.heap_bytes >= memory_bytes);
        }
        Some(())
    }

    /// Returns true if there are more slices than the number by which columns may lag the
    /// caller. Their byte limit is `max_bytes`.
    fn is_too_far_ahead(&self, max_bytes: usize) -> bool {
        let slices = self.slices.len();
        let sum = |of: fn(&Slice) -> usize| self.slices.iter().map(of).sum::<usize>();
        slices > MIN_SLICES_AHEAD
            && (slices > MAX_SLICES_AHEAD
                || sum(|slice| slice.rows) > MAX_ROWS_AHEAD
                || sum(|slice| slice.array_bytes) > max_bytes)
    }

    /// Returns an upper bound on the open row group's bytes, estimated from its last known size.
    fn most_bytes(&self) -> usize {
        let known = self.known_bytes;
        let known = known.unwrap_or_else(|| FIRST_BYTES.saturating_mul(self.columns.len()));
        let open = self.next_row_group();
        let waiting = self.slices.iter().filter(|slice| slice.row_group == open);
        let waiting: usize = waiting.map(|slice| slice.array_bytes).sum();
        known.saturating_add(waiting.saturating_mul(ENCODED_GROWTH))
    }

    /// Returns true if the first `n` slices are finished.
    fn are_finished(&self, n: usize) -> bool {
        let mut slices = self.slices.iter().take(n);
        slices.all(|slice| slice.columns_left == 0)
    }

    /// Returns true if the oldest ended row group is complete. We also look at its slices, because
    /// a failed column ends while pages of its last rows may still be unfinished.
    pub(super) fn oldest_is_complete(&self) -> bool {
        let is_of_it = |slice: &&Slice| slice.row_group <= self.first_row_group;
        let mut slices = self.slices.iter().take_while(is_of_it);
        let oldest = self.row_groups.front();
        oldest.is_some_and(|group| group.columns_left == 0)
            && slices.all(|slice| slice.columns_left == 0)
    }

    /// Returns the next column of the oldest ended row group, if that column is complete.
    pub(super) fn take_column(&mut self) -> Option<EncodedColumn> {
        let group = self.row_groups.front_mut()?;
        if !matches!(group.columns.front(), Some(Ended::Complete(_))) {
            return None;
        }
        group.fetched += 1;
        match group.columns.pop_front() {
            Some(Ended::Complete(column)) => Some(*column),
            _ => None,
        }
    }

    /// Returns true if no unfinished work can fail with an earlier error than this one.
    pub(super) fn is_first(&self, failure: &Failure) -> bool {
        let slices = (failure.slice + 1).saturating_sub(self.first_slice);
        let row_groups = failure.row_group + usize::from(failure.at_end);
        let row_groups = row_groups.saturating_sub(self.first_row_group);
        let mut ended = self.row_groups.iter().take(row_groups);
        self.are_finished(slices) && ended.all(|group| group.columns_left == 0)
    }

    /// Adds a task to a column.
    pub(super) fn push(&mut self, ordinal: usize, task: Task) {
        let Some(column) = self.columns.get_mut(ordinal) else {
            return;
        };
        if column.is_over {
            return self.report(task.into_report(ordinal));
        }
        let is_idle = column.writing.is_some() && column.tasks.is_empty();
        column.tasks.push_back(task);
        if is_idle {
            self.busy += 1;
            self.note_ready(ordinal);
        }
    }

    /// Adds an entry to `ready`, if the column has tasks and no thread is working on it.
    fn note_ready(&mut self, ordinal: usize) {
        if let Some(column) = self.columns.get(ordinal)
            && let Some(task) = column.next_task()
        {
            self.ready.push(Ready {
                task: Reverse(task.order()),
                bytes: column.heap_bytes + task.array_bytes(),
                column: Reverse(ordinal),
            });
        }
    }

    /// Returns true if a page of `page_bytes` bytes should be handed out, and reserves room for it.
    /// We only hand it out if too few columns have tasks for all threads, or if the page is large,
    /// and if the pages in progress stay within their bounds.
    pub(super) fn make_room(&mut self, page_bytes: usize, memory_bytes: usize) -> bool {
        let has_room = self.threads > 1
            && (self.busy < self.threads || page_bytes >= LARGE_PAGE)
            && self.pages_out < PAGES_PER_THREAD * self.threads
            && self.page_bytes_out + page_bytes <= memory_bytes / SHARE_OF_PAGES;
        if has_room {
            self.pages_out += 1;
            self.page_bytes_out += page_bytes;
        }
        has_room
    }

    /// Releases the room of a handed-out page of `bytes` bytes, which is finished.
    pub(super) fn page_is_finished(&mut self, bytes: usize) {
        self.pages_out -= 1;
        self.page_bytes_out -= bytes;
    }

    /// Returns true if there is a job that no thread has taken yet.
    pub(super) fn has_jobs(&mut self) -> bool {
        !self.pages.is_empty() || self.first_ready().is_some()
    }

    /// Returns the column that a thread takes first, unless it continues with its own.
    fn first_ready(&mut self) -> Option<Ready> {
        while let Some(&first) = self.ready.peek() {
            let column = self.columns.get(first.column.0);
            let task = column.and_then(|column| column.next_task());
            if task.is_some_and(|task| task.order() == first.task.0) {
                return Some(first);
            }
            // The entry is stale, because its task was taken out of turn.
            self.ready.pop();
        }
        None
    }

    /// Returns the next job for a thread whose last column was `last`. Pages are first, because
    /// others wait for them. Then the thread gets more rows of its last column, unless other
    /// columns lag too far.
    pub(super) fn next_job(&mut self, last: Option<usize>) -> Option<Job> {
        if let Some(page) = self.pages.pop_front() {
            return Some(Job::Page(page));
        }
        let Ready { task, column, .. } = self.first_ready()?;
        let (Reverse((first_slice, _)), Reverse(first)) = (task, column);
        let last = last.filter(|ordinal| {
            let column = self.columns.get(*ordinal);
            column.is_some_and(|column| column.waits_with_rows_to(first_slice + SLICES_IN_A_ROW))
        });
        let ordinal = last.unwrap_or(first);
        let column = self.columns.get_mut(ordinal)?;
        Some(Job::Column(ColumnJob {
            column: ordinal,
            writing: column.writing.take()?,
            task: column.tasks.pop_front()?,
        }))
    }

    /// Puts a column back after a task.
    pub(super) fn take_back(&mut self, outcome: Outcome) {
        let ordinal = outcome.column;
        let mut left = VecDeque::new();
        if let Some(column) = self.columns.get_mut(ordinal) {
            column.heap_bytes = outcome.heap_bytes;
            column.writing = outcome.writing;
            column.is_over = column.writing.is_none();
            if column.is_over {
                left = std::mem::take(&mut column.tasks);
            }
            match column.tasks.is_empty() {
                true => self.busy -= 1,
                false => self.note_ready(ordinal),
            }
        }
        if let Some((row_group, heap_bytes)) = outcome.ended {
            let index = row_group.wrapping_sub(self.first_row_group);
            let group = self.row_groups.get_mut(index);
            let place = group.and_then(|group| group.place(ordinal));
            if let Some(place @ Ended::No) = place {
                *place = Ended::Waiting(heap_bytes);
            }
        }
        self.report_all(&outcome.chunk);
        for task in left {
            self.report(task.into_report(ordinal));
        }
    }

    /// Processes a chunk's reports.
    pub(super) fn report_all(&mut self, chunk: &Chunk) {
        chunk.take_reports(|report| self.report(report));
    }

    /// Records a task's result.
    fn report(&mut self, report: Report) {
        let at_end = matches!(report.done, Done::End(_));
        match report.done {
            Done::End(chunk) => {
                let index = report.row_group.wrapping_sub(self.first_row_group);
                if let Some(group) = self.row_groups.get_mut(index) {
                    group.columns_left -= 1;
                    if let Some(place) = group.place(report.column) {
                        *place = chunk.map_or(Ended::Failed, Ended::Complete);
                    }
                }
            }
            Done::Append {
                estimated_bytes,
                heap_bytes,
            } => {
                let index = report.slice.wrapping_sub(self.first_slice);
                if let Some(slice) = self.slices.get_mut(index) {
                    slice.columns_left -= 1;
                    slice.estimated_bytes += estimated_bytes;
                    slice.heap_bytes += heap_bytes;
                }
            }
        }
        if let Some(error) = report.error {
            let failure = Failure {
                slice: report.slice,
                at_end,
                column: report.column,
                row_group: report.row_group,
                error,
            };
            let known = self.error.as_ref();
            if known.is_none_or(|known| failure.order() < known.order()) {
                self.error = Some(failure);
            }
        }
    }
}

#[cfg(test)]
mod tests;
