//! The interface for creating an object in a store.

use std::fmt::Debug;
use std::pin::Pin;

use bytes::Bytes;
use herringbone::Result;

use crate::object::BoxFuture;

/// A sink for a new object in a store.
///
/// Implement this trait to write to your own store. A request is a future, polled only by the
/// writing task and dropped along with the writer. Your implementation is responsible for retries,
/// timeouts and credentials, and for conditions such as "only if the object does not exist".
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

    /// Requests an upload in parts. The object must not appear before the upload is completed.
    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>>;

    /// Runs a future in the background, for aborting the upload of a dropped writer.
    ///
    /// The default implementation drops the future, so the parts stay in the store until one of its
    /// rules removes them. If you have a runtime, spawn the future there instead.
    fn run_detached(&self, abort: BoxFuture<()>) {
        drop(abort);
    }
}

/// An object's upload in parts.
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
    /// Requests that the store keeps the next part. The parts must stay in the order of these
    /// calls, although several of the requests can be in flight at a time.
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>>;

    /// Requests that the store creates the object from all parts, once all of them have arrived.
    ///
    /// If the store already has the object and must not replace it, this fails with an I/O error of
    /// the kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists).
    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>>;

    /// Requests that the store removes all parts. This is called at most once, even after a failed
    /// request.
    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>>;
}
