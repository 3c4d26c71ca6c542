//! The memory budget shared by all columns of a read, which also counts the read's work.
//!
//! ```text
//! Budget (memory_bytes) ─┬─ ColumnMemory, one per column: window, page body, dictionary, array
//!                        ├─ Reservation, one per column batch that waits for its record batch
//!                        └─ Reservation of the record batch under construction, of page maps, …
//! ```
//!
//! Memory is reserved before it is allocated, and a reservation depends only on sizes in the file. A single thread
//! decodes one column after the other, whereas several threads need more memory at a time. So the budget might refuse
//! them memory that it would grant to one thread. In that case the driver drops the work ahead and continues column by
//! column.
//!
//! Because of this, a read that succeeds on one thread succeeds on any number of threads. Note that the reverse does
//! not hold: columns decoded side by side sometimes need less memory at a time, so a read can succeed on several
//! threads and be refused on one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use herringbone_format::{Error, Limits, Remedy, Result};

use crate::memory_pool::{MemoryPool, PooledMemory};
use crate::metrics::{Metrics, ReadMetrics};
use crate::outlook::Outlook;

/// The name of the limit that a budget enforces.
const LIMIT: &str = "memory_bytes";

/// The memory limit of a read, the memory in use, and counts of its work.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    /// The number of reserved bytes.
    used: AtomicU64,
    /// The memory pool to take the bytes from, if reads share one.
    pooled: Option<PooledMemory>,
    /// The row groups and column chunks opened so far.
    opened: Mutex<Opened>,
    metrics: Metrics,
    outlook: Outlook,
}

/// The column chunks opened by a read.
#[derive(Debug, Default)]
struct Opened {
    /// The byte count of all opened column chunks.
    bytes: u64,
    /// Two byte counts for each role and row group. The first covers the row group's own column chunks, the second all
    /// column chunks opened up to and including them.
    row_groups: BTreeMap<(ColumnRole, usize), (u64, u64)>,
    /// The row groups visited by the read, including any without opened columns.
    seen: BTreeSet<usize>,
}

/// The role of some of a plan's columns in a read, used to count their chunks separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnRole {
    /// All selected rows of the columns are emitted.
    All,
    /// A filter tests the columns, with this number of stages still to follow.
    Tested(usize),
    /// Only the rows that such a stage selects are decoded.
    Selected(usize),
}

impl ColumnRole {
    /// Adds a filter to columns of this role. Returns the role of the tested columns, followed by the role of the other
    /// columns.
    pub fn with_filter(self) -> (Self, Self) {
        let later = match self {
            Self::All => 0,
            Self::Tested(later) | Self::Selected(later) => later + 1,
        };
        (Self::Tested(later), Self::Selected(later))
    }
}

impl Budget {
    /// Creates a budget with [`Limits::memory_bytes`] free bytes.
    #[must_use]
    pub fn new(limits: &Limits) -> Arc<Self> {
        Self::with_pool(limits, None)
    }

    /// Creates a budget with [`Limits::memory_bytes`] free bytes. If there is a pool, the budget also takes them from
    /// it.
    #[must_use]
    pub fn with_pool(limits: &Limits, pool: Option<Arc<dyn MemoryPool>>) -> Arc<Self> {
        Arc::new(Self {
            limit: limits.memory_bytes,
            used: AtomicU64::new(0),
            pooled: pool.map(PooledMemory::new),
            opened: Mutex::default(),
            metrics: Metrics::default(),
            outlook: Outlook::default(),
        })
    }

