//! The async writer of record batches.

use std::fmt;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::format::{FileMetadata, KeyValue};
use herringbone::push::WriteSteps;
use herringbone::{Error, ErrorKind, MemoryPool, Remedy, Result, Spawn, Writer};

use crate::parts::PartBuffer;
use crate::seat::Job;
use crate::sink::ObjectSink;
use crate::uploads::Uploads;
use crate::write_options::RemoteWriteOptions;

/// An encoder of record batches, with an upload's parts as its output.
type Encoder = Writer<PartBuffer>;

/// A writer of record batches to a new object in a store.
///
/// The file is the same as from a [`Writer`] with the same
/// [`WriteOptions`](herringbone::WriteOptions). The object only appears in the store, whole, when
/// you call [`finish`](Self::finish). A file of more than one part is uploaded while you are
/// writing it, with several parts in flight. A smaller file takes a single request.
///
/// Requests are only sent, and answers only taken, by the task awaiting a method. This task also
/// encodes, unless the options have threads
/// ([`WriteOptions::spawn`](herringbone::WriteOptions::spawn)). In that case, the threads encode
/// while the task sends parts.
///
/// If a method fails, it aborts the upload. If you drop a method's future before it is ready, rows
/// might be missing, so after that you can only [`abort`](Self::abort) the writer. If you drop the
/// writer, [`ObjectSink::run_detached`] aborts the upload.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::RecordBatch;
/// use herringbone::{Result, WriteOptions};
/// use herringbone_remote::{ObjectSink, RemoteWriter};
///
/// async fn write(sink: Arc<dyn ObjectSink>, batches: &[RecordBatch]) -> Result<i64> {
///     let mut writer = RemoteWriter::new(sink, batches[0].schema(), WriteOptions::new())?;
///     for batch in batches {
///         writer.write(batch).await?;
///     }
///     Ok(writer.finish().await?.num_rows())
/// }
/// ```
pub struct RemoteWriter {
    schema: SchemaRef,
    /// The encoder, or `None` while a method is running and after an error.
    encoder: Option<Box<Encoder>>,
    uploads: Uploads,
    host: Option<Arc<dyn Spawn>>,
    memory: Reserved,
}

/// The work started by a writer method.
enum Work {
    Write(RecordBatch),
    Flush,
    Finish,
}

impl fmt::Debug for RemoteWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteWriter")
            .field("writer", &self.encoder)
            .field("uploads", &self.uploads)
            .finish_non_exhaustive()
    }
}

impl RemoteWriter {
    /// Starts a file for batches of this schema, without a request. If all you want to set are
    /// [`WriteOptions`](herringbone::WriteOptions), pass them alone as the options.
    ///
    /// # Errors
    /// Fails with [Unsupported](ErrorKind::Unsupported) if Parquet cannot represent one of the
    /// schema's types, and with [Argument](ErrorKind::Argument) if the options are invalid or
    /// contradict each other.
    pub fn new(
        sink: Arc<dyn ObjectSink>,
        schema: SchemaRef,
        options: impl Into<RemoteWriteOptions>,
    ) -> Result<Self> {
        let options = options.into();
        let buffer = PartBuffer::new(options.part_sizes()?);
        let host = options.write.spawn.clone();
        let encoder = Writer::new(buffer, schema.clone(), options.write)?;
        Ok(Self {
            schema,
            encoder: Some(Box::new(encoder)),
            uploads: Uploads::new(sink, options.max_bytes_in_flight),
            host,
            memory: Reserved {
                pool: options.memory_pool,
                bytes: 0,
            },
        })
    }

