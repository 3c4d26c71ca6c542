//! Writing datasets to stores asynchronously.
//!
//! The `Partitioner` decides what to do next, and this module sends the requests. Files being
//! finished are polled along with every write, so that their last requests don't hold up other
//! files' rows.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use herringbone::Result;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone_remote::{BoxFuture, RemoteWriteOptions, RemoteWriter};

use crate::listing::Listing;
use crate::partitioner::{OpenFile, Partitioner, Step};
use crate::writer::{DatasetWriteOptions, WrittenFile};

/// The most files to finish concurrently.
const MAX_FINISHING: usize = 16;

/// Writes record batches to a dataset's files in a store. This is the async counterpart of
/// [`DatasetWriter`](crate::DatasetWriter).
///
/// Each file is a [`RemoteWriter`]. Up to 16 files are finished concurrently while other files'
/// rows are being written. Requests are only sent by the task awaiting one of the writer's methods.
///
/// If a method fails, or if you drop its future before it is ready, the dataset can no longer be
/// finished. Files already complete remain, and [`Self::abort`] removes the uploaded parts of the
/// others.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::Result;
/// use herringbone::arrow::array::RecordBatch;
/// use herringbone_dataset::{AsyncDatasetWriter, DatasetWriteOptions, Listing};
///
/// async fn write(store: Arc<dyn Listing>, batches: &[RecordBatch]) -> Result<usize> {
///     let options = DatasetWriteOptions::new().partition_by(["city"]);
///     let mut writer = AsyncDatasetWriter::create(store, "table", batches[0].schema(), options)?;
///     for batch in batches {
///         writer.write(batch).await?;
///     }
///     Ok(writer.finish().await?.len())
/// }
/// ```
#[derive(Debug)]
pub struct AsyncDatasetWriter {
    store: Arc<dyn Listing>,
    /// The directory path, with a trailing `/` unless it is empty.
    directory: String,
    remote: RemoteWriteOptions,
    files: Partitioner<RemoteWriter>,
    finishing: Finishing,
}

impl OpenFile for RemoteWriter {
    fn num_rows(&self) -> u64 {
        Self::num_rows(self)
    }

    fn bytes(&self) -> u64 {
        self.estimated_bytes()
    }

    fn memory_size(&self) -> u64 {
        Self::memory_size(self)
    }
}

impl AsyncDatasetWriter {
    /// Prepares to write batches of this schema below a directory of a store, without sending a
    /// request.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if a partition column does not exist
    /// or is named twice, if no column is left for the files, or if the file names cannot be used.
    /// Fails with [Unsupported](herringbone::ErrorKind::Unsupported) if a partition column's type
    /// cannot be written as text.
    pub fn create(
        store: Arc<dyn Listing>,
        directory: &str,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<Self> {
        let directory = match directory.trim_end_matches('/') {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        Ok(Self {
            store,
            directory,
            remote: options.write.clone().into(),
            files: Partitioner::new(schema, options)?,
            finishing: Finishing::default(),
        })
    }

    /// Sets the part sizes, the bytes in flight and the memory pool of each file. The
    /// [`write`](RemoteWriteOptions::write) options in it are ignored, because
    /// [`DatasetWriteOptions::write`] already has them.
    #[must_use]
    pub fn uploads(mut self, options: RemoteWriteOptions) -> Self {
        let write = std::mem::take(&mut self.remote.write);
        self.remote = options;
        self.remote.write = write;
        self
    }

    /// Returns the schema that all batches must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.files.schema()
    }

    /// Returns the files completed so far.
    #[must_use]
    pub fn finished_files(&self) -> &[WrittenFile] {
        self.files.finished_files()
    }

    /// Returns the number of bytes buffered by all files, including files being finished.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        self.files.memory_size() + self.finishing.memory_size()
    }

