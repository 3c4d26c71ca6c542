//! A file at a URL, as a source of the library.

use std::future::Future;
use std::io::{self, ErrorKind};
use std::iter::Sum;
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
use object_store::path::Path as StorePath;
use tokio::runtime::Handle;
use tokio::task::{JoinError, JoinSet};

use super::problem::{SERVER, plain};
use super::runtime;
use super::store::Place;
use super::windows::Windows;
use crate::failure::Failure;

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

impl Sum for Traffic {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, more| Self {
            requests: sum.requests + more.requests,
            rounds: sum.rounds + more.rounds,
            bytes: sum.bytes + more.bytes,
        })
    }
}

/// An object of known identity.
pub(crate) struct RemoteFile {
    object: Arc<dyn Object>,
    identity: Arc<Identity>,
    /// The last bytes of the object, once they have been read. All of them if the server has no requests for ranges.
    tail: Mutex<Bytes>,
    runtime: &'static Handle,
    unsigned: Option<&'static str>,
    requests: AtomicU64,
    rounds: AtomicU64,
    bytes: AtomicU64,
    windows: Mutex<Windows>,
    /// The number of bytes of `tail` counted among the retained bytes.
    retained: AtomicU64,
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
        let mut file = Self::new(Arc::new(object), Identity::new(0), runtime, place.unsigned);
        file.read_end().map_err(|error| {
            let failure = failed(&error);
            match failure {
                Failure::System(message)
                    if place.takes_parts && error_kind(&error) == Some(ErrorKind::NotFound) =>
                {
                    let hint = "a URL that ends with `/` names all objects below it";
                    Failure::System(format!("{message}; {hint}"))
                }
                other => other,
            }
        })?;
        Ok(Arc::new(file))
    }

    /// Creates the file of an object that a store has listed. Requests nothing.
    pub(super) fn listed(
        place: &Place,
        path: &str,
        identity: Identity,
        runtime: &'static Handle,
    ) -> Arc<Self> {
        // A path that cannot be parsed was not listed. The store will not find it.
        let path = StorePath::parse(path).unwrap_or_else(|_| StorePath::from(path));
        let object = StoreObject::new(place.store.clone(), path).name(SERVER);
        let object = Arc::new(object.known_identity(identity.clone()));
        Arc::new(Self::new(object, identity, runtime, place.unsigned))
    }

    fn new(
        object: Arc<dyn Object>,
        identity: Identity,
        runtime: &'static Handle,
        unsigned: Option<&'static str>,
    ) -> Self {
        Self {
            identity: Arc::new(identity),
            tail: Mutex::default(),
            runtime,
            unsigned,
            requests: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            windows: Mutex::default(),
            retained: AtomicU64::new(0),
            object,
        }
    }

    /// Reads the end of the object, or all of it from a server without requests for ranges.
    fn read_end(&mut self) -> Result<()> {
        let suffix = self.fetch_policy().suffix_bytes;
        let object = self.object.clone();
        let opened = self.answer(async move { request::open(object, suffix).await });
        let opened = opened.map_err(|error| plain(error, self.unsigned))?;
        let is_held = !Arc::ptr_eq(&self.object, &opened.object);
        let length = opened.tail.len() as u64;
        self.object = opened.object;
        self.identity = Arc::new(opened.identity);
        self.count(1, length);
        if self.reserve(length) || is_held {
            self.keep(opened.tail);
        }
        Ok(())
    }

    /// Retains the end of the object.
    fn keep(&self, tail: Bytes) {
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = tail;
    }

    /// Returns the retained end of the object.
    fn tail(&self) -> Bytes {
        self.tail
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Gives up the retained end of the object.
    fn release(&self) {
        self.keep(Bytes::new());
        RETAINED.fetch_sub(self.retained.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Takes some of the bytes that files may retain. Returns false if there are too few.
    fn reserve(&self, bytes: u64) -> bool {
        if RETAINED.fetch_add(bytes, Ordering::Relaxed) + bytes > MOST_RETAINED {
            RETAINED.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.retained.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    /// Reads the ends of listed files side by side. If too much is retained, the ends of the files before them are given
    /// up. Files whose end cannot be retained read it when they are opened.
    ///
    /// # Errors
    /// The first error of a request, with the ordinal of its file.
    pub(crate) fn fetch_ends(
        before: &[Arc<Self>],
        files: &[Arc<Self>],
    ) -> std::result::Result<(), (usize, Error)> {
        let Some(first) = files.first() else {
            return Ok(());
        };
        let suffix = first.fetch_policy().suffix_bytes;
        let mut running = JoinSet::new();
        for (at, file) in files.iter().enumerate() {
            let length = file.len().min(suffix);
            if file.is_retained() || length == 0 {
                continue;
            }
            if !file.reserve(length) {
                before.iter().for_each(|file| file.release());
                if !file.reserve(length) {
                    continue;
                }
            }
            // Requests in flight at the same time are one round.
            file.requests.fetch_add(1, Ordering::Relaxed);
            file.rounds
                .fetch_add(u64::from(running.is_empty()), Ordering::Relaxed);
            file.bytes.fetch_add(length, Ordering::Relaxed);
            let object = file.object.clone();
            let tail = async move { (at, request::tail(&object, suffix).await) };
            running.spawn_on(tail, first.runtime);
        }
        first.runtime.block_on(async {
            while let Some(answer) = running.join_next().await {
                let (at, tail) = answer.map_err(|error| (0, lost(&error)))?;
                let (tail, _) = tail.map_err(|error| (at, plain(error, first.unsigned)))?;
                if let Some(file) = files.get(at) {
                    file.keep(tail);
                }
            }
            Ok(())
        })
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
        !self.tail().is_empty()
    }

    /// Counts a round of requests.
    fn count(&self, requests: u64, bytes: u64) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(requests, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the offset of the tail.
    fn tail_start(&self, tail: &Bytes) -> u64 {
        self.len() - tail.len() as u64
    }

    /// Returns the part of a range within the tail.
    fn in_tail(&self, tail: &Bytes, range: &Range<u64>) -> Bytes {
        let start = self.tail_start(tail);
        let offset = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        let (from, to) = (offset(range.start), offset(range.end));
        let from = from.min(tail.len());
        tail.slice(from..to.clamp(from, tail.len()))
    }

    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.read_many(std::slice::from_ref(&range))?;
        bytes
            .into_iter()
            .next()
            .ok_or_else(|| Error::argument("no answer"))
    }

    /// Requests the part of a range before the tail.
    fn request(
        &self,
        range: &Range<u64>,
        tail_start: u64,
    ) -> impl Future<Output = Result<Bytes>> + Send + 'static {
        let range = range.start..range.end.min(tail_start);
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
        let tail_start = self.tail_start(&self.tail());
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
        let tail = self.tail();
        let tail_start = self.tail_start(&tail);
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
                let request = self.request(range, tail_start);
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
            .map(|(head, range)| joined(head, self.in_tail(&tail, range)))
            .collect())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::remote()
    }
}

impl Drop for RemoteFile {
    fn drop(&mut self) {
        self.release();
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
