//! The pages of a column chunk, which several threads finish, in their order again.

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

/// The pages of a chunk that there are, and what waits for them.
#[derive(Default)]
struct Collected {
    /// The first ones.
    pages: ChunkPages,
    /// Those that are finished before one in front of them is.
    early: BTreeMap<usize, Result<FinishedPage>>,
    /// One of them failed: nothing behind it counts.
    failed: bool,
    /// The error of it, until it is known with which rows it came.
    error: Option<Error>,
    waiting: VecDeque<Waiting>,
    /// What became of tasks, the first one first, until somebody fetches it.
    reports: Vec<Report>,
}

/// What became of a task, once so many pages of the chunk are there.
pub(super) struct Waiting {
    pub(super) num_pages: usize,
    pub(super) slice: usize,
    /// What there is of it without its pages.
    pub(super) task: Done<EndedColumn>,
    /// What went wrong behind these pages.
    pub(super) error: Option<Error>,
}

/// What became of a task.
pub(super) struct Report {
    pub(super) column: usize,
    pub(super) row_group: usize,
    pub(super) slice: usize,
    pub(super) done: Done<EncodedColumn>,
    pub(super) error: Option<Error>,
}

/// A task that was done: `C` is a chunk, with its pages or without.
pub(super) enum Done<C> {
    /// Rows were appended.
    Append {
        estimated_bytes: usize,
        heap_bytes: usize,
    },
    /// The chunk ended; it is there unless there was an error.
    End(Option<Box<C>>),
}

/// A page that was handed out.
pub(super) struct PageJob {
    chunk: Arc<Chunk>,
    page: Box<UnfinishedPage>,
}

/// Hands out the pages of a column, or finishes them at once.
pub(super) struct Pages<'a> {
    pub(super) shared: &'a Shared<Encoding>,
    pub(super) chunk: &'a Arc<Chunk>,
    /// Pages of the chunk so far.
    pub(super) num_pages: usize,
}

impl Done<EncodedColumn> {
    /// Rows of a column that failed before.
    pub(super) const NOTHING: Self = Self::Append {
        estimated_bytes: 0,
        heap_bytes: 0,
    };
}

impl PageSink for Pages<'_> {
    fn page(&mut self, mut page: UnfinishedPage) -> Result<PageBuffers> {
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

    /// Finishes the page; its chunk, which may have something to report then.
    pub(super) fn run(self) -> Arc<Chunk> {
        let ordinal = self.page.ordinal();
        let mut page = self.page.finish();
        if let Ok(page) = &mut page {
            // What was compressed needs no memory any more.
            drop(page.next_buffers());
        }
        self.chunk.insert(ordinal, page);
        self.chunk
    }
}

impl Chunk {
    /// The chunk of a column in a row group.
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

    /// Takes the page that the column just made; memory for its next one.
    fn push(&self, ordinal: usize, mut page: FinishedPage) -> Result<PageBuffers> {
        let mut collected = self.lock();
        if collected.pages.num_pages() == ordinal && !collected.failed {
            return collected.pages.push(page);
        }
        let buffers = page.next_buffers();
        collected.early.insert(ordinal, Ok(page));
        Ok(buffers)
    }

    /// Takes a page that was handed out.
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

    /// Reports a task as soon as its pages are there; the bytes that the chunk holds.
    pub(super) fn wait(&self, waiting: Waiting) -> usize {
        let mut collected = self.lock();
        collected.waiting.push_back(waiting);
        self.report(&mut collected);
        collected.pages.heap_bytes()
    }

    /// Gives what there is to report to `take`. Who holds the state meanwhile has it in its order.
    pub(super) fn take_reports(&self, take: impl FnMut(Report)) {
        self.lock().reports.drain(..).for_each(take);
    }

    /// Whether a page failed.
    pub(super) fn has_failed(&self) -> bool {
        self.lock().failed
    }

    /// Reports what waits for no page.
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
    /// The next page, if it is there and counts.
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

    /// What became of a task behind so many pages, and the error of one of these.
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
