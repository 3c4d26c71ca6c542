//! Async reads: the task that polls the stream opens files ahead, and sends their requests.

use std::collections::VecDeque;
use std::fmt;
use std::future::ready;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::ReadMetrics;
use herringbone::{Error, ErrorKind, Losses, Result};
use herringbone_remote::{BoxFuture, RecordBatchStream, RemoteFile};

use crate::files::in_file;
use crate::plan::DatasetPlan;
use crate::pool::Held;
use crate::progress::Progress;
use crate::window::Window;

/// A stream of the record batches of a dataset.
///
/// Only the task that polls the stream polls requests. It opens files ahead, and requests their first bytes, within the
/// memory of one read. If memory is short, files ahead are closed and read again later. After an error, there are no more
/// batches. Dropping the stream drops all files and requests.
pub struct DatasetStream {
    plan: DatasetPlan,
    window: Window,
    /// The open files, in the order of the output.
    lanes: VecDeque<Lane>,
    /// The place in the plan of the next file to open.
    next: usize,
    /// True if memory was refused. The first file is then read alone until its end.
    is_short: bool,
    is_over: bool,
    /// The losses, and the work of closed files.
    sums: Progress,
}

/// An open file of the read.
struct Lane {
    /// The place of the file in the plan.
    at: usize,
    place: Place,
    /// The next batch, which waits for its turn. Its memory is `None` if it was refused.
    ready: Option<(RecordBatch, Option<Held>)>,
    /// The number of rows returned so far.
    emitted: u64,
    /// True if the file's own footer was compared with that in `_metadata`, or needs not be.
    is_checked: bool,
    /// The losses not added to those of the read yet, and the work of the open file.
    progress: Progress,
}

/// The state of the reader of a file.
enum Place {
    Closed,
    Opening(BoxFuture<Result<RemoteFile>>),
    Open(Box<RecordBatchStream>),
    /// The file's own footer is compared with that in `_metadata`, before this first result is used.
    Checking(
        BoxFuture<Result<()>>,
        Box<RecordBatchStream>,
        Option<Result<RecordBatch>>,
    ),
    Failed(Error),
    Over,
}

impl fmt::Debug for DatasetStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetStream")
            .field("schema", &self.plan.schema)
            .field("open_files", &self.lanes.len())
            .finish_non_exhaustive()
    }
}

impl DatasetStream {
    pub(crate) fn new(plan: DatasetPlan) -> Self {
        Self {
            window: Window::new(&plan.options.read),
            plan,
            lanes: VecDeque::new(),
            next: 0,
            is_short: false,
            is_over: false,
            sums: Progress::default(),
        }
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.plan.schema.clone()
    }

    /// Returns the data lost to damage so far, with the paths of the files, if the options
    /// [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.sums.losses
    }

    /// Returns the counts of the read so far, as sums over all files: row groups, rows, pages, requests, bytes and rounds.
    ///
    /// Listings and footers are not included.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        let mut sum = self.sums.metrics.clone();
        let lanes = self.lanes.iter();
        lanes.for_each(|lane| sum += &lane.progress.metrics);
        sum
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Errors of the files, with their paths.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        std::future::poll_fn(|cx| self.poll_batch(cx)).await
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RecordBatch>>> {
        loop {
            if self.is_over || self.window.is_over() {
                self.end();
                return Poll::Ready(Ok(None));
            }
            match self.poll_lanes(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(Some(batch))) => {
                    if let Some(batch) = self.window.cut(&batch) {
                        return Poll::Ready(Ok(Some(batch)));
                    }
                }
                Poll::Ready(end) => {
                    self.end();
                    return Poll::Ready(end);
                }
            }
        }
    }

    fn end(&mut self) {
        self.is_over = true;
        for lane in self.lanes.drain(..) {
            self.sums.metrics += &lane.progress.metrics;
        }
    }

    /// Returns the next batch of a file whose turn it is. Polls the files ahead, too.
    fn poll_lanes(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<RecordBatch>>> {
        let mut at = 0;
        while at < self.lanes.len() || self.open_next() {
            let is_due = at == 0 || !self.plan.options.is_ordered;
            let Some(lane) = self.lanes.get_mut(at).filter(|_| at == 0 || !self.is_short) else {
                break;
            };
            let polled = lane.poll(&self.plan, is_due, cx);
            self.sums
                .losses
                .append(mem::take(&mut lane.progress.losses));
            match polled {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(Some(batch))) => return Poll::Ready(Ok(Some(batch))),
                Poll::Ready(Ok(None)) => {
                    self.sums.metrics += &mem::take(&mut lane.progress.metrics);
                    drop(self.lanes.remove(at));
                    self.is_short &= at != 0;
                }
                Poll::Ready(Err(error)) => {
                    let is_alone = (self.is_short && at == 0) || self.plan.is_tolerant();
                    if error.kind() != ErrorKind::Limit || is_alone {
                        return Poll::Ready(Err(error));
                    }
                    self.run_short();
                    at = 0;
                }
            }
        }
        match self.lanes.is_empty() {
            true => Poll::Ready(Ok(None)),
            false => Poll::Pending,
        }
    }

    /// Opens the next file, if there may be one more.
    fn open_next(&mut self) -> bool {
        let has_room = self.lanes.len() < self.plan.options.max_open_files;
        let may_be_ahead = has_room && !self.is_short && !self.plan.pool.is_half_used();
        let may_open = self.lanes.is_empty() || may_be_ahead;
        if self.next == self.plan.num_files() || !may_open {
            return false;
        }
        self.lanes.push_back(Lane {
            at: self.next,
            place: Place::Closed,
            ready: None,
            emitted: 0,
            is_checked: false,
            progress: Progress::default(),
        });
        self.next += 1;
        true
    }

    /// Closes the files ahead, after memory was refused. They are opened again later, after the returned rows.
    fn run_short(&mut self) {
        self.is_short = true;
        for lane in &mut self.lanes {
            (lane.place, lane.ready) = (Place::Closed, None);
            self.sums.metrics += &mem::take(&mut lane.progress.metrics);
        }
    }
}

