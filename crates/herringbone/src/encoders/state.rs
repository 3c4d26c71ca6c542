//! What the threads share: columns with their tasks, pages that were handed out, and what is known of slices and row
//! groups.

use std::any::Any;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_core::write::{ColumnWriter, EncodedColumn};
use herringbone_format::Error;

use super::pages::{Chunk, Done, PageJob, Report};

/// Slices that columns may be behind the caller, at least,
const LEAST_SLICES_AHEAD: usize = 2;

/// and at most, if they have few rows: pages can be under way at the same time only where there are rows for them.
const MOST_SLICES_AHEAD: usize = 32;

/// Rows of these.
const ROWS_AHEAD: usize = 1 << 17;

/// Pages that may be handed out, as many times as there are threads,
const PAGES_A_THREAD: usize = 2;

/// and which part of the memory they may take.
const PAGES_IN_MEMORY: usize = 16;

/// Bytes of a page that takes so long to be finished that others may run out of work meanwhile.
const LARGE_PAGE: usize = 1 << 18;

/// Slices that a thread may go on with the column that it has, whose memory is near it, though others are behind.
const SLICES_IN_A_ROW: usize = 8;

/// Bytes that a byte of an array may become while it is encoded, as a rule: small integers become
/// codes of four bytes.
const GROWTH: usize = 4;

/// Bytes that a column may take for its first rows: tables of its dictionary, mostly.
const FIRST_BYTES: usize = 256 << 10;

#[derive(Default)]
pub(super) struct State {
    pub(super) columns: Vec<Column>,
    /// Columns with tasks that nobody works on, and some that were taken out of turn.
    ready: BinaryHeap<Ready>,
    /// The column that the caller worked on last.
    pub(super) callers_last: Option<usize>,
    /// Columns with tasks, whoever works on them.
    busy: usize,
    /// Threads there are, the caller's included.
    pub(super) threads: usize,
    /// Pages that were handed out and nobody works on.
    pages: VecDeque<PageJob>,
    /// Pages that were handed out and are not finished, and their bytes.
    pages_out: usize,
    page_bytes_out: usize,
    /// The last slices, finished or not.
    pub(super) slices: VecDeque<Slice>,
    /// Ordinal of the first of `slices`, counted over the whole file.
    pub(super) first_slice: usize,
    /// Bytes that the open row group held after the last slice before them; none before there was one.
    pub(super) known_bytes: Option<usize>,
    /// Row groups that have ended, the oldest first.
    pub(super) row_groups: VecDeque<RowGroup>,
    /// Ordinal of the first of `row_groups`.
    pub(super) first_row_group: usize,
    /// Whether no rows come any more.
    pub(super) is_closed: bool,
    /// The error that counts so far.
    pub(super) error: Option<Failure>,
    pub(super) stop: bool,
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

/// A column with tasks that nobody works on; the greatest one is taken first. That is the one whose task came first, and of
/// several the one that holds most: if it were the last, other threads would have nothing left to do.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ready {
    task: Reverse<TaskOrder>,
    bytes: usize,
    column: Reverse<usize>,
}

/// The slice of a task, and whether it is the end of a row group behind that.
type TaskOrder = (usize, bool);

/// One column, over all row groups.
pub(super) struct Column {
    /// Absent while somebody works on it, after an error, and behind the last row group.
    writing: Option<Box<Writing>>,
    tasks: VecDeque<Task>,
    heap_bytes: usize,
    status: Status,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    /// There is nothing to do.
    Idle,
    /// There are tasks, and nobody works on them.
    Ready,
    /// Somebody works on one.
    Taken,
}

/// The chunk of a column in the row group that is open for it.
pub(super) struct Writing {
    pub(super) writer: ColumnWriter,
    pub(super) chunk: Arc<Chunk>,
    /// Pages of the chunk, finished or not.
    pub(super) num_pages: usize,
}

pub(super) enum Task {
    /// Rows of an array.
    Append {
        slice: usize,
        array: ArrayRef,
        /// Bytes of the array, whichever rows they are of.
        array_bytes: usize,
        rows: Range<usize>,
    },
    /// The end of a row group, behind the slice.
    End {
        slice: usize,
        row_group: usize,
        /// Whether there is no row group behind it.
        is_last: bool,
    },
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
}

