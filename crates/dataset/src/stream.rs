//! Async reads. The task polling the stream performs the tasks of a [`FileSequence`].

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::ReadMetrics;
use herringbone::{Error, Losses, Result};
use herringbone_remote::{BoxFuture, RecordBatchStream};

use crate::plan::DatasetPlan;
use crate::pool::HeldBatch;
use crate::progress::Progress;
use crate::sequence::{FileSequence, FileStep, FileTask, Rows, TaskKind};

/// A running task of an async read.
pub type FileFuture<R, B, E> = BoxFuture<(FileStep<R, B, E>, Progress)>;

type Running<F> =
    FileFuture<<F as StreamFiles>::Reader, <F as StreamFiles>::Batch, <F as StreamFiles>::Error>;

/// The files to be opened and read by a [`FileStream`].
pub trait StreamFiles: Send + Sync + 'static {
    /// An open file.
    type Reader: Send;
    /// The rows returned by one step.
    type Batch: Rows + Send;
    /// An error.
    type Error: Send;

    /// Starts a task, that is, opens the file if necessary and decodes its next batch. The future
    /// must not need its own runtime. It is dropped if memory runs short.
    fn step(self: &Arc<Self>, task: FileTask<Self::Reader>) -> Running<Self>
    where
        Self: Sized;

    /// Returns true if half of the memory is in use. Work ahead then has to wait. By default,
    /// memory is not counted.
    fn is_busy(&self) -> bool {
        false
    }
}

/// The batches of many files. Requests are only polled by the task polling the stream.
pub struct FileStream<F: StreamFiles> {
    files: Arc<F>,
    sequence: FileSequence<F::Reader, F::Batch, F::Error>,
    /// The running tasks, in the order of their files.
    running: VecDeque<(usize, Running<F>)>,
}

impl<F: StreamFiles> FileStream<F> {
    /// Creates a stream over a sequence's files.
    pub fn new(files: F, sequence: FileSequence<F::Reader, F::Batch, F::Error>) -> Self {
        Self {
            files: Arc::new(files),
            sequence,
            running: VecDeque::new(),
        }
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Returns the files' errors.
    pub async fn next_batch(&mut self) -> Result<Option<F::Batch>, F::Error> {
        poll_fn(|cx| self.poll_batch(cx)).await.transpose()
    }

    fn poll_batch(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<F::Batch, F::Error>>> {
        let mut is_polled = false;
        loop {
            if let Some(next) = self.sequence.next_due() {
                return Poll::Ready(Some(next));
            }
            if self.sequence.is_over() {
                self.running.clear();
                return Poll::Ready(None);
            }
            // We start with the first file, because its batch is due.
            let is_finished = !is_polled && (0..self.running.len()).any(|at| self.poll(at, cx));
            is_polled = !is_finished;
            if is_finished {
                continue;
            }
            let Some(task) = self.sequence.take(TaskKind::Any, self.files.is_busy()) else {
                return Poll::Pending;
            };
            let at = self
                .running
                .partition_point(|running| running.0 < task.file);
            let running = (task.file, self.files.step(task));
            self.running.insert(at, running);
            is_polled = !self.poll(at, cx);
        }
    }

    /// Polls a running task, returning true if it is finished.
    fn poll(&mut self, at: usize, cx: &mut Context<'_>) -> bool {
        let Some((file, task)) = self.running.get_mut(at) else {
            return false;
        };
        let Poll::Ready((step, progress)) = task.as_mut().poll(cx) else {
            return false;
        };
        let file = *file;
        drop(self.running.remove(at));
        self.sequence.finish(file, step, progress);
        self.running
            .retain(|running| !self.sequence.may_drop(running.0));
        true
    }
}

impl<F: StreamFiles> fmt::Debug for FileStream<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStream")
            .field("open_files", &self.sequence.num_open())
            .finish_non_exhaustive()
    }
}

