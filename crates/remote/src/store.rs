//! Objects and sinks for stores from the crate `object_store`, with one module per version of that
//! crate.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;

use crate::plain;

/// The most bytes to reserve for an answer before they arrive.
const MAX_RESERVED: u64 = 16 << 20;

/// Joins an answer's parts. We stop after exceeding `most` bytes, because a store might send more
/// than it was asked for.
async fn collect<E>(
    mut parts: Pin<Box<dyn Stream<Item = Result<Bytes, E>> + Send>>,
    most: u64,
) -> Result<Bytes, E> {
    let mut next = async || poll_fn(|cx| parts.as_mut().poll_next(cx)).await.transpose();
    let first = next().await?.unwrap_or_default();
    let mut joined = BytesMut::new();
    let mut length = first.len() as u64;
    while length <= most
        && let Some(part) = next().await?
    {
        if joined.is_empty() {
            // We reserve all requested bytes in one allocation.
            joined.reserve(most.min(MAX_RESERVED) as usize);
            joined.extend_from_slice(&first);
        }
        joined.extend_from_slice(&part);
        length += part.len() as u64;
    }
    Ok(match joined.is_empty() {
        true => first,
        false => joined.freeze(),
    })
}

/// Resolves a path relative to a directory in a store.
fn resolve(directory: &str, path: &str) -> Option<String> {
    let mut names: Vec<&str> = match path.starts_with('/') {
        true => Vec::new(),
        false => directory.split('/').collect(),
    };
    if path.contains("://") {
        return None;
    }
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    names.retain(|name| !name.is_empty());
    (!names.is_empty()).then(|| names.join("/"))
}

/// Returns true if an error means that the store answered a range request with the whole object.
fn is_whole(message: &str) -> bool {
    // Web servers cause the second message.
    message.contains("Received non-partial response")
        || message.contains("Range request not supported by")
}

/// Returns true if this answer might mean that the server does not support suffix requests.
fn lacks_suffixes(message: &str) -> bool {
    matches!(plain::status(message), Some(400 | 405 | 416 | 500 | 501))
}

