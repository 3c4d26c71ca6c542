//! Files whose column chunks are in other objects, such as `_metadata`.
//!
//! All objects get a place in one sequence of bytes, the object of the footer first. Gaps between them keep requests
//! apart:
//!
//! ```text
//! offset      0            1000     301000         301400
//!             │ _metadata  │  gap   │ a.parquet    │  gap   …
//! ```

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use herringbone::{ChunkPlaces, Error, Result, chunk_paths, is_below};

use crate::file::RemoteFile;
use crate::object::{BoxFuture, Identity, Object};
use crate::request;

/// The objects that contain the column chunks of another file.
///
/// The paths are those in the metadata of the other file, which may be hostile. Absolute paths, URLs and paths with `..`
/// are errors before [`Self::object`] sees them, unless [`Self::allows_any_path`] permits them.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::{Error, Result};
/// use herringbone_remote::{ChunkObjects, Object};
///
/// /// Known objects by name.
/// struct Known(Vec<Arc<dyn Object>>);
///
/// impl ChunkObjects for Known {
///     fn object(&self, path: &str) -> Result<Arc<dyn Object>> {
///         let object = self.0.iter().find(|object| object.name() == path);
///         object.cloned().ok_or_else(|| Error::argument(format!("no object `{path}`")))
///     }
/// }
/// ```
pub trait ChunkObjects: Send + Sync {
    /// Returns the object at a path. One request finds its length and identity, unless they are
    /// [known](Object::identity).
    ///
    /// # Errors
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if the path is not permitted.
    fn object(&self, path: &str) -> Result<Arc<dyn Object>>;

    /// Returns true if absolute paths, URLs and paths with `..` are permitted. Use this for trusted metadata only.
    fn allows_any_path(&self) -> bool {
        false
    }
}

/// An object and its identity.
type Identified = (Arc<dyn Object>, Arc<Identity>);

/// The objects with the bytes of a file. Most files have one.
pub(crate) struct Objects(ChunkPlaces<Identified>);

impl Objects {
    pub(crate) fn new(object: Arc<dyn Object>, identity: Arc<Identity>) -> Self {
        Self(ChunkPlaces::new(identity.length, (object, identity), 0))
    }

    /// Requests a range, which is within one object.
    pub(crate) fn range(&self, range: Range<u64>) -> BoxFuture<Result<Bytes>> {
        // The store checks ranges of a single object.
        let is_within = |place: &Range<u64>| self.0.is_one() || range.end <= place.end;
        let part = self.0.at(range.start).filter(|(place, _)| is_within(place));
        let Some((place, (object, identity))) = part else {
            let error = Error::corrupt("a range outside the objects of the file");
            return Box::pin(std::future::ready(Err(error.at_offset(range.start))));
        };
        let range = range.start - place.start..range.end.saturating_sub(place.start);
        request::range(object.clone(), range, identity.clone())
    }
}

impl RemoteFile {
    /// Adds the column chunks in other objects to this file. By default, reading such a chunk is an error.
    ///
    /// One request per other object finds its length and [identity](Self::identity), unless they are
    /// [known](Object::identity). Later requests have a precondition each. Page indexes and bloom filters of chunks in
    /// other objects are not used.
    ///
    /// ```
    /// use herringbone::{ReadOptions, Result};
    /// use herringbone_remote::{ChunkObjects, RecordBatchStream, RemoteFile};
    ///
    /// async fn read(metadata: RemoteFile, files: &dyn ChunkObjects) -> Result<RecordBatchStream> {
    ///     metadata.with_chunk_objects(files).await?.read(ReadOptions::new())
    /// }
    /// ```
    ///
    /// # Errors
    /// Errors of `objects` and of the stores; [Corrupt](herringbone::ErrorKind::Corrupt) if a path is not permitted, if
    /// a column chunk is outside its object, or if its metadata cannot be decoded;
    /// [Unsupported](herringbone::ErrorKind::Unsupported) if the file is encrypted.
    pub async fn with_chunk_objects(&self, objects: &dyn ChunkObjects) -> Result<Self> {
        let paths = chunk_paths(self.metadata_handle())?;
        if paths.is_empty() {
            return Ok(self.clone());
        }
        let most = self.policy().max_requests_in_flight.max(1);
        let opened = opened(objects, &paths, most).await?;
        let own = (self.object().clone(), Arc::new(self.identity().clone()));
        let gap = self.policy().max_gap_bytes.saturating_add(1);
        let mut places = ChunkPlaces::new(self.identity().length, own, gap);
        for ((path, row_group), object) in paths.into_iter().zip(opened) {
            let added = places.add(&path, object.1.length, object);
            added.map_err(|error| error.in_row_group(row_group))?;
        }
        let handle = places.moved(self.metadata_handle())?;
        Ok(self.with_objects(Objects(places), handle))
    }
}

/// Returns the objects at paths, and their identities. At most `most` requests are in flight.
async fn opened(
    objects: &dyn ChunkObjects,
    paths: &[(String, usize)],
    most: usize,
) -> Result<Vec<Identified>> {
    let mut opened = Vec::with_capacity(paths.len());
    for paths in paths.chunks(most) {
        let mut futures = Vec::with_capacity(paths.len());
        for (path, row_group) in paths {
            let object = permitted(objects, path);
            let object = object.map_err(|error| error.in_row_group(*row_group))?;
            futures.push((Box::pin(open(object)), None));
        }
        poll_fn(|cx| {
            let mut is_ready = true;
            for (future, found) in &mut futures {
                if found.is_none() {
                    *found = match future.as_mut().poll(cx) {
                        Poll::Ready(result) => Some(result?),
                        Poll::Pending => None,
                    };
                    is_ready &= found.is_some();
                }
            }
            match is_ready {
                true => Poll::Ready(Ok::<_, Error>(())),
                false => Poll::Pending,
            }
        })
        .await?;
        opened.extend(futures.into_iter().filter_map(|(_, found)| found));
    }
    Ok(opened)
}

/// Returns the object at a path, if the path is permitted.
fn permitted(objects: &dyn ChunkObjects, path: &str) -> Result<Arc<dyn Object>> {
    if !objects.allows_any_path() && !is_below(path) {
        return Err(Error::corrupt(format!(
            "the path `{path}` of a column chunk does not lead to an object below the directory of the file"
        )));
    }
    objects.object(path)
}

/// Finds the identity of an object.
async fn open(object: Arc<dyn Object>) -> Result<Identified> {
    let identity = match object.identity() {
        Some(identity) => identity,
        // A store may refuse a request for no bytes.
        None => request::tail(&object, 1).await?.1,
    };
    Ok((object, Arc::new(identity)))
}
