//! Writing a new object as a stream of bytes.

use std::fmt;
use std::future::poll_fn;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use herringbone::{Error, Result};
use tokio::time::timeout;

use super::{background, runtime, wait};
use crate::object::BoxFuture;
use crate::parts::PartBuffer;
use crate::sink::{ObjectSink, Upload};
use crate::uploads::Uploads;
use crate::write_options::RemoteWriteOptions;

/// The timeout for aborting an upload.
const ABORT: Duration = Duration::from_secs(5);

/// An upload's requests, or `None` once they are taken to abort or complete it.
type Shared = Arc<Mutex<Option<Uploads>>>;

/// A new object of any format. It appears when you [complete](Self::complete) it, and its upload is
/// aborted if you drop it before that.
///
/// Parts are sent in the background while you write the next ones.
pub struct RemoteOutput {
    buffer: PartBuffer,
    uploads: Shared,
    /// True if all bytes were sent in parts.
    is_sent: bool,
}

impl fmt::Debug for RemoteOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteOutput")
            .field("uploads", &*lock(&self.uploads))
            .finish_non_exhaustive()
    }
}

impl RemoteOutput {
    /// Starts an object, without a request. Only the options about parts are used.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if no part can have the size in the
    /// options.
    pub fn new(sink: Arc<dyn ObjectSink>, options: &RemoteWriteOptions) -> Result<Self> {
        let sink = Arc::new(Background(sink));
        let uploads = Uploads::new(sink, options.max_bytes_in_flight);
        Ok(Self {
            buffer: PartBuffer::new(options.part_sizes()?),
            uploads: Arc::new(Mutex::new(Some(uploads))),
            is_sent: false,
        })
    }

    /// Returns the number of unsent bytes in memory.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.buffer.len()
    }

    /// Returns true if an upload in parts has started. A small object never needs this, because it
    /// only takes a single request at the end.
    #[must_use]
    pub fn is_started(&self) -> bool {
        let uploads = lock(&self.uploads);
        uploads.as_ref().is_none_or(Uploads::is_started)
    }

    /// Sends all bytes in parts, leaving only the final request. You cannot write to the object any
    /// more after this.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the store fails. The error has the object's
    /// name.
    pub fn send_all(&mut self) -> Result<()> {
        if !self.is_sent {
            self.buffer.end();
            self.send()?;
            let uploads = self.uploads.clone();
            wait(poll_fn(move |cx| match &mut *lock(&uploads) {
                Some(uploads) => uploads.poll_sent(cx),
                None => Poll::Ready(Err(aborted())),
            }))?;
            self.is_sent = true;
        }
        Ok(())
    }

    /// Sends the rest and makes the object appear.
    ///
    /// # Errors
    /// Returns the store's errors, with the object's name. Fails with an I/O error of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists) if the sink must not replace an object, and
    /// there is one.
    pub fn complete(self) -> Result<()> {
        wait(self.start_complete()?)
    }

    /// Sends all bytes but the last ones and starts the requests to make the object appear. These
    /// run until the returned future is ready or dropped. You can poll it on any thread.
    ///
    /// # Errors
    /// Returns the store's errors, with the object's name, and the future fails for the same
    /// reasons as [`Self::complete`].
    pub fn start_complete(mut self) -> Result<BoxFuture<Result<()>>> {
        if self.is_started() {
            // We send all parts before taking the uploads, so that the upload can still be aborted
            // until then.
            self.send_all()?;
        }
        let mut uploads = lock(&self.uploads).take().ok_or_else(aborted)?;
        let rest = (!self.is_sent).then(|| self.buffer.take());
        Ok(background(async move {
            let sent = match rest {
                Some(buffer) => uploads.send_rest(buffer).await,
                None => Ok(None),
            };
            let done = match sent {
                Ok(small) => uploads.complete(small).await,
                Err(error) => Err(error),
            };
            if done.is_err() {
                // We can ignore errors here, since the parts stay invisible even if this fails.
                timeout(ABORT, uploads.abort()).await.ok();
            }
            done
        }))
    }

    /// Returns a function for aborting the upload, callable on any thread. It does nothing once all
    /// parts have arrived and the final request was sent.
    #[must_use]
    pub fn abort_call(&self) -> Box<dyn FnOnce() + Send> {
        let uploads = self.uploads.clone();
        Box::new(move || abort(&uploads))
    }

    /// Sends full parts, waiting while too many are in flight.
    fn send(&mut self) -> Result<()> {
        let (uploads, mut buffer) = (self.uploads.clone(), self.buffer.take());
        self.buffer = wait(async move {
            poll_fn(|cx| match &mut *lock(&uploads) {
                Some(uploads) => uploads.poll_send(cx, &mut buffer),
                None => Poll::Ready(Err(aborted())),
            })
            .await?;
            Ok(buffer)
        })?;
        Ok(())
    }
}

impl Write for RemoteOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.buffer.write(bytes)?;
        if self.buffer.has_full() {
            self.send()?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        // There's nothing to flush, because bytes are kept until they fill a part.
        Ok(())
    }
}

impl Drop for RemoteOutput {
    fn drop(&mut self) {
        abort(&self.uploads);
    }
}

fn lock(uploads: &Shared) -> MutexGuard<'_, Option<Uploads>> {
    uploads.lock().unwrap_or_else(PoisonError::into_inner)
}

fn abort(uploads: &Shared) {
    let taken = lock(uploads).take();
    if let Some(mut uploads) = taken.filter(Uploads::is_started) {
        // There's nobody to receive an error here, and the parts stay invisible even if this fails.
        wait(async move { Ok(timeout(ABORT, uploads.abort()).await.is_ok()) }).ok();
    }
}

fn aborted() -> Error {
    Error::argument("the upload was aborted")
}

/// A sink that keeps sending parts even while nothing is polling them.
#[derive(Debug)]
struct Background(Arc<dyn ObjectSink>);

impl ObjectSink for Background {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.0.put(bytes)
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let start = self.0.start();
        Box::pin(async move { Ok(Box::new(BackgroundUpload(start.await?)) as _) })
    }

    fn run_detached(&self, abort: BoxFuture<()>) {
        if let Ok(runtime) = runtime() {
            runtime.spawn(abort);
        }
    }
}

#[derive(Debug)]
struct BackgroundUpload(Box<dyn Upload>);

impl Upload for BackgroundUpload {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        background(self.0.put_part(bytes))
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.0.complete()
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.0.abort()
    }
}
