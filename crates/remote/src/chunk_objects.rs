//! Files with their column chunks in other objects, such as `_metadata`.
//!
//! Each object gets a place in a single byte sequence, starting with the footer's object. We leave
//! gaps between the objects, so that no request can span two of them:
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

/// The objects containing another file's column chunks.
///
/// Paths come from the other file's metadata, which might be hostile. Absolute paths, URLs and
/// paths with `..` are therefore rejected before [`Self::object`] sees them, unless
/// [`Self::allows_any_path`] permits them.
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
    /// Returns the object at a path. One request then finds its length and identity, unless these
    /// are already [known](Object::identity).
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone::ErrorKind::Corrupt) if the path is not permitted.
    fn object(&self, path: &str) -> Result<Arc<dyn Object>>;

    /// Returns true if absolute paths, URLs and paths with `..` are permitted. Only allow this if
    /// you trust the metadata.
    fn allows_any_path(&self) -> bool {
        false
    }
}

/// An object with its identity.
type Identified = (Arc<dyn Object>, Arc<Identity>);

/// The objects with a file's bytes. Most files only have one.
pub(crate) struct Objects(ChunkPlaces<Identified>);

impl Objects {
    pub(crate) fn new(object: Arc<dyn Object>, identity: Arc<Identity>) -> Self {
        Self(ChunkPlaces::new(identity.length, (object, identity), 0))
    }

    /// Requests a range. It must lie within a single object.
    pub(crate) fn range(&self, range: Range<u64>) -> BoxFuture<Result<Bytes>> {
        // For a single object, the store checks the range.
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
    /// Adds the column chunks in other objects to this file. Otherwise, reading such a chunk is an
    /// error.
    ///
    /// One request per other object finds its length and [identity](Self::identity), unless these
    /// are already [known](Object::identity). All later requests have a precondition. Page indexes
    /// and bloom filters in other objects are not used.
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
    /// Returns the errors of `objects` and of the stores. Fails with
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if a path is not permitted, if a column chunk is
    /// outside its object, or if its metadata cannot be decoded, and with
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

/// Returns the objects at these paths with their identities, with at most `most` requests in flight
/// at a time.
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

/// Finds an object's identity.
async fn open(object: Arc<dyn Object>) -> Result<Identified> {
    let identity = match object.identity() {
        Some(identity) => identity,
        // We request one byte, because a store might refuse an empty request.
        None => request::tail(&object, 1).await?.1,
    };
    Ok((object, Arc::new(identity)))
}
