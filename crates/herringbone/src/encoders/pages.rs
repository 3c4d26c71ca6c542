//! Putting a column chunk's pages back in order, after several threads have finished them in any
//! order.

use std::collections::{BTreeMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_format::{Error, Result};
use herringbone_pipeline::Shared;
use herringbone_write::{
    ChunkPages, EncodedColumn, EndedColumn, FinishedPage, PageBuffers, PageSink, UnfinishedPage,
};

use super::state::State;
use super::work::Encoding;

/// A column chunk under construction.
pub(super) struct Chunk {
    column: usize,
    row_group: usize,
    collected: Mutex<Collected>,
}

/// A chunk's finished pages, and the tasks waiting for pages.
#[derive(Default)]
struct Collected {
    /// The finished pages, in order and without gaps.
    pages: ChunkPages,
    /// Pages finished before one of their predecessors.
    early: BTreeMap<usize, Result<FinishedPage>>,
    /// True if a page failed. Later pages are then ignored.
    failed: bool,
    /// The failed page's error, until a task takes it.
    error: Option<Error>,
    waiting: VecDeque<Waiting>,
    /// Results of completed tasks, in order, not fetched yet.
    reports: Vec<Report>,
}

/// A task that completes once `num_pages` pages of the chunk are finished.
pub(super) struct Waiting {
    pub(super) num_pages: usize,
    pub(super) slice: usize,
    /// The task's result, without its pages.
    pub(super) task: Done<EndedColumn>,
    /// An error that occurred after these pages.
    pub(super) error: Option<Error>,
}

/// The result of a task.
pub(super) struct Report {
    pub(super) column: usize,
    pub(super) row_group: usize,
    pub(super) slice: usize,
    pub(super) done: Done<EncodedColumn>,
    pub(super) error: Option<Error>,
}

/// The kind of a completed task. `C` is a chunk with or without its pages.
pub(super) enum Done<C> {
    /// Rows were appended.
    Append {
        estimated_bytes: usize,
        heap_bytes: usize,
    },
    /// The chunk ended. It is `None` after an error.
    End(Option<Box<C>>),
}

/// A page handed out by the column's thread.
pub(super) struct PageJob {
    chunk: Arc<Chunk>,
    page: Box<UnfinishedPage>,
}

/// A sink that hands out a column's pages to other threads, or finishes them immediately.
pub(super) struct Pages<'a> {
    pub(super) shared: &'a Shared<Encoding>,
    pub(super) chunk: &'a Arc<Chunk>,
    /// The number of the chunk's pages so far.
    pub(super) num_pages: usize,
}

impl Done<EncodedColumn> {
    /// The result of appending rows to an already failed column.
    pub(super) const NOTHING: Self = Self::Append {
        estimated_bytes: 0,
        heap_bytes: 0,
    };
}

impl PageSink for Pages<'_> {
    fn page(&mut self, mut page: UnfinishedPage) -> Result<PageBuffers> {
        self.shared.work().check()?;
        let (bytes, options) = (page.bytes(), self.shared.work().plan.options());
        let make_room = |state: &mut State| state.make_room(bytes, options.memory_bytes);
        let buffers = if page.is_work() && self.shared.update(make_room) {
            let buffers = page.next_buffers();
            let job = PageJob {
                chunk: self.chunk.clone(),
                page: Box::new(page),
            };
            self.shared.update(|state| state.pages.push_back(job));
            buffers
        } else {
            self.chunk.push(self.num_pages, page.finish()?)?
        };
        self.num_pages += 1;
        Ok(buffers)
    }
}

impl PageJob {
    pub(super) fn bytes(&self) -> usize {
        self.page.bytes()
    }

    /// Finishes the page, unless there is an error. Returns the page's chunk, which might now have
    /// reports.
    pub(super) fn run(self, checked: Result<()>) -> Arc<Chunk> {
        let ordinal = self.page.ordinal();
        let mut page = checked.and_then(|()| self.page.finish());
        if let Ok(page) = &mut page {
            // We drop the uncompressed bytes now, so that they don't use memory while the page is
            // waiting for its turn.
            drop(page.next_buffers());
        }
        self.chunk.insert(ordinal, page);
        self.chunk
    }
}

