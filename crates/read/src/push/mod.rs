//! A decoder that turns supplied bytes into record batches.
//!
//! The decoder does no reading. It lists the byte ranges it needs, takes bytes in any order and in pieces of any size,
//! and returns batches in between. Drivers for files, object stores and networks are thin loops around it.

mod row_group;
mod store;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::task::{self, Context};

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::modular_encryption::KeyRequest;
use herringbone_format::{Error, Result};

pub use self::row_group::{AheadStep, DetachedRowGroup, RowGroupPoll, WaitingBatch};
pub use self::store::{ByteStore, Wanted};
use super::ReadPlan;
use super::sequence::{ReadSequence, ReadStep};
use herringbone_core::fetch::{FetchPolicy, bytes, union, without};
use herringbone_core::loss::Losses;
use herringbone_core::metrics::ReadMetrics;
use herringbone_filter::Predicate;

/// The result of [`PushDecoder::poll`].
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::push::{Poll, PushDecoder};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
///
/// let source = file.source().clone();
/// let plan = file.plan(&ReadOptions::new().columns(["id"]))?;
/// let mut decoder = PushDecoder::new(Arc::new(plan));
/// // Nothing was supplied yet: the decoder waits for the first row group, and lists the second one.
/// let Poll::Needs(needs) = decoder.poll()? else { return Err("nothing is needed".into()) };
/// assert!(!needs.now.is_empty());
/// assert_eq!(needs.soon[0].first_row, 50);
/// for range in needs.now {
///     decoder.supply(range.start, &source.read(range)?);
/// }
/// let Poll::Batch(batch) = decoder.poll()? else { return Err("more is needed".into()) };
/// assert_eq!(batch.num_rows(), 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The enum is exhaustive on purpose. A driver ignoring a step would never end, so it must not compile.
#[derive(Debug)]
pub enum Poll {
    /// More of the file's bytes are needed.
    Needs(Needs),
    /// Column keys are needed. [Supply](PushDecoder::supply_key) all of them, then poll again.
    NeedsKeys(Vec<KeyRequest>),
    /// The next batch.
    Batch(RecordBatch),
    /// There are no more rows.
    Finished,
}

/// The byte ranges that a decoder needs.
///
/// Nearby ranges can be fetched by one request:
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::push::{FetchPolicy, Poll, PushDecoder, requests};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let policy = FetchPolicy::remote();
/// let plan = Arc::new(file.plan(&ReadOptions::new())?);
/// let mut decoder = PushDecoder::with_policy(plan, policy.clone());
/// let mut rows = 0;
/// loop {
///     match decoder.poll()? {
///         Poll::Needs(needs) => {
///             let later = needs.soon.into_iter().map(|soon| soon.range);
///             for request in requests(needs.now.into_iter().chain(later), &policy) {
///                 // Bytes between two wanted ranges are fetched, and may be supplied, too.
///                 assert!(request.fetched_bytes() >= request.wanted_bytes());
///                 let bytes = file.source().read(request.range.clone())?;
///                 decoder.supply(request.range.start, &bytes);
///             }
///         }
///         Poll::Batch(batch) => rows += batch.num_rows(),
///         Poll::Finished => break,
///         Poll::NeedsKeys(_) => return Err("the file is encrypted".into()),
///     }
/// }
/// assert_eq!(rows, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Needs {
    /// The ranges the decoder is waiting for. They are ascending and disjoint.
    pub now: Vec<Range<u64>>,
    /// The ranges the decoder will need next, in row order.
    pub soon: Vec<Soon>,
    /// Previously listed ranges that the decoder no longer needs.
    pub cancelled: Vec<Range<u64>>,
}

/// A byte range that a decoder will need later.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Soon {
    /// The byte range in the file.
    pub range: Range<u64>,
    /// The first row in the file to need the bytes.
    pub first_row: u64,
    /// True if the bytes decide which other ranges are needed. For example, this holds for a tested column. Once they
    /// are supplied, [`PushDecoder::poll`] lists these other ranges, even if more bytes are still missing.
    pub decides: bool,
}

