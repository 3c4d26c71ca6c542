//! Memory shared by many reads.

use std::fmt::Debug;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use herringbone_format::{Error, Result};

/// Memory shared by many reads, such as that of a query engine.
///
/// A read takes bytes before it allocates them, in blocks of a mebibyte. It gives all of them back when it is
/// dropped.
///
/// A pool must not wait. If it refuses, the read drops the work ahead of its output and tries again. If the pool
/// refuses once more, the read fails with an error of kind [Limit](herringbone_format::ErrorKind::Limit).
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use herringbone::{MemoryPool, ReadOptions};
///
/// /// A pool without a limit, which counts.
/// #[derive(Debug, Default)]
/// struct Counted(AtomicU64);
///
/// impl MemoryPool for Counted {
///     fn take(&self, bytes: u64) -> bool {
///         self.0.fetch_add(bytes, Ordering::Relaxed);
///         true
///     }
///
///     fn give_back(&self, bytes: u64) {
///         self.0.fetch_sub(bytes, Ordering::Relaxed);
///     }
/// }
///
/// let options = ReadOptions::new().memory_pool(std::sync::Arc::new(Counted::default()));
/// assert!(options.memory_pool.is_some());
/// ```
pub trait MemoryPool: Debug + Send + Sync {
    /// Takes `bytes` bytes. Returns false if the pool does not have them.
    fn take(&self, bytes: u64) -> bool;

    /// Gives back bytes taken earlier.
    fn give_back(&self, bytes: u64);
}

/// A [`MemoryPool`] of a fixed number of bytes.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::{MemoryPool, SharedMemory};
///
/// let pool = SharedMemory::new(100);
/// assert!(pool.take(60));
/// assert!(!pool.take(60));
/// pool.give_back(60);
/// assert_eq!(pool.used(), 0);
/// ```
#[derive(Debug)]
pub struct SharedMemory {
    limit: u64,
    used: AtomicU64,
}

impl SharedMemory {
    /// Creates a pool of `bytes` bytes.
    #[must_use]
    pub fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self {
            limit: bytes,
            used: AtomicU64::new(0),
        })
    }

    /// Returns the number of bytes taken.
    #[must_use]
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl MemoryPool for SharedMemory {
    fn take(&self, bytes: u64) -> bool {
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.limit);
        let taken = (self.used).fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        taken.is_ok()
    }

    fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The number of bytes taken from a pool at once.
const BLOCK: u64 = 1 << 20;

/// The bytes that one read has taken from a pool. They are given back on drop.
#[derive(Debug)]
pub(crate) struct PooledMemory {
    pool: Arc<dyn MemoryPool>,
    taken: Mutex<u64>,
}

impl PooledMemory {
    pub(crate) fn new(pool: Arc<dyn MemoryPool>) -> Self {
        Self {
            pool,
            taken: Mutex::new(0),
        }
    }

    /// Takes enough bytes from the pool to cover `used`: in whole blocks, or exactly as needed if the
    /// pool refuses.
    ///
    /// # Errors
    /// Limit if the pool refuses.
    pub(crate) fn grow(&self, used: &AtomicU64) -> Result<()> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = used.load(Ordering::Relaxed).saturating_sub(*taken);
        let blocks = missing.checked_next_multiple_of(BLOCK);
        for bytes in [blocks.unwrap_or(missing), missing] {
            if bytes == 0 || self.pool.take(bytes) {
                *taken += bytes;
                return Ok(());
            }
        }
        Err(Error::pool_refused(missing, *taken))
    }

    /// Gives back the unused bytes, except for one block.
    pub(crate) fn shrink(&self, used: &AtomicU64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = taken.saturating_sub(used.load(Ordering::Relaxed));
        if spare >= 2 * BLOCK {
            let bytes = spare - BLOCK;
            self.pool.give_back(bytes);
            *taken -= bytes;
        }
    }
}

impl Drop for PooledMemory {
    fn drop(&mut self) {
        let taken = self.taken.get_mut();
        self.pool
            .give_back(*taken.unwrap_or_else(PoisonError::into_inner));
    }
}
