//! The memory of one read, shared by its columns, and the counts of what it did.
//!
//! ```text
//! Budget (memory_bytes) ─┬─ ColumnMemory, one a column: window, page body, dictionary, array
//!                        ├─ Reservation, one a column batch that waits for its batch
//!                        └─ Reservation of the batch that is being put together
//! ```
//!
//! Memory is reserved before it is allocated, and by sizes that follow from the bytes of the file
//! alone. So the loop of one thread, which works on one column at a time, always comes to the same end.
//! Whoever works on several columns at once holds more at times, and less at others. So a refusal
//! there means nothing yet: the loop of one thread has to decide. What it would have held up to a column batch is
//! known from the column batches (`ColumnBatchMemory`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_format::{Error, Limits, Result};

use crate::metrics::{Metrics, ReadMetrics};

/// The limit that is kept here.
const LIMIT: &str = "memory_bytes";

/// How much memory a read may hold, and how much it does.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
    /// One column is worked on after the other.
    in_turn: AtomicBool,
    /// What was opened so far.
    opened: Mutex<Opened>,
    /// What else the read did.
    metrics: Metrics,
}

/// The column chunks that were opened.
#[derive(Debug, Default)]
struct Opened {
    /// Their bytes.
    bytes: u64,
    /// By what the columns are for and the row group of the read: their bytes, and those of all that were opened before.
    row_groups: BTreeMap<(ColumnRole, usize), (u64, u64)>,
    /// The row groups that were looked at, whether a column of theirs was opened or not.
    seen: BTreeSet<usize>,
}

/// What columns are read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ColumnRole {
    /// To be given out, all wanted rows of them.
    All,
    /// To be tested by a filter.
    Tested,
    /// To be given out, as far as a filter leaves rows.
    Filtered,
    /// To be tested before the tested columns are decoded.
    TestedFirst,
    /// To be tested, as far as the first test leaves rows.
    TestedNext,
}

impl ColumnRole {
    /// Those of the columns that a filter tests, and of the others, where all are for this.
    pub(crate) fn with_filter(self) -> (Self, Self) {
        match self {
            Self::All => (Self::Tested, Self::Filtered),
            _ => (Self::TestedFirst, Self::TestedNext),
        }
    }
}

