//! The threads' shared state: columns with their tasks, handed-out pages, and the progress of
//! slices and row groups.

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

/// The number of slices that columns are always allowed to lag the caller.
const MIN_SLICES_AHEAD: usize = 2;

/// The most slices that columns are allowed to lag the caller. This is large for the sake of small
/// slices, since pages can only be processed in parallel if there are enough rows for several.
const MAX_SLICES_AHEAD: usize = 32;

/// The most rows in slices ahead, beyond [`MIN_SLICES_AHEAD`] slices.
const MAX_ROWS_AHEAD: usize = 1 << 17;

/// The most bytes in slices ahead, beyond [`MIN_SLICES_AHEAD`] slices.
const MAX_BYTES_AHEAD: usize = 16 << 20;

/// The divisor that bounds slices ahead to a share of the memory limit and the row group size.
const SHARE_AHEAD: usize = 16;

/// The maximum number of handed-out pages per thread.
const PAGES_PER_THREAD: usize = 2;

/// The divisor that bounds handed-out pages to a share of the memory limit.
const SHARE_OF_PAGES: usize = 16;

/// The page size in bytes from which finishing a page takes so long that other threads might run
/// out of work.
const LARGE_PAGE: usize = 1 << 18;

/// The number of slices for which a thread is allowed to stay with its own column while others lag.
/// Staying pays off because the column's memory is near the thread's core.
const SLICES_IN_A_ROW: usize = 8;

/// The usual upper bound on the encoded size of one array byte. It is more than one because small
/// integers become 4-byte codes.
const ENCODED_GROWTH: usize = 4;

/// The number of bytes that a column might need for its first rows. Most of this is dictionary
/// tables.
const FIRST_BYTES: usize = 256 << 10;

#[derive(Default)]
pub(super) struct State {
    pub(super) columns: Vec<Column>,
    /// The columns with tasks but no thread. There can also be stale entries, for columns taken out
    /// of turn.
    ready: BinaryHeap<Ready>,
    /// The number of columns with tasks or with a thread working on them.
    busy: usize,
    /// The number of threads sharing the work, including the caller's, or 0 as long as the caller
    /// works alone.
    pub(super) threads: usize,
    /// Handed-out pages not taken by any thread yet.
    pub(super) pages: VecDeque<PageJob>,
    /// The number of unfinished handed-out pages.
    pages_out: usize,
    /// The byte count of all unfinished handed-out pages.
    page_bytes_out: usize,
    /// The last slices, finished or not.
    pub(super) slices: VecDeque<Slice>,
    /// The ordinal in the file of the first of `slices`.
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

/// A column with tasks but no thread. Threads take the greatest entry first, that is, the earliest
/// task, and then the most bytes. If a large column were left for last, the other threads would sit
/// idle meanwhile.
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

    /// Returns the bytes buffered by all columns as of their last completed tasks, plus handed-out
    /// pages and row groups in flight.
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

    /// Removes the slices that columns must have finished by now, or returns `None` if the caller
    /// has to wait for them. Sets `is_large` if the open row group was large enough after one of
    /// these slices, or if it uses all memory.
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

    /// Returns true if columns lag the caller by more slices than allowed. The slices' byte limit
    /// is `max_bytes`.
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
    /// a failed column can end while pages of its last rows are still unfinished.
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

    /// Returns true if a page of `page_bytes` bytes should be handed out, reserving room for it. We
    /// only hand out a page if it is large or there aren't enough columns with tasks for all
    /// threads, and only while the pages in progress stay within their bounds.
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

    /// Releases the room of a finished handed-out page of `bytes` bytes.
    pub(super) fn page_is_finished(&mut self, bytes: usize) {
        self.pages_out -= 1;
        self.page_bytes_out -= bytes;
    }

    /// Returns true if any job is waiting for a thread.
    pub(super) fn has_jobs(&mut self) -> bool {
        !self.pages.is_empty() || self.first_ready().is_some()
    }

    /// Returns the column to take next for a thread that isn't staying with its own.
    fn first_ready(&mut self) -> Option<Ready> {
        while let Some(&first) = self.ready.peek() {
            let column = self.columns.get(first.column.0);
            let task = column.and_then(|column| column.next_task());
            if task.is_some_and(|task| task.order() == first.task.0) {
                return Some(first);
            }
            // This entry is stale, since its task was taken out of turn.
            self.ready.pop();
        }
        None
    }

    /// Returns the next job for a thread that last worked on column `last`. Pages go first, because
    /// tasks are waiting for them. After that, the thread stays with its last column unless other
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
