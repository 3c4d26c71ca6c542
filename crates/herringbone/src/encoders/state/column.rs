//! Columns and their tasks.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_write::ColumnWriter;

use super::super::pages::{Chunk, Done, PageJob, Report};

/// The sort key of tasks: the slice, and true if the task ends a row group after that slice.
pub(super) type TaskOrder = (usize, bool);

/// A column's state across all row groups.
pub(crate) struct Column {
    /// The open chunk. It is absent while a thread works on the column, after an error, and after
    /// the last row group.
    pub(super) writing: Option<Box<Writing>>,
    /// True after an error, and after the last row group.
    pub(super) is_over: bool,
    pub(super) tasks: VecDeque<Task>,
    pub(super) heap_bytes: usize,
}

/// A column's chunk in the open row group.
pub(crate) struct Writing {
    pub(crate) writer: ColumnWriter,
    pub(crate) chunk: Arc<Chunk>,
    /// The number of pages in the chunk, finished or not.
    pub(crate) num_pages: usize,
}

pub(crate) enum Task {
    /// Rows of an array to append.
    Append {
        slice: usize,
        array: ArrayRef,
        /// The array's size in bytes, including rows outside `rows`.
        array_bytes: usize,
        rows: Range<usize>,
    },
    /// The end of a row group, after this slice.
    End {
        slice: usize,
        row_group: usize,
        /// True if no row group follows.
        is_last: bool,
    },
}

/// The unit of work that a thread takes.
pub(crate) enum Job {
    Column(ColumnJob),
    Page(PageJob),
}

/// A task and its column.
pub(crate) struct ColumnJob {
    pub(crate) column: usize,
    pub(crate) writing: Box<Writing>,
    pub(crate) task: Task,
}

/// A task's result, as far as it concerns its column.
pub(crate) struct Outcome {
    pub(crate) column: usize,
    /// The open chunk. Absent after an error and after the last row group.
    pub(crate) writing: Option<Box<Writing>>,
    pub(crate) heap_bytes: usize,
    /// If a row group ended, its ordinal and the byte count of its chunk.
    pub(crate) ended: Option<(usize, usize)>,
    /// The chunk that the task worked on. It might have new reports.
    pub(crate) chunk: Arc<Chunk>,
}

impl Task {
    pub(super) fn order(&self) -> TaskOrder {
        match self {
            Self::Append { slice, .. } => (*slice, false),
            Self::End { slice, .. } => (*slice, true),
        }
    }

    pub(super) fn array_bytes(&self) -> usize {
        match self {
            Self::Append { array_bytes, .. } => *array_bytes,
            Self::End { .. } => 0,
        }
    }

    /// Returns the report for a task skipped because its column is over.
    pub(super) fn into_report(self, column: usize) -> Report {
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
    /// Returns the job's column, or `None` for a page.
    pub(crate) fn column(&self) -> Option<usize> {
        match self {
            Self::Column(job) => Some(job.column),
            Self::Page(_) => None,
        }
    }
}

impl Column {
    pub(crate) fn new(writing: Writing) -> Self {
        Self {
            writing: Some(Box::new(writing)),
            is_over: false,
            tasks: VecDeque::new(),
            heap_bytes: 0,
        }
    }

    /// Returns the next task, unless a thread is working on the column.
    pub(super) fn next_task(&self) -> Option<&Task> {
        self.writing.as_ref().and_then(|_| self.tasks.front())
    }

    /// Returns true if the next task appends rows of this slice or an earlier one.
    pub(super) fn waits_with_rows_to(&self, last_slice: usize) -> bool {
        matches!(self.next_task(), Some(Task::Append { slice, .. }) if *slice <= last_slice)
    }
}
