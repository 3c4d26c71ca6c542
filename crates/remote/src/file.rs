//! An opened Parquet file in a store.

use std::fmt;
use std::future::ready;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::format::FileMetadata;
use herringbone::modular_encryption::{KeyRequest, KeyStep};
use herringbone::push::{FetchPolicy, FooterDecoder, FooterStep};
use herringbone::schema::ParquetSchema;
use herringbone::{Error, Int96Units, MetadataHandle, ReadOptions, ReadPlan, Result};
use herringbone_core::fetch::{Tail, joined};

use crate::cache::CachedFooter;
use crate::chunk_objects::Objects;
use crate::fetches::Fetches;
use crate::keys::KeyService;
use crate::object::{BoxFuture, Identity, Object};
use crate::options::RemoteOptions;
use crate::request;
use crate::stream::RecordBatchStream;
use crate::whole::MaybeWhole;

/// A Parquet file in a store, with its footer already read. Start here to look at the file's
/// metadata or to stream its data.
///
/// This type is cheap to clone, and several tasks can read from it concurrently.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::{OpenOptions, ReadOptions, Result};
/// use herringbone_remote::{Object, RemoteFile};
///
/// async fn count(object: Arc<dyn Object>) -> Result<usize> {
///     let file = RemoteFile::open(object, OpenOptions::new()).await?;
///     let mut batches = file.read(ReadOptions::new().columns(["id"]))?;
///     let mut rows = 0;
///     while let Some(batch) = batches.next_batch().await? {
///         rows += batch.num_rows();
///     }
///     Ok(rows)
/// }
/// ```
#[derive(Clone)]
pub struct RemoteFile {
    object: Arc<dyn Object>,
    identity: Arc<Identity>,
    /// The objects with the file's bytes, this one first.
    objects: Arc<Objects>,
    handle: MetadataHandle,
    /// The bytes in memory: the file's end if it was fetched with the footer, or the page indexes
    /// if the cache kept them.
    tail: Tail,
    policy: FetchPolicy,
    key_service: Option<Arc<dyn KeyService>>,
}

impl fmt::Debug for RemoteFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteFile")
            .field("name", &self.object.name())
            .field("identity", &self.identity)
            .field("rows", &self.metadata().num_rows())
            .finish_non_exhaustive()
    }
}

impl RemoteFile {
    /// Opens an object. If all you want to set are [`OpenOptions`](herringbone::OpenOptions) or
    /// [`Limits`](herringbone::Limits), pass these alone as the options.
    ///
    /// This usually takes one request for the object's end, with a size set by the
    /// [policy](FetchPolicy::suffix_bytes). A longer footer takes a second request for the missing
    /// part. If the footer is in the cache and the object's identity is [known](Object::identity),
    /// no request is sent.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if a request fails, with the object's name and
    /// the range, and with [Replaced](herringbone::ErrorKind::Replaced) if the object was replaced
    /// meanwhile. Fails with [Corrupt](herringbone::ErrorKind::Corrupt),
    /// [Unsupported](herringbone::ErrorKind::Unsupported) or [Limit](herringbone::ErrorKind::Limit)
    /// if the footer cannot be used, and with [Key](herringbone::ErrorKind::Key) if a key is
    /// missing or wrong. The key service's errors are returned, too.
    pub async fn open(object: Arc<dyn Object>, options: impl Into<RemoteOptions>) -> Result<Self> {
        let options = options.into();
        if let Some(file) = Self::open_cached(object.clone(), options.clone())? {
            return Ok(file);
        }
        let policy = options.fetch_policy.clone();
        let policy = policy.unwrap_or_else(|| object.fetch_policy());
        let opened = request::open(object, policy.suffix_bytes.max(8)).await?;
        let (object, tail, identity) = (opened.object, opened.tail, Arc::new(opened.identity));
        let (handle, tail) = match options.cached_footer(object.name(), &identity) {
            Some(footer) => (footer.metadata, tail),
            None => read_footer(&object, &identity, tail, &options).await?,
        };
        let tail = Tail::new(identity.length, tail);
        Self::with_tail(object, identity, handle, tail, &options)
    }

