//! The state shared by the threads: columns with their tasks, handed-out pages, and the progress of slices and
//! row groups.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_format::Error;
use herringbone_write::{ColumnWriter, EncodedColumn, WriteOptions};

use super::pages::{Chunk, Done, PageJob, Report};

/// The number of slices that columns may always be behind the caller.
const MIN_SLICES_AHEAD: usize = 2;

/// The maximum number of slices that columns may be behind the caller. Large enough for small slices, because
/// pages can be processed in parallel only if there are enough rows for them.
const MAX_SLICES_AHEAD: usize = 32;

/// The maximum number of rows in slices ahead, if there are more than [`MIN_SLICES_AHEAD`] slices.
const MAX_ROWS_AHEAD: usize = 1 << 17;

/// The maximum number of bytes in slices ahead, if there are more than [`MIN_SLICES_AHEAD`] slices.
const MAX_BYTES_AHEAD: usize = 16 << 20;

/// The divisor of the memory limit and of the row group size that bounds the bytes of slices ahead.
const SHARE_AHEAD: usize = 16;

/// The maximum number of handed-out pages per thread.
const PAGES_PER_THREAD: usize = 2;

/// The divisor of the memory limit that bounds the bytes of handed-out pages.
const SHARE_OF_PAGES: usize = 16;

/// The size in bytes from which a page takes so long to finish that other threads may run out of work.
const LARGE_PAGE: usize = 1 << 18;

/// The number of slices that a thread may continue with its own column while other columns are behind. The
/// memory of its column is near it.
const SLICES_IN_A_ROW: usize = 8;

/// The usual upper bound on the bytes needed to encode one byte of an array: small integers become codes of
/// four bytes.
const ENCODED_GROWTH: usize = 4;

/// The bytes that a column may need for its first rows. Most are tables of its dictionary.
const FIRST_BYTES: usize = 256 << 10;

#[derive(Default)]
pub(super) struct State {
    pub(super) columns: Vec<Column>,
    /// Columns with tasks that no thread is processing. Also contains stale entries of columns taken out of
    /// turn.
    ready: BinaryHeap<Ready>,
    /// The number of columns with tasks or in processing.
    busy: usize,
    /// The number of threads that share the work, including the caller's; 0 as long as the caller works alone.
    pub(super) threads: usize,
    /// Handed-out pages that no thread is processing.
    pub(super) pages: VecDeque<PageJob>,
    /// The number of handed-out pages not finished yet.
    pages_out: usize,
    /// The size of the handed-out pages not finished yet, in bytes.
    page_bytes_out: usize,
    /// The last slices, finished or not.
    pub(super) slices: VecDeque<Slice>,
    /// The ordinal in the file of the first of `slices`.
    first_slice: usize,
    /// The number of bytes of the open row group after the last slice before `slices`; `None` if no such slice
    /// belonged to it.
    pub(super) known_bytes: Option<usize>,
    /// The ended row groups, oldest first.
    pub(super) row_groups: VecDeque<RowGroup>,
    /// The ordinal of the first of `row_groups`.
    pub(super) first_row_group: usize,
    /// The first error so far, in the order of [`Failure::order`].
    pub(super) error: Option<Failure>,
}

/// A column with tasks that no thread is processing. The greatest one is taken first: the one with the earliest
/// task, and among several the one with the most bytes. If a large column were last, the other threads would be
/// idle.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ready {
    task: Reverse<TaskOrder>,
    bytes: usize,
    column: Reverse<usize>,
}

/// The slice of a task, and true if the task is the end of a row group after that slice.
type TaskOrder = (usize, bool);

/// The state of a column over all row groups.
pub(super) struct Column {
    /// Absent while a thread processes the column, after an error, and after the last row group.
    writing: Option<Box<Writing>>,
    /// Set after an error, and after the last row group.
    is_over: bool,
    tasks: VecDeque<Task>,
    heap_bytes: usize,
}

/// The chunk of a column in its open row group.
pub(super) struct Writing {
    pub(super) writer: ColumnWriter,
    pub(super) chunk: Arc<Chunk>,
    /// The number of pages in the chunk, finished or not.
    pub(super) num_pages: usize,
}

