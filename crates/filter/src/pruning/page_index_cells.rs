//! Page indexes that were decoded, to be used again.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_format::{ColumnIndex, OffsetIndex};

/// The page indexes of one column chunk.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PageIndexCell {
    /// The bounds and nulls of its pages; `None` if the chunk has no column index.
    pub columns: Option<Arc<ColumnIndex>>,
    /// The places and first rows of its pages; `None` if the chunk has no offset index.
    pub offsets: Option<Arc<OffsetIndex>>,
}

impl PageIndexCell {
    /// Returns the cell of a column chunk that has these indexes.
    #[must_use]
    pub fn new(columns: Option<Arc<ColumnIndex>>, offsets: Option<Arc<OffsetIndex>>) -> Self {
        Self { columns, offsets }
    }

    /// Returns the number of bytes of the heap that the indexes take.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        // An `Arc` has two counts in front of its value.
        let counts = 2 * size_of::<usize>();
        let columns = self.columns.as_ref();
        let columns = columns.map_or(0, |it| it.heap_bytes() + size_of::<ColumnIndex>() + counts);
        let offsets = self.offsets.as_ref();
        offsets.map_or(columns, |it| {
            columns + it.heap_bytes() + size_of::<OffsetIndex>() + counts
        })
    }
}

/// The page indexes of a file that were decoded, by the ordinals of row group and leaf.
///
/// A handle of a file and the plans of its reads share them.
#[derive(Debug, Default)]
pub struct PageIndexCells {
    cells: Mutex<HashMap<(usize, usize), PageIndexCell>>,
    is_frozen: bool,
}

impl PageIndexCells {
    /// Returns a copy with the cells so far.
    #[must_use]
    pub fn copied(&self) -> Self {
        Self {
            cells: Mutex::new(self.lock().clone()),
            is_frozen: self.is_frozen,
        }
    }

    /// Returns a copy with the cells so far, which takes no more of them.
    #[must_use]
    pub fn frozen(&self) -> Self {
        Self {
            is_frozen: true,
            ..self.copied()
        }
    }

    /// Returns the indexes of a column chunk, if they are here.
    #[must_use]
    pub fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        self.lock().get(&(row_group, leaf)).cloned()
    }

    /// Keeps the indexes of a column chunk, unless the cells are [frozen](Self::frozen).
    pub fn insert(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        if !self.is_frozen {
            self.lock().insert((row_group, leaf), cell);
        }
    }

    /// Drops all cells.
    pub fn clear(&self) {
        *self.lock() = HashMap::new();
    }

    /// Returns the number of bytes of the heap that the cells take.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let cells = self.lock();
        let cell = size_of::<((usize, usize), PageIndexCell)>() + 1;
        // One of eight places of a hash table stays free.
        let places = match cells.capacity() {
            0 => 0,
            capacity => (capacity + capacity / 7).next_power_of_two(),
        };
        places * cell + cells.values().map(PageIndexCell::heap_bytes).sum::<usize>()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, usize), PageIndexCell>> {
        // No panic leaves the cells half changed.
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