/// What a thread takes.
pub(super) enum Job {
    Column(ColumnJob),
    Page(PageJob),
}

/// A task, and the column that it is for.
pub(super) struct ColumnJob {
    pub(super) column: usize,
    pub(super) writing: Option<Box<Writing>>,
    pub(super) task: Task,
}

/// A column that somebody worked on.
pub(super) struct Outcome {
    pub(super) column: usize,
    /// Absent after an error, and behind the last row group.
    pub(super) writing: Option<Box<Writing>>,
    pub(super) heap_bytes: usize,
    /// The row group that ended, and the bytes of the chunk.
    pub(super) ended: Option<(usize, usize)>,
    /// What has something to report: a chunk, or a task of which there is nothing to do.
    pub(super) reporting: Reporting,
}

pub(super) enum Reporting {
    Chunk(Arc<Chunk>),
    Task(Report),
}

/// What the columns said after some rows.
pub(super) struct Slice {
    pub(super) row_group: usize,
    /// Rows of its arrays, and bytes.
    pub(super) rows: usize,
    pub(super) array_bytes: usize,
    pub(super) columns_left: usize,
    pub(super) estimated_bytes: usize,
    pub(super) heap_bytes: usize,
}

pub(super) struct RowGroup {
    pub(super) rows: u64,
    columns: VecDeque<Ended>,
    /// Those that were fetched.
    fetched: usize,
    columns_left: usize,
}

/// What there is of a chunk in a row group that has ended.
pub(super) enum Ended {
    /// Its rows are not all encoded.
    No,
    /// Pages are missing; it holds so many bytes.
    Waiting(usize),
    Complete(Box<EncodedColumn>),
    Failed,
}

pub(super) struct Failure {
    slice: usize,
    /// It came with the end of a row group, behind the slice.
    at_end: bool,
    column: usize,
    row_group: usize,
    pub(super) error: Error,
}

impl Column {
    pub(super) fn new(writing: Writing) -> Self {
        Self {
            writing: Some(Box::new(writing)),
            tasks: VecDeque::new(),
            heap_bytes: 0,
            status: Status::Idle,
        }
    }

    /// Whether nobody works on it, and this is what is to be done next.
    fn waits_with(&self, task: TaskOrder) -> bool {
        self.status == Status::Ready && self.tasks.front().map(Task::order) == Some(task)
    }

    /// Whether nobody works on it, and rows are to be appended next, of this slice at most.
    fn waits_with_rows_to(&self, last_slice: usize) -> bool {
        self.status == Status::Ready
            && matches!(self.tasks.front(), Some(Task::Append { slice, .. }) if *slice <= last_slice)
    }
}

impl RowGroup {
    /// A row group of so many rows and columns that has just ended.
    pub(super) fn new(rows: u64, columns: usize) -> Self {
        Self {
            rows,
            columns: (0..columns).map(|_| Ended::No).collect(),
            fetched: 0,
            columns_left: columns,
        }
    }

    /// The place of a column, until it is fetched.
    fn place(&mut self, column: usize) -> Option<&mut Ended> {
        self.columns.get_mut(column.wrapping_sub(self.fetched))
    }

