//! The memory pool of the runtime as a pool of the library.

use std::sync::Arc;

use datafusion_execution::memory_pool::{
    MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// The part of a pool that all partitions of a scan may fill with bytes that they do not need yet. Operators, and the pages
/// that a scan decodes, need the rest.
const AHEAD_SHARE: u64 = 8;

/// The memory of the read or the write of one file.
#[derive(Debug)]
pub(crate) struct FileMemory {
    reservation: MemoryReservation,
    most_ahead: u64,
}

impl FileMemory {
    /// Registers a consumer with a pool.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, consumer: String) -> Self {
        Self {
            reservation: MemoryConsumer::new(consumer).register(pool),
            most_ahead: u64::MAX,
        }
    }

    /// Registers a partition of a scan with a pool. The `partitions` share the bytes requested ahead.
    pub(crate) fn of_scan(pool: &Arc<dyn MemoryPool>, consumer: String, partitions: usize) -> Self {
        let most_ahead = match pool.memory_limit() {
            MemoryLimit::Finite(limit) => limit as u64 / AHEAD_SHARE / partitions.max(1) as u64,
            MemoryLimit::Infinite | MemoryLimit::Unknown => u64::MAX,
        };
        Self {
            most_ahead,
            ..Self::new(pool, consumer)
        }
    }
}

impl herringbone::MemoryPool for FileMemory {
    fn take(&self, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| self.reservation.try_grow(bytes).is_ok())
    }

    fn give_back(&self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.reservation.shrink(bytes.min(self.reservation.size()));
    }

    fn most_ahead(&self) -> u64 {
        self.most_ahead
    }
}