/// A decoder that takes a read's bytes as you supply them, running on the caller's thread. Use this if you fetch bytes
/// yourself, for example from an asynchronous client or a cache.
///
/// It lists ranges row group by row group, as far ahead as the [policy](Self::with_policy) and the read's memory allow.
/// Fetch `now`, along with `soon` if that is cheap, then [supply](Self::supply) the bytes.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use std::sync::Arc;
/// use herringbone::push::{Poll, PushDecoder};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
///
/// let source = file.source().clone();
/// let mut decoder = PushDecoder::new(Arc::new(file.plan(&ReadOptions::new())?));
/// let mut rows = 0;
/// loop {
///     match decoder.poll()? {
///         Poll::Needs(needs) => {
///             for range in needs.now {
///                 decoder.supply(range.start, &source.read(range)?);
///             }
///         }
///         Poll::Batch(batch) => rows += batch.num_rows(),
///         Poll::Finished => break,
///         Poll::NeedsKeys(_) => return Err("the file is encrypted".into()),
///     }
/// }
/// assert_eq!(rows, 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PushDecoder {
    sequence: ReadSequence,
    store: ByteStore,
    policy: FetchPolicy,
    /// The most recently listed ranges.
    wanted: Wanted,
}

impl fmt::Debug for PushDecoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushDecoder")
            .field("rows_left", &self.rows_left())
            .field("buffered_bytes", &self.buffered_bytes())
            .finish_non_exhaustive()
    }
}

#[doc(hidden)] // For the crates of this workspace.
impl From<(ReadSequence, FetchPolicy)> for PushDecoder {
    fn from((sequence, policy): (ReadSequence, FetchPolicy)) -> Self {
        Self {
            store: ByteStore::new(sequence.budget().clone(), &policy),
            sequence,
            policy,
            wanted: Wanted::default(),
        }
    }
}

