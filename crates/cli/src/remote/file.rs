//! A file at a URL, as a source of the library.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::{Bytes, BytesMut};
use herringbone::push::FetchPolicy;
use herringbone::source::Source;
use herringbone::{Error, Result};
use herringbone_remote::object_store_014::StoreObject;
use herringbone_remote::{Identity, Object, request};
use object_store::{GetOptions, ObjectStore};
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use super::problem::{SERVER, of_store, plain, status};
use super::runtime;
use super::store::Place;
use super::windows::Windows;
use crate::failure::Failure;

/// The size limit, in bytes, for reading a whole file in one request from a server without requests for ranges.
const MOST_AT_ONCE: u64 = 256 << 20;
/// The maximum number of bytes at the ends of files that all files together retain.
const MOST_RETAINED: u64 = 256 << 20;
/// The number of bytes that all files retain.
static RETAINED: AtomicU64 = AtomicU64::new(0);

/// The requests for a file so far.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub(crate) requests: u64,
    pub(crate) rounds: u64,
    pub(crate) bytes: u64,
}

/// An object whose end has been read.
pub(crate) struct RemoteFile {
    object: Arc<dyn Object>,
    identity: Arc<Identity>,
    /// The last bytes of the object. All of them if the server has no requests for ranges.
    tail: Bytes,
    runtime: &'static Handle,
    unsigned: Option<&'static str>,
    requests: AtomicU64,
    rounds: AtomicU64,
    bytes: AtomicU64,
    windows: Mutex<Windows>,
    /// True if `tail` is counted among the retained bytes.
    is_retained: bool,
}

impl RemoteFile {
    /// Reads the end of the object at a URL.
    ///
    /// # Errors
    /// Usage if the URL is wrong; System if a request fails.
    pub(crate) fn open(url: &Path) -> crate::failure::Result<Arc<Self>> {
        let place = Place::of(url)?;
        let failed = |error: &Error| Failure::parquet(&place.name, error);
        let runtime = runtime().map_err(|error| failed(&error.into()))?;
        let object = StoreObject::new(place.store.clone(), place.path.clone()).name(SERVER);
        let object: Arc<dyn Object> = Arc::new(object);
        let mut file = Self {
            identity: Arc::new(Identity::new(0)),
            tail: Bytes::new(),
            runtime,
            unsigned: place.unsigned,
            requests: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            windows: Mutex::default(),
            is_retained: false,
            object,
        };
        file.read_end(&place).map_err(|error| failed(&error))?;
        Ok(Arc::new(file))
    }

    /// Reads the end of the object, or all of it from a server without requests for ranges.
    fn read_end(&mut self, place: &Place) -> Result<()> {
        let suffix = self.fetch_policy().suffix_bytes;
        let object = self.object.clone();
        let end = self.answer(async move { request::tail(&object, suffix).await });
        let ((tail, identity), has_ranges) = match end {
            Ok(end) => (end, true),
            Err(error) if error_kind(&error) == Some(ErrorKind::Unsupported) => {
                (self.read_all(place)?, false)
            }
            Err(error) if lacks_suffixes(&error) => {
                self.read_end_otherwise(place, suffix, error)?
            }
            Err(error) => return Err(plain(error, self.unsigned)),
        };
        let length = tail.len() as u64;
        self.identity = Arc::new(identity);
        self.count(1, length);
        self.is_retained = RETAINED.fetch_add(length, Ordering::Relaxed) + length <= MOST_RETAINED;
        if self.is_retained || !has_ranges {
            self.tail = tail;
        }
        if !self.is_retained {
            RETAINED.fetch_sub(length, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Reads the end of an object from a server without requests for the end. `first` is the error of that request.
    /// Returns false if the server has no requests for ranges either, so that all of the object was read.
    fn read_end_otherwise(
        &self,
        place: &Place,
        suffix: u64,
        first: Error,
    ) -> Result<((Bytes, Identity), bool)> {
        let object = self.object.clone();
        // The answer has the length of the object. Unlike HEAD, it fits a signature for GET.
        let probe = async move { object.range(0..1, &Identity::new(0)).await };
        self.count(1, 1);
        let identity = match self.answer(probe) {
            Ok(answer) => answer.identity,
            Err(error) if error_kind(&error) == Some(ErrorKind::Unsupported) => {
                return Ok((self.read_all(place)?, false));
            }
            Err(_) => return Err(plain(first, self.unsigned)),
        };
        let range = identity.length.saturating_sub(suffix)..identity.length;
        let (object, known) = (self.object.clone(), Arc::new(identity.clone()));
        let tail = self.answer(async move { request::range(object, range, known).await });
        let tail = tail.map_err(|error| plain(error, self.unsigned))?;
        Ok(((tail, identity), true))
    }

    /// Reads the whole object in one request.
    fn read_all(&self, place: &Place) -> Result<(Bytes, Identity)> {
        let (store, path) = (place.store.clone(), place.path.clone());
        let all = self.answer(async move {
            let result = store.get_opts(&path, GetOptions::default()).await;
            collect(result.map_err(|error| of_store(&error, None))?).await
        });
        all.map_err(|error| plain(error, self.unsigned))
    }

    /// Waits for a future on the thread of all requests.
    fn answer<T: Send + 'static>(
        &self,
        future: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let answer = self.runtime.block_on(self.runtime.spawn(future));
        answer.map_err(|error| lost(&error))?
    }

    /// Returns the requests so far.
    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            requests: self.requests.load(Ordering::Relaxed),
            rounds: self.rounds.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// Returns true if opening the file again needs no request.
    pub(crate) fn is_retained(&self) -> bool {
        self.is_retained || self.tail.len() as u64 == self.len()
    }

    /// Counts a round of requests.
    fn count(&self, requests: u64, bytes: u64) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the offset of the tail.
    fn tail_start(&self) -> u64 {
        self.len() - self.tail.len() as u64
    }

    /// Returns the part of a range within the tail.
    fn in_tail(&self, range: &Range<u64>) -> Bytes {
        let start = self.tail_start();
        let offset = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        let (from, to) = (offset(range.start), offset(range.end));
        self.tail.slice(from..to.max(from))
    }

    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.read_many(std::slice::from_ref(&range))?;
        bytes
            .into_iter()
            .next()
            .ok_or_else(|| Error::argument("no answer"))
    }

    /// Requests the part of a range before the tail.
    fn request(&self, range: &Range<u64>) -> impl Future<Output = Result<Bytes>> + Send + 'static {
        let range = range.start..range.end.min(self.tail_start());
        request::range(self.object.clone(), range, self.identity.clone())
    }

