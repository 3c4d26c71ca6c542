//! The memory pool of the runtime as a pool of the library.

use std::sync::Arc;

use datafusion_execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};

/// The memory of the read or the write of one file.
#[derive(Debug)]
pub(crate) struct FileMemory(MemoryReservation);

impl FileMemory {
    /// Registers a consumer with a pool.
    pub(crate) fn new(pool: &Arc<dyn MemoryPool>, consumer: String) -> Arc<Self> {
        Arc::new(Self(MemoryConsumer::new(consumer).register(pool)))
    }
}

impl herringbone::MemoryPool for FileMemory {
    fn take(&self, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| self.0.try_grow(bytes).is_ok())
    }

    fn give_back(&self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.0.shrink(bytes.min(self.0.size()));
    }
}
