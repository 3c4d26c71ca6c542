//! The memory of one read, shared by its columns, and the counts of what it did.
//!
//! ```text
//! Budget (memory_bytes) ─┬─ ColumnMemory, one a column: window, page body, dictionary, array
//!                        ├─ Reservation, one a column batch that waits for its batch
//!                        ├─ Reservation of the batch that is being put together, of page maps, …
//!                        └─ PlainLoopBound, where several columns are under way
//! ```
//!
//! Memory is reserved before it is allocated, and by sizes that follow from the bytes of the file
//! alone. So the loop of one thread, which works on one column at a time, always comes to the same end.
//! Whoever works on several columns at once holds more at times, and less at others. So a refusal
//! there means nothing yet: the loop of one thread has to decide. Nor may they get further than it does: what that loop
//! holds at most must fit into the budget too (`PlainLoopBound`).

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
    /// What is held.
    used: AtomicU64,
    /// What the loop of one thread would hold at most, where several columns are under way.
    bound: AtomicU64,
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
            bound: AtomicU64::new(0),
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

    /// Bytes of columns that were read so far.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn column_bytes(&self) -> u64 {
        self.metrics.columns.get().bytes
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

    /// The sums that so much counts in.
    fn sums(&self, share: Share) -> impl Iterator<Item = &AtomicU64> {
        let used = (share != Share::Bound).then_some(&self.used);
        let bound = (share != Share::Column).then_some(&self.bound);
        used.into_iter().chain(bound)
    }

    fn take(&self, share: Share, bytes: u64) -> Result<()> {
        let add = |sum: u64| sum.checked_add(bytes).filter(|sum| *sum <= self.limit);
        for (before, sum) in self.sums(share).enumerate() {
            if let Err(sum) = sum.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
                for taken in self.sums(share).take(before) {
                    taken.fetch_sub(bytes, Ordering::Relaxed);
                }
                return Err(Error::limit(LIMIT, sum.saturating_add(bytes), self.limit));
            }
        }
        Ok(())
    }

    fn give_back(&self, share: Share, bytes: u64) {
        for sum in self.sums(share) {
            sum.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}

/// Which sums of a budget a reservation counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// What is held: by a column, or a column batch of it.
    Column,
    /// What the loop of one thread would hold in columns.
    Bound,
    /// Both: whoever reads holds that.
    Other,
}

/// Memory that was taken from a budget, and is given back when this is dropped.
#[doc(hidden)] // For drivers.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<Budget>,
    share: Share,
    bytes: u64,
}

impl Reservation {
    /// A reservation of nothing, for what no column holds.
    #[must_use]
    pub fn new(budget: Arc<Budget>) -> Self {
        Self::of(budget, Share::Other)
    }

