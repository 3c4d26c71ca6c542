//! Objects as blocking sources.

use std::fmt;
use std::iter::Sum;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::Source;
use herringbone::{Error, Result};
use herringbone_core::fetch::{Tail, joined};
use tokio::task::JoinSet;

use super::windows::RecentRanges;
use super::{lost, wait};
use crate::object::{Identity, Object};
use crate::request;
use crate::whole::MaybeWhole;

/// The most bytes of objects' ends retained by all sources together.
const MAX_RETAINED: u64 = 256 << 20;
/// The number of bytes currently retained by all sources.
static RETAINED: AtomicU64 = AtomicU64::new(0);

/// The requests for an object so far. Several concurrent requests count as one round.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traffic {
    /// The number of requests.
    pub requests: u64,
    /// The number of times that a read waited for requests.
    pub rounds: u64,
    /// The number of requested bytes.
    pub bytes: u64,
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

/// An object of known identity as a blocking [`Source`]. Share it in an [`Arc`] if several threads
/// need to read concurrently.
///
/// - Ranges read together are requested concurrently, within the [`FetchPolicy`]'s limit.
/// - The object's end stays in memory, so that reading its footer again takes no request. In total,
///   sources retain at most 256 MiB.
/// - If a reader asks for one short range after another, the source reads ahead.
/// - If the object is replaced meanwhile, reads fail.
pub struct RemoteSource {
    object: Arc<dyn Object>,
    identity: Arc<Identity>,
    policy: FetchPolicy,
    /// The object's last bytes, once read, or all its bytes if the server ignores ranges.
    tail: Mutex<Tail>,
    /// This source's share of the retained bytes.
    retained: AtomicU64,
    windows: Mutex<RecentRanges>,
    traffic: Mutex<Traffic>,
}

impl fmt::Debug for RemoteSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSource")
            .field("name", &self.object.name())
            .field("identity", &self.identity)
            .field("traffic", &self.traffic())
            .finish_non_exhaustive()
    }
}

impl RemoteSource {
    /// Reads an object's end, or all of it if the server ignores ranges. If the object's
    /// [identity](Object::identity) is known, this sends no request, and the end is read with the
    /// first range.
    ///
    /// # Errors
    /// Fails for the same reasons as [`request::open`].
    pub fn open(object: Arc<dyn Object>) -> Result<Self> {
        if let Some(identity) = object.identity() {
            return Ok(Self::new(Arc::new(MaybeWhole::new(object)), identity));
        }
        let suffix = object.fetch_policy().suffix_bytes;
        let opened = wait(async move { request::open(object, suffix).await })?;
        let source = Self::new(opened.object, opened.identity);
        let length = opened.tail.len() as u64;
        source.count(1, length);
        if source.reserve(length) {
            source.keep(opened.tail);
        }
        Ok(source)
    }

    fn new(object: Arc<dyn Object>, identity: Identity) -> Self {
        Self {
            policy: object.fetch_policy(),
            object,
            tail: Mutex::new(Tail::new(identity.length, Bytes::new())),
            identity: Arc::new(identity),
            retained: AtomicU64::new(0),
            windows: Mutex::default(),
            traffic: Mutex::default(),
        }
    }