    /// Returns the schema that all batches must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the number of rows written so far, including buffered rows, or 0 after an error.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.encoder
            .as_ref()
            .map_or(0, |encoder| encoder.num_rows())
    }

    /// Returns the number of file bytes encoded so far, sent or not, or 0 after an error.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.encoder
            .as_ref()
            .map_or(0, |encoder| encoder.bytes_written())
    }

    /// Returns the number of buffered bytes: in the encoder, in the open part, and in the parts in
    /// flight.
    #[must_use]
    pub fn memory_size(&self) -> u64 {
        let encoder = self.encoder.as_deref().map_or(0, encoder_bytes);
        encoder + self.uploads.bytes_in_flight()
    }

    /// Returns the estimated number of file bytes so far, including rows still to be encoded, or 0
    /// after an error.
    #[must_use]
    pub fn estimated_bytes(&self) -> u64 {
        let bytes = |it: &Encoder| it.bytes_written() + it.memory_size() as u64;
        self.encoder.as_deref().map_or(0, bytes)
    }

    /// Returns the differences between the file's schema and
    /// [`WriteOptions::parquet_schema`](herringbone::WriteOptions::parquet_schema).
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.encoder
            .as_ref()
            .map_or(&[], |encoder| encoder.warnings())
    }

    /// Adds a pair to the footer's key-value metadata. If there is an earlier pair with this key,
    /// the new one replaces it.
    pub fn add_key_value(&mut self, pair: impl Into<KeyValue>) {
        if let Some(encoder) = &mut self.encoder {
            encoder.add_key_value(pair);
        }
    }

    /// Appends a batch's rows. Returns once all full parts are in flight.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Writer::write`]. Fails with [Io](ErrorKind::Io) if the store
    /// fails, with the object's name and the part, and with [Limit](ErrorKind::Limit) if the memory
    /// pool refuses memory, or if the file has too many parts. After an error, the upload is
    /// aborted.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.run(Work::Write(batch.clone())).await
    }

    /// Ends the row group, if it has rows, but does not wait for parts in flight. If you sort, the
    /// rows buffered for it are written first.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub async fn flush(&mut self) -> Result<()> {
        self.run(Work::Flush).await
    }

    /// Writes the buffered rows and the footer and creates the object. Returns the footer's
    /// metadata.
    ///
    /// If you drop the future while the store is completing the upload, the object might still
    /// appear, but only whole.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`]. Fails with an I/O error of the kind
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if the sink must not replace an object,
    /// and there is one.
    pub async fn finish(self) -> Result<FileMetadata> {
        self.send_all().await?.complete().await
    }

    /// Writes the buffered rows and the footer and sends all parts. Use this to make several
    /// objects appear together, because each only appears with [`SentObject::complete`].
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub async fn send_all(mut self) -> Result<SentObject> {
        self.run(Work::Finish).await?;
        let ended = self.end().await;
        match ended {
            Ok((metadata, small)) => Ok(SentObject {
                metadata,
                bytes: self.uploads.bytes_sent()
                    + small.as_ref().map_or(0, |small| small.len() as u64),
                small,
                uploads: self.uploads,
                _memory: self.memory,
            }),
            Err(error) => Err(self.abort_after(error).await),
        }
    }

    /// Waits for your own future, taking answers for parts in flight meanwhile.
    ///
    /// ```
    /// use herringbone::arrow::array::RecordBatch;
    /// use herringbone::Result;
    /// use herringbone_remote::RemoteWriter;
    ///
    /// async fn write(
    ///     writer: &mut RemoteWriter,
    ///     mut next: impl AsyncFnMut() -> Option<RecordBatch>,
    /// ) -> Result<()> {
    ///     while let Some(batch) = writer.during(next()).await? {
    ///         writer.write(&batch).await?;
    ///     }
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails with [Io](ErrorKind::Io) if the store fails, with the object's name and the part. The
    /// upload is then aborted.
    pub async fn during<T>(&mut self, future: impl Future<Output = T>) -> Result<T> {
        let done = self.advancing(future).await;
        match done {
            Ok(value) => Ok(value),
            Err(error) => {
                self.encoder = None;
                Err(self.abort_after(error).await)
            }
        }
    }

    /// Cancels all requests and removes the parts from the store, so that the object never appears.
    ///
    /// # Errors
    /// Fails with [Io](ErrorKind::Io) if the store fails, with the object's name. Parts might then
    /// stay in the store.
    pub async fn abort(mut self) -> Result<()> {
        self.encoder = None;
        self.uploads.abort().await
    }

    /// Does a method's work. The encoder is only put back if this succeeds, because the writer
    /// cannot be used after an error.
    async fn run(&mut self, work: Work) -> Result<()> {
        let encoder = self.encoder.take().ok_or_else(failed_before)?;
        let done = self.encode(encoder, work).await;
        match done {
            Ok(encoder) => {
                self.encoder = Some(encoder);
                Ok(())
            }
            Err(error) => Err(self.abort_after(error).await),
        }
    }

    /// Encodes step by step, sending full parts in between.
    async fn encode(&mut self, mut encoder: Box<Encoder>, work: Work) -> Result<Box<Encoder>> {
        // While a row group is ending, its pages move to parts, so a refusal only counts once it
        // has ended.
        let mut is_ending = matches!(work, Work::Finish);
        let (mut work, mut is_more) = (Some(work), true);
        let is_hosted = self.host.is_some();
        while is_more {
            let started = work.take();
            let step = move || {
                let done = steps(&mut encoder, started, is_hosted);
                (encoder, done)
            };
            let (returned, done) = self.on_host(step).await?;
            encoder = returned;
            is_more = done?;
            let uploads = &mut self.uploads;
            poll_fn(|cx| match encoder.get_mut() {
                Some(buffer) => uploads.poll_send(cx, buffer),
                None => Poll::Ready(Ok(())),
            })
            .await?;
            match self.reserve(encoder_bytes(&encoder)).await {
                Err(refused) if refused.kind() == ErrorKind::Limit => {
                    if !is_ending && encoder.rows_in_progress() > 0 {
                        // We end the row group early to free its memory.
                        (work, is_more, is_ending) = (Some(Work::Flush), true, true);
                    } else if !is_more {
                        return Err(refused);
                    }
                }
                reserved => reserved?,
            }
            if is_more && !is_hosted {
                // Yield to other tasks and the parts in flight before the next step.
                let mut has_waited = false;
                poll_fn(|cx| match std::mem::replace(&mut has_waited, true) {
                    true => Poll::Ready(()),
                    false => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                })
                .await;
            }
        }
        Ok(encoder)
    }

    /// Runs a step on a host thread or on this one, taking answers for parts meanwhile.
    async fn on_host<T: Send + 'static>(
        &mut self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let job = Job::start(self.host.as_deref(), step);
        self.advancing(poll_fn(|cx| job.poll(cx))).await
    }

    /// Polls the parts in flight along with a future.
    async fn advancing<T>(&mut self, future: impl Future<Output = T>) -> Result<T> {
        let mut future = pin!(future);
        poll_fn(|cx: &mut Context<'_>| {
            self.uploads.advance(cx)?;
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }

    /// Reserves the memory in use, waiting for parts in flight if the pool refuses it.
    async fn reserve(&mut self, encoder_bytes: u64) -> Result<()> {
        poll_fn(|cx| {
            self.uploads.advance(cx)?;
            let in_flight = self.uploads.bytes_in_flight();
            match self.memory.set(encoder_bytes + in_flight) {
                Err(_) if in_flight > 0 => Poll::Pending,
                reserved => Poll::Ready(reserved),
            }
        })
        .await
    }

    /// Writes the footer and sends the rest, or returns a small file's bytes instead.
    async fn end(&mut self) -> Result<(FileMetadata, Option<Bytes>)> {
        let encoder = self.encoder.take().ok_or_else(failed_before)?;
        let ended = self.on_host(move || encoder.finish_into()).await?;
        let (metadata, buffer) = ended?;
        self.reserve(buffer.len()).await?;
        Ok((metadata, self.uploads.send_rest(buffer).await?))
    }

    /// Aborts the upload because of an error, returning that error. If the abort fails too, its
    /// error is added to the message.
    async fn abort_after(&mut self, error: Error) -> Error {
        self.memory.release();
        self.uploads.abort_after(error).await
    }
}