    /// Returns true if more than half of the memory is in use or the pool has refused some. If so, you should stop
    /// decoding ahead.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let is_pool_short = self.pooled.as_ref().is_some_and(PooledMemory::is_short);
        is_pool_short || self.used() > self.limit / 2
    }

    /// Counts requests to the file and the fetched bytes.
    pub fn add_fetched(&self, requests: u64, bytes: u64) {
        self.metrics.fetched.add_many(requests, bytes);
    }

    /// Counts round trips. A round trip consists of one or more simultaneous requests.
    pub fn add_rounds(&self, rounds: u64) {
        self.metrics.rounds.add(rounds);
    }

    /// Returns the number of free bytes.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }

    /// Returns the number of bytes you may request ahead, usually half of the free bytes. If the pool sets a limit, it
    /// can be less.
    #[must_use]
    pub fn most_ahead(&self) -> u64 {
        let pooled = self.pooled.as_ref().map(PooledMemory::most_ahead);
        pooled.unwrap_or(u64::MAX).min(self.left() / 2)
    }

    /// Asks the pool whether a read should try again after it was refused memory. Without a pool, it should not.
    pub fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        match &self.pooled {
            Some(pooled) => pooled.poll_room(context),
            None => Poll::Ready(false),
        }
    }

    /// Returns the counts of the read's work so far.
    #[must_use]
    pub fn read_metrics(&self) -> ReadMetrics {
        self.metrics.get(self.opened().seen.len() as u64)
    }

    /// Returns the number of column bytes read so far.
    #[must_use]
    pub fn column_bytes(&self) -> u64 {
        self.metrics.columns.get().bytes
    }

    /// Records that the read looked at a row group.
    pub fn look_at(&self, index: usize) {
        self.opened().seen.insert(index);
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the counters of the read.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Returns the shares of rows left by the filter's steps so far.
    #[must_use]
    pub fn outlook(&self) -> &Outlook {
        &self.outlook
    }

    /// Returns true if a budget or its pool refused memory with this error.
    #[must_use]
    pub fn refused(error: &Error) -> bool {
        error.limit_name() == Some(LIMIT) || error.remedy() == Some(Remedy::EnlargeMemoryPool)
    }

    /// Returns true if an error might be caused by the read's other work. For example, that work might have used up the
    /// memory, or row groups might have been opened out of order.
    #[must_use]
    pub fn depends_on_others(error: &Error) -> bool {
        let limits = [Some("overlap_ratio"), Some("decompression_ratio")];
        Self::refused(error) || limits.contains(&error.limit_name())
    }

    /// Counts column chunks of `bytes` bytes, unless this row group was already counted for this role. Returns the byte
    /// count of all opened column chunks, up to and including these.
    pub fn open_row_group(&self, role: ColumnRole, index: usize, bytes: u64) -> u64 {
        let mut opened = self.opened();
        opened.seen.insert(index);
        if let Some((_, known)) = opened.row_groups.get(&(role, index)) {
            return *known;
        }
        opened.bytes = opened.bytes.saturating_add(bytes);
        let all = opened.bytes;
        opened.row_groups.insert((role, index), (bytes, all));
        all
    }

    /// Forgets the row groups from `index` on, because they will be opened again in order.
    pub fn close_row_groups_from(&self, index: usize) {
        let mut opened = self.opened();
        opened.row_groups.retain(|(_, known), _| *known < index);
        opened.bytes = opened.row_groups.values().map(|(bytes, _)| bytes).sum();
    }

    fn used(&self) -> u64 {
        // Relaxed order is enough, because no other memory access depends on this number.
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        let taken = (self.used).fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        if let Err(used) = taken {
            return Err(Error::limit(LIMIT, used.saturating_add(bytes), self.limit));
        }
        match &self.pooled {
            None => Ok(()),
            Some(pooled) => pooled
                .grow(&self.used)
                .inspect_err(|_| self.give_back(bytes)),
        }
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(pooled) = &self.pooled {
            pooled.shrink(&self.used);
        }
    }
}