impl Lane {
    /// Returns the next batch, or `None` at the end. If the file is not due, a batch waits for its turn, and so does an
    /// error, unless memory was refused.
    fn poll(
        &mut self,
        plan: &DatasetPlan,
        is_due: bool,
        cx: &mut Context<'_>,
    ) -> Poll<Result<Option<RecordBatch>>> {
        loop {
            if let Some((batch, held)) = self.ready.take() {
                if !is_due {
                    self.ready = Some((batch, held));
                    return Poll::Pending;
                }
                self.emitted += batch.num_rows() as u64;
                return Poll::Ready(Ok(Some(batch)));
            }
            match mem::replace(&mut self.place, Place::Over) {
                Place::Closed => {
                    let future = plan.dataset().files.open(plan.file(self.at)?);
                    self.place = Place::Opening(future);
                }
                Place::Opening(mut future) => match future.as_mut().poll(cx) {
                    Poll::Ready(opened) => self.place = self.open(plan, opened),
                    Poll::Pending => {
                        self.place = Place::Opening(future);
                        return Poll::Pending;
                    }
                },
                Place::Open(mut stream) => {
                    let polled = Pin::new(&mut *stream).poll_next(cx);
                    self.progress = Progress::of_stream(plan.file(self.at)?.path(), &mut stream);
                    match polled {
                        Poll::Ready(first) if !self.is_checked => {
                            self.is_checked = true;
                            self.place = self.check(plan, stream, first)?;
                        }
                        Poll::Ready(next) => self.take(plan, stream, next)?,
                        Poll::Pending => {
                            self.place = Place::Open(stream);
                            return Poll::Pending;
                        }
                    }
                }
                Place::Checking(mut future, stream, first) => match future.as_mut().poll(cx) {
                    Poll::Ready(Ok(())) => self.take(plan, stream, first)?,
                    Poll::Ready(Err(error)) => self.place = Place::Failed(error),
                    Poll::Pending => {
                        self.place = Place::Checking(future, stream, first);
                        return Poll::Pending;
                    }
                },
                Place::Failed(error) if is_due || error.kind() == ErrorKind::Limit => {
                    return Poll::Ready(Err(error));
                }
                Place::Failed(error) => {
                    self.place = Place::Failed(error);
                    return Poll::Pending;
                }
                Place::Over => return Poll::Ready(Ok(None)),
            }
        }
    }

    /// Starts the read of an open file.
    fn open(&self, plan: &DatasetPlan, opened: Result<RemoteFile>) -> Place {
        let stream = opened.and_then(|file| {
            let (_, threads) = plan.threads();
            let options = plan.options_of(self.at, self.emitted)?.threads(threads);
            let path = plan.file(self.at)?.path();
            file.read(options).map_err(|error| in_file(path, error))
        });
        match stream {
            Ok(stream) => Place::Open(Box::new(stream)),
            Err(error) => Place::Failed(error),
        }
    }

    /// Compares the footer that the file is read by with its own, if bytes of the file were read.
    fn check(
        &self,
        plan: &DatasetPlan,
        stream: Box<RecordBatchStream>,
        first: Option<Result<RecordBatch>>,
    ) -> Result<Place> {
        let has_read = self.progress.metrics.fetched.requests > 0;
        let check = match has_read {
            true => plan.dataset().files.check(plan.file(self.at)?)?,
            false => None,
        };
        let check = check.unwrap_or_else(|| Box::pin(ready(Ok(()))));
        Ok(Place::Checking(check, stream, first))
    }

    /// Stores the next batch and its memory, or an error. After the last batch, the place is `Over`.
    fn take(
        &mut self,
        plan: &DatasetPlan,
        stream: Box<RecordBatchStream>,
        next: Option<Result<RecordBatch>>,
    ) -> Result<()> {
        let bytes = |batch: &RecordBatch| batch.get_array_memory_size() as u64;
        match next {
            Some(Ok(batch)) => {
                self.ready = Some((batch.clone(), plan.pool.hold(bytes(&batch))));
                self.place = Place::Open(stream);
            }
            Some(Err(error)) => {
                self.place = Place::Failed(in_file(plan.file(self.at)?.path(), error));
            }
            None => {}
        }
        Ok(())
    }
}

impl Stream for DatasetStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll_batch(cx).map(Result::transpose)
    }
}
