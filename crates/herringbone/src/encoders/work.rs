//! The threads at work: each takes what is to be done next, and reports what became of it.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use herringbone_arrow::array::ArrayRef;
use herringbone_core::write::{BlockMemory, EndedColumn, UnfinishedPage, WritePlan};
use herringbone_format::Result;

use super::pages::{Chunk, Done, Pages, Report, Waiting};
use super::state::{ColumnJob, Job, Outcome, Reporting, State, Task, Writing};

pub(super) struct Shared {
    pub(super) plan: Arc<WritePlan>,
    pub(super) state: Mutex<State>,
    /// A column has tasks, a page was handed out, or everything is over.
    pub(super) work: Condvar,
    /// A job is done, or a page was handed out.
    pub(super) done: Condvar,
    /// What the caller works with.
    pub(super) callers_memory: Mutex<BlockMemory>,
}

/// What became of a job.
enum JobDone {
    Column(Outcome),
    /// A page of so many bytes.
    Page(usize, Arc<Chunk>),
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is to hand the page out by, if it should be.
    pub(super) fn room_for(&self, page: &UnfinishedPage) -> Option<MutexGuard<'_, State>> {
        if !page.is_work() {
            return None;
        }
        let state = self.lock();
        let memory_bytes = self.plan.options().memory_bytes;
        let has_room = state.has_room_for(page.bytes(), memory_bytes);
        has_room.then_some(state)
    }

    /// A page was handed out, to a worker or to the caller, whoever has nothing to do.
    pub(super) fn page_is_out(&self) {
        self.work.notify_one();
        self.done.notify_all();
    }

    /// The error that counts, or the panic of a worker. An error counts when nothing before it can fail any more.
    pub(super) fn check<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>> {
        while let Some(failure) = &state.error {
            if state.is_first(failure) {
                break;
            }
            state = self.work_or_wait(state);
        }
        state = Self::resume_panic(state);
        match state.error.take() {
            Some(failure) => Err(failure.error),
            None => Ok(state),
        }
    }

    /// Waits until the first `n` slices are finished.
    pub(super) fn wait_for<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        n: usize,
    ) -> MutexGuard<'a, State> {
        while !state.are_finished(n) {
            state = self.work_or_wait(state);
        }
        state
    }

    /// Works on one job; waits for another thread to be done with one if there is none.
    pub(super) fn work_or_wait<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        let mut state = Self::resume_panic(state);
        let last = state.callers_last;
        let Some(job) = state.next_job(last) else {
            return self
                .done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        };
        state.callers_last = job.column().or(last);
        drop(state);
        let memory = self.callers_memory.lock();
        let done = self.run(job, &mut memory.unwrap_or_else(PoisonError::into_inner));
        let mut state = self.lock();
        state.note(done);
        if state.is_over() {
            self.work.notify_all();
        } else if state.has_jobs() {
            // The caller may have no need of them.
            self.work.notify_one();
        }
        state
    }

    /// Goes on with the panic of a worker, if there was one.
    fn resume_panic(mut state: MutexGuard<'_, State>) -> MutexGuard<'_, State> {
        if let Some(panic) = state.panic.take() {
            state.stop = true;
            drop(state);
            resume_unwind(panic);
        }
        state
    }

    /// What a worker does until everything is over. It does not wait for the caller to say so: to end takes time as well.
    pub(super) fn work(&self) {
        let mut last = None;
        let mut memory = BlockMemory::default();
        let mut state = self.lock();
        while !state.stop {
            let Some(job) = state.next_job(last) else {
                if state.is_over() {
                    self.work.notify_all();
                    break;
                }
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            last = job.column().or(last);
            drop(state);
            let done = catch_unwind(AssertUnwindSafe(|| self.run(job, &mut memory)));
            state = self.lock();
            match done {
                Ok(done) => state.note(done),
                Err(panic) => {
                    state.panic = Some(panic);
                    state.stop = true;
                }
            }
            self.done.notify_all();
        }
    }

    fn run(&self, job: Job, memory: &mut BlockMemory) -> JobDone {
        match job {
            Job::Page(page) => {
                let bytes = page.bytes();
                JobDone::Page(bytes, page.run())
            }
            Job::Column(ColumnJob {
                column,
                writing,
                task,
            }) => JobDone::Column(match (writing, task) {
                (
                    Some(writing),
                    Task::Append {
                        slice, array, rows, ..
                    },
                ) => append(self, column, writing, (slice, &array, rows), memory),
                (
                    Some(writing),
                    Task::End {
                        slice,
                        row_group,
                        is_last,
                    },
                ) => end(self, column, *writing, (slice, row_group, is_last)),
                (None, task) => nothing(column, &task),
            }),
        }
    }
}

impl State {
    /// Notes what became of a job.
    fn note(&mut self, done: JobDone) {
        match done {
            JobDone::Column(outcome) => self.take_back(outcome),
            JobDone::Page(bytes, chunk) => {
                self.page_is_finished(bytes);
                self.report_all(&chunk);
            }
        }
    }
}

/// Appends rows of an array.
fn append(
    shared: &Shared,
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
        reporting: Reporting::Chunk(chunk),
    }
}

/// Ends a chunk, and begins the next one unless it is the last.
fn end(
    shared: &Shared,
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
    let next = |ended: &EndedColumn| match is_last {
        true => Ok(None),
        false => Writing::new(&shared.plan, column, row_group + 1, Some(ended)).map(Some),
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
        reporting: Reporting::Chunk(chunk),
    }
}

/// What becomes of a task after an error: no more.
fn nothing(column: usize, task: &Task) -> Outcome {
    let (slice, row_group, done) = match task {
        Task::Append { slice, .. } => {
            let done = Done::Append {
                estimated_bytes: 0,
                heap_bytes: 0,
            };
            (*slice, 0, done)
        }
        Task::End {
            slice, row_group, ..
        } => (*slice, *row_group, Done::End(None)),
    };
    Outcome {
        column,
        writing: None,
        heap_bytes: 0,
        ended: None,
        reporting: Reporting::Task(Report {
            column,
            row_group,
            slice,
            done,
            error: None,
        }),
    }
}

impl Writing {
    /// An empty chunk, behind the one of the last row group.
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