pub(super) enum Task {
    /// Rows of an array.
    Append {
        slice: usize,
        array: ArrayRef,
        /// The size of the array in bytes, including rows outside `rows`.
        array_bytes: usize,
        rows: Range<usize>,
    },
    /// The end of a row group, after the slice.
    End {
        slice: usize,
        row_group: usize,
        /// True if no row group follows.
        is_last: bool,
    },
}

/// The unit of work that a thread takes.
pub(super) enum Job {
    Column(ColumnJob),
    Page(PageJob),
}

/// A task and its column.
pub(super) struct ColumnJob {
    pub(super) column: usize,
    pub(super) writing: Box<Writing>,
    pub(super) task: Task,
}

/// The result of a task for its column.
pub(super) struct Outcome {
    pub(super) column: usize,
    /// Absent after an error, and after the last row group.
    pub(super) writing: Option<Box<Writing>>,
    pub(super) heap_bytes: usize,
    /// The ordinal of the row group that ended, and the bytes of the chunk.
    pub(super) ended: Option<(usize, usize)>,
    /// The chunk, which may have reports.
    pub(super) chunk: Arc<Chunk>,
}

/// Some rows of all columns, and the size of the columns after them.
pub(super) struct Slice {
    pub(super) row_group: usize,
    pub(super) rows: usize,
    /// The size of the arrays in bytes.
    pub(super) array_bytes: usize,
    /// The number of columns that have not reported.
    pub(super) columns_left: usize,
    pub(super) estimated_bytes: usize,
    pub(super) heap_bytes: usize,
}

pub(super) struct RowGroup {
    pub(super) rows: u64,
    columns: VecDeque<Ended>,
    /// The number of fetched columns.
    fetched: usize,
    /// The number of columns that have not reported.
    columns_left: usize,
}

/// The chunk of a column in an ended row group.
enum Ended {
    /// Some of its rows are not encoded yet.
    No,
    /// Some pages are not finished. The chunk has this number of bytes.
    Waiting(usize),
    Complete(Box<EncodedColumn>),
    Failed,
}

pub(super) struct Failure {
    slice: usize,
    /// True if the error occurred after the slice, at the end of a row group.
    at_end: bool,
    column: usize,
    row_group: usize,
    pub(super) error: Error,
}

impl Task {
    fn order(&self) -> TaskOrder {
        match self {
            Self::Append { slice, .. } => (*slice, false),
            Self::End { slice, .. } => (*slice, true),
        }
    }

    fn array_bytes(&self) -> usize {
        match self {
            Self::Append { array_bytes, .. } => *array_bytes,
            Self::End { .. } => 0,
        }
    }

    /// Returns the report for a task skipped because the column is over.
    fn into_report(self, column: usize) -> Report {
        let (slice, row_group, done) = match self {
            Self::Append { slice, .. } => (slice, 0, Done::NOTHING),
            Self::End {
                slice, row_group, ..
            } => (slice, row_group, Done::End(None)),
        };
        Report {
            column,
            row_group,
            slice,
            done,
            error: None,
        }
    }
}

impl Job {
    /// Returns the column of the job; `None` for a page.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(job) => Some(job.column),
            Self::Page(_) => None,
        }
    }
}

impl Column {
    pub(super) fn new(writing: Writing) -> Self {
        Self {
            writing: Some(Box::new(writing)),
            is_over: false,
            tasks: VecDeque::new(),
            heap_bytes: 0,
        }
    }

    /// Returns the next task, unless a thread is processing the column.
    fn next_task(&self) -> Option<&Task> {
        self.writing.as_ref().and_then(|_| self.tasks.front())
    }

    /// Returns true if the next task appends rows of this slice or an earlier one.
    fn waits_with_rows_to(&self, last_slice: usize) -> bool {
        matches!(self.next_task(), Some(Task::Append { slice, .. }) if *slice <= last_slice)
    }
}

