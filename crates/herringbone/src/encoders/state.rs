//! What the threads share: columns with their tasks, pages that were handed out, and what is known of slices and row
//! groups.

use std::any::Any;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_core::write::{ColumnWriter, EncodedColumn, UnfinishedPage};
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

/// Bytes that a byte of an array may become while it is encoded, as a rule: small integers become
/// codes of four bytes.
const GROWTH: usize = 4;

/// Bytes that a column may take for its first rows: tables of its dictionary, mostly.
const FIRST_BYTES: usize = 256 << 10;

#[derive(Default)]
pub(super) struct State {
    pub(super) columns: Vec<Column>,
    /// Columns with tasks that nobody works on.
    pub(super) ready: VecDeque<usize>,
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
    /// The error that counts so far.
    pub(super) error: Option<Failure>,
    pub(super) stop: bool,
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

/// One column, over all row groups.
pub(super) struct Column {
    /// Absent while somebody works on it, and after an error.
    writing: Option<Box<Writing>>,
    tasks: VecDeque<Task>,
    heap_bytes: usize,
    /// Somebody works on it, or will.
    taken: bool,
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
        rows: Range<usize>,
    },
    /// The end of a row group, behind the slice.
    End { slice: usize, row_group: usize },
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
    /// Absent after an error.
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
    pub(super) columns: Vec<Ended>,
    pub(super) columns_left: usize,
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
            taken: false,
        }
    }
}

impl RowGroup {
    /// A row group of so many rows and columns that has just ended.
    pub(super) fn new(rows: u64, columns: usize) -> Self {
        Self {
            rows,
            columns: (0..columns).map(|_| Ended::No).collect(),
            columns_left: columns,
        }
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
            if !column.taken {
                column.taken = true;
                self.busy += 1;
                self.ready.push_back(ordinal);
            }
        }
    }

    /// Whether a page should be handed out: where columns with tasks are too few for all threads, and not too many pages
    /// are under way.
    pub(super) fn has_room_for(&self, page: &UnfinishedPage, memory_bytes: usize) -> bool {
        self.busy < self.threads
            && page.is_work()
            && self.pages_out < PAGES_A_THREAD * self.threads
            && self.page_bytes_out + page.bytes() <= memory_bytes / PAGES_IN_MEMORY
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

    pub(super) fn has_jobs(&self) -> bool {
        !self.pages.is_empty() || !self.ready.is_empty()
    }

    /// What is to be done first: pages, which others wait for.
    pub(super) fn next_job(&mut self) -> Option<Job> {
        if let Some(page) = self.pages.pop_front() {
            return Some(Job::Page(page));
        }
        let ordinal = self.ready.pop_front()?;
        let column = self.columns.get_mut(ordinal)?;
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
            column.taken = !column.tasks.is_empty();
            match column.taken {
                true => self.ready.push_back(outcome.column),
                false => self.busy -= 1,
            }
        }
        if let Some((row_group, heap_bytes)) = outcome.ended {
            let index = row_group.wrapping_sub(self.first_row_group);
            let group = self.row_groups.get_mut(index);
            let place = group.and_then(|group| group.columns.get_mut(outcome.column));
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
        let reports = chunk.take_reports();
        reports.into_iter().for_each(|report| self.report(report));
    }

    /// Notes what became of a task.
    fn report(&mut self, report: Report) {
        let at_end = matches!(report.done, Done::End(_));
        match report.done {
            Done::End(chunk) => {
                let index = report.row_group.wrapping_sub(self.first_row_group);
                if let Some(group) = self.row_groups.get_mut(index) {
                    group.columns_left -= 1;
                    if let Some(place) = group.columns.get_mut(report.column) {
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
    /// Errors that are less here come first.
    fn order(&self) -> (usize, bool, usize) {
        (self.slice, self.at_end, self.column)
    }
}