impl PushDecoder {
    /// Creates a decoder with a policy for bytes arriving over a network.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        Self::with_policy(plan, FetchPolicy::remote())
    }

    /// Creates a decoder that lists ranges following this policy.
    #[must_use]
    pub fn with_policy(plan: Arc<ReadPlan>, policy: FetchPolicy) -> Self {
        Self::from((ReadSequence::new(plan), policy))
    }

    /// Decodes the next batch from the supplied bytes, or returns the missing ranges.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) or
    /// [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if the bytes cannot be decoded, with
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if they need too much memory, and with
    /// [`Key`](herringbone_format::ErrorKind::Key) if they are not authentic. Each of these errors has its location in
    /// the file. Your predicates' errors keep their kind. After an error, later calls return no more rows.
    pub fn poll(&mut self) -> Result<Poll> {
        self.store.take_unmet();
        let step = self.sequence.advance(&mut self.store);
        if step.is_err() && !self.sequence.is_refused() {
            self.sequence.finish();
        }
        let step = step?;
        Ok(match step {
            ReadStep::Pending => Poll::Needs(self.needs(true)?),
            ReadStep::NeedsKeys(keys) => Poll::NeedsKeys(keys),
            ReadStep::Batch(batch) => Poll::Batch(batch),
            ReadStep::Finished => Poll::Finished,
        })
    }

    /// Lists the ranges needed next while the decoder can still decode. None of them is urgent.
    ///
    /// Use this between batches, to fetch later bytes before the decoder has to wait for them. Outstanding ranges from
    /// earlier calls are listed again.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::poll`] lists.
    pub fn look_ahead(&mut self) -> Result<Needs> {
        self.store.take_unmet();
        let due = self.sequence.begun().front();
        let is_due = due.is_some_and(|due| !due.is_at_start());
        self.needs(is_due)
    }

    /// Lists the needed ranges. With `is_due`, the decoder is working on its first row group.
    fn needs(&mut self, is_due: bool) -> Result<Needs> {
        let memory = match self.sequence.is_short() {
            true => 0,
            false => self.sequence.memory_ahead(),
        };
        let before = self.store.missing(self.wanted.ranges());
        let unmet = self.store.take_unmet();
        let due = self.sequence.begun().front_mut().filter(|_| is_due);
        let planned = due.map_or(Vec::new(), |due| due.planned(memory, &self.policy));
        let mut wanted = self.store.want(unmet, &planned);
        let now = wanted.ranges().to_vec();
        let mut soon = Vec::new();
        let ahead = self.policy.max_bytes_ahead.min(memory);
        let mut ahead = ahead.saturating_sub(bytes(&now));
        let mut row_group = usize::from(is_due);
        while ahead > 0 && self.begin_ahead(row_group) {
            let Some(read) = self.sequence.begun().get_mut(row_group) else {
                break;
            };
            row_group += 1;
            let is_open = read.open_ahead(&mut self.store);
            let unmet = self.store.take_unmet();
            if !is_open {
                break;
            }
            let planned = read.planned(ahead, &self.policy);
            let planned = [planned, unmet].concat();
            let (first_row, decides) = (read.first_row(), read.is_testing());
            let missing = self.store.want_more(&mut wanted, planned);
            ahead = ahead.saturating_sub(bytes(&missing));
            soon.extend(missing.into_iter().map(|range| Soon {
                range,
                first_row,
                decides,
            }));
        }
        let cancelled = without(&before, wanted.ranges());
        self.wanted = wanted;
        Ok(Needs {
            now,
            soon,
            cancelled,
        })
    }

    /// Begins row groups until more than `row_groups` of them have begun. Returns false if the next one can't begin
    /// yet.
    fn begin_ahead(&mut self, row_groups: usize) -> bool {
        if self.sequence.begun().len() > row_groups {
            return true;
        }
        let plan = self.sequence.plan();
        // A limit might end the read before the next row group is filtered, so we might never need its bytes.
        let may_end = plan.is_filtered() && plan.options().limit.is_some();
        if may_end || !self.sequence.missing_keys().is_empty() {
            return false;
        }
        let next = self.sequence.next_row_group();
        let has_next = next.is_some();
        self.sequence.begun().extend(next);
        has_next
    }

    /// Takes bytes of the file starting at `offset`. They can arrive in any order and in pieces of any size, and even
    /// before they are listed.
    ///
    /// If the read has no memory for some bytes, they are dropped and listed again when needed.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        self.sequence.budget().add_fetched(1, bytes.len() as u64);
        let keeps_ahead = !self.sequence.has_started_again();
        self.store
            .supply((offset, bytes), &self.wanted, keeps_ahead);
    }

    /// Sets the number of outstanding bytes requested ahead. They count as memory of the read.
    ///
    /// Do not include ranges of [`Needs::now`], because the decoder has already reserved memory for them. Returns false
    /// if the read does not have the memory. In that case nothing changes, and you should not request the bytes.
    pub fn reserve_in_flight(&mut self, bytes: u64) -> bool {
        self.store.reserve_in_flight(bytes)
    }

    /// Returns the number of bytes of memory left for the read.
    #[must_use]
    pub fn free_memory(&self) -> u64 {
        self.sequence.budget().left()
    }

    /// Returns true if the read was refused memory for the due row group. By then it has dropped all bytes held ahead,
    /// and decodes without any.
    #[must_use]
    pub fn is_refused_memory(&self) -> bool {
        self.sequence.has_started_again()
    }

    /// Chooses between waiting and failing when the pool refuses the bytes of a page. If an error from [`Self::poll`]
    /// then [is a refusal](Self::waits_for_memory), the decoder holds almost nothing, and you may poll it again.
    #[doc(hidden)] // For async reads.
    pub fn wait_for_memory(&mut self, may_wait: bool) {
        self.sequence.wait_for_memory(may_wait);
    }

    /// Returns true if the last error was a memory refusal, after which you may poll the decoder again.
    #[doc(hidden)] // For async reads.
    #[must_use]
    pub fn waits_for_memory(&self) -> bool {
        self.sequence.is_refused()
    }

    /// Makes the next attempt at the due row group the last. If memory is refused again, the row group is lost or the
    /// read fails.
    #[doc(hidden)] // For async reads.
    pub fn wait_no_longer(&mut self) {
        self.sequence.wait_no_longer();
    }

    /// Asks the memory pool if the read may try again.
    #[doc(hidden)] // For async reads.
    pub fn poll_room(&self, context: &mut Context<'_>) -> task::Poll<bool> {
        self.sequence.budget().poll_room(context)
    }

    /// Returns the read's plan.
    #[must_use]
    pub fn plan(&self) -> &Arc<ReadPlan> {
        self.sequence.plan()
    }

    /// Takes the key for a request.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the key has an invalid length, or if the
    /// file is not encrypted.
    pub fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        match self.sequence.plan().metadata().decryption() {
            Some(file) => file.supply_key(request, key),
            None => Err(Error::argument("the file is not encrypted")),
        }
    }

    /// Returns the number of buffered bytes, that is, bytes supplied but not used up yet.
    #[must_use]
    pub fn buffered_bytes(&self) -> u64 {
        self.store.buffered_bytes()
    }

    /// Detaches the due row group from the read, along with its supplied bytes. You can decode it on any thread while
    /// this decoder continues with the next one.
    ///
    /// Returns `None` if there are no more row groups, or if rows of the due one have already been emitted. Also
    /// returns `None` if a key is missing, or if a limit counts filtered rows, because the row group's rows then depend
    /// on the row groups before it.
    pub fn take_row_group(&mut self) -> Option<DetachedRowGroup> {
        if !self.may_take() || !self.begin_ahead(0) {
            return None;
        }
        let read = self.sequence.begun().front();
        read.filter(|read| read.is_at_start())?;
        self.take_first()
    }

    /// Detaches the due row group if the bytes for all of its remaining rows have been supplied. Some of its rows might
    /// already be emitted. Call [`Self::look_ahead`] first, because it opens row groups.
    ///
    /// Returns `None` if a limit or an offset counts filtered rows.
    #[doc(hidden)] // For async reads.
    pub fn take_complete_row_group(&mut self) -> Option<DetachedRowGroup> {
        if !self.may_take() || self.is_refused_memory() {
            return None;
        }
        let ranges = self.sequence.begun().front_mut()?.remaining(&self.policy)?;
        let is_complete = self.store.missing(&union(ranges)).is_empty();
        is_complete.then(|| self.take_first())?
    }

    /// Puts a row group back, making it the first one again. Its rows are decoded again, starting at `first`.
    #[doc(hidden)] // For async reads.
    pub fn put_back(&mut self, row_group: DetachedRowGroup, first: Option<&WaitingBatch>) {
        let (read, store) = row_group.into_parts(first);
        self.store.join(store);
        self.sequence.begun().push_front(read);
    }

    /// Returns true unless a limit or an offset counts filtered rows.
    fn may_take(&self) -> bool {
        let plan = self.sequence.plan();
        let options = plan.options();
        let is_limited = options.offset > 0 || options.limit.is_some();
        !(plan.is_filtered() && is_limited)
    }

    /// Detaches the first row group that has begun.
    fn take_first(&mut self) -> Option<DetachedRowGroup> {
        let read = self.sequence.begun().pop_front()?;
        let store = self.store.split_off(&union(read.chunk_ranges()));
        Some(DetachedRowGroup::new(read, store, self.policy.clone()))
    }

    /// Replaces the filter with an equal or tighter one. It applies to all rows not selected so far, and prunes any row
    /// groups that have not begun. See `Reader::tighten_filter`.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the filter's form does not show that it
    /// [implies](Predicate::implies) the old one, or if it does not fit the file.
    pub fn tighten_filter(&mut self, filter: &Predicate) -> Result<()> {
        self.sequence.tighten_filter(filter)
    }

    /// Continues with a plan derived from this decoder's plan by [`ReadPlan::tightened`].
    #[doc(hidden)] // For streams, whose decoder may be with a thread.
    pub fn replace_plan(&mut self, plan: Arc<ReadPlan>) {
        self.sequence.replace_plan(plan);
    }

    /// Returns the read's counts so far, such as requests and pages.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.sequence.metrics()
    }

    /// Returns an upper bound on the number of rows left to emit.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        self.sequence.rows_left()
    }

    /// Takes the damage left out of the batches since the last call.
    pub fn take_losses(&mut self) -> Losses {
        self.sequence.take_losses()
    }

    /// Returns the damage left out of the batches so far, if the options [tolerate](herringbone_core::loss::OnError)
    /// damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        self.sequence.losses()
    }
}
