//! The runtime's memory pool, as a pool of the library.

use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion_execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

use crate::turns::Turns;

/// The divisor for the part of a pool that all partitions of a scan may fill with bytes that they
/// do not need yet. Operators, and the pages that a scan decodes, need the rest.
const AHEAD_SHARE: u64 = 8;

/// The divisor for the part of a pool that a written file may fill before its row group ends early.
/// Scans need the rest to deliver more rows.
const SINK_SHARE: u64 = 2;

/// The memory for the read or the write of one file.
#[derive(Debug)]
pub(crate) struct FileMemory {
    reservation: MemoryReservation,
    most_ahead: u64,
    /// The largest number of bytes that the file may hold.
    most_held: u64,
    turns: Arc<Turns>,
    member: u64,
    is_sink: bool,
}

impl FileMemory {
    /// Registers a file that has no limits of its own with a pool.
    fn new(pool: &Arc<dyn MemoryPool>, consumer: String, is_sink: bool) -> Self {
        let turns = Turns::of(pool);
        Self {
            reservation: MemoryConsumer::new(consumer).register(pool),
            most_ahead: u64::MAX,
            most_held: u64::MAX,
            member: turns.join(),
            turns,
            is_sink,
        }
    }

    /// Registers a file that is going to be written with a pool.
    pub(crate) fn of_sink(pool: &Arc<dyn MemoryPool>, consumer: String) -> Self {
        let mut memory = Self::new(pool, consumer, true);
        memory.most_held = share(pool, SINK_SHARE);
        memory
    }

    /// Registers a partition of a scan with a pool, where the `partitions` share the bytes that are
    /// requested ahead.
    pub(crate) fn of_scan(pool: &Arc<dyn MemoryPool>, consumer: String, partitions: usize) -> Self {
        let partitions = u64::try_from(partitions.max(1)).unwrap_or(u64::MAX);
        let parts = AHEAD_SHARE.saturating_mul(partitions);
        let mut memory = Self::new(pool, consumer, false);
        memory.most_ahead = share(pool, parts);
        memory
    }
}

/// Returns the size of one of several equal parts of a pool.
fn share(pool: &Arc<dyn MemoryPool>, parts: u64) -> u64 {
    match pool.memory_limit() {
        MemoryLimit::Finite(limit) => limit as u64 / parts,
        MemoryLimit::Infinite | MemoryLimit::Unknown => u64::MAX,
    }
}

impl herringbone::MemoryPool for FileMemory {
    fn take(&self, bytes: u64) -> bool {
        let held = self.reservation.size() as u64;
        if held.saturating_add(bytes) > self.most_held {
            return false;
        }
        self.turns.take((self.member, self.is_sink), bytes, || {
            usize::try_from(bytes).is_ok_and(|bytes| self.reservation.try_grow(bytes).is_ok())
        })
    }

    fn give_back(&self, bytes: u64) {
        let in_memory = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.reservation
            .shrink(in_memory.min(self.reservation.size()));
        self.turns.give_back(self.member, bytes);
    }

    fn most_ahead(&self) -> u64 {
        self.most_ahead
    }

    fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        self.turns.poll_room(self.member, context)
    }
}

impl Drop for FileMemory {
    fn drop(&mut self) {
        self.reservation.free();
        self.turns.leave(self.member);
    }
}
