//! The memory of one read, shared by its columns.
//!
//! ```text
//! Budget (memory_bytes) ─┬─ ColumnMemory, one a column: window, page body, dictionary, array
//!                        ├─ Reservation, one a piece that waits for its batch
//!                        └─ Reservation of the batch that is being put together
//! ```
//!
//! Memory is reserved before it is allocated, and by sizes that follow from the bytes of the file
//! alone. So the plain loop, which works on one column at a time, always comes to the same end.
//! Whoever works on several columns at once holds more at times, and less at others. So a refusal
//! there means nothing yet: the plain loop has to decide. What it would have held up to a piece is
//! known from the pieces ([`PieceMemory`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use herringbone_format::{Error, Limits, Result};

/// The limit that is kept here.
const LIMIT: &str = "memory_bytes";

/// How much memory a read may hold, and how much it does.
#[derive(Debug)]
pub struct Budget {
    limit: u64,
    used: AtomicU64,
}

impl Budget {
    /// A budget of [`Limits::memory_bytes`], all of it free.
    #[must_use]
    pub fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            limit: limits.memory_bytes,
            used: AtomicU64::new(0),
        })
    }

    /// Whether more than half is in use: a reason not to run ahead.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.used() > self.limit / 2
    }

    /// Whether an error is a refusal of a budget.
    #[must_use]
    pub fn refused(error: &Error) -> bool {
        error.limit_name() == Some(LIMIT)
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
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: u64,
}

impl Reservation {
    /// A reservation of nothing.
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self { budget, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Makes it a reservation of so many bytes.
    ///
    /// # Errors
    /// Limit where there are not as many left; it then stays what it was.
    pub(crate) fn resize(&mut self, bytes: u64) -> Result<()> {
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
pub(crate) enum Part {
    /// The column itself.
    Column,
    /// Bytes of the file.
    Window,
    /// The decompressed page.
    Body,
    /// The dictionary as it is looked up in.
    Dictionary,
    /// The array that is being built, and pages that it keeps parts of in place.
    Array,
}

/// The memory of one column.
#[derive(Debug)]
pub(crate) struct ColumnMemory {
    reservation: Reservation,
    parts: [u64; 5],
    /// The most that was held since the last piece.
    peak: u64,
}

impl ColumnMemory {
    pub(crate) fn new(budget: Arc<Budget>) -> Self {
        Self {
            reservation: Reservation::new(budget),
            parts: [0; 5],
            peak: 0,
        }
    }

    /// Bytes held for one part.
    pub(crate) fn held(&self, part: Part) -> u64 {
        self.parts[part as usize]
    }

    /// Holds so many bytes for a part, instead of as many as until now.
    ///
    /// # Errors
    /// Limit where there are not as many left; the part then stays as it was.
    pub(crate) fn hold(&mut self, part: Part, bytes: u64) -> Result<()> {
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
    pub(crate) fn hold_at_least(&mut self, part: Part, bytes: u64) -> Result<()> {
        if bytes <= self.held(part) {
            return Ok(());
        }
        self.hold(part, bytes)
    }

    /// Bytes that nobody holds.
    pub(crate) fn left(&self) -> u64 {
        let budget = &self.reservation.budget;
        budget.limit.saturating_sub(budget.used())
    }

    /// The most that was held since the last piece.
    pub(crate) fn peak(&self) -> u64 {
        self.peak
    }

    /// Hands the memory of the array over to its piece. Behind the last piece the column holds
    /// nothing; what that piece `keeps` of pages and of the dictionary goes with it.
    pub(crate) fn hand_over(&mut self, is_last: bool, keeps: bool) -> PieceMemory {
        let bytes = match is_last && keeps {
            true => self.reservation.bytes,
            false => self.held(Part::Array),
        };
        let held = self.reservation.split(bytes);
        self.parts[Part::Array as usize] = 0;
        if is_last {
            self.parts = [0; 5];
            self.reservation.release();
        }
        let peak = std::mem::replace(&mut self.peak, self.reservation.bytes);
        PieceMemory {
            held,
            peak,
            rest: self.reservation.bytes,
            is_new: true,
        }
    }
}

/// The memory of a piece, and what its column took to make it.
#[derive(Debug)]
pub(crate) struct PieceMemory {
    held: Reservation,
    /// The most that the column held, the piece included.
    peak: u64,
    /// What the column holds without the piece.
    rest: u64,
    /// No batch has taken of the piece yet.
    is_new: bool,
}

/// What the plain loop holds, which makes a piece of one column after the other.
#[derive(Debug)]
pub(crate) struct InTurn {
    limit: u64,
    /// By column: what it held behind the pieces of earlier batches.
    columns: Vec<u64>,
}

impl InTurn {
    pub(crate) fn new(columns: usize, budget: &Budget) -> Self {
        Self {
            limit: budget.limit,
            columns: vec![0; columns],
        }
    }

    /// What is held once the pieces, one a column, are there. Where a column `failed` to make its
    /// piece: what is held then, with what that column took so far.
    ///
    /// # Errors
    /// Limit where the budget is too small at some point on the way.
    pub(crate) fn held<'a>(
        &self,
        pieces: impl Iterator<Item = Option<&'a PieceMemory>> + Clone,
        failed: Option<(usize, u64)>,
    ) -> Result<u64> {
        let earlier = pieces.clone().flatten().filter(|piece| !piece.is_new);
        let mut held: u64 = self.columns.iter().sum();
        held += earlier.map(|piece| piece.held.bytes).sum::<u64>();
        for (column, (before, piece)) in self.columns.iter().zip(pieces).enumerate() {
            let others = held - before;
            if let Some((_, peak)) = failed.filter(|(failed, _)| *failed == column) {
                return self.allowed(others + peak);
            }
            if let Some(piece) = piece.filter(|piece| piece.is_new) {
                self.allowed(others + piece.peak)?;
                held = others + piece.rest + piece.held.bytes;
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

    /// Goes on to the next batch.
    pub(crate) fn next_batch<'a>(
        &mut self,
        pieces: impl Iterator<Item = Option<&'a mut PieceMemory>>,
    ) {
        for (column, piece) in self.columns.iter_mut().zip(pieces) {
            if let Some(piece) = piece.filter(|piece| piece.is_new) {
                piece.is_new = false;
                *column = piece.rest;
            }
        }
    }

    /// Goes on to another row group.
    pub(crate) fn clear(&mut self) {
        self.columns.fill(0);
    }
}
