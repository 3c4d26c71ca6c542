//! Lookups other than reading rows: page indexes, bounds, bloom filters, and explanations of reads.

use std::future::poll_fn;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use bytes::Bytes;
use herringbone::filter::{Literal, RowGroupExplanation};
use herringbone::format::{ColumnIndex, OffsetIndex};
use herringbone::pruning::{ColumnBloomFilter, ColumnBounds};
use herringbone::push::{Explainer, FetchPolicy};
use herringbone::source::{Fetched, Source};
use herringbone::{Error, PageIndexCell, ParquetFile, ReadOptions, Result};
use herringbone_core::fetch::requests;

use crate::RemoteFile;
use crate::object::BoxFuture;

/// A source made of the bytes arrived so far. It lets us run a local file's lookups, noting any
/// missing ranges.
struct Arrived {
    length: u64,
    policy: FetchPolicy,
    bytes: Fetched,
    missing: Mutex<Vec<Range<u64>>>,
}

impl Arrived {
    fn missing(&self) -> MutexGuard<'_, Vec<Range<u64>>> {
        self.missing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_missing(&self) -> Vec<Range<u64>> {
        std::mem::take(&mut *self.missing())
    }
}

impl Source for Arrived {
    fn len(&self) -> u64 {
        self.length
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.bytes
            .get(&range)
            .inspect_err(|_| self.missing().push(range))
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        // We note all missing ranges first, so that a single round can fetch them.
        let answers: Vec<_> = ranges
            .iter()
            .map(|range| self.read(range.clone()))
            .collect();
        answers.into_iter().collect()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.policy.clone()
    }
}

impl RemoteFile {
    /// Prunes a read's row groups, like [`ParquetFile::explain`] for a local file. The lookups for
    /// up to 64 row groups share rounds of requests.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`], and returns the store's errors.
    pub async fn explain(&self, options: &ReadOptions) -> Result<Vec<RowGroupExplanation>> {
        let plan = Arc::new(self.metadata_handle().plan(options)?);
        let mut explainer = Explainer::new(plan, self.policy().clone());
        let mut arrived = Fetched::default();
        loop {
            let mut missing = Vec::new();
            let mut bytes = |need: &Range<u64>, _: u64| {
                let found = arrived.get(need).ok();
                if found.is_none() {
                    missing.push(need.clone());
                }
                Ok(found)
            };
            if let Some(explanations) = explainer.poll(&mut bytes)? {
                return Ok(explanations);
            }
            if missing.is_empty() {
                return Err(Error::corrupt("a lookup that needs no bytes did not end"));
            }
            // We can replace the bytes, because each lookup has already taken the last round's.
            arrived = Fetched::new(self.fetch_all(missing).await?);
        }
    }