    /// Writes a batch's rows to their partitions' files.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the batch has another schema, or
    /// contains a value that cannot be stored. Returns the store's errors with the object name.
    /// After any error, the dataset can no longer be finished.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.files.begin(batch)?;
        self.run().await
    }

    /// Finishes all files, returning the files written, sorted by path.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the writer failed before. Returns
    /// the store's errors with the object name.
    pub async fn finish(mut self) -> Result<Vec<WrittenFile>> {
        self.files.end()?;
        self.run().await?;
        self.finishing
            .until(|finishing| finishing.running.is_empty())
            .await?;
        self.take_done();
        Ok(self.files.into_finished())
    }

    /// Cancels the requests of incomplete files and removes their parts from the store.
    ///
    /// # Errors
    /// Returns the store's first error, with the object name. That object's parts might then stay
    /// in the store.
    pub async fn abort(mut self) -> Result<()> {
        // Dropping these futures is enough, because their sinks abort the files being finished.
        self.finishing.running.clear();
        let mut first = Ok(());
        for file in self.files.take_open() {
            first = first.and(file.abort().await);
        }
        first
    }

    async fn run(&mut self) -> Result<()> {
        while let Some(step) = self.files.next() {
            match step {
                Step::Start(path) => {
                    let sink = self.store.sink(&format!("{}{path}", self.directory))?;
                    let schema = self.files.file_schema().clone();
                    let file = RemoteWriter::new(sink, schema, self.remote.clone())?;
                    self.files.started(path, file);
                }
                Step::Write(file, rows) => self.finishing.during(file.write(&rows)).await?,
                Step::Finish(path, file) => {
                    self.finishing.add(path, file);
                    let most = self.files.options().max_buffered_bytes as u64;
                    let left = most.saturating_sub(self.files.memory_size());
                    let is_enough = |it: &Finishing| {
                        it.running.len() <= MAX_FINISHING && it.memory_size() <= left
                    };
                    self.finishing.until(is_enough).await?;
                }
            }
        }
        self.take_done();
        Ok(())
    }

    fn take_done(&mut self) {
        for file in self.finishing.done.drain(..) {
            self.files.finished(file);
        }
    }
}

/// The files being finished.
#[derive(Default)]
struct Finishing {
    /// The futures for finishing files, each with its file's buffered bytes at the start.
    running: Vec<(BoxFuture<Result<WrittenFile>>, u64)>,
    done: Vec<WrittenFile>,
}

impl fmt::Debug for Finishing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files", self.running.len())
    }
}

impl Finishing {
    fn memory_size(&self) -> u64 {
        self.running.iter().map(|(_, bytes)| bytes).sum()
    }

    fn add(&mut self, path: String, file: RemoteWriter) {
        let memory_size = file.memory_size();
        let end = async move {
            let sent = file.send_all().await?;
            let bytes = sent.bytes();
            let metadata = sent.complete().await?;
            Ok(WrittenFile {
                path,
                bytes,
                metadata,
            })
        };
        self.running.push((Box::pin(end), memory_size));
    }

    /// Polls the futures of all files being finished.
    ///
    /// # Errors
    /// Returns the first file's error. The other futures stay here and can be polled again.
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let mut first = Ok(());
        self.running
            .retain_mut(|(end, _)| match end.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(Ok(file)) => {
                    self.done.push(file);
                    false
                }
                Poll::Ready(Err(error)) => {
                    if first.is_ok() {
                        first = Err(error);
                    }
                    false
                }
            });
        first
    }

    /// Waits until the remaining files and bytes satisfy `is_enough`.
    async fn until(&mut self, is_enough: impl Fn(&Self) -> bool) -> Result<()> {
        poll_fn(|cx| {
            self.advance(cx)?;
            match is_enough(self) {
                true => Poll::Ready(Ok(())),
                false => Poll::Pending,
            }
        })
        .await
    }

    /// Polls the futures of all files being finished while writing another file, so that their
    /// requests make progress too.
    async fn during(&mut self, write: impl Future<Output = Result<()>>) -> Result<()> {
        let mut write = pin!(write);
        poll_fn(|cx| {
            self.advance(cx)?;
            write.as_mut().poll(cx)
        })
        .await
    }
}