impl Chunk {
    /// Creates a column's chunk in a row group.
    pub(super) fn new(column: usize, row_group: usize) -> Arc<Self> {
        Arc::new(Self {
            column,
            row_group,
            collected: Mutex::default(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Collected> {
        self.collected
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a page finished by the column's own thread, returning buffers for the next page.
    fn push(&self, ordinal: usize, mut page: FinishedPage) -> Result<PageBuffers> {
        let mut collected = self.lock();
        if collected.pages.num_pages() == ordinal && !collected.failed {
            return collected.pages.push(page);
        }
        let buffers = page.next_buffers();
        collected.early.insert(ordinal, Ok(page));
        Ok(buffers)
    }

    /// Adds a handed-out page and reports the tasks that were only waiting for this page.
    fn insert(&self, ordinal: usize, page: Result<FinishedPage>) {
        let mut collected = self.lock();
        collected.early.insert(ordinal, page);
        while let Some(page) = collected.next_early() {
            match page.and_then(|page| collected.pages.push(page)) {
                Ok(_) => {}
                Err(error) => {
                    collected.failed = true;
                    collected.error = Some(error);
                }
            }
            self.report(&mut collected);
        }
    }

    /// Reports a task as soon as its pages are finished. Returns the chunk's byte count.
    pub(super) fn wait(&self, waiting: Waiting) -> usize {
        let mut collected = self.lock();
        collected.waiting.push_back(waiting);
        self.report(&mut collected);
        collected.pages.heap_bytes()
    }

    /// Passes all reports to `take`. Callers must hold the state's lock if they need the reports in
    /// order.
    pub(super) fn take_reports(&self, take: impl FnMut(Report)) {
        self.lock().reports.drain(..).for_each(take);
    }

    /// Returns true if a page failed.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// Reports the tasks whose pages are finished.
    fn report(&self, collected: &mut Collected) {
        while let Some(waiting) = collected.next_waiting() {
            let (done, error) = collected.finish(waiting.task, waiting.num_pages);
            collected.reports.push(Report {
                column: self.column,
                row_group: self.row_group,
                slice: waiting.slice,
                done,
                error: error.or(waiting.error),
            });
        }
    }
}

impl Collected {
    /// Returns the next page in order, if it is finished and no earlier page failed.
    fn next_early(&mut self) -> Option<Result<FinishedPage>> {
        if self.failed {
            return None;
        }
        self.early.remove(&self.pages.num_pages())
    }

    fn next_waiting(&mut self) -> Option<Waiting> {
        let waiting = self.waiting.front()?;
        let is_there = self.failed || waiting.num_pages <= self.pages.num_pages();
        is_there.then(|| self.waiting.pop_front()).flatten()
    }

    /// Returns the result of a task that ends after `num_pages` pages, and the error if any of
    /// these pages failed.
    fn finish(
        &mut self,
        task: Done<EndedColumn>,
        num_pages: usize,
    ) -> (Done<EncodedColumn>, Option<Error>) {
        let error = match self.failed && num_pages > self.pages.num_pages() {
            true => self.error.take(),
            false => None,
        };
        match task {
            Done::Append {
                estimated_bytes,
                heap_bytes,
            } => {
                let done = Done::Append {
                    estimated_bytes: estimated_bytes + self.pages.bytes(),
                    heap_bytes: heap_bytes + self.pages.heap_bytes(),
                };
                (done, error)
            }
            Done::End(ended) => {
                let ended = ended.filter(|_| !self.failed);
                match ended.map(|ended| ended.with_pages(mem::take(&mut self.pages))) {
                    Some(Ok(chunk)) => (Done::End(Some(Box::new(chunk))), error),
                    Some(Err(wrong)) => (Done::End(None), Some(wrong)),
                    None => (Done::End(None), error),
                }
            }
        }
    }
}