macro_rules! adapter {
    ($module:ident, $version:literal) => {
        #[doc = concat!("Objects and sinks of the stores of `object_store` ", $version, ".")]
        pub mod $module {
            use std::fmt;
            use std::io;
            use std::ops::Range;
            use std::pin::Pin;
            use std::sync::Arc;
            use std::time::SystemTime;

            use ::$module::path::Path;
            use ::$module::{
                Error as StoreError, GetOptions, GetRange, GetResultPayload, ObjectMeta,
                ObjectStore,
            };
            use ::$module::{MultipartUpload, PutMode, PutMultipartOptions, PutPayload};
            use bytes::Bytes;
            use herringbone::push::FetchPolicy;
            use herringbone::{Error, ErrorKind, Result};

            use crate::chunk_objects::ChunkObjects;
            use crate::object::{Answer, BoxFuture, Identity, Object};
            use crate::sink::{ObjectSink, Upload};

            #[doc = concat!("An [`Object`] in a store of `object_store` ", $version, ".")]
            ///
            /// Each request is a `get_opts` with one range. All but the first have a precondition:
            /// `If-Match`, or the version, or otherwise `If-Unmodified-Since`. Retries and timeouts
            /// are up to the store.
            ///
            /// ```
            /// # futures::executor::block_on(async {
            /// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
            /// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..3));
            /// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
            /// # let mut bytes = Vec::new();
            /// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), Default::default())?;
            /// # writer.write(&batch)?;
            /// # writer.finish()?;
            /// use std::sync::Arc;
            ///
            /// use herringbone::{OpenOptions, ReadOptions};
            /// use herringbone_remote::RemoteFile;
            #[doc = concat!("use herringbone_remote::", stringify!($module), "::StoreObject;")]
            #[doc = concat!("use ", stringify!($module), "::{memory::InMemory, ObjectStore, PutOptions};")]
            ///
            /// // `bytes` is a file of three rows.
            /// let store = Arc::new(InMemory::new());
            /// store.put_opts(&"ids.parquet".into(), bytes.into(), PutOptions::default()).await?;
            /// let object = Arc::new(StoreObject::new(store, "ids.parquet"));
            /// let mut batches = RemoteFile::open(object, OpenOptions::new()).await?.read(ReadOptions::new())?;
            /// assert_eq!(batches.next_batch().await?.ok_or("no rows")?.num_rows(), 3);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// # })?;
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[derive(Debug, Clone)]
            pub struct StoreObject {
                store: Arc<dyn ObjectStore>,
                path: Path,
                name: String,
                identity: Option<Identity>,
                policy: FetchPolicy,
            }

            impl StoreObject {
                /// Creates the object at `path`. Its name is the store's name, followed by the
                /// path.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Self {
                    let path = path.into();
                    Self {
                        name: format!("{store}/{path}"),
                        store,
                        path,
                        identity: None,
                        policy: FetchPolicy::remote(),
                    }
                }

                /// Creates an object from a listing. Even its first request has a precondition, and
                /// if its footer is in a cache, opening it takes no request.
                #[must_use]
                pub fn listed(store: Arc<dyn ObjectStore>, meta: &ObjectMeta) -> Self {
                    Self {
                        identity: Some(identity(meta)),
                        ..Self::new(store, meta.location.clone())
                    }
                }

                /// Sets an identity known from a listing, like [`Self::listed`].
                #[must_use]
                pub fn known_identity(self, identity: Identity) -> Self {
                    Self {
                        identity: Some(identity),
                        ..self
                    }
                }

                /// Sets the name in error messages and caches, such as a URL. It should be unique
                /// among all objects sharing a cache, and should not contain credentials.
                #[must_use]
                pub fn name(self, name: impl Into<String>) -> Self {
                    Self {
                        name: name.into(),
                        ..self
                    }
                }

                /// Sets the fetch policy. The default is [`FetchPolicy::remote`].
                #[must_use]
                pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
                    Self { policy, ..self }
                }

                async fn get(self, options: GetOptions, most: u64) -> Result<Answer, StoreError> {
                    let result = self.store.get_opts(&self.path, options).await?;
                    let (range, identity) = (result.range.clone(), identity(&result.meta));
                    let is_stream = matches!(result.payload, GetResultPayload::Stream(_));
                    let bytes = match is_stream || range.end.saturating_sub(range.start) > most {
                        true => super::collect(result.into_stream(), most).await?,
                        // For a local file, this reads the range at once rather than in 8 KiB
                        // pieces.
                        false => result.bytes().await?,
                    };
                    Ok(Answer {
                        bytes,
                        range,
                        identity,
                    })
                }

                async fn tail(self, bytes: u64) -> Result<Answer, StoreError> {
                    let range = Some(GetRange::Suffix(bytes));
                    let options = GetOptions {
                        range,
                        ..Default::default()
                    };
                    let identity = match self.clone().get(options, bytes).await {
                        // Azure doesn't support suffix requests, so we ask for the length first.
                        Err(first @ StoreError::NotSupported { .. }) => {
                            let head = GetOptions {
                                head: true,
                                ..Default::default()
                            };
                            match self.store.get_opts(&self.path, head).await {
                                Ok(found) => identity(&found.meta),
                                // A server without ranges might also refuse to state the length.
                                Err(_) if super::is_whole(&first.to_string()) => return Err(first),
                                Err(other) => return Err(other),
                            }
                        }
                        Err(error) if super::lacks_suffixes(&error.to_string()) => {
                            self.clone().probe(error).await?
                        }
                        result => return result,
                    };
                    let length = identity.length;
                    let range = length.saturating_sub(bytes)..length;
                    if range.is_empty() {
                        let bytes = bytes::Bytes::new();
                        return Ok(Answer {
                            bytes,
                            range,
                            identity,
                        });
                    }
                    self.get(conditional(range, &identity), bytes).await
                }

                /// Returns the object's identity, for servers without suffix requests. `first` is
                /// the error from such a request.
                ///
                /// This requests the first byte, because the answer also has the object's length.
                /// Unlike HEAD, this works with a signature for GET.
                async fn probe(self, first: StoreError) -> Result<Identity, StoreError> {
                    match self.get(conditional(0..1, &Identity::new(0)), 1).await {
                        Ok(answer) => Ok(answer.identity),
                        Err(error) if super::is_whole(&error.to_string()) => Err(error),
                        // This can be an empty object, since no range can be satisfied then.
                        Err(error) if crate::plain::status(&error.to_string()) == Some(416) => {
                            let source = error.into();
                            Err(StoreError::NotSupported { source })
                        }
                        Err(_) => Err(first),
                    }
                }

                async fn whole(self, most: u64) -> Result<Answer> {
                    let result = self.store.get_opts(&self.path, GetOptions::default());
                    let result = result.await.map_err(error)?;
                    let identity = identity(&result.meta);
                    let length = identity.length;
                    if length > most {
                        let message = format!(
                            "the server has no requests for ranges, and the file has {length} bytes, more than the {most} \
                             that are read at once; download it"
                        );
                        return Err(io::Error::new(io::ErrorKind::Unsupported, message).into());
                    }
                    let bytes = super::collect(result.into_stream(), length).await;
                    Ok(Answer {
                        bytes: bytes.map_err(error)?,
                        range: 0..length,
                        identity,
                    })
                }
            }

            impl Object for StoreObject {
                fn name(&self) -> &str {
                    &self.name
                }

                fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
                    let object = self.clone();
                    Box::pin(async move { object.tail(bytes).await.map_err(error) })
                }

                fn range(
                    &self,
                    range: Range<u64>,
                    identity: &Identity,
                ) -> BoxFuture<Result<Answer>> {
                    let most = range.end.saturating_sub(range.start);
                    let options = conditional(range, identity);
                    let object = self.clone();
                    Box::pin(async move { object.get(options, most).await.map_err(error) })
                }

                fn whole(&self, most: u64) -> BoxFuture<Result<Answer>> {
                    Box::pin(self.clone().whole(most))
                }

                fn identity(&self) -> Option<Identity> {
                    self.identity.clone()
                }

                fn fetch_policy(&self) -> FetchPolicy {
                    self.policy.clone()
                }
            }

            #[doc = concat!("The objects below a directory in a store of `object_store` ", $version, ".")]
            ///
            /// An object's name is the store's name, followed by its path. URLs are errors.
            ///
            /// ```
            /// use std::sync::Arc;
            ///
            /// use herringbone::ErrorKind;
            /// use herringbone_remote::ChunkObjects;
            #[doc = concat!("use herringbone_remote::", stringify!($module), "::StoreChunks;")]
            #[doc = concat!("use ", stringify!($module), "::memory::InMemory;")]
            ///
            /// let chunks = StoreChunks::new(Arc::new(InMemory::new()), "sales/2024");
            /// assert_eq!(chunks.object("month=1/a.parquet")?.name(), "InMemory/sales/2024/month=1/a.parquet");
            /// assert_eq!(chunks.object("https://example.com/a").unwrap_err().kind(), ErrorKind::Corrupt);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[derive(Debug, Clone)]
            pub struct StoreChunks {
                store: Arc<dyn ObjectStore>,
                directory: Path,
                allows_any_path: bool,
            }

            impl StoreChunks {
                /// Creates the objects below a directory, for example the directory of a
                /// `_metadata` file.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>, directory: impl Into<Path>) -> Self {
                    Self {
                        store,
                        directory: directory.into(),
                        allows_any_path: false,
                    }
                }

                /// Selects whether absolute paths and paths with `..` are permitted. Only allow
                /// this if you trust the metadata. An absolute path begins at the store's root.
                #[must_use]
                pub fn allow_any_path(self, allows_any_path: bool) -> Self {
                    Self {
                        allows_any_path,
                        ..self
                    }
                }
            }

            impl ChunkObjects for StoreChunks {
                fn object(&self, path: &str) -> Result<Arc<dyn Object>> {
                    let directory = self.directory.as_ref();
                    let path = super::resolve(directory, path).ok_or_else(|| {
                        Error::corrupt(format!(
                            "the path `{path}` of a column chunk does not lead to an object of the store"
                        ))
                    })?;
                    let path = Path::parse(path).map_err(|error| Error::corrupt(error.to_string()))?;
                    let store = self.store.clone();
                    Ok(Arc::new(StoreObject::new(store, path)))
                }

                fn allows_any_path(&self) -> bool {
                    self.allows_any_path
                }
            }

            /// Returns the options for requesting a range of the object with this identity.
            fn conditional(range: Range<u64>, identity: &Identity) -> GetOptions {
                let if_match = identity.strong_e_tag().map(str::to_owned);
                let is_named = if_match.is_some() || identity.version.is_some();
                // The store's times have a smaller range, so we leave out any others.
                let is_usual = |time: &SystemTime| {
                    let since = time.duration_since(SystemTime::UNIX_EPOCH);
                    since.is_ok_and(|since| since.as_secs() < 1 << 36)
                };
                let modified = identity.modified.filter(|_| !is_named).filter(is_usual);
                GetOptions {
                    range: Some(GetRange::Bounded(range)),
                    if_match,
                    if_unmodified_since: modified.map(Into::into),
                    version: identity.version.clone(),
                    ..Default::default()
                }
            }

            /// Returns an object's identity according to its metadata in the store.
            #[must_use]
            #[doc(hidden)] // For the crates of this workspace.
            pub fn identity(meta: &ObjectMeta) -> Identity {
                let modified = SystemTime::from(meta.last_modified);
                Identity::new(meta.size)
                    .e_tag(meta.e_tag.clone())
                    .version(meta.version.clone())
                    // An object named without a listing has the epoch as its time, a sentinel that
                    // means nothing.
                    .modified(Some(modified).filter(|time| *time > SystemTime::UNIX_EPOCH))
            }

            /// Converts a read error. A failed precondition means that the object was replaced.
            #[must_use]
            #[doc(hidden)] // For the crates of this workspace.
            pub fn error(error: StoreError) -> Error {
                match &error {
                    StoreError::Precondition { .. } => {
                        Error::new(ErrorKind::Replaced, crate::plain::plain(&error))
                    }
                    _ => io_error(&error),
                }
            }

            /// Converts a request error.
            fn io_error(error: &StoreError) -> Error {
                let kind = match error {
                    StoreError::NotFound { .. } => io::ErrorKind::NotFound,
                    StoreError::AlreadyExists { .. } | StoreError::Precondition { .. } => {
                        io::ErrorKind::AlreadyExists
                    }
                    StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                        io::ErrorKind::PermissionDenied
                    }
                    StoreError::NotSupported { .. } => io::ErrorKind::Unsupported,
                    _ if super::is_whole(&error.to_string()) => io::ErrorKind::Unsupported,
                    _ => io::ErrorKind::Other,
                };
                crate::plain::io_error(kind, error)
            }

            /// A function for running a future on a runtime.
            type Runtime = Arc<dyn Fn(BoxFuture<()>) + Send + Sync>;

            #[doc = concat!("An [`ObjectSink`] in a store of `object_store` ", $version, ".")]
            ///
            /// A small file takes one `put_opts`, and a larger file an upload with
            /// `put_multipart_opts`. Retries and timeouts are up to the store.
            ///
            /// ```
            /// # futures::executor::block_on(async {
            /// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
            /// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..3));
            /// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
            /// use std::sync::Arc;
            ///
            /// use herringbone::{OpenOptions, WriteOptions};
            #[doc = concat!("use herringbone_remote::", stringify!($module), "::{StoreObject, StoreSink};")]
            /// use herringbone_remote::{RemoteFile, RemoteWriter};
            #[doc = concat!("use ", stringify!($module), "::memory::InMemory;")]
            ///
            /// let store = Arc::new(InMemory::new());
            /// let sink = Arc::new(StoreSink::new(store.clone(), "ids.parquet").create_new());
            /// let mut writer = RemoteWriter::new(sink, batch.schema(), WriteOptions::new())?;
            /// writer.write(&batch).await?;
            /// writer.finish().await?;
            ///
            /// let object = Arc::new(StoreObject::new(store, "ids.parquet"));
            /// let file = RemoteFile::open(object, OpenOptions::new()).await?;
            /// assert_eq!(file.metadata().num_rows(), 3);
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// # })?;
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[derive(Clone)]
            pub struct StoreSink {
                store: Arc<dyn ObjectStore>,
                path: Path,
                name: String,
                is_new: bool,
                runtime: Option<Runtime>,
            }

            impl fmt::Debug for StoreSink {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.debug_struct("StoreSink")
                        .field("name", &self.name)
                        .finish_non_exhaustive()
                }
            }

            impl StoreSink {
                /// Creates the sink for an object at `path`, replacing any existing object. Its
                /// name is the store's name, followed by the path.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Self {
                    let path = path.into();
                    Self {
                        name: format!("{store}/{path}"),
                        store,
                        path,
                        is_new: false,
                        runtime: None,
                    }
                }

                /// Makes the sink only create new objects, so that it never replaces an existing
                /// one.
                ///
                /// In `object_store`, uploads in parts do not support this condition, so a file of
                /// more than one part is an error before anything is sent. For larger files, raise
                /// [`part_bytes`](crate::RemoteWriteOptions::part_bytes), up to 5 GiB.
                #[must_use]
                pub fn create_new(self) -> Self {
                    Self {
                        is_new: true,
                        ..self
                    }
                }

                /// Sets the name in error messages, such as a URL. It should not contain
                /// credentials.
                #[must_use]
                pub fn name(self, name: impl Into<String>) -> Self {
                    Self {
                        name: name.into(),
                        ..self
                    }
                }

                /// Sets a function for running a future on a runtime, for example with `spawn` of
                /// tokio's `Handle`. If a writer is dropped, on any thread, its upload is aborted
                /// there. Otherwise, the parts stay in the store.
                #[must_use]
                pub fn runtime(self, spawn: impl Fn(BoxFuture<()>) + Send + Sync + 'static) -> Self {
                    Self {
                        runtime: Some(Arc::new(spawn)),
                        ..self
                    }
                }
            }

            impl ObjectSink for StoreSink {
                fn name(&self) -> &str {
                    &self.name
                }

                fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
                    let sink = self.clone();
                    let mode = match self.is_new {
                        true => PutMode::Create,
                        false => PutMode::Overwrite,
                    };
                    Box::pin(async move {
                        let put = sink.store.put_opts(&sink.path, bytes.into(), mode.into());
                        put.await.map(drop).map_err(|error| io_error(&error))
                    })
                }

                fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
                    let sink = self.clone();
                    Box::pin(async move {
                        if sink.is_new {
                            return Err(Error::unsupported(
                                "`object_store` cannot create an object of several parts only if there is none; raise \
                                 `part_bytes` above the length of the file, or write without `create_new`",
                            ));
                        }
                        let options = PutMultipartOptions::default();
                        let upload = sink.store.put_multipart_opts(&sink.path, options).await;
                        Ok(Box::new(StoreUpload(upload.map_err(|error| io_error(&error))?)) as _)
                    })
                }

                fn run_detached(&self, abort: BoxFuture<()>) {
                    if let Some(spawn) = &self.runtime {
                        spawn(abort);
                    }
                }
            }

            #[derive(Debug)]
            struct StoreUpload(Box<dyn MultipartUpload>);

            impl Upload for StoreUpload {
                fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
                    let part = self.0.put_part(PutPayload::from_bytes(bytes));
                    Box::pin(async move { part.await.map_err(|error| io_error(&error)) })
                }

                fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
                    Box::pin(async { self.0.complete().await.map(drop).map_err(|error| io_error(&error)) })
                }

                fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
                    Box::pin(async { self.0.abort().await.map_err(|error| io_error(&error)) })
                }
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
adapter!(object_store_013, "0.13");
#[cfg(feature = "object-store-014")]
adapter!(object_store_014, "0.14");