    /// Opens an object without a request, if its identity is [known](Object::identity) and its
    /// footer is in the cache. Otherwise, returns `None`.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the cached footer belongs to a
    /// file of another length.
    pub fn open_cached(
        object: Arc<dyn Object>,
        options: impl Into<RemoteOptions>,
    ) -> Result<Option<Self>> {
        let options = options.into();
        let Some(identity) = object.identity() else {
            return Ok(None);
        };
        let Some(footer) = options.cached_footer(object.name(), &identity) else {
            return Ok(None);
        };
        let object: Arc<dyn Object> = Arc::new(MaybeWhole::new(object));
        let (metadata, tail) = (footer.metadata, footer.indexes);
        Self::with_tail(object, identity.into(), metadata, tail, &options).map(Some)
    }

    /// Opens an object with already known metadata. This sends no request and ignores any options
    /// for the footer.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the object is not as long as the
    /// handle's file.
    pub fn with_metadata(
        object: Arc<dyn Object>,
        identity: impl Into<Arc<Identity>>,
        handle: MetadataHandle,
        options: impl Into<RemoteOptions>,
    ) -> Result<Self> {
        let object: Arc<dyn Object> = Arc::new(MaybeWhole::new(object));
        let (identity, tail) = (identity.into(), Tail::default());
        Self::with_tail(object, identity, handle, tail, &options.into())
    }

    /// Opens an object with known metadata and some of its bytes in memory.
    fn with_tail(
        object: Arc<dyn Object>,
        identity: Arc<Identity>,
        handle: MetadataHandle,
        tail: Tail,
        options: &RemoteOptions,
    ) -> Result<Self> {
        let (length, expected) = (identity.length, handle.file_length());
        if length != expected {
            return Err(Error::argument(format!(
                "the metadata is that of a file of {expected} bytes, and {} has {length}",
                object.name()
            )));
        }
        let policy = options.fetch_policy.clone();
        let mut file = Self {
            policy: policy.unwrap_or_else(|| object.fetch_policy()),
            handle,
            tail,
            key_service: options.key_service.clone(),
            objects: Arc::new(Objects::new(object.clone(), identity.clone())),
            object,
            identity,
        };
        let is_encrypted = file.metadata().decryption().is_some();
        let entry = options.cache_entry(file.object.name(), &file.identity);
        if let Some(entry) = entry.filter(|_| !is_encrypted) {
            if entry.cache.footer(&entry.file).is_none() {
                let footer = CachedFooter::new(&file.handle, &file.tail);
                entry.cache.add_footer(&entry.file, footer);
            }
            file.handle = file.handle.with_page_index_cache(Arc::new(entry));
        }
        Ok(file)
    }

    /// Returns the object. If its server ignores ranges, the object keeps all bytes in memory from
    /// the first request on.
    #[must_use]
    pub fn object(&self) -> &Arc<dyn Object> {
        &self.object
    }

    /// Returns the object's identity at the time of opening. Each request of a read carries this
    /// identity.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the metadata read so far. Use it to plan a read, or to open the object again
    /// [without requests](Self::with_metadata).
    #[must_use]
    pub fn metadata_handle(&self) -> &MetadataHandle {
        &self.handle
    }

