//! The bytes of a file, as far as JavaScript has supplied them.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use herringbone::Result;
use herringbone::push::FetchPolicy;
use herringbone::source::Source;

/// The smallest range that we ask for. Page indexes lie next to each other, so that the next one is usually among the same bytes.
const MIN_BYTES: u64 = 64 << 10;

/// A source that notes which bytes are missing. JavaScript fetches them, and calls the function again.
///
/// JavaScript can only wait for bytes outside of WebAssembly. Functions that need few bytes therefore start over, while reads of
/// rows use a `PushDecoder`, which continues.
pub(crate) struct Supplied {
    size: u64,
    policy: FetchPolicy,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Ranges of bytes, by their start.
    parts: BTreeMap<u64, Bytes>,
    missing: Vec<Range<u64>>,
}

impl Supplied {
    pub(crate) fn new(size: u64, policy: FetchPolicy) -> Self {
        Self {
            size,
            policy,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps bytes of the file from `offset` on.
    pub(crate) fn supply(&self, offset: u64, bytes: Bytes) {
        let parts = &mut self.state().parts;
        let is_longer = parts
            .get(&offset)
            .is_none_or(|part| part.len() < bytes.len());
        if is_longer {
            parts.insert(offset, bytes);
        }
    }

    /// Returns the bytes of a range, if one part has all of them.
    pub(crate) fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let state = self.state();
        let mut before = state.parts.range(..=range.start).rev();
        before.find_map(|(start, part)| {
            let first = usize::try_from(range.start.checked_sub(*start)?).ok()?;
            let end = usize::try_from(range.end.checked_sub(*start)?).ok()?;
            (first <= end && end <= part.len()).then(|| part.slice(first..end))
        })
    }

    /// Returns the ranges that were missing since the last call.
    pub(crate) fn take_missing(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.state().missing)
    }
}

impl Source for Supplied {
    fn len(&self) -> u64 {
        self.size
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        if let Some(bytes) = self.get(&range) {
            return Ok(bytes);
        }
        let end = range.end.max(range.start.saturating_add(MIN_BYTES));
        self.state().missing.push(range.start..end.min(self.size));
        let text = "these bytes are not supplied yet";
        Err(io::Error::new(io::ErrorKind::WouldBlock, text).into())
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // All of them, so that one round of requests brings all missing ones.
        let read: Vec<_> = ranges
            .iter()
            .map(|range| self.read(range.clone()))
            .collect();
        read.into_iter().collect()
    }
}