    /// Reads both page indexes of each of these column chunks, returning them in the same order. A
    /// chunk is named by its row group ordinal and its leaf ordinal. The file retains the indexes
    /// for later reads.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if there is no such column chunk,
    /// with [Corrupt](herringbone::ErrorKind::Corrupt) or [Limit](herringbone::ErrorKind::Limit) if
    /// an index cannot be used, and with [Key](herringbone::ErrorKind::Key) if a key is missing or
    /// wrong. The store's errors are returned, too.
    pub async fn load_page_indexes(
        &self,
        chunks: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Vec<PageIndexCell>> {
        let chunks: Vec<_> = chunks.into_iter().collect();
        self.look_up(move |file| file.load_page_indexes(chunks.iter().copied()))
            .await
    }

    /// Returns a column chunk's column index, if it has one. `leaf` is a leaf ordinal in the
    /// schema.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::load_page_indexes`].
    pub async fn column_index(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnIndex>> {
        self.look_up(move |file| file.column_index(row_group, leaf))
            .await
    }

    /// Returns a column chunk's offset index, if it has one. `leaf` is a leaf ordinal in the
    /// schema.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::load_page_indexes`].
    pub async fn offset_index(&self, row_group: usize, leaf: usize) -> Result<Option<OffsetIndex>> {
        self.look_up(move |file| file.offset_index(row_group, leaf))
            .await
    }

    /// Returns a leaf's bounds and counts as Arrow arrays with one slot per row group, without a
    /// request.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if there is no such leaf, and with
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if a column chunk's metadata cannot be decoded.
    pub fn row_group_bounds(&self, leaf: usize) -> Result<ColumnBounds> {
        self.local(Fetched::default())?.1.row_group_bounds(leaf)
    }

    /// Returns a column chunk's bounds and counts as Arrow arrays with one slot per page, or `None`
    /// if the chunk does not have both page indexes.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::load_page_indexes`].
    pub async fn page_bounds(&self, row_group: usize, leaf: usize) -> Result<Option<ColumnBounds>> {
        self.look_up(move |file| file.page_bounds(row_group, leaf))
            .await
    }

    /// Looks up a value in a column chunk's bloom filter. This requests the header, plus at most
    /// one filter block for each possible stored form of the value.
    ///
    /// Returns false if the chunk does not contain the value, true if it might or if the filter
    /// cannot decide, and `None` if the chunk has no bloom filter.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if there is no such column chunk, or
    /// if its values cannot be compared with the literal. Fails with
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if the filter cannot be used, and with
    /// [Key](herringbone::ErrorKind::Key) if it is encrypted and its key is missing. The store's
    /// errors are returned, too.
    pub async fn bloom_filter_may_contain(
        &self,
        row_group: usize,
        leaf: usize,
        value: impl Into<Literal>,
    ) -> Result<Option<bool>> {
        let value = value.into();
        self.look_up(move |file| file.bloom_filter_may_contain(row_group, leaf, value.clone()))
            .await
    }

    /// Reads a column chunk's whole bloom filter, if there is one.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::bloom_filter_may_contain`].
    pub async fn load_bloom_filter(
        &self,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<ColumnBloomFilter>> {
        self.look_up(move |file| file.load_bloom_filter(row_group, leaf))
            .await
    }

    /// Repeats a lookup until no bytes are missing. The lookup runs on a local file, and each round
    /// adds the missing bytes.
    async fn look_up<T>(&self, lookup: impl Fn(&ParquetFile) -> Result<T>) -> Result<T> {
        let mut answers = Vec::new();
        loop {
            let (source, file) = self.local(Fetched::new(answers.clone()))?;
            let result = lookup(&file);
            let missing = source.take_missing();
            if missing.is_empty() {
                return result;
            }
            answers.extend(self.fetch_all(missing).await?);
        }
    }

    /// Returns the arrived bytes as a local file with this file's metadata.
    fn local(&self, bytes: Fetched) -> Result<(Arc<Arrived>, ParquetFile)> {
        let handle = self.metadata_handle().clone();
        let source = Arc::new(Arrived {
            length: handle.file_length(),
            policy: self.policy().clone(),
            bytes,
            missing: Mutex::default(),
        });
        let file = ParquetFile::with_metadata(source.clone(), handle)?;
        Ok((source, file))
    }

    /// Fetches ranges concurrently, in as few requests as the policy allows. Returns the answers
    /// with their offsets.
    async fn fetch_all(&self, ranges: Vec<Range<u64>>) -> Result<Vec<(u64, Bytes)>> {
        let most = self.policy().max_requests_in_flight.max(1);
        let mut waiting = requests(ranges, self.policy()).map(|request| request.range);
        let mut running: Vec<(u64, BoxFuture<Result<Bytes>>)> = Vec::new();
        let mut answers = Vec::new();
        poll_fn(|cx| {
            loop {
                while running.len() < most {
                    let Some(range) = waiting.next() else { break };
                    running.push((range.start, self.fetch(range)));
                }
                if running.is_empty() {
                    return Poll::Ready(Ok::<_, Error>(()));
                }
                let (before, mut failed) = (running.len(), None);
                running.retain_mut(|(start, future)| match future.as_mut().poll(cx) {
                    Poll::Pending => true,
                    Poll::Ready(Ok(bytes)) => {
                        answers.push((*start, bytes));
                        false
                    }
                    Poll::Ready(Err(error)) => {
                        failed.get_or_insert(error);
                        false
                    }
                });
                if let Some(error) = failed {
                    return Poll::Ready(Err(error));
                }
                if running.len() == before {
                    return Poll::Pending;
                }
            }
        })
        .await?;
        Ok(answers)
    }
}