    /// Returns the metadata in the footer.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        self.handle.metadata()
    }

    /// Returns the Parquet schema.
    #[must_use]
    pub fn parquet_schema(&self) -> &ParquetSchema {
        self.handle.parquet_schema()
    }

    /// Starts a read. Nothing is requested before you poll the stream.
    ///
    /// If the unit of INT96 timestamps depends on their values
    /// ([`Int96Overflow::CoarserUnit`](herringbone::Int96Overflow)), find it with
    /// [`Self::int96_units`] first.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the options name something that
    /// the file does not have, and with [Corrupt](herringbone::ErrorKind::Corrupt) if row counts
    /// are inconsistent.
    pub fn read(&self, options: ReadOptions) -> Result<RecordBatchStream> {
        Ok(self.stream(self.handle.plan(&options)?))
    }

    /// Replaces the file's metadata, and the objects with its bytes.
    pub(crate) fn with_objects(&self, objects: Objects, handle: MetadataHandle) -> Self {
        Self {
            objects: Arc::new(objects),
            handle,
            // We drop the tail, because the object's end isn't the file's end any more.
            tail: Tail::default(),
            ..self.clone()
        }
    }

    pub(crate) fn policy(&self) -> &FetchPolicy {
        &self.policy
    }

    fn stream(&self, plan: ReadPlan) -> RecordBatchStream {
        let objects = self.objects.clone();
        let fetches = Fetches::new(objects, self.policy.clone(), self.tail.clone());
        RecordBatchStream::new(Arc::new(plan), fetches, self.key_service.clone())
    }

    /// Requests a range of the object, for your own readers. Bytes that came with the footer are
    /// not requested again.
    ///
    /// The future fails with Io if the request fails, with the object's name and the range, and
    /// with Replaced if the object was replaced.
    pub fn fetch(&self, range: Range<u64>) -> BoxFuture<Result<Bytes>> {
        let (head, rest) = self.tail.split(&range);
        if head.is_empty() && !rest.is_empty() {
            return Box::pin(ready(Ok(rest)));
        }
        let head = self.objects.range(head);
        Box::pin(async move { Ok(joined(head.await?, rest)) })
    }

    /// Returns the units that can represent every INT96 timestamp returned by a read with these
    /// options.
    ///
    /// This decodes the INT96 columns' values, but no other columns.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`] and [`RecordBatchStream::next_batch`].
    pub async fn int96_units(&self, options: &ReadOptions) -> Result<Int96Units> {
        let mut units = Int96Units::default();
        if let Some(plan) = self.handle.int96_plan(options)? {
            let mut batches = self.stream(plan);
            while let Some(batch) = batches.next_batch().await? {
                units.add(&batch);
            }
        }
        Ok(units)
    }
}

/// Decodes an object's footer from its end, `tail`. Returns the metadata and all bytes fetched so
/// far.
///
/// # Errors
/// Fails for the same reasons as [`RemoteFile::open`].
async fn read_footer(
    object: &Arc<dyn Object>,
    identity: &Arc<Identity>,
    tail: Bytes,
    options: &RemoteOptions,
) -> Result<(MetadataHandle, Bytes)> {
    let (open, length) = (&options.open, identity.length);
    let mut footer = FooterDecoder::new(length, open.limits.clone())
        .decryption(open.decryption.clone(), open.path.clone());
    footer.supply(tail);
    let metadata = loop {
        match footer.poll()? {
            FooterStep::Ready(metadata) => break *metadata,
            FooterStep::Need(range) => {
                let bytes = request::range(object.clone(), range, identity.clone()).await?;
                footer.supply(bytes);
            }
            FooterStep::NeedKey(request) => {
                let key = key(options.key_service.as_deref(), &request).await?;
                footer.supply_key(&request, &key)?;
            }
        }
    };
    let handle = MetadataHandle::new(metadata, length, open.limits.clone())?;
    Ok((handle, footer.into_supplied()))
}

/// Fetches a key.
///
/// # Errors
/// Fails with Key if there is no key service, and returns the service's errors.
async fn key(service: Option<&dyn KeyService>, request: &KeyRequest) -> Result<Vec<u8>> {
    match service {
        Some(service) => service.key(request).await,
        None => KeyStep::NeedKey(request.clone()).ready(),
    }
}