impl RowGroup {
    /// Returns a row group with `rows` rows and `columns` columns that has just ended.
    pub(super) fn new(rows: u64, columns: usize) -> Self {
        Self {
            rows,
            columns: (0..columns).map(|_| Ended::No).collect(),
            fetched: 0,
            columns_left: columns,
        }
    }

    /// Returns the entry of a column, unless it was fetched.
    fn place(&mut self, column: usize) -> Option<&mut Ended> {
        self.columns.get_mut(column.wrapping_sub(self.fetched))
    }

    fn heap_bytes(&self) -> usize {
        let columns = self.columns.iter().map(|column| match column {
            Ended::No | Ended::Failed => 0,
            Ended::Waiting(bytes) => *bytes,
            Ended::Complete(chunk) => chunk.heap_bytes(),
        });
        columns.sum()
    }
}

impl State {
    pub(super) fn new(columns: Vec<Column>, first_row_group: usize) -> Self {
        Self {
            columns,
            first_row_group,
            ..Self::default()
        }
    }

    /// Returns the bytes buffered by all columns as of their last completed tasks, by handed-out pages, and by
    /// row groups in flight.
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

    /// Removes the slices that columns must have finished by now. Sets `is_large` if the open row group was
    /// large enough after one of them, or if it uses all memory. Returns `None` if the caller must wait for
    /// columns.
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

    /// Returns true if there are more slices than columns may be behind the caller. These slices may have at
    /// most `max_bytes` bytes.
    fn is_too_far_ahead(&self, max_bytes: usize) -> bool {
        let slices = self.slices.len();
        let sum = |of: fn(&Slice) -> usize| self.slices.iter().map(of).sum::<usize>();
        slices > MIN_SLICES_AHEAD
            && (slices > MAX_SLICES_AHEAD
                || sum(|slice| slice.rows) > MAX_ROWS_AHEAD
                || sum(|slice| slice.array_bytes) > max_bytes)
    }

    /// Returns an upper bound on the bytes of the open row group, estimated from its last known size.
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

    /// Returns true if the oldest ended row group is complete. A failed column ends while pages of its last
    /// rows may still be unfinished.
    pub(super) fn oldest_is_complete(&self) -> bool {
        let is_of_it = |slice: &&Slice| slice.row_group <= self.first_row_group;
        let mut slices = self.slices.iter().take_while(is_of_it);
        let oldest = self.row_groups.front();
        oldest.is_some_and(|group| group.columns_left == 0)
            && slices.all(|slice| slice.columns_left == 0)
    }

    /// Returns the next column of the oldest ended row group, if it is complete.
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

    /// Adds an entry to `ready`, if the column has tasks and no thread is processing it.
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

    /// Returns true if a page of `page_bytes` bytes should be handed out, and reserves room for it. This needs
    /// too few columns with tasks for all threads, or a large page, and a bounded number of pages in progress.
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

    /// Releases the room of a finished page of `bytes` bytes, which was handed out.
    pub(super) fn page_is_finished(&mut self, bytes: usize) {
        self.pages_out -= 1;
        self.page_bytes_out -= bytes;
    }

    /// Returns true if there is a job that no thread has taken.
    pub(super) fn has_jobs(&mut self) -> bool {
        !self.pages.is_empty() || self.first_ready().is_some()
    }

    /// Returns the column taken first by a thread that does not continue with its own.
    fn first_ready(&mut self) -> Option<Ready> {
        while let Some(&first) = self.ready.peek() {
            let column = self.columns.get(first.column.0);
            let task = column.and_then(|column| column.next_task());
            if task.is_some_and(|task| task.order() == first.task.0) {
                return Some(first);
            }
            // The entry is stale: its task was taken out of turn.
            self.ready.pop();
        }
        None
    }

    /// Returns the next job for a thread whose last column was `last`. Pages are first, because others wait for
    /// them. Then more rows of the last column, unless other columns are too far behind.
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

    /// Processes the reports of a chunk.
    pub(super) fn report_all(&mut self, chunk: &Chunk) {
        chunk.take_reports(|report| self.report(report));
    }