    /// Returns the object's identity at the time of opening. Each request carries this identity.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Returns the requests so far.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        *self.counted()
    }

    /// Returns true if reading the object's end needs no request.
    #[must_use]
    pub fn is_retained(&self) -> bool {
        !self.tail().is_empty()
    }

    /// Reads the ends of several objects concurrently. If too much is retained, the ends of the
    /// objects `before` them are released. If an end still cannot be retained, it is read later.
    ///
    /// # Errors
    /// Returns the first request's error, with the ordinal of its object.
    pub fn fetch_ends(
        before: &[Arc<Self>],
        sources: &[Arc<Self>],
    ) -> std::result::Result<(), (usize, Error)> {
        let mut requests = Vec::new();
        for (at, source) in sources.iter().enumerate() {
            let suffix = source.policy.suffix_bytes;
            let length = source.len().min(suffix);
            if source.is_retained() || length == 0 {
                continue;
            }
            if !source.reserve(length) {
                before.iter().for_each(|source| source.release());
                if !source.reserve(length) {
                    continue;
                }
            }
            let mut traffic = source.counted();
            traffic.rounds += u64::from(requests.is_empty());
            traffic.requests += 1;
            traffic.bytes += length;
            drop(traffic);
            requests.push((at, source.object.clone(), suffix));
        }
        let ends = wait(async move {
            let mut running = JoinSet::new();
            for (at, object, suffix) in requests {
                running.spawn(async move { (at, request::tail(&object, suffix).await) });
            }
            let mut ends = Vec::new();
            while let Some(answer) = running.join_next().await {
                ends.push(answer.map_err(|error| lost(&error))?);
            }
            Ok(ends)
        });
        let mut ends = ends.map_err(|error| (0, error))?;
        ends.sort_unstable_by_key(|(at, _)| *at);
        for (at, end) in ends {
            let (tail, _) = end.map_err(|error| (at, error))?;
            if let Some(source) = sources.get(at) {
                source.keep(tail);
            }
        }
        Ok(())
    }

    fn tail(&self) -> Tail {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        tail.clone()
    }

    /// Retains the object's end.
    fn keep(&self, bytes: Bytes) {
        let tail = Tail::new(self.len(), bytes);
        *self.tail.lock().unwrap_or_else(PoisonError::into_inner) = tail;
    }

    /// Releases the object's retained end.
    fn release(&self) {
        self.keep(Bytes::new());
        RETAINED.fetch_sub(self.retained.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Reserves some of the bytes that sources are allowed to retain, or returns false if there are
    /// too few left.
    fn reserve(&self, bytes: u64) -> bool {
        if RETAINED.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_RETAINED {
            RETAINED.fetch_sub(bytes, Ordering::Relaxed);
            return false;
        }
        self.retained.fetch_add(bytes, Ordering::Relaxed);
        true
    }

    fn counted(&self) -> MutexGuard<'_, Traffic> {
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one round of requests.
    fn count(&self, requests: u64, bytes: u64) {
        let mut traffic = self.counted();
        traffic.rounds += 1;
        traffic.requests += requests;
        traffic.bytes += bytes;
    }

    fn read_one(&self, range: Range<u64>) -> Result<Bytes> {
        let bytes = self.read_many(std::slice::from_ref(&range))?;
        let bytes = bytes.into_iter().next();
        bytes.ok_or_else(|| Error::argument("no answer"))
    }

    /// Checks that a range lies within the object.
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

    /// Requests ranges, each with its ordinal. At most `most` requests are in flight at a time.
    fn fetch(&self, ranges: Vec<(usize, Range<u64>)>, most: usize) -> Result<Vec<(usize, Bytes)>> {
        let bytes = ranges.iter().map(|(_, range)| range.end - range.start);
        self.count(ranges.len() as u64, bytes.sum());
        let (object, identity) = (self.object.clone(), self.identity.clone());
        wait(async move {
            let mut answers = Vec::with_capacity(ranges.len());
            // Dropping this set cancels the requests.
            let mut running = JoinSet::new();
            for (at, range) in ranges {
                if running.len() >= most
                    && let Some(answer) = running.join_next().await
                {
                    answers.push(answer.map_err(|error| lost(&error))??);
                }
                let request = request::range(object.clone(), range, identity.clone());
                running.spawn(async move { request.await.map(|bytes| (at, bytes)) });
            }
            while let Some(answer) = running.join_next().await {
                answers.push(answer.map_err(|error| lost(&error))??);
            }
            Ok(answers)
        })
    }
}

impl Source for RemoteSource {
    fn len(&self) -> u64 {
        self.identity.length
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let windows = || self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        let found = windows().find(&range);
        if let Some(bytes) = found {
            return Ok(bytes);
        }
        let tail_start = self.tail().range().start;
        if range.end < tail_start && range.start < range.end {
            let end = windows().wanted_end(&range, tail_start);
            let bytes = self.read_one(range.start..end)?;
            windows().add(&range, bytes.clone());
            // The range is no longer than the bytes, so its length fits in `usize`.
            return Ok(bytes.slice(..(range.end - range.start) as usize));
        }
        self.read_one(range)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range))?;
        let tail = self.tail();
        let (heads, rests): (Vec<_>, Vec<_>) = ranges.iter().map(|range| tail.split(range)).unzip();
        let heads = heads.into_iter().enumerate();
        let missing: Vec<_> = heads.filter(|(_, head)| !head.is_empty()).collect();
        let mut bytes = rests;
        if !missing.is_empty() {
            for (at, head) in self.fetch(missing, self.policy.max_requests_in_flight.max(1))? {
                if let Some(rest) = bytes.get_mut(at) {
                    *rest = joined(head, std::mem::take(rest));
                }
            }
        }
        Ok(bytes)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}

impl Drop for RemoteSource {
    fn drop(&mut self) {
        self.release();
    }
}