/// Memory reserved from a budget. Dropping the reservation releases it.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// Creates an empty reservation.
    #[must_use]
    pub fn new(budget: Arc<Budget>) -> Self {
        Self { budget, bytes: 0 }
    }

    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the budget that the bytes were reserved from.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// Returns the budget's limit in bytes.
    pub fn limit(&self) -> u64 {
        self.budget.limit
    }

    /// Changes the size of the reservation to `bytes` bytes.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the budget does not have enough bytes left. The
    /// reservation then stays unchanged.
    pub fn resize(&mut self, bytes: u64) -> Result<()> {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => self.budget.take(more)?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Reserves `bytes` more bytes.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::resize`].
    pub fn add(&mut self, bytes: u64) -> Result<()> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Releases all bytes.
    pub fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        // We skip the call for an empty reservation, because an atomic operation takes time even if it subtracts 0.
        if bytes > 0 {
            self.budget.give_back(bytes);
        }
    }

    /// Releases `bytes` bytes, or all bytes if there are fewer.
    pub fn give_back(&mut self, bytes: u64) {
        drop(self.split(bytes));
    }

    /// Splits off `bytes` bytes into a separate reservation, or all bytes if there are fewer.
    pub(crate) fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self {
            budget: self.budget.clone(),
            bytes,
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.release();
    }
}

/// A purpose for a column's memory. Each purpose has its own reservation, which can grow or shrink on its own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemoryUse {
    /// The column itself.
    Column,
    /// Bytes fetched from the file.
    Window,
    /// The page after decryption.
    Decrypted,
    /// The page after decompression.
    Body,
    /// Page values that we must copy before we can use them.
    Copy,
    /// The dictionary in its look-up form.
    Dictionary,
    /// The array under construction, and pages that it borrows from.
    Array,
}

const NUM_USES: usize = MemoryUse::Array as usize + 1;

/// One column's memory reservations, per purpose.
#[derive(Debug)]
pub(crate) struct ColumnMemory {
    reservation: Reservation,
    parts: [u64; NUM_USES],
}

impl ColumnMemory {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            reservation: Reservation::new(budget),
            parts: [0; NUM_USES],
        }
    }

    /// Returns the number of bytes reserved for one purpose.
    pub(crate) fn reserved(&self, part: MemoryUse) -> u64 {
        self.parts[part as usize]
    }

    /// Changes the reservation for one purpose to `bytes` bytes.
    ///
    /// # Errors
    /// Fails with Limit if the budget does not have enough bytes left. Nothing changes in this case.
    pub(crate) fn resize(&mut self, part: MemoryUse, bytes: u64) -> Result<()> {
        let others = self.reservation.bytes - self.reserved(part);
        self.reservation.resize(others.saturating_add(bytes))?;
        self.parts[part as usize] = bytes;
        Ok(())
    }

    /// Reserves at least `bytes` bytes for one purpose.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::resize`].
    pub(crate) fn reserve(&mut self, part: MemoryUse, bytes: u64) -> Result<()> {
        if bytes <= self.reserved(part) {
            return Ok(());
        }
        self.resize(part, bytes)
    }

    /// Returns the counters of the read's work.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.reservation.budget.metrics
    }

    /// Returns the number of free bytes in the budget.
    pub(crate) fn left(&self) -> u64 {
        let budget = &self.reservation.budget;
        budget.limit.saturating_sub(budget.used())
    }

    /// Transfers the array's memory to its column batch. After the last column batch, the column no longer holds any
    /// memory. If that batch `borrows` pages or the dictionary, it takes over their memory too, because it keeps them
    /// alive.
    pub(crate) fn hand_over(&mut self, is_last: bool, borrows: bool) -> Reservation {
        let bytes = match is_last && borrows {
            true => self.reservation.bytes,
            false => self.reserved(MemoryUse::Array),
        };
        let handed_over = self.reservation.split(bytes);
        self.parts[MemoryUse::Array as usize] = 0;
        if is_last {
            self.parts = [0; NUM_USES];
            self.reservation.release();
        }
        handed_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(bytes: u64) -> Arc<Budget> {
        let mut limits = Limits::default();
        limits.memory_bytes = bytes;
        Budget::new(&limits)
    }

    #[test]
    fn what_is_refused_changes_nothing() {
        let budget = budget(100);
        let mut column = ColumnMemory::new(budget.clone());
        column.resize(MemoryUse::Window, 40).unwrap();
        column.resize(MemoryUse::Body, 50).unwrap();
        let error = column.resize(MemoryUse::Array, 11).unwrap_err();
        assert!(Budget::refused(&error), "{error}");
        assert_eq!((budget.used(), column.left()), (90, 10));
        column.resize(MemoryUse::Body, 20).unwrap();
        column.resize(MemoryUse::Array, 40).unwrap();
        assert_eq!((budget.used(), column.left()), (100, 0));
        drop(column);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn column_batches_take_their_share_along() {
        let budget = budget(100);
        let mut column = ColumnMemory::new(budget.clone());
        column.resize(MemoryUse::Body, 30).unwrap();
        column.resize(MemoryUse::Array, 20).unwrap();
        let first = column.hand_over(false, true);
        assert_eq!((first.bytes(), budget.used()), (20, 50));
        column.resize(MemoryUse::Array, 5).unwrap();
        let last = column.hand_over(true, true);
        drop(column);
        assert_eq!((last.bytes(), budget.used()), (35, 55));
        drop((first, last));
        assert_eq!(budget.used(), 0);
        let mut column = ColumnMemory::new(budget.clone());
        column.resize(MemoryUse::Body, 30).unwrap();
        column.resize(MemoryUse::Array, 20).unwrap();
        let last = column.hand_over(true, false);
        assert_eq!((last.bytes(), budget.used()), (20, 20));
    }

    #[test]
    fn row_groups_are_counted_once() {
        let budget = budget(0);
        let open = |role, index, bytes| budget.open_row_group(role, index, bytes);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        assert_eq!(open(ColumnRole::All, 1, 5), 15);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        // A row group may be skipped.
        assert_eq!(open(ColumnRole::All, 3, 1), 16);
        assert_eq!(open(ColumnRole::Selected(0), 3, 4), 20);
        assert_eq!(open(ColumnRole::All, 3, 1), 16);
        // Row groups opened again in order are counted anew.
        budget.close_row_groups_from(1);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        assert_eq!(open(ColumnRole::All, 3, 1), 11);
    }
}