    /// Bytes held.
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
    pub(super) fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            ..Self::default()
        }
    }

    /// Bytes held by all columns, as far as they have said, by pages that were handed out, and by row groups in flight.
    pub(super) fn heap_bytes(&self) -> usize {
        let open: usize = self.columns.iter().map(|column| column.heap_bytes).sum();
        let ended: usize = self.row_groups.iter().map(RowGroup::heap_bytes).sum();
        open + ended + self.page_bytes_out
    }

    /// Whether there are more slices than columns may be behind the caller, where these may be so many bytes.
    pub(super) fn is_too_far_ahead(&self, bytes: usize) -> bool {
        let slices = self.slices.len();
        let sum = |of: fn(&Slice) -> usize| self.slices.iter().map(of).sum::<usize>();
        slices > LEAST_SLICES_AHEAD
            && (slices > MOST_SLICES_AHEAD
                || sum(|slice| slice.rows) > ROWS_AHEAD
                || sum(|slice| slice.array_bytes) > bytes)
    }

    pub(super) fn pop_slice(&mut self) -> Option<Slice> {
        let slice = self.slices.pop_front()?;
        self.first_slice += 1;
        Some(slice)
    }

    /// Ordinal of the row group that is open.
    pub(super) fn next_row_group(&self) -> usize {
        self.first_row_group + self.row_groups.len()
    }

    /// Bytes that the open row group may hold, by what is known of it.
    pub(super) fn most_bytes(&self) -> usize {
        let known = self.known_bytes;
        let known = known.unwrap_or_else(|| FIRST_BYTES.saturating_mul(self.columns.len()));
        let open = self.next_row_group();
        let waiting = self.slices.iter().filter(|slice| slice.row_group == open);
        let waiting: usize = waiting.map(|slice| slice.array_bytes).sum();
        known.saturating_add(waiting.saturating_mul(GROWTH))
    }

    /// Whether the first `n` of the slices are finished.
    pub(super) fn are_finished(&self, n: usize) -> bool {
        self.slices
            .iter()
            .take(n)
            .all(|slice| slice.columns_left == 0)
    }

    /// Whether the oldest row group that has ended is complete. A column that failed ends while pages of its last rows are
    /// still under way.
    pub(super) fn oldest_is_complete(&self) -> bool {
        let is_of_it = |slice: &&Slice| slice.row_group <= self.first_row_group;
        let mut slices = self.slices.iter().take_while(is_of_it);
        let oldest = self.row_groups.front();
        oldest.is_some_and(|group| group.columns_left == 0)
            && slices.all(|slice| slice.columns_left == 0)
    }

    /// The next column of the oldest row group that has ended, if it is complete.
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

    /// Whether nothing that is under way can fail before this does.
    pub(super) fn is_first(&self, failure: &Failure) -> bool {
        let slices = (failure.slice + 1).saturating_sub(self.first_slice);
        let row_groups = failure.row_group + usize::from(failure.at_end);
        let row_groups = row_groups.saturating_sub(self.first_row_group);
        let mut ended = self.row_groups.iter().take(row_groups);
        self.are_finished(slices) && ended.all(|group| group.columns_left == 0)
    }

    pub(super) fn push(&mut self, ordinal: usize, task: Task) {
        if let Some(column) = self.columns.get_mut(ordinal) {
            column.tasks.push_back(task);
            if column.status == Status::Idle {
                self.busy += 1;
                self.wait_for_hands(ordinal);
            }
        }
    }

    /// Notes that a column has tasks, and nobody works on them.
    fn wait_for_hands(&mut self, ordinal: usize) {
        if let Some(column) = self.columns.get_mut(ordinal)
            && let Some(task) = column.tasks.front()
        {
            column.status = Status::Ready;
            self.ready.push(Ready {
                task: Reverse(task.order()),
                bytes: column.heap_bytes + task.array_bytes(),
                column: Reverse(ordinal),
            });
        }
    }

    /// Whether a page of so many bytes should be handed out: where columns with tasks are too few for all threads, or it is large,
    /// and not too many pages are under way.
    pub(super) fn has_room_for(&self, page_bytes: usize, memory_bytes: usize) -> bool {
        self.threads > 1
            && (self.busy < self.threads || page_bytes >= LARGE_PAGE)
            && self.pages_out < PAGES_A_THREAD * self.threads
            && self.page_bytes_out + page_bytes <= memory_bytes / PAGES_IN_MEMORY
    }

    pub(super) fn hand_out(&mut self, job: PageJob) {
        self.pages_out += 1;
        self.page_bytes_out += job.bytes();
        self.pages.push_back(job);
    }

    /// A page that was handed out, of so many bytes, is finished.
    pub(super) fn page_is_finished(&mut self, bytes: usize) {
        self.pages_out -= 1;
        self.page_bytes_out -= bytes;
    }

    /// Whether there is nothing to do any more, and will not be.
    pub(super) fn is_over(&self) -> bool {
        self.is_closed && self.busy == 0 && self.pages.is_empty()
    }

    pub(super) fn has_jobs(&mut self) -> bool {
        !self.pages.is_empty() || self.first_ready().is_some()
    }

    /// The column to be taken first, unless somebody has it near.
    fn first_ready(&mut self) -> Option<Ready> {
        while let Some(&first) = self.ready.peek() {
            let column = self.columns.get(first.column.0);
            if column.is_some_and(|column| column.waits_with(first.task.0)) {
                return Some(first);
            }
            // It was taken out of turn.
            self.ready.pop();
        }
        None
    }

    /// What is to be done first by a thread whose `last` column this was: pages, which others wait for, then more rows of that
    /// column, if others are not too far behind.
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
        column.status = Status::Taken;
        let task = column.tasks.pop_front()?;
        Some(Job::Column(ColumnJob {
            column: ordinal,
            writing: column.writing.take(),
            task,
        }))
    }

    /// Takes a column back.
    pub(super) fn take_back(&mut self, outcome: Outcome) {
        if let Some(column) = self.columns.get_mut(outcome.column) {
            column.heap_bytes = outcome.heap_bytes;
            column.writing = outcome.writing;
            match column.tasks.is_empty() {
                true => {
                    column.status = Status::Idle;
                    self.busy -= 1;
                }
                false => self.wait_for_hands(outcome.column),
            }
        }
        if let Some((row_group, heap_bytes)) = outcome.ended {
            let index = row_group.wrapping_sub(self.first_row_group);
            let group = self.row_groups.get_mut(index);
            let place = group.and_then(|group| group.place(outcome.column));
            if let Some(place @ Ended::No) = place {
                *place = Ended::Waiting(heap_bytes);
            }
        }
        match outcome.reporting {
            Reporting::Chunk(chunk) => self.report_all(&chunk),
            Reporting::Task(report) => self.report(report),
        }
    }

    /// Notes what a chunk has to report.
    pub(super) fn report_all(&mut self, chunk: &Chunk) {
        chunk.take_reports(|report| self.report(report));
    }

    /// Notes what became of a task.
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

