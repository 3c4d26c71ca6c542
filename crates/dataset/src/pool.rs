//! The memory shared by all files of a read.

use std::sync::Arc;
use std::task::{Context, Poll};

use herringbone::arrow::array::RecordBatch;
use herringbone::{MemoryPool, ReadOptions, SharedMemory};

use crate::sequence::Rows;

/// The memory shared by a read's files. Together, they are allowed as much as the read of a single
/// file, taken from the program's pool if it has one.
#[derive(Debug)]
pub struct FileMemory {
    own: Arc<SharedMemory>,
    limit: u64,
    program_pool: Option<Arc<dyn MemoryPool>>,
}

impl FileMemory {
    /// Creates the memory of a read.
    #[must_use]
    pub fn new(options: &ReadOptions) -> Arc<Self> {
        let limit = options.limits_or_default().memory_bytes;
        Arc::new(Self {
            own: SharedMemory::new(limit),
            limit,
            program_pool: options.memory_pool.clone(),
        })
    }

    /// Returns true if half of the memory is in use. Work ahead then has to wait.
    #[must_use]
    pub fn is_half_used(&self) -> bool {
        self.own.used() >= self.limit / 2
    }

    /// Takes memory for a batch waiting for its turn, remembering if the pool refused it.
    pub fn hold(self: &Arc<Self>, batch: RecordBatch) -> HeldBatch {
        let (pool, bytes) = (self.clone(), batch.get_array_memory_size() as u64);
        let memory = self.take(bytes).then(|| Held { pool, bytes });
        HeldBatch { batch, memory }
    }
}

impl MemoryPool for FileMemory {
    fn take(&self, bytes: u64) -> bool {
        if !self.own.take(bytes) {
            return false;
        }
        let is_taken = self
            .program_pool
            .as_ref()
            .is_none_or(|pool| pool.take(bytes));
        if !is_taken {
            self.own.give_back(bytes);
        }
        is_taken
    }

    fn give_back(&self, bytes: u64) {
        self.own.give_back(bytes);
        if let Some(pool) = &self.program_pool {
            pool.give_back(bytes);
        }
    }

    fn most_ahead(&self) -> u64 {
        let program_pool = self.program_pool.as_ref();
        program_pool.map_or(u64::MAX, |pool| pool.most_ahead())
    }

    fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        let program_pool = self.program_pool.as_ref();
        program_pool.map_or(Poll::Ready(false), |pool| pool.poll_room(context))
    }
}

/// A batch waiting for its turn, with the memory taken for it.
#[derive(Debug)]
pub struct HeldBatch {
    batch: RecordBatch,
    /// The memory, or `None` if it was refused.
    memory: Option<Held>,
}

impl HeldBatch {
    /// Returns the batch, giving its memory back.
    #[must_use]
    pub fn into_batch(self) -> RecordBatch {
        self.batch
    }
}

impl Rows for HeldBatch {
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn part(self, offset: usize, length: usize) -> Self {
        let batch = self.batch.slice(offset, length);
        Self { batch, ..self }
    }

    fn is_granted(&self) -> bool {
        self.memory.is_some()
    }
}

impl Rows for RecordBatch {
    fn num_rows(&self) -> usize {
        Self::num_rows(self)
    }

    fn part(self, offset: usize, length: usize) -> Self {
        self.slice(offset, length)
    }
}

/// Memory from the pool, given back on drop.
#[derive(Debug)]
struct Held {
    pool: Arc<FileMemory>,
    bytes: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes);
    }
}
