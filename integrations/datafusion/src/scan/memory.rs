//! The memory pool of the runtime as a pool of the library.

use std::sync::Arc;

use datafusion_execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

/// The memory of the read of one file.
#[derive(Debug)]
pub(crate) struct ScanMemory(MemoryReservation);

impl ScanMemory {
    /// Registers a consumer with a pool.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, partition: usize) -> Arc<Self> {
        let consumer = MemoryConsumer::new(format!("HerringboneScan[{partition}]"));
        Arc::new(Self(consumer.register(pool)))
    }
}

impl herringbone::MemoryPool for ScanMemory {
    fn take(&self, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| self.0.try_grow(bytes).is_ok())
    }

    fn give_back(&self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.0.shrink(bytes.min(self.0.size()));
    }
}
