//! The interface to the place of a new object in a store.

use std::fmt::Debug;
use std::pin::Pin;

use bytes::Bytes;
use herringbone::Result;

use crate::object::BoxFuture;

/// The place of a new object in a store.
///
/// A request is a future. Only the task that writes polls it, and drops it when the writer is
/// dropped. Your implementation is responsible for retries, timeouts and credentials, and for a
/// condition such as "only if the object does not exist".
///
/// ```
/// use std::pin::Pin;
/// use std::sync::{Arc, Mutex};
///
/// use bytes::Bytes;
/// use herringbone::{Error, Result};
/// use herringbone_remote::{BoxFuture, ObjectSink, Upload};
///
/// /// A new object in memory, which must fit into one request.
/// #[derive(Debug, Default)]
/// struct InMemory(Arc<Mutex<Bytes>>);
///
/// impl ObjectSink for InMemory {
///     fn name(&self) -> &str {
///         "an object in memory"
///     }
///     fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
///         let object = self.0.clone();
///         Box::pin(async move {
///             *object.lock().unwrap() = bytes;
///             Ok(())
///         })
///     }
///     fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
///         Box::pin(async { Err(Error::unsupported("the object is too large")) })
///     }
/// }
/// ```
pub trait ObjectSink: Debug + Send + Sync {
    /// Returns the object's name for error messages, for example a URL without credentials.
    fn name(&self) -> &str;

    /// Requests that the store creates the object from these bytes, whole or not at all.
    ///
    /// If the store already has the object and must not replace it, this fails with an I/O error of
    /// the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists).
    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>>;

    /// Requests an upload in parts, whose object does not appear before the upload is completed.
    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>>;

    /// Runs a future that nothing waits for, because it aborts an upload whose writer was dropped.
    ///
    /// By default, the future is dropped, so that the parts stay in the store until a rule of the
    /// store removes them. If you have a runtime, spawn the future there.
    fn run_detached(&self, abort: BoxFuture<()>) {
        drop(abort);
    }
}

/// An upload of an object in parts.
///
/// ```
/// use std::pin::Pin;
/// use std::sync::{Arc, Mutex};
///
/// use bytes::Bytes;
/// use herringbone::Result;
/// use herringbone_remote::{BoxFuture, Upload};
///
/// /// Parts in memory. The object appears when they are joined.
/// #[derive(Debug, Default)]
/// struct Parts {
///     parts: Vec<Bytes>,
///     object: Arc<Mutex<Option<Vec<u8>>>>,
/// }
///
/// impl Upload for Parts {
///     fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
///         self.parts.push(bytes); // Requests of a store would run in the future.
///         Box::pin(async { Ok(()) })
///     }
///
///     fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
///         Box::pin(async {
///             *self.object.lock().unwrap() = Some(self.parts.concat());
///             Ok(())
///         })
///     }
///
///     fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
///         self.parts.clear();
///         Box::pin(async { Ok(()) })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let object = Arc::default();
/// let mut upload = Parts { object: Arc::clone(&object), ..Parts::default() };
/// upload.put_part(Bytes::from_static(b"PAR")).await?;
/// upload.put_part(Bytes::from_static(b"1")).await?;
/// upload.complete().await?;
/// assert_eq!(object.lock().unwrap().as_deref(), Some(b"PAR1".as_slice()));
/// # Ok::<(), herringbone::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Upload: Debug + Send {
    /// Requests that the store keeps the next part. The parts have the order of these calls,
    /// although several of the requests are in flight at the same time.
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>>;

    /// Requests that the store creates the object from all parts, once all of them have arrived.
    ///
    /// If the store already has the object and must not replace it, this fails with an I/O error of
    /// the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists).
    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>>;

    /// Requests that the store removes all parts. We call this at most once, even if a request
    /// failed before.
    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>>;
}
