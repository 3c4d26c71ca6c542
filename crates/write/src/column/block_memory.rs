//! The memory for blocks, which all columns of a thread share.

use herringbone_core::array::Scratch;
use herringbone_core::array::dictionary::Keyed;

use crate::levels::LeafLevels;

/// The memory reused for each block of any column. There is one per thread, so that it stays in the cache, and no
/// column counts it as its own memory.
pub struct BlockMemory {
    pub(super) levels: LeafLevels,
    pub(super) scratch: Scratch,
    pub(super) keyed: Keyed,
}

/// The maximum number of bytes of [`BlockMemory`] retained between blocks. Most blocks need less, and we free anything
/// larger.
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
    /// Drops the arrays, and frees the memory if it is more than most blocks need.
    pub(super) fn release(&mut self) {
        self.levels.release();
        let reserved =
            self.levels.heap_bytes() + self.scratch.heap_bytes() + self.keyed.heap_bytes();
        if reserved > MAX_RETAINED_BYTES {
            *self = Self::default();
        }
    }
}