    /// Checks that a range lies within the file.
    fn check(&self, range: &Range<u64>) -> Result<()> {
        match range.start <= range.end && range.end <= self.len() {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "the bytes {:#x}..{:#x} were requested, but the file has {:#x} bytes",
                range.start,
                range.end,
                self.len()
            ))
            .at_offset(range.start)),
        }
    }
}

impl Source for RemoteFile {
    fn len(&self) -> u64 {
        self.identity.length
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let windows = || self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let found = windows().find(&range);
        if let Some(bytes) = found {
            return Ok(bytes);
        }
        let tail_start = self.tail_start();
        if range.end < tail_start && range.start < range.end {
            let end = windows().wanted_end(&range, tail_start);
            let bytes = self.read_one(range.start..end)?;
            windows().add(&range, bytes.clone());
            // At most all of them.
            return Ok(bytes.slice(..(range.end - range.start) as usize));
        }
        self.read_one(range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range))?;
        let tail_start = self.tail_start();
        let is_missing = |range: &Range<u64>| range.start < range.end.min(tail_start);
        let missing: Vec<_> = ranges
            .iter()
            .enumerate()
            .filter(|(_, it)| is_missing(it))
            .collect();
        let mut heads = vec![Bytes::new(); ranges.len()];
        if !missing.is_empty() {
            let size = |range: &Range<u64>| range.end.min(tail_start) - range.start;
            let bytes = missing.iter().map(|(_, range)| size(range)).sum();
            self.count(missing.len() as u64, bytes);
        }
        let most = self.fetch_policy().max_requests_in_flight;
        let fetched = self.runtime.block_on(async {
            // Dropping the set cancels its requests.
            let mut running = JoinSet::new();
            for (at, range) in missing {
                if running.len() >= most {
                    keep(&mut heads, running.join_next().await)?;
                }
                let request = self.request(range);
                running.spawn_on(
                    async move { request.await.map(|it| (at, it)) },
                    self.runtime,
                );
            }
            while let Some(answer) = running.join_next().await {
                keep(&mut heads, Some(answer))?;
            }
            Ok(())
        });
        fetched.map_err(|error| plain(error, self.unsigned))?;
        Ok(heads
            .into_iter()
            .zip(ranges)
            .map(|(head, range)| joined(head, self.in_tail(range)))
            .collect())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::remote()
    }
}

impl Drop for RemoteFile {
    fn drop(&mut self) {
        if self.is_retained {
            RETAINED.fetch_sub(self.tail.len() as u64, Ordering::Relaxed);
        }
    }
}

/// Keeps the answer of a request at its place.
fn keep(
    heads: &mut [Bytes],
    answer: Option<Result<Result<(usize, Bytes)>, JoinError>>,
) -> Result<()> {
    if let Some(answer) = answer {
        let (at, bytes) = answer.map_err(|error| lost(&error))??;
        if let Some(head) = heads.get_mut(at) {
            *head = bytes;
        }
    }
    Ok(())
}

/// Returns the error for a request that ended without an answer.
fn lost(error: &JoinError) -> Error {
    io::Error::other(format!("a request ended: {error}")).into()
}

fn joined(head: Bytes, tail: Bytes) -> Bytes {
    match (head.is_empty(), tail.is_empty()) {
        (true, _) => tail,
        (_, true) => head,
        _ => {
            let mut all = BytesMut::with_capacity(head.len() + tail.len());
            all.extend_from_slice(&head);
            all.extend_from_slice(&tail);
            all.freeze()
        }
    }
}

fn error_kind(error: &Error) -> Option<ErrorKind> {
    error.io_error().map(io::Error::kind)
}

/// Returns true if a server may answer so to requests for the end of an object.
fn lacks_suffixes(error: &Error) -> bool {
    matches!(status(error), Some(400 | 405 | 416 | 500 | 501))
}

/// Collects a whole object.
///
/// # Errors
/// Io if it is too large, or if the answer is incomplete.
async fn collect(result: object_store::GetResult) -> Result<(Bytes, Identity)> {
    let length = result.meta.size;
    if length > MOST_AT_ONCE {
        return Err(io::Error::new(
            ErrorKind::Unsupported,
            format!(
                "the server has no requests for ranges, and the file has {length} bytes, more than the \
                 {MOST_AT_ONCE} that are read at once; download it"
            ),
        )
        .into());
    }
    let identity = Identity::new(length)
        .e_tag(result.meta.e_tag.clone())
        .modified(Some(result.meta.last_modified.into()));
    let bytes = result
        .bytes()
        .await
        .map_err(|error| of_store(&error, None))?;
    let got = bytes.len() as u64;
    match got == length {
        true => Ok((bytes, identity)),
        false => Err(io::Error::new(
            ErrorKind::UnexpectedEof,
            format!("the answer ends after {got} of {length} bytes"),
        )
        .into()),
    }
}
