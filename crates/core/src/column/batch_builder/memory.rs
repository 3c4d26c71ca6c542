//! A column batch's limits and memory reservation.
//!
//! We reserve memory before appending values, so that a read never exceeds its budget. But values can need much less
//! than their maximum size, so if the budget refuses the maximum, we look for a smaller sufficient size.

use herringbone_format::{Error, Result};

use super::BatchBuilder;
use crate::budget::{MemoryUse, Reservation};
use crate::column::nesting_builder::NestingBuilder;
use crate::column::sibling_levels::ListLevelsBuilder;

/// The maximum number of bytes recorded per level by each nesting builder.
const LEVEL_BYTES: usize = 9;
/// The first size in bytes to try for values when the budget is nearly used up.
const SMALL_RESERVE: usize = 64 << 10;

impl BatchBuilder {
    /// Transfers the column batch's memory from the column to the returned reservation. If the column is about to leave
    /// a page, `page_bytes` is that page's size. Otherwise it is 0.
    pub(super) fn hand_over_memory(
        &mut self,
        is_last: bool,
        page_bytes: usize,
    ) -> Result<Reservation> {
        self.last_bytes = self.array_bytes();
        let finishing = self.array.finishing_bytes();
        let mut bytes = self.last_bytes.saturating_add(finishing);
        let borrows = self.array.borrows_pages();
        if borrows && !is_last {
            // The array borrows from the page, so the page stays in memory as long as the column batch does.
            bytes += page_bytes;
        }
        self.memory.resize(MemoryUse::Array, bytes as u64)?;
        self.borrowed_bytes = 0;
        Ok(self.memory.hand_over(is_last, borrows))
    }

    /// Returns how many of the next `n` values fit into the column batch. The result is only 0 if the batch already
    /// contains rows or `n` is 0. If the page `is_lost`, the values are nulls.
    pub(in crate::column) fn fitting(&mut self, n: usize, is_lost: bool) -> Result<usize> {
        let used = self.used_bytes();
        if self.rows > 0 && used >= self.plan.column_batch_bytes {
            return Ok(0);
        }
        if is_lost {
            let fitting = n.min(self.slots_left());
            return self.reserve(fitting).map(|()| fitting);
        }
        let fitting = self
            .array
            .values_that_fit(n, self.plan.column_batch_bytes.saturating_sub(used))?
            .min(self.slots_left());
        if fitting > 0 || self.rows > 0 || n == 0 {
            return self.reserve(fitting).map(|()| fitting);
        }
        self.row_must_fit(1).map(|()| 1)
    }

    /// Returns the maximum number of slots for the next rows.
    fn slots_left(&self) -> usize {
        let max = match self.plan.max_rep_level {
            0 => self.plan.max_slots,
            // When a row starts, we don't know yet where it ends, so we leave the other half of the slots for it.
            _ => self.plan.max_slots / 2,
        };
        max.saturating_sub(self.validity.len())
    }

    /// Reserves memory for a row with the next `n` values.
    ///
    /// # Errors
    /// Fails with Limit if the row exceeds the maximum row size, or if the budget refuses.
    pub(in crate::column) fn row_must_fit(&mut self, n: usize) -> Result<()> {
        let used = self.used_bytes();
        let budget = self.plan.row_bytes.saturating_sub(used);
        if used > self.plan.row_bytes || self.array.values_that_fit(n, budget)? < n {
            let error = Error::limit(
                "batch_column_bytes",
                self.plan.row_bytes as u64 + 1,
                self.plan.row_bytes as u64,
            );
            return Err(error);
        }
        self.reserve(n)
    }

    /// Reserves memory for `n` more levels and their values.
    fn reserve(&mut self, n: usize) -> Result<()> {
        let used = self.array_bytes();
        // Levels need offsets and bits for ancestors and shared lists, plus validity bits for the leaf.
        let nesting_builders = self.nesting_builders.len() * LEVEL_BYTES + self.shared_lists.len();
        let levels = n.saturating_mul(nesting_builders) + n / 8;
        let needed = |values: usize| (used.saturating_add(levels)).saturating_add(values) as u64;
        let values = self.array.most_bytes(n);
        let reserved = self.memory.reserved(MemoryUse::Array);
        if needed(values) <= reserved {
            return Ok(());
        }
        // The reservation grows like a vector, so that we rarely ask for more.
        let ample = needed(values).max(self.last_bytes as u64).max(reserved * 2);
        for bytes in [ample, needed(values)] {
            if self.memory.resize(MemoryUse::Array, bytes).is_ok() {
                return Ok(());
            }
        }
        // The values might need much less than their maximum size, so we try smaller sizes before giving up.
        let mut tried = SMALL_RESERVE;
        loop {
            let left = usize::try_from(self.memory.left().saturating_add(reserved));
            let left = left.unwrap_or(usize::MAX);
            tried = tried.min(left.saturating_sub(used.saturating_add(levels)));
            if self.array.values_that_fit(n, tried)? >= n {
                return self.memory.resize(MemoryUse::Array, needed(tried));
            }
            if needed(tried) >= left as u64 {
                return self.memory.resize(MemoryUse::Array, needed(values));
            }
            tried = tried.saturating_mul(2);
        }
    }

    /// Returns the unfinished array's byte count, including any borrowed pages.
    pub(super) fn array_bytes(&self) -> usize {
        self.used_bytes()
            .saturating_add(self.borrowed_bytes)
            .saturating_add(self.validity.len() / 8)
    }

    /// Returns the number of bytes used by the column batch's values, offsets and bits.
    fn used_bytes(&self) -> usize {
        let nesting_builders = self.nesting_builders.iter().map(NestingBuilder::bytes);
        let shared_lists = self.shared_lists.iter().map(ListLevelsBuilder::bytes);
        self.array.bytes() + nesting_builders.chain(shared_lists).sum::<usize>()
    }
}