impl Budget {
    /// A budget of [`Limits::memory_bytes`], all of it free.
    #[must_use]
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            limit: limits.memory_bytes,
            used: AtomicU64::new(0),
            in_turn: AtomicBool::new(false),
            opened: Mutex::default(),
            metrics: Metrics::default(),
        })
    }

    /// Says that from now on one column is worked on after the other, as the loop of one thread does. Only then
    /// do columns make do with less than they would like: what that is depends on what is left.
    #[doc(hidden)] // For drivers.
    pub fn work_in_turn(&self) {
        self.in_turn.store(true, Ordering::Relaxed);
    }

    /// Whether more than half is in use: a reason not to run ahead.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.used() > self.limit / 2
    }

    /// What the read did so far.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn read_metrics(&self) -> ReadMetrics {
        self.metrics.get(self.opened().seen.len() as u64)
    }

    /// Notes that something is known of a row group of the read.
    pub(crate) fn look_at(&self, index: usize) {
        self.opened().seen.insert(index);
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Whether an error is a refusal of a budget.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn refused(error: &Error) -> bool {
        error.limit_name() == Some(LIMIT)
    }

    /// Whether an error depends on what else is under way: it may be due to memory that others hold, or to row groups
    /// that were opened out of order.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn depends_on_others(error: &Error) -> bool {
        Self::refused(error) || error.limit_name() == Some("overlap_ratio")
    }

    /// The bytes of all column chunks of a read up to these, which have so many. They are opened in order, or by several
    /// threads, and some of them again.
    pub(crate) fn open_row_group(&self, (role, index): (ColumnRole, usize), bytes: u64) -> u64 {
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

    /// Forgets the row groups from this one on, which are opened again in order.
    pub(crate) fn close_row_groups_from(&self, index: usize) {
        let mut opened = self.opened();
        opened.row_groups.retain(|(_, known), _| *known < index);
        opened.bytes = opened.row_groups.values().map(|(bytes, _)| bytes).sum();
    }

    fn used(&self) -> u64 {
        // Nothing else is read or written because of this number.
        self.used.load(Ordering::Relaxed)
    }

    fn take(&self, bytes: u64) -> Result<()> {
        let add = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        self.used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .map(drop)
            .map_err(|used| Error::limit(LIMIT, used.saturating_add(bytes), self.limit))
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Memory that was taken from a budget, and is given back when this is dropped.
#[doc(hidden)] // For drivers.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// A reservation of nothing.
    #[must_use]
    pub fn new(budget: Arc<Budget>) -> Self {
        Self { budget, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The budget that it is from.
    pub(crate) fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// What the budget has in all.
    pub(crate) fn limit(&self) -> u64 {
        self.budget.limit
    }

    /// Makes it a reservation of so many bytes.
    ///
    /// # Errors
    /// Limit where there are not as many left; it then stays what it was.
    pub fn resize(&mut self, bytes: u64) -> Result<()> {
        match bytes.checked_sub(self.bytes) {
            Some(0) => {}
            Some(more) => self.budget.take(more)?,
            None => self.budget.give_back(self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Gives back all.
    pub(crate) fn release(&mut self) {
        self.budget.give_back(std::mem::take(&mut self.bytes));
    }

    /// Cuts off so many bytes, or all there are.
    fn split(&mut self, bytes: u64) -> Self {
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

/// What a column holds memory for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemoryUse {
    /// The column itself.
    Column,
    /// Bytes of the file.
    Window,
    /// The decrypted page.
    Decrypted,
    /// The decompressed page.
    Body,
    /// Values of the page that are not used as they stand there.
    Copy,
    /// The dictionary as it is looked up in.
    Dictionary,
    /// The array that is being built, and pages that it keeps parts of in place.
    Array,
}

const NUM_USES: usize = MemoryUse::Array as usize + 1;

/// The memory of one column.
#[derive(Debug)]
pub(crate) struct ColumnMemory {
    reservation: Reservation,
    parts: [u64; NUM_USES],
    /// The most that was held since the last column batch.
    peak: u64,
}

impl ColumnMemory {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            reservation: Reservation::new(budget),
            parts: [0; NUM_USES],
            peak: 0,
        }
    }

    /// Bytes held for one part.
    pub(crate) fn held(&self, part: MemoryUse) -> u64 {
        self.parts[part as usize]
    }

    /// Holds so many bytes for a part, instead of as many as until now.
    ///
    /// # Errors
    /// Limit where there are not as many left; the part then stays as it was.
    pub(crate) fn hold(&mut self, part: MemoryUse, bytes: u64) -> Result<()> {
        let others = self.reservation.bytes - self.held(part);
        self.reservation.resize(others.saturating_add(bytes))?;
        self.parts[part as usize] = bytes;
        self.peak = self.peak.max(self.reservation.bytes);
        Ok(())
    }

    /// Holds at least so many bytes for a part.
    ///
    /// # Errors
    /// As [`Self::hold`].
    pub(crate) fn hold_at_least(&mut self, part: MemoryUse, bytes: u64) -> Result<()> {
        if bytes <= self.held(part) {
            return Ok(());
        }
        self.hold(part, bytes)
    }

    /// What the read did so far.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.reservation.budget.metrics
    }

    /// Whether a column may make do with less than it would like.
    pub(crate) fn may_make_do(&self) -> bool {
        self.reservation.budget.in_turn.load(Ordering::Relaxed)
    }

    /// Bytes that nobody holds.
    pub(crate) fn left(&self) -> u64 {
        let budget = &self.reservation.budget;
        budget.limit.saturating_sub(budget.used())
    }

    /// The most that was held since the last column batch.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Hands the memory of the array over to its column batch. Behind the last column batch the column holds
    /// nothing; what that column batch `keeps` of pages and of the dictionary goes with it.
    pub(crate) fn hand_over(&mut self, is_last: bool, keeps: bool) -> ColumnBatchMemory {
        let bytes = match is_last && keeps {
            true => self.reservation.bytes,
            false => self.held(MemoryUse::Array),
        };
        let held = self.reservation.split(bytes);
        self.parts[MemoryUse::Array as usize] = 0;
        if is_last {
            self.parts = [0; NUM_USES];
            self.reservation.release();
        }
        let peak = std::mem::replace(&mut self.peak, self.reservation.bytes);
        ColumnBatchMemory {
            held,
            peak,
            rest: self.reservation.bytes,
            is_new: true,
        }
    }
}

/// The memory of a column batch, and what its column took to make it.
#[derive(Debug)]
pub(crate) struct ColumnBatchMemory {
    held: Reservation,
    /// The most that the column held, the column batch included.
    peak: u64,
    /// What the column holds without the column batch.
    rest: u64,
    /// No batch has taken of the column batch yet.
    is_new: bool,
}

/// What the loop of one thread holds, which makes a column batch of one column after the other.
#[derive(Debug)]
pub(crate) struct InTurn {
    limit: u64,
    /// By column: what it held behind the column batches of earlier batches.
    columns: Vec<u64>,
}

impl InTurn {
    pub(crate) fn new(columns: usize, budget: &Budget) -> Self {
        Self {
            limit: budget.limit,
            columns: vec![0; columns],
        }
    }

    /// What is held once the column batches, one a column, are there. Where a column `failed` to make its
    /// column batch: what is held then, with what that column took so far.
    ///
    /// # Errors
    /// Limit where the budget is too small at some point on the way.
    pub(crate) fn held<'a>(
        &self,
        column_batches: impl Iterator<Item = Option<&'a ColumnBatchMemory>> + Clone,
        failed: Option<(usize, u64)>,
    ) -> Result<u64> {
        let earlier = column_batches
            .clone()
            .flatten()
            .filter(|column_batch| !column_batch.is_new);
        let mut held: u64 = self.columns.iter().sum();
        held += earlier
            .map(|column_batch| column_batch.held.bytes)
            .sum::<u64>();
        for (column, (before, column_batch)) in self.columns.iter().zip(column_batches).enumerate()
        {
            let others = held - before;
            if let Some((_, peak)) = failed.filter(|(failed, _)| *failed == column) {
                return self.allowed(others + peak);
            }
            if let Some(column_batch) = column_batch.filter(|column_batch| column_batch.is_new) {
                self.allowed(others + column_batch.peak)?;
                held = others + column_batch.rest + column_batch.held.bytes;
            }
        }
        Ok(held)
    }

    /// Fails where more is held than the budget has.
    pub(crate) fn allowed(&self, held: u64) -> Result<u64> {
        if held > self.limit {
            return Err(Error::limit(LIMIT, held, self.limit));
        }
        Ok(held)
    }

    /// Takes a quarter of the budget for all of it: column batches of a column that is decoded in parts tell
    /// only roughly what it would have held.
    pub(crate) fn retrace_parts(&mut self, budget: u64) {
        self.limit = budget / 4;
    }

    /// Goes on to the next batch.
    pub(crate) fn next_batch<'a>(
        &mut self,
        column_batches: impl Iterator<Item = Option<&'a mut ColumnBatchMemory>>,
    ) {
        for (column, column_batch) in self.columns.iter_mut().zip(column_batches) {
            if let Some(column_batch) = column_batch.filter(|column_batch| column_batch.is_new) {
                column_batch.is_new = false;
                *column = column_batch.rest;
            }
        }
    }

    /// Goes on to another row group.
    pub(crate) fn clear(&mut self) {
        self.columns.fill(0);
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
        column.hold(MemoryUse::Window, 40).unwrap();
        column.hold(MemoryUse::Body, 50).unwrap();
        let error = column.hold(MemoryUse::Array, 11).unwrap_err();
        assert!(Budget::refused(&error), "{error}");
        assert_eq!((budget.used(), column.left()), (90, 10));
        column.hold(MemoryUse::Body, 20).unwrap();
        column.hold(MemoryUse::Array, 40).unwrap();
        assert_eq!((budget.used(), column.peak()), (100, 100));
        drop(column);
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn column_batches_take_their_share_along() {
        let budget = budget(100);
        let mut column = ColumnMemory::new(budget.clone());
        column.hold(MemoryUse::Body, 30).unwrap();
        column.hold(MemoryUse::Array, 20).unwrap();
        let first = column.hand_over(false, true);
        assert_eq!((first.held.bytes(), first.rest, first.peak), (20, 30, 50));
        column.hold(MemoryUse::Array, 5).unwrap();
        let last = column.hand_over(true, true);
        drop(column);
        assert_eq!((last.held.bytes(), last.rest, last.peak), (35, 0, 35));
        assert_eq!(budget.used(), 55);
        drop((first, last));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn the_plain_loop_is_retraced() {
        let budget = budget(100);
        let mut in_turn = InTurn::new(2, &budget);
        let column_batch = |held: u64, rest: u64, peak: u64| ColumnBatchMemory {
            held: Reservation {
                budget: budget.clone(),
                bytes: held,
            },
            peak: peak.max(held),
            rest,
            is_new: true,
        };
        // 60 at most for the first column, 30 of them to stay; then 70 for the second.
        let mut column_batches = [column_batch(0, 30, 60), column_batch(0, 10, 70)];
        let held = |in_turn: &InTurn, column_batches: &[ColumnBatchMemory], failed| {
            in_turn.held(column_batches.iter().map(Some).chain([None]), failed)
        };
        assert_eq!(held(&in_turn, &column_batches, None).unwrap(), 40);
        assert_eq!(
            held(&in_turn, &column_batches[..1], Some((1, 70))).unwrap(),
            100
        );
        held(&in_turn, &column_batches[..1], Some((1, 71))).unwrap_err();
        in_turn.next_batch(column_batches.iter_mut().map(Some));
        // The second column still holds 10 while the first makes its next column batch.
        let column_batches = [column_batch(0, 30, 91), column_batch(0, 10, 20)];
        held(&in_turn, &column_batches, None).unwrap_err();
        in_turn.clear();
        assert_eq!(held(&in_turn, &column_batches, None).unwrap(), 40);
    }

    #[test]
    fn row_groups_are_counted_once() {
        let budget = budget(0);
        let open = |role, index, bytes| budget.open_row_group((role, index), bytes);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        assert_eq!(open(ColumnRole::All, 1, 5), 15);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        // A row group may be passed over.
        assert_eq!(open(ColumnRole::All, 3, 1), 16);
        assert_eq!(open(ColumnRole::Filtered, 3, 4), 20);
        assert_eq!(open(ColumnRole::All, 3, 1), 16);
        // What is opened again in order counts anew.
        budget.close_row_groups_from(1);
        assert_eq!(open(ColumnRole::All, 0, 10), 10);
        assert_eq!(open(ColumnRole::All, 3, 1), 11);
    }
}