    /// Records the result of a task.
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

impl Failure {
    /// Returns the order of errors: the first one is reported.
    fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::Int32Array;
    use herringbone_arrow::schema::{DataType, Field, Schema};
    use herringbone_write::{WriteOptions, WritePlan};

    use super::*;

    /// Returns a state of columns without tasks.
    fn state(columns: usize) -> State {
        let fields = (0..columns).map(|i| Field::new(format!("c{i}"), DataType::Int32, false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let plan = WritePlan::new(schema, &WriteOptions::default(), None).unwrap();
        let columns = (0..columns).map(|i| Column::new(Writing::new(&plan, i, 0, None).unwrap()));
        State::new(columns.collect(), 0)
    }

    fn append(slice: usize, values: usize) -> Task {
        Task::Append {
            slice,
            array: Arc::new(Int32Array::from(vec![7; values])),
            array_bytes: 4 * values,
            rows: 0..values,
        }
    }

    fn end(slice: usize) -> Task {
        Task::End {
            slice,
            row_group: 0,
            is_last: false,
        }
    }

    /// Returns the column of the next job.
    fn next(state: &mut State, last: Option<usize>) -> Option<usize> {
        state.next_job(last).and_then(|job| job.column())
    }

    #[test]
    fn what_came_first_is_done_first_and_of_that_what_is_most() {
        let mut state = state(4);
        for (column, slice, values) in [(0, 0, 10), (1, 0, 10), (2, 0, 99), (3, 1, 999)] {
            state.push(column, append(slice, values));
        }
        state.push(0, end(0));
        assert!(state.has_jobs());
        let order: Vec<_> = (0..4).map_while(|_| next(&mut state, None)).collect();
        assert_eq!(order, [2, 0, 1, 3]);
        // A thread is processing each column.
        assert!(!state.has_jobs());
        assert_eq!(next(&mut state, Some(0)), None);
    }

    #[test]
    fn a_thread_goes_on_with_its_column_while_others_are_near() {
        let mut state = state(2);
        for slice in 0..12 {
            state.push(0, append(slice, 10));
        }
        let slices_in_a_row = |state: &mut State| {
            let mut slices = 0;
            while let Some(Job::Column(job)) = state.next_job(Some(0))
                && job.column == 0
            {
                slices += 1;
                state.columns[0].writing = Some(job.writing);
                state.note_ready(0);
            }
            slices
        };
        state.push(1, append(0, 9));
        // Column 1 waits at the first slice. After eight more slices, it is its turn.
        assert_eq!(slices_in_a_row(&mut state), 1 + SLICES_IN_A_ROW);
        assert_eq!(next(&mut state, Some(1)), Some(0));
        // The stale entries of column 0 before that are not jobs.
        assert!(!state.has_jobs());
    }

    #[test]
    fn large_pages_are_handed_out_and_small_ones_if_a_thread_has_nothing_to_do() {
        let mut state = state(2);
        let has_room = |state: &mut State, bytes| {
            let has_room = state.make_room(bytes, 16 * LARGE_PAGE);
            if has_room {
                state.page_is_finished(bytes);
            }
            has_room
        };
        assert!(!has_room(&mut state, LARGE_PAGE), "one thread");
        state.threads = 2;
        assert!(has_room(&mut state, 10));
        state.push(0, append(0, 9));
        state.push(1, append(0, 9));
        assert!(!has_room(&mut state, LARGE_PAGE - 1));
        assert!(has_room(&mut state, LARGE_PAGE));
        state.page_bytes_out = 1;
        assert!(
            !has_room(&mut state, LARGE_PAGE),
            "more than a part of the memory"
        );
        (state.page_bytes_out, state.pages_out) = (0, 4);
        assert!(!has_room(&mut state, LARGE_PAGE), "two a thread");
    }

    /// The end of a row group is most of the work, so ends are not taken out of turn.
    #[test]
    fn ends_come_in_their_turn() {
        let mut state = state(2);
        state.push(0, end(0));
        state.push(1, append(0, 9));
        assert_eq!(next(&mut state, Some(0)), Some(1));
        assert_eq!(next(&mut state, Some(0)), Some(0));
    }
}