impl Job {
    /// The column that it is for; none where it is a page alone.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(job) => Some(job.column),
            Self::Page(_) => None,
        }
    }
}

impl Failure {
    /// Errors that are less here come first.
    fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::Int32Array;
    use herringbone_arrow::schema::{DataType, Field, Schema};
    use herringbone_core::write::{WriteOptions, WritePlan};

    use super::*;

    /// Columns that have got nothing to do yet.
    fn state(columns: usize) -> State {
        let fields = (0..columns).map(|i| Field::new(format!("c{i}"), DataType::Int32, false));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let plan = WritePlan::new(schema, &WriteOptions::default(), None).unwrap();
        let columns = (0..columns).map(|i| Column::new(Writing::new(&plan, i, 0, None).unwrap()));
        State::new(columns.collect())
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

    /// The column of the next job.
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
        // Somebody works on each.
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
            while next(state, Some(0)) == Some(0) {
                slices += 1;
                state.wait_for_hands(0);
            }
            slices
        };
        state.push(1, append(0, 9));
        // Column 1 waits with the first slice: eight more than that, and then it is its turn.
        assert_eq!(slices_in_a_row(&mut state), 1 + SLICES_IN_A_ROW);
        assert_eq!(next(&mut state, Some(1)), Some(0));
        // Its entries in front of that, which are done, are nothing to do.
        assert!(!state.has_jobs());
    }

    #[test]
    fn large_pages_are_handed_out_and_small_ones_where_somebody_has_nothing_to_do() {
        let mut state = state(2);
        let has_room = |state: &State, bytes| state.has_room_for(bytes, 16 * LARGE_PAGE);
        assert!(!has_room(&state, LARGE_PAGE), "one thread");
        state.threads = 2;
        assert!(has_room(&state, 10));
        state.push(0, append(0, 9));
        state.push(1, append(0, 9));
        assert!(!has_room(&state, LARGE_PAGE - 1));
        assert!(has_room(&state, LARGE_PAGE));
        state.page_bytes_out = 1;
        assert!(
            !has_room(&state, LARGE_PAGE),
            "more than a part of the memory"
        );
        (state.page_bytes_out, state.pages_out) = (0, 4);
        assert!(!has_room(&state, LARGE_PAGE), "two a thread");
    }

    /// Ends of row groups are most of the work, so they are not taken out of turn.
    #[test]
    fn ends_come_in_their_turn() {
        let mut state = state(2);
        state.push(0, end(0));
        state.push(1, append(0, 9));
        assert_eq!(next(&mut state, Some(0)), Some(1));
        assert_eq!(next(&mut state, Some(0)), Some(0));
    }
}
