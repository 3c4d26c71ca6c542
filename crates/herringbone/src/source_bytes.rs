//! Source bytes for waiting decoders.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::fetch::{ChunkReads, FetchPolicy, bytes, request_cost, requests_within};
use herringbone_format::Result;
use herringbone_read::{ByteStore, FileBytes};

use crate::source::Source;

/// Reads bytes on demand, when a decoder needs them.
pub(crate) struct SourceBytes<'a> {
    source: &'a dyn Source,
    /// The budget that counts requests and bytes.
    budget: &'a Budget,
    in_memory: bool,
    /// The requests not yet added to `budget`, as a request count and a byte count.
    fetched: (u64, u64),
}

impl<'a> SourceBytes<'a> {
    pub(crate) fn new(source: &'a Arc<dyn Source>, budget: &'a Budget) -> Self {
        Self {
            source: &**source,
            budget,
            in_memory: source.fetch_policy().in_memory,
            fetched: (0, 0),
        }
    }
}

impl FileBytes for SourceBytes<'_> {
    /// Returns the needed bytes. Only an in-memory source returns more, because fetched bytes count
    /// towards the read's memory.
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        let end = if self.in_memory { end } else { need.end };
        let bytes = self.source.read(need.start..end.max(need.end))?;
        self.fetched.0 += 1;
        self.fetched.1 += bytes.len() as u64;
        Ok(Some(bytes))
    }

    fn request_cost(&self) -> u64 {
        request_cost(&self.source.fetch_policy())
    }
}

impl Drop for SourceBytes<'_> {
    fn drop(&mut self) {
        let (requests, bytes) = self.fetched;
        // Each request counts as a round, because we waited for each one separately.
        self.budget.add_rounds(requests);
        self.budget.add_fetched(requests, bytes);
    }
}

/// Returns true if a source with this policy is fetched ahead, in rounds of many requests.
pub(crate) fn is_fetched_ahead(policy: &FetchPolicy) -> bool {
    policy.chunk_reads == ChunkReads::Whole && !policy.in_memory
}

/// A read's bytes, shared by several threads.
pub(crate) struct SharedBytes {
    source: Arc<dyn Source>,
    budget: Arc<Budget>,
    policy: FetchPolicy,
    /// The bytes fetched ahead, or `None` if the source answers immediately.
    store: Option<Mutex<ByteStore>>,
}

impl SharedBytes {
    pub(crate) fn new(source: Arc<dyn Source>, budget: Arc<Budget>) -> Self {
        let policy = source.fetch_policy();
        let store = || Mutex::new(ByteStore::new(budget.clone(), &policy));
        Self {
            store: is_fetched_ahead(&policy).then(store),
            source,
            budget,
            policy,
        }
    }

    /// Returns the source's policy, if bytes are fetched ahead.
    pub(crate) fn fetch_policy(&self) -> Option<&FetchPolicy> {
        self.store.as_ref().map(|_| &self.policy)
    }

    fn store(&self) -> Option<MutexGuard<'_, ByteStore>> {
        let store = self.store.as_ref()?;
        Some(store.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the bytes for a task. Any that were not fetched ahead are read directly.
    pub(crate) fn of_task(&self) -> TaskBytes<'_> {
        TaskBytes {
            direct: SourceBytes::new(&self.source, &self.budget),
            shared: self,
            unmet: None,
        }
    }

    /// Returns the bytes for a task decoding a whole row group. If bytes are fetched ahead, such a
    /// task waits for any still missing.
    pub(crate) fn of_row_group(&self) -> TaskBytes<'_> {
        TaskBytes {
            unmet: self.store.is_some().then(Vec::new),
            ..self.of_task()
        }
    }

    /// Fetches, in one round, everything missing from the planned ranges and from the ranges that
    /// tasks are waiting for. If there isn't enough memory for both, only the latter are fetched.
    ///
    /// # Errors
    /// Returns the source's errors.
    pub(crate) fn fetch(&self, unmet: Vec<Range<u64>>, planned: &[Range<u64>]) -> Result<()> {
        let want = |planned| self.store().map(|store| store.want(unmet.clone(), planned));
        let Some(mut wanted) = want(planned) else {
            return Ok(());
        };
        let mut requests = requests_within(wanted.ranges(), &self.policy, self.budget.left());
        let mut memory = Reservation::new(self.budget.clone());
        if memory.resize(bytes(&requests)).is_err()
            && let Some(due) = want(&[])
        {
            requests = requests_within(due.ranges(), &self.policy, 0);
            wanted = due;
        }
        if requests.is_empty() {
            return Ok(());
        }
        self.budget.add_rounds(1);
        let fetched = self.source.read_many(&requests)?;
        drop(memory);
        for (range, bytes) in requests.iter().zip(&fetched) {
            self.budget.add_fetched(1, bytes.len() as u64);
            if let Some(mut store) = self.store() {
                store.supply((range.start, bytes), &wanted, true);
            }
        }
        Ok(())
    }

    /// Drops fetched bytes that no read needs again.
    pub(crate) fn release(&self, ranges: Vec<Range<u64>>) {
        if let Some(mut store) = self.store() {
            ranges.into_iter().for_each(|range| store.release(range));
        }
    }

    /// Drops bytes fetched ahead of their use.
    pub(crate) fn drop_ahead(&self) {
        if let Some(mut store) = self.store() {
            store.drop_ahead();
        }
    }
}

/// The bytes for a single task.
pub(crate) struct TaskBytes<'a> {
    direct: SourceBytes<'a>,
    shared: &'a SharedBytes,
    /// The ranges that the task is waiting for, if it decodes a whole row group.
    unmet: Option<Vec<Range<u64>>>,
}

impl TaskBytes<'_> {
    /// Takes the ranges that the task is waiting for.
    pub(crate) fn take_unmet(&mut self) -> Vec<Range<u64>> {
        self.unmet.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

impl FileBytes for TaskBytes<'_> {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        let found = self
            .shared
            .store()
            .and_then(|mut store| store.find(need, end));
        match &mut self.unmet {
            _ if found.is_some() => Ok(found),
            Some(unmet) => {
                unmet.push(need.clone());
                Ok(None)
            }
            None => self.direct.get(need, end),
        }
    }

    fn request_cost(&self) -> u64 {
        self.direct.request_cost()
    }

    /// Drops the bytes already used, but only if the task has a whole row group. Otherwise, another
    /// task of the same column might still need earlier bytes.
    fn release(&mut self, range: Range<u64>) {
        if self.unmet.is_some() {
            self.shared.release(vec![range]);
        }
    }
}