/// A stream of a dataset's record batches.
///
/// Requests are only polled by the task polling the stream. It opens files ahead and requests their
/// first bytes, within the memory of a single read. If memory runs short, files ahead are closed
/// and read again later. After an error, there are no more batches. Dropping the stream also drops
/// all files and requests.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::ReadOptions;
/// use herringbone_dataset::{Dataset, DatasetOptions, LocalFiles};
/// # futures::executor::block_on(async {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let paths = ["testdata/datasets/codes".to_owned()];
/// let dataset = Dataset::open_async(Arc::new(LocalFiles), &paths, DatasetOptions::new()).await?;
/// let mut batches = dataset.stream(ReadOptions::new().limit(5))?;
/// let mut rows = 0;
/// while let Some(batch) = batches.next_batch().await? {
///     rows += batch.num_rows();
/// }
/// assert_eq!(rows, 5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DatasetStream(FileStream<DatasetPlan>);

impl DatasetStream {
    pub(crate) fn new(plan: DatasetPlan) -> Self {
        let sequence = FileSequence::new(plan.num_files(), &plan.options);
        Self(FileStream::new(plan, sequence))
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.0.files.schema.clone()
    }

    /// Returns the data lost to damage so far, with the files' paths, if the options
    /// [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        self.0.sequence.losses()
    }

    /// Returns the read's metrics so far, summed over all files: row groups, rows, pages, requests,
    /// bytes and rounds.
    ///
    /// Work on listings and footers is not included.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.0.sequence.metrics()
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Fails for the same reasons as
    /// [`RecordBatchStream::next_batch`](herringbone_remote::RecordBatchStream::next_batch). The
    /// error has the file path.
    pub async fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx))
            .await
            .transpose()
    }
}

impl Stream for DatasetStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.get_mut().0.poll_batch(cx);
        next.map(|next| next.map(|held| held.map(HeldBatch::into_batch)))
    }
}

impl StreamFiles for DatasetPlan {
    type Reader = Box<RecordBatchStream>;
    type Batch = HeldBatch;
    type Error = Error;

    fn step(self: &Arc<Self>, task: FileTask<Self::Reader>) -> Running<Self> {
        let (plan, mut progress) = (self.clone(), Progress::default());
        Box::pin(async move {
            let step = plan.stream_step(task, &mut progress).await;
            (step.unwrap_or_else(FileStep::of_error), progress)
        })
    }

    fn is_busy(&self) -> bool {
        self.pool.is_half_used()
    }
}

impl DatasetPlan {
    async fn stream_step(
        &self,
        task: FileTask<Box<RecordBatchStream>>,
        progress: &mut Progress,
    ) -> Result<FileStep<Box<RecordBatchStream>, HeldBatch, Error>> {
        let file = self.file(task.file)?;
        let named = |error: Error| error.in_file(file.path());
        let is_first = task.reader.is_none();
        let mut stream = match task.reader {
            Some(stream) => stream,
            None => {
                let opened = self.dataset().files.open(file).await?;
                let mut options = self.options_of(task.file, task.emitted)?;
                if let Some(bytes) = self.bytes_of(task.file) {
                    let row_groups = opened.metadata_handle().row_groups_in(bytes);
                    options = options.row_groups(row_groups.map_err(named)?);
                }
                let read = opened.read(options.threads(self.threads().1));
                Box::new(read.map_err(named)?)
            }
        };
        let batch = stream.next_batch().await;
        *progress = Progress::of_stream(file.path(), &mut stream);
        // We have to compare the footer in `_metadata` with the file's own before using any result
        // that depends on the file's bytes.
        let has_read = progress.metrics.fetched.requests > 0;
        if let Some(check) = match is_first && has_read {
            true => self.dataset().files.check(file)?,
            false => None,
        } {
            check.await?;
        }
        Ok(match batch.map_err(named)? {
            None => FileStep::Finished,
            Some(batch) => FileStep::Batch(stream, self.pool.hold(batch)),
        })
    }
}
