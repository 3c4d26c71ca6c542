//! Memory shared by reads.
//!
//! A `Budget` limits a single read, whereas a `MemoryPool` limits any number of reads together, for example through a
//! query engine's memory manager.

use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use herringbone_format::{Error, Result};

/// A source of memory shared by reads. Implement this to let reads take their memory from your query engine, for
/// example.
///
/// A read takes bytes before it allocates them, in blocks of 64 KiB. Dropping the read gives all bytes back.
///
/// A pool must not block. If it refuses, the read drops the work ahead of its output and tries again. From then on, the
/// read requests nothing ahead until the pool grants a whole block once more. If the pool refuses even the bytes for a
/// single page, the read fails with an error of kind [Limit](herringbone_format::ErrorKind::Limit).
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
    /// Takes `bytes` bytes, or returns false if the pool does not have them.
    fn take(&self, bytes: u64) -> bool;

    /// Gives back bytes taken earlier.
    fn give_back(&self, bytes: u64);

    /// Returns the number of bytes that one read may hold before it needs them. There is no such limit by default,
    /// apart from the limits in the read's options.
    fn most_ahead(&self) -> u64 {
        u64::MAX
    }

    /// Decides whether an async read tries again after the pool refused the bytes for a single page. While the answer
    /// is pending, the read is waiting and holds almost no memory. If the answer is false (the default), the read
    /// fails.
    ///
    /// A pool must answer eventually. Expect a read to ask a few times per row group.
    fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        let _ = context;
        Poll::Ready(false)
    }
}

/// A [`MemoryPool`] with a fixed number of bytes.
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
    /// Creates a pool with `bytes` bytes.
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

/// The number of bytes to take from a pool at once. Note that other reads cannot use the unneeded rest of a read's
/// block.
const BLOCK: u64 = 64 << 10;

/// The bytes taken from a pool by one read. Dropping this gives them back.
#[derive(Debug)]
pub(crate) struct PooledMemory {
    pool: Arc<dyn MemoryPool>,
    taken: Mutex<u64>,
    /// True if the pool refused a block and has not granted one since.
    is_short: AtomicBool,
}

impl PooledMemory {
    pub(crate) fn new(pool: Arc<dyn MemoryPool>) -> Self {
        Self {
            pool,
            taken: Mutex::new(0),
            is_short: AtomicBool::new(false),
        }
    }

    /// Returns true if the pool refused a block and has not granted one since.
    pub(crate) fn is_short(&self) -> bool {
        // Relaxed order is enough, because no other memory access depends on this flag.
        self.is_short.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes the read may hold before it needs them.
    pub(crate) fn most_ahead(&self) -> u64 {
        match self.is_short() {
            true => 0,
            false => self.pool.most_ahead(),
        }
    }

    /// Asks the pool whether a read should try again after it was refused memory.
    pub(crate) fn poll_room(&self, context: &mut Context<'_>) -> Poll<bool> {
        self.pool.poll_room(context)
    }

    /// Takes enough bytes from the pool to cover `used`. We ask for whole blocks first. If the pool refuses, we ask for
    /// just the missing bytes.
    ///
    /// # Errors
    /// Fails with Limit if the pool refuses the missing bytes too.
    pub(crate) fn grow(&self, used: &AtomicU64) -> Result<()> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let missing = used.load(Ordering::Relaxed).saturating_sub(*taken);
        if missing == 0 {
            return Ok(());
        }
        let blocks = missing.checked_next_multiple_of(BLOCK);
        for (bytes, is_short) in [(blocks.unwrap_or(missing), false), (missing, true)] {
            self.is_short.store(is_short, Ordering::Relaxed);
            if self.pool.take(bytes) {
                *taken += bytes;
                return Ok(());
            }
        }
        Err(Error::pool_refused(missing, *taken))
    }

    /// Gives back the unused bytes, keeping one block for the next reservation unless the pool is short.
    pub(crate) fn shrink(&self, used: &AtomicU64) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let spare = taken.saturating_sub(used.load(Ordering::Relaxed));
        let kept = if self.is_short() { 0 } else { BLOCK };
        if spare >= 2 * kept {
            let bytes = spare - kept;
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets the number of used bytes, returning true if the pool granted them.
    fn grow(memory: &PooledMemory, used: &AtomicU64, to: u64) -> bool {
        used.store(to, Ordering::Relaxed);
        memory.grow(used).is_ok()
    }

    #[test]
    fn a_read_that_was_refused_a_block_keeps_no_spare_bytes() {
        let pool = SharedMemory::new(4 * BLOCK);
        let memory = PooledMemory::new(pool.clone());
        let used = AtomicU64::new(0);
        assert!(grow(&memory, &used, 1));
        assert_eq!((pool.used(), memory.is_short()), (BLOCK, false));
        assert_eq!(memory.most_ahead(), u64::MAX);
        assert!(pool.take(2 * BLOCK + 10));
        // The pool has less than a block left.
        assert!(grow(&memory, &used, BLOCK + 5));
        assert_eq!((pool.used(), memory.is_short()), (3 * BLOCK + 15, true));
        assert_eq!(memory.most_ahead(), 0);
        assert!(!grow(&memory, &used, 3 * BLOCK));
        used.store(2, Ordering::Relaxed);
        memory.shrink(&used);
        assert_eq!(pool.used(), 2 * BLOCK + 12);
        pool.give_back(2 * BLOCK + 10);
        assert!(grow(&memory, &used, BLOCK));
        assert!(!memory.is_short());
        used.store(0, Ordering::Relaxed);
        memory.shrink(&used);
        // The pool still counts one spare block and the two bytes taken before.
        assert_eq!(pool.used(), BLOCK + 2);
        drop(memory);
        assert_eq!(pool.used(), 0);
    }
}