    /// The same, for what counts otherwise.
    pub(crate) fn of(budget: Arc<Budget>, share: Share) -> Self {
        Self {
            budget,
            share,
            bytes: 0,
        }
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
            Some(more) => self.budget.take(self.share, more)?,
            None => self.budget.give_back(self.share, self.bytes - bytes),
        }
        self.bytes = bytes;
        Ok(())
    }

    /// Makes it a reservation of so many bytes more.
    ///
    /// # Errors
    /// As [`Self::resize`].
    pub(crate) fn add(&mut self, bytes: u64) -> Result<()> {
        self.resize(self.bytes.saturating_add(bytes))
    }

    /// Gives back all.
    pub(crate) fn release(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        // What threads count together takes time, whatever is counted.
        if bytes > 0 {
            self.budget.give_back(self.share, bytes);
        }
    }

    /// Cuts off so many bytes, or all there are.
    fn split(&mut self, bytes: u64) -> Self {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        Self {
            budget: self.budget.clone(),
            share: self.share,
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

/// A column takes at most so many times the memory of a part: it may have seen larger pages, headers or values before, and
/// holds as much for those to come.
const PART_OF_WHOLE: u64 = 4;

const NUM_USES: usize = MemoryUse::Array as usize + 1;

/// The memory of one column.
#[derive(Debug)]
pub(crate) struct ColumnMemory {
    reservation: Reservation,
    parts: [u64; NUM_USES],
    /// The most that was held since the last column batch.
    peak: u64,
    /// Whether it is that of a part of a column.
    is_part: bool,
}

impl ColumnMemory {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            reservation: Reservation::of(budget, Share::Column),
            parts: [0; NUM_USES],
            peak: 0,
            is_part: false,
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

    /// From here on, it is that of a part of a column.
    pub(crate) fn expect_part(&mut self) {
        self.is_part = true;
    }

    /// The most that was held since the last column batch; of a part, what the whole column would have held at most.
    pub(crate) fn peak(&self) -> u64 {
        self.of_whole(self.peak)
    }

    /// What the whole column would hold at most.
    fn of_whole(&self, bytes: u64) -> u64 {
        bytes.saturating_mul(if self.is_part { PART_OF_WHOLE } else { 1 })
    }

    /// Hands the memory of the array over to its column batch. Behind the last column batch the column holds
    /// nothing; what that column batch `keeps` of pages and of the dictionary goes with it.
    pub(crate) fn hand_over(&mut self, is_last: bool, keeps: bool) -> (Reservation, ColumnUse) {
        let mut taken = ColumnUse {
            ready: self.of_whole(self.reservation.bytes),
            peak: self.peak(),
        };
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
        if is_last && !self.is_part {
            taken.ready = held.bytes;
        }
        self.peak = self.reservation.bytes;
        (held, taken)
    }
}

/// What a column held for a column batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnUse {
    /// Once the column batch was ready, which is included.
    pub(crate) ready: u64,
    /// At most, until then.
    pub(crate) peak: u64,
}

/// What the loop of one thread holds at most in the columns of a row group, where several are under way: each column
/// what it held with any column batch that was ready, and one of them what making a column batch took beyond that.
#[doc(hidden)] // For drivers.
#[derive(Debug)]
pub struct PlainLoopBound {
    /// What is held with a column batch, by column.
    ready: Vec<u64>,
    /// What one of them takes beyond that.
    beyond: u64,
    reservation: Reservation,
}

impl PlainLoopBound {
    pub(crate) fn new(columns: usize, budget: Arc<Budget>) -> Self {
        Self {
            ready: vec![0; columns],
            beyond: 0,
            reservation: Reservation::of(budget, Share::Bound),
        }
    }

    /// Takes account of a column batch of `column`, or of a column that failed to make one.
    ///
    /// # Errors
    /// Limit where the budget may be too small for the loop of one thread.
    pub(crate) fn add(&mut self, column: usize, taken: ColumnUse) -> Result<()> {
        let Some(known) = self.ready.get_mut(column) else {
            return Ok(());
        };
        let ready = taken.ready.max(*known);
        let beyond = taken.peak.saturating_sub(ready).max(self.beyond);
        let more = (ready - *known) + (beyond - self.beyond);
        self.reservation.add(more)?;
        (*known, self.beyond) = (ready, beyond);
        Ok(())
    }

    /// Goes on to another row group.
    pub(crate) fn clear(&mut self) {
        self.ready.fill(0);
        self.beyond = 0;
        self.reservation.release();
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
        let (first, taken) = column.hand_over(false, true);
        assert_eq!((first.bytes(), taken), (20, column_use(50, 50)));
        column.hold(MemoryUse::Array, 25).unwrap();
        column.hold(MemoryUse::Array, 5).unwrap();
        let (last, taken) = column.hand_over(true, true);
        drop(column);
        assert_eq!((last.bytes(), taken), (35, column_use(35, 55)));
        assert_eq!(budget.used(), 55);
        drop((first, last));
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn a_part_takes_less_than_the_whole() {
        let mut part = ColumnMemory::new(budget(100));
        part.expect_part();
        part.hold(MemoryUse::Body, 12).unwrap();
        part.hold(MemoryUse::Array, 3).unwrap();
        assert_eq!(part.peak(), 60);
        part.hold(MemoryUse::Array, 2).unwrap();
        // The whole column would still have the page.
        let (array, taken) = part.hand_over(true, false);
        assert_eq!((array.bytes(), taken), (2, column_use(56, 60)));
    }

    fn column_use(ready: u64, peak: u64) -> ColumnUse {
        ColumnUse { ready, peak }
    }

    #[test]
    fn the_plain_loop_is_bounded() {
        let budget = budget(100);
        let mut bound = PlainLoopBound::new(2, budget.clone());
        // 60 at most for the first column, 30 of them to stay; then 70 for the second.
        bound.add(0, column_use(30, 60)).unwrap();
        bound.add(1, column_use(10, 70)).unwrap();
        // It is nothing that is held.
        assert_eq!(budget.used(), 0);
        // The second column still holds 10 while the first takes 90.
        bound.add(0, column_use(30, 90)).unwrap();
        bound.add(0, column_use(30, 91)).unwrap_err();
        bound.add(0, column_use(31, 31)).unwrap_err();
        // As does a column that fails.
        bound.add(1, column_use(0, 70)).unwrap();
        bound.add(1, column_use(0, 71)).unwrap_err();
        bound.clear();
        bound.add(0, column_use(30, 91)).unwrap();
        // What else is held counts beside it, and what columns hold does not.
        let mut other = Reservation::new(budget.clone());
        let mut column = Reservation::of(budget.clone(), Share::Column);
        column.resize(90).unwrap();
        other.resize(10).unwrap_err();
        other.resize(9).unwrap();
        assert_eq!(budget.used(), 99);
        drop(bound);
        column.resize(91).unwrap();
        other.resize(10).unwrap_err();
        assert_eq!(budget.used(), 100);
        column.release();
        other.resize(100).unwrap();
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
