//! The encoding work itself, that is, a thread's processing of a column or a page.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use herringbone_arrow::array::ArrayRef;
use herringbone_format::Result;
use herringbone_pipeline::{Shared, Work};
use herringbone_write::{BlockMemory, EndedColumn, WritePlan};

use super::pages::{Chunk, Done, Pages, Waiting};
use super::state::{ColumnJob, Job, Outcome, State, Task, Writing};

/// The time a waiting caller sleeps before checking again if the program wants to end the write.
const PATIENCE: Duration = Duration::from_millis(50);

/// The planned encoding of a file's columns.
pub(super) struct Encoding {
    pub(super) plan: Arc<WritePlan>,
}

/// A thread's scratch state.
#[derive(Default)]
pub(super) struct Hands {
    memory: BlockMemory,
    /// The column that the thread last worked on. Used to keep the thread on that column.
    last: Option<usize>,
}

/// The result of a job.
pub(super) enum JobDone {
    Column(Outcome),
    /// A handed-out page's byte count and chunk.
    Page(usize, Arc<Chunk>),
}

impl Work for Encoding {
    type State = State;
    type Task = Job;
    type Output = JobDone;
    type Scratch = Hands;

    fn take(&self, state: &mut State, hands: &mut Hands) -> Option<Job> {
        let job = state.next_job(hands.last)?;
        hands.last = job.column().or(hands.last);
        Some(job)
    }

    fn wants_help(&self, state: &mut State) -> bool {
        state.threads > 1 && state.has_jobs()
    }

    fn run(&self, job: Job, hands: &mut Hands, shared: &Shared<Self>) -> JobDone {
        let ColumnJob {
            column,
            writing,
            task,
        } = match job {
            Job::Page(page) => {
                let bytes = page.bytes();
                return JobDone::Page(bytes, page.run(self.check()));
            }
            Job::Column(job) => job,
        };
        JobDone::Column(match task {
            Task::Append {
                slice, array, rows, ..
            } => append(
                shared,
                column,
                writing,
                (slice, &array, rows),
                &mut hands.memory,
            ),
            Task::End {
                slice,
                row_group,
                is_last,
            } => end(shared, column, *writing, (slice, row_group, is_last)),
        })
    }

    fn finish(&self, state: &mut State, done: JobDone) {
        match done {
            JobDone::Column(outcome) => state.take_back(outcome),
            JobDone::Page(bytes, chunk) => {
                state.page_is_finished(bytes);
                state.report_all(&chunk);
            }
        }
    }

    fn patience(&self) -> Option<Duration> {
        let interrupt = self.plan.options().interrupt.as_ref();
        interrupt.map(|_| PATIENCE)
    }

    fn attend(&self) {
        // We can drop the error here, because the encoding threads get it too.
        drop(self.check());
    }
}

impl Encoding {
    /// Fails if the program wants to end the write.
    pub(super) fn check(&self) -> Result<()> {
        match &self.plan.options().interrupt {
            Some(interrupt) => interrupt.check(),
            None => Ok(()),
        }
    }
}

/// Appends rows of an array to a column.
fn append(
    shared: &Shared<Encoding>,
    column: usize,
    mut writing: Box<Writing>,
    (slice, array, rows): (usize, &ArrayRef, Range<usize>),
    memory: &mut BlockMemory,
) -> Outcome {
    let mut pages = Pages {
        shared,
        chunk: &writing.chunk,
        num_pages: writing.num_pages,
    };
    let written = writing.writer.write(array, rows, memory, &mut pages);
    writing.num_pages = pages.num_pages;
    let heap_bytes = writing.writer.heap_bytes();
    let is_written = written.is_ok();
    let chunk = writing.chunk.clone();
    let chunk_bytes = chunk.wait(Waiting {
        num_pages: writing.num_pages,
        slice,
        task: Done::Append {
            estimated_bytes: writing.writer.estimated_bytes(),
            heap_bytes,
        },
        error: written.err(),
    });
    let goes_on = is_written && !chunk.has_failed();
    Outcome {
        column,
        writing: goes_on.then_some(writing),
        heap_bytes: heap_bytes + chunk_bytes,
        ended: None,
        chunk,
    }
}

/// Ends a chunk, starting the next one unless this is the last.
fn end(
    shared: &Shared<Encoding>,
    column: usize,
    writing: Writing,
    (slice, row_group, is_last): (usize, usize, bool),
) -> Outcome {
    let Writing {
        writer,
        chunk,
        num_pages,
    } = writing;
    let mut pages = Pages {
        shared,
        chunk: &chunk,
        num_pages,
    };
    let ended = writer.finish(&mut pages);
    let num_pages = pages.num_pages;
    let plan = &shared.work().plan;
    let next = |ended: &EndedColumn| match is_last {
        true => Ok(None),
        false => Writing::new(plan, column, row_group + 1, Some(ended)).map(Some),
    };
    let ended = ended.and_then(|ended| next(&ended).map(|next| (ended, next)));
    let (ended, writing, error) = match ended {
        Ok((ended, writing)) => (Some(Box::new(ended)), writing.map(Box::new), None),
        Err(error) => (None, None, Some(error)),
    };
    let chunk_bytes = chunk.wait(Waiting {
        num_pages,
        slice,
        task: Done::End(ended),
        error,
    });
    let writing = writing.filter(|_| !chunk.has_failed());
    let heap_bytes = writing.as_ref().map_or(0, |next| next.writer.heap_bytes());
    Outcome {
        column,
        writing,
        heap_bytes,
        ended: Some((row_group, chunk_bytes)),
        chunk,
    }
}

impl Writing {
    /// Creates an empty chunk. `before` is the column's ended chunk in the previous row group.
    pub(super) fn new(
        plan: &WritePlan,
        column: usize,
        row_group: usize,
        before: Option<&EndedColumn>,
    ) -> Result<Self> {
        Ok(Self {
            writer: plan.column_writer(column, row_group, before)?,
            chunk: Chunk::new(column, row_group),
            num_pages: 0,
        })
    }
}