/// A fully written file, already in the store but not visible as an object yet. A file of a single
/// part is still in memory.
///
/// If you drop it, [`ObjectSink::run_detached`] aborts the upload.
#[derive(Debug)]
pub struct SentObject {
    metadata: FileMetadata,
    bytes: u64,
    small: Option<Bytes>,
    uploads: Uploads,
    /// The memory used by a small file.
    _memory: Reserved,
}

impl SentObject {
    /// Returns the footer's metadata.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        &self.metadata
    }

    /// Returns the file's byte count.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Creates the object, returning the footer's metadata. If this fails, the upload is aborted.
    ///
    /// # Errors
    /// Fails for the same reasons as [`RemoteWriter::finish`].
    pub async fn complete(mut self) -> Result<FileMetadata> {
        match self.uploads.complete(self.small.take()).await {
            Ok(()) => Ok(self.metadata),
            Err(error) => Err(self.uploads.abort_after(error).await),
        }
    }

    /// Removes the parts from the store, so that the object never appears.
    ///
    /// # Errors
    /// Fails with [Io](ErrorKind::Io) if the store fails, with the object's name. Parts might then
    /// stay in the store.
    pub async fn abort(mut self) -> Result<()> {
        self.uploads.abort().await
    }
}

/// Starts work and does one step of it, or on a host thread as many steps as it takes to fill a
/// part. Returns false if nothing is left to do.
fn steps(encoder: &mut Encoder, work: Option<Work>, is_hosted: bool) -> Result<bool> {
    match work {
        None => {}
        Some(Work::Write(batch)) => encoder.start_write(&batch)?,
        Some(Work::Flush) => encoder.start_flush()?,
        Some(Work::Finish) => encoder.start_finish()?,
    }
    while encoder.step()? {
        if !is_hosted || encoder.get_ref().is_some_and(PartBuffer::has_full) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the number of bytes buffered by an encoder and its output.
fn encoder_bytes(encoder: &Encoder) -> u64 {
    let output = encoder.get_ref().map_or(0, PartBuffer::len);
    encoder.memory_size() as u64 + output
}

#[cold]
fn failed_before() -> Error {
    Error::argument(
        "the writer failed earlier, or a future of it was dropped, so its file cannot be finished",
    )
}

/// Bytes reserved from a memory pool, given back on drop.
#[derive(Debug)]
struct Reserved {
    pool: Option<Arc<dyn MemoryPool>>,
    bytes: u64,
}

impl Reserved {
    /// Grows or shrinks the reservation to `bytes` bytes.
    fn set(&mut self, bytes: u64) -> Result<()> {
        let Some(pool) = &self.pool else {
            return Ok(());
        };
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 && !pool.take(more) {
            let message = format!(
                "the memory pool refused {more} bytes to a writer that already holds {}",
                self.bytes
            );
            return Err(
                Error::new(ErrorKind::Limit, message).with_remedy(Remedy::EnlargeMemoryPool)
            );
        }
        if bytes < self.bytes {
            pool.give_back(self.bytes - bytes);
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back all bytes.
    fn release(&mut self) {
        if let Some(pool) = &self.pool
            && self.bytes > 0
        {
            pool.give_back(self.bytes);
        }
        self.bytes = 0;
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.release();
    }
}
