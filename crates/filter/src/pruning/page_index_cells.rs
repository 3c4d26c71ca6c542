//! Page indexes decoded by reads, and a cache for them.

use std::collections::HashMap;
use std::fmt::Debug;
use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone_format::{ColumnIndex, OffsetIndex};

/// The page indexes of one column chunk.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PageIndexCell {
    /// The pages' bounds and null counts, or `None` if the chunk has no column index.
    pub columns: Option<Arc<ColumnIndex>>,
    /// The pages' locations and first rows, or `None` if the chunk has no offset index.
    pub offsets: Option<Arc<OffsetIndex>>,
    /// The first data page, or `None` if no read has looked at its header. Reads compare it with the offset index
    /// before skipping pages, because some writers count rows wrongly.
    pub first_page: Option<FirstPage>,
}

/// A column chunk's first data page, as described by its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FirstPage {
    /// The page's level count, one per value or null.
    pub levels: u64,
    /// The page's row count, if the header has it.
    pub rows: Option<u64>,
}

impl FirstPage {
    /// Creates a page from the counts in its header.
    #[must_use]
    pub fn new(levels: u64, rows: Option<u64>) -> Self {
        Self { levels, rows }
    }
}

impl PageIndexCell {
    /// Creates a column chunk's cell from its indexes.
    #[must_use]
    pub fn new(columns: Option<Arc<ColumnIndex>>, offsets: Option<Arc<OffsetIndex>>) -> Self {
        Self {
            columns,
            offsets,
            first_page: None,
        }
    }

    /// Sets the first data page.
    #[must_use]
    pub fn first_page(mut self, page: FirstPage) -> Self {
        self.first_page = Some(page);
        self
    }

    /// Returns the heap bytes used by the indexes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        // An `Arc` stores two counts before its value.
        let counts = 2 * size_of::<usize>();
        let columns = self.columns.as_ref();
        let columns = columns.map_or(0, |columns| {
            columns.heap_bytes() + size_of::<ColumnIndex>() + counts
        });
        let offsets = self.offsets.as_ref();
        offsets.map_or(columns, |offsets| {
            columns + offsets.heap_bytes() + size_of::<OffsetIndex>() + counts
        })
    }
}

/// A cache for one file's page indexes. Implement this to keep decoded indexes in a cache of your own. Note that the
/// cache must limit its memory itself.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use herringbone::filter::col;
/// use herringbone::pruning::PageIndexCache;
/// use herringbone::source::FileSource;
/// use herringbone::{PageIndexCell, ParquetFile, ReadOptions};
///
/// /// The page indexes of one file.
/// #[derive(Debug, Default)]
/// struct Cells(Mutex<HashMap<(usize, usize), PageIndexCell>>);
///
/// impl PageIndexCache for Cells {
///     fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
///         self.0.lock().unwrap().get(&(row_group, leaf)).cloned()
///     }
///     fn add(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
///         self.0.lock().unwrap().insert((row_group, leaf), cell);
///     }
/// }
///
/// let path = "testdata/example.parquet";
/// let cells = Arc::new(Cells::default());
/// let handle = ParquetFile::open(path)?.metadata_handle().with_page_index_cache(cells.clone());
/// let file = ParquetFile::with_metadata(FileSource::open(path)?, handle)?;
/// let mut reader = file.read(ReadOptions::new().filter(col("id").eq(20)))?;
/// assert_eq!(reader.next_batch()?.ok_or("no rows")?.num_rows(), 1);
/// // Later reads find the index of `id` in the second row group here.
/// assert!(cells.get(1, 0).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait PageIndexCache: Debug + Send + Sync {
    /// Returns the indexes of a column chunk, given its row group and leaf ordinals.
    fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell>;

    /// Adds a column chunk's indexes after a read has decoded them.
    fn add(&self, row_group: usize, leaf: usize, cell: PageIndexCell);
}

/// A file's decoded page indexes, by row group and leaf ordinal.
///
/// The file handle shares them with its read plans.
#[derive(Debug, Default)]
pub struct PageIndexCells {
    cells: Mutex<HashMap<(usize, usize), PageIndexCell>>,
    is_frozen: bool,
    /// The caller's cache for decoded indexes, if there is one.
    cache: Option<Arc<dyn PageIndexCache>>,
}

impl PageIndexCells {
    /// Creates empty cells that fall back to a cache for missing indexes.
    #[must_use]
    pub fn of_cache(cache: Arc<dyn PageIndexCache>) -> Self {
        Self {
            cache: Some(cache),
            ..Self::default()
        }
    }

    /// Returns a copy with the cells added so far.
    #[must_use]
    pub fn copied(&self) -> Self {
        Self {
            cells: Mutex::new(self.lock().clone()),
            is_frozen: self.is_frozen,
            cache: self.cache.clone(),
        }
    }

    /// Returns a read-only copy with the cells added so far.
    #[must_use]
    pub fn frozen(&self) -> Self {
        Self {
            is_frozen: true,
            ..self.copied()
        }
    }

    /// Returns a column chunk's indexes, if they are in the cells or in the cache.
    #[must_use]
    pub fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        let own = self.lock().get(&(row_group, leaf)).cloned();
        own.or_else(|| self.cache.as_ref()?.get(row_group, leaf))
    }

    /// Adds a column chunk's indexes, unless the cells are [frozen](Self::frozen).
    pub fn insert(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        if !self.is_frozen {
            self.lock().insert((row_group, leaf), cell);
        }
    }

    /// Adds the indexes used by a read to the cache, if there is one. If the column chunk already has a cell, that cell
    /// receives the first page, so that the next use needs no header.
    pub fn add_found(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        if !self.is_frozen
            && let Some(own) = self.lock().get_mut(&(row_group, leaf))
        {
            own.first_page = cell.first_page;
        }
        if let Some(cache) = &self.cache {
            cache.add(row_group, leaf, cell);
        }
    }

    /// Drops all cells.
    pub fn clear(&self) {
        *self.lock() = HashMap::new();
    }

    /// Returns the heap bytes used by the cells.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let cells = self.lock();
        let cell = size_of::<((usize, usize), PageIndexCell)>() + 1;
        // A hash table leaves one in eight buckets free.
        let places = match cells.capacity() {
            0 => 0,
            capacity => (capacity + capacity / 7).next_power_of_two(),
        };
        places * cell + cells.values().map(PageIndexCell::heap_bytes).sum::<usize>()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, usize), PageIndexCell>> {
        // We ignore poisoning, because a panic cannot leave the cells half changed.
        self.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
