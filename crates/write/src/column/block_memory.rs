//! Block memory, shared by all columns on a thread.

use herringbone_core::array::Scratch;
use herringbone_core::array::dictionary::Keyed;

use crate::levels::LeafLevels;

/// The memory reused for each block of any column. There is one per thread, so that it stays in the cache. No column
/// counts it as its own.
pub struct BlockMemory {
    pub(super) levels: LeafLevels,
    pub(super) scratch: Scratch,
    pub(super) keyed: Keyed,
}

/// The most bytes of [`BlockMemory`] kept between blocks. Most blocks need less, and anything larger is freed.
const MAX_RETAINED_BYTES: usize = 2 << 20;

impl Default for BlockMemory {
    fn default() -> Self {
        Self {
            levels: LeafLevels::new(),
            scratch: Scratch::default(),
            keyed: Keyed::default(),
        }
    }
}

impl BlockMemory {
    /// Drops the arrays. Also frees the memory if it exceeds what most blocks need.
    pub(super) fn release(&mut self) {
        self.levels.release();
        let reserved =
            self.levels.heap_bytes() + self.scratch.heap_bytes() + self.keyed.heap_bytes();
        if reserved > MAX_RETAINED_BYTES {
            *self = Self::default();
        }
    }
}
