//! Decodes one leaf of one column chunk, turning pages into column batches with an Arrow array each.
//!
//! A [`ColumnChunkDecoder`] is a state machine without I/O. [`ColumnChunkDecoder::poll`] decodes until the column batch
//! has the requested rows. If bytes are missing, it stops with [`Step::Need`] without losing any progress, so you can
//! supply the bytes and call it again. The decoder consists of three parts:
//!
//! ```text
//! RowWalk        the rows of the row group: the next ones, selected or not, and the ends of column batches
//! PageCursor     the pages of the chunk: map, headers, dictionary, and the levels of the open page
//! BatchBuilder   the column batch: array, validity, ancestors, limits, and the memory of the column
//! ```
//!
//! A page becomes part of a column batch in these steps:
//!
//! 1. `PageCursor::step` jumps by the page map, or decodes the next page header (`PageReader::header`).
//! 2. If no row of the page is selected, it returns the number of rows skipped, and the `RowWalk` advances past them.
//! 3. Otherwise it reads the body (`PageReader::body`: checksum, decryption, decompression). The `BatchBuilder`
//!    receives the values section or the dictionary, and the cursor keeps the levels.
//! 4. `fill_flat` or `fill_nested` gets the next run of rows from the walk, and asks the builder how many rows fit.
//! 5. The builder takes the selected rows' levels from the cursor, and appends validity, ancestors and values. Values
//!    of unselected rows are skipped. However, if runs are too short to decode one by one, `take_masked` decodes all
//!    rows and drops the unselected ones.
//! 6. `BatchBuilder::finish` returns the column batch, which owns its memory reservation.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_format::{Error, Result};
use herringbone_schema::ParquetSchema;

use crate::Step;
use crate::array::LeafType;
use crate::array::leaf_array;
use crate::budget::{Budget, ColumnMemory, MemoryUse, Reservation};
use crate::loss::Losses;
use crate::page::{
    BLOCK_LEVELS, PageMap, PageReader, PageReaderChunk, PageReaderOptions, PageStart, SharedPage,
};

// A column's parts, and the decoding functions for each kind of column.
mod batch_builder;
mod page_cursor;
mod row_walk;
mod flat;
mod masked;
mod nested;
pub mod nesting_builder;
pub mod selection;
pub mod sibling_levels;
// Other readers of pages.
mod dictionary_values;
mod row_counter;

use batch_builder::BatchBuilder;
pub use dictionary_values::DictionaryValues;
use nesting_builder::{Nesting, NestingPlan};
pub use page_cursor::rows_of_page;
use page_cursor::{PageCursor, PageStep};
pub use row_counter::RowCounter;
use row_walk::RowWalk;
use selection::{RowRanges, RowSelector, SelectionCursor};
use sibling_levels::{ListLevels, SharedListPlan};

/// The heap bytes needed by a column on top of its pages, dictionary and array.
const COLUMN_BYTES: usize = 512;

/// Everything about a leaf that doesn't depend on the row group, so that all of a file's chunks can share it.
#[derive(Debug)]
pub struct ColumnPlan {
    /// The ordinal of the leaf in the Parquet schema.
    pub leaf: usize,
    /// The Parquet schema, which contains the leaf path.
    pub schema: ParquetSchema,
    /// The leaf's types in the file and in Arrow.
    pub leaf_type: LeafType,
    /// The highest definition level.
    pub max_def_level: u8,
    /// The highest repetition level; 0 if the leaf is not in a list.
    pub max_rep_level: u8,
    /// The lowest definition level with a slot for the leaf, because the innermost list has an element there.
    pub slot_def: u8,
    /// True if the leaf itself can be null, not just its ancestors.
    pub nullable: bool,
    /// The ancestors recorded by this leaf, for itself and its siblings.
    pub nesting_plans: Vec<NestingPlan>,
    /// The lists shared with other leaves.
    pub shared_lists: Vec<SharedListPlan>,
    /// True if damaged pages become nulls.
    pub null_pages: bool,
    /// The maximum number of slots in a column batch, unless a single row has more.
    pub max_slots: usize,
    /// The size in bytes at which a column batch ends. A batch always has at least one row, even if that row is larger.
    pub column_batch_bytes: usize,
    /// The maximum number of bytes in one row. A longer row is an error.
    pub row_bytes: usize,
}

impl ColumnPlan {
    /// Returns the leaf path, for errors. We don't store it, because names can be long and are shared by many leaves.
    pub fn path(&self) -> String {
        self.schema.column_path(self.leaf)
    }

    /// Returns the parts of the leaf path.
    pub fn path_parts(&self) -> Vec<String> {
        let parts = self.schema.path(self.leaf).into_iter();
        parts.map(str::to_owned).collect()
    }
}

/// A column's view of the selected rows in its row group.
#[derive(Debug, Clone)]
pub struct ColumnRows {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// The number of rows in the row group, selected or not.
    pub num_rows: u64,
    /// The selected rows already known when planning.
    pub ranges: RowRanges,
    /// The selected rows after the ranges. More can become known during decoding.
    pub selectors: Selectors,
    /// The number of rows per batch.
    pub batch_rows: usize,
    /// The number of selected rows emitted before these rows.
    pub rows_before: u64,
}

impl ColumnRows {
    /// Returns the number of known selected rows.
    pub fn num_wanted(&self) -> u64 {
        let ranges = self.ranges.iter().map(|range| range.end - range.start);
        let selectors = self.selectors.pieces.iter().map(RowSelector::count);
        ranges.chain(selectors).sum()
    }

    /// Returns a walk over the row group's rows.
    pub fn selection(&self) -> SelectionCursor {
        let mut selection = SelectionCursor::new(self.ranges.clone());
        let selectors = self.selectors.pieces.iter();
        selectors.for_each(|piece| selection.extend(piece.clone()));
        if self.selectors.is_open {
            selection.open();
        }
        selection
    }
}

/// The selected rows after the planned ranges.
#[derive(Debug, Clone, Default)]
pub struct Selectors {
    /// The known selectors, in order.
    pub pieces: Vec<RowSelector>,
    /// True if more can follow.
    pub is_open: bool,
}

/// A split of a column chunk, covering the rows of whole batches. Splits let several threads decode one chunk.
#[derive(Debug, Clone)]
pub struct ColumnSplit {
    /// The split's rows, counted from the first row of the row group.
    pub rows: Range<u64>,
    /// The page that contains the split's first row.
    pub begin: PageOfRow,
    /// The page that contains the first row after the split, if there is one.
    pub end: Option<PageOfRow>,
    /// The split's pages shared with other splits, in order.
    pub shared: Vec<SharedPage>,
}

/// The data page containing a certain row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOfRow {
    /// The page.
    pub page: PageStart,
    /// The number of rows starting before the page, counted within the row group.
    pub rows_before: u64,
}

/// Rows of one leaf, together with the ancestors recorded by the leaf.
#[derive(Debug)]
pub struct ColumnBatch {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// The number of rows.
    pub rows: usize,
    /// The leaf's slots.
    pub leaf: ArrayRef,
    /// The recorded ancestors, outermost first.
    pub nestings: Vec<Nesting>,
    /// The levels of each list shared with other leaves.
    pub shared_lists: Vec<ListLevels>,
    /// The damaged pages with values replaced by nulls.
    pub losses: Losses,
    /// The memory reserved for the column batch.
    pub memory: Reservation,
}

/// A decoder for one leaf over one column chunk.
pub struct ColumnChunkDecoder {
    plan: Arc<ColumnPlan>,
    rows: RowWalk,
    pages: PageCursor,
    batch: BatchBuilder,
}

impl ColumnChunkDecoder {
    /// Creates the decoder for one of a row group's chunks.
    pub fn new(
        plan: Arc<ColumnPlan>,
        rows: &ColumnRows,
        (pages, chunk): (Arc<PageReaderOptions>, PageReaderChunk),
        budget: Arc<Budget>,
    ) -> Result<Box<Self>> {
        let (row_group, num_rows) = (rows.row_group, rows.num_rows);
        let locate = |error: Error| error.in_column(plan.path()).in_row_group(row_group);
        if plan.max_rep_level == 0 && chunk.num_values != num_rows {
            return Err(locate(Error::corrupt(format!(
                "the column chunk has {} values, but its row group has {num_rows} rows",
                chunk.num_values
            ))));
        }
        let mut memory = ColumnMemory::new(budget);
        // Each decoded level takes two bytes, one for repetition and one for definition.
        let block = usize::try_from(chunk.num_values).map_or(BLOCK_LEVELS, |n| n.min(BLOCK_LEVELS));
        let own = size_of::<Self>() + size_of::<PageReader>();
        let bytes = own + COLUMN_BYTES + 2 * block;
        memory
            .resize(MemoryUse::Column, bytes as u64)
            .map_err(locate)?;
        let array = leaf_array(&plan.leaf_type).map_err(locate)?;
        Ok(Box::new(Self {
            rows: RowWalk::new(rows),
            pages: PageCursor::new(plan.clone(), pages, chunk),
            batch: BatchBuilder::new(plan.clone(), row_group, (array, memory)),
            plan,
        }))
    }

    /// Selects more rows. They must lie after all rows selected so far.
    pub fn extend_selection(&mut self, piece: RowSelector) {
        self.rows.extend(piece);
    }

    /// Closes the selection: no more rows will be selected.
    pub fn close_selection(&mut self) {
        self.rows.close();
    }

    /// Uses this map to jump to pages with selected rows, unless the map is contradicted.
    pub fn use_map(&mut self, map: Arc<PageMap>) {
        self.pages.use_map(map);
    }

    /// Restricts the column to the rows of `split`.
    pub fn restrict(&mut self, split: ColumnSplit) {
        self.rows.restrict(&split.rows);
        self.pages.restrict(split);
    }

    /// Returns true if the column failed because the next split starts with a different row than expected. In that case
    /// the chunk has to be read as a whole.
    #[must_use]
    pub fn is_split_wrong(&self) -> bool {
        self.pages.is_split_wrong()
    }

    /// Supplies bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        let metrics = self.batch.memory().metrics();
        metrics.columns.add(bytes.len());
        self.pages.supply(offset, bytes);
    }

    /// Returns the column chunk's range in the file.
    pub fn chunk(&self) -> Range<u64> {
        self.pages.chunk()
    }

    /// Returns the next page's offset, and the selected rows that remain.
    pub fn progress(&self) -> (u64, &SelectionCursor) {
        (self.pages.next_offset(), self.rows.selection())
    }

    /// Returns the end of the column chunk in the file, or the end of the next needed pages if known.
    pub fn chunk_end(&self) -> u64 {
        self.pages.end()
    }

    /// Returns true if all selected rows were emitted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rows.is_done()
    }

    /// Returns the batch index of the next column batch, counted within the row group.
    #[must_use]
    pub fn next_batch(&self) -> u64 {
        self.rows.next_batch()
    }

    /// Returns the next column batch, or `None` if no selected row is left.
    ///
    /// Column batches end at multiples of the batch size, counted in selected rows of the row group. A column can end a
    /// column batch early because of its size in bytes, but all of a row group's columns are aligned again at the next
    /// multiple.
    pub fn poll(&mut self) -> Result<Step<Option<ColumnBatch>>> {
        self.decode().map_err(|error| {
            let error = self.pages.locate(error);
            self.batch.locate(error)
        })
    }

    fn decode(&mut self) -> Result<Step<Option<ColumnBatch>>> {
        self.pages.drop_dictionary(&mut self.batch)?;
        let max_rows = self.rows.batch_rows();
        let step = match self.plan.max_rep_level {
            0 => self.fill_flat(max_rows)?,
            _ => self.fill_nested(max_rows)?,
        };
        if let Step::Need(range) = step {
            return Ok(Step::Need(range));
        }
        self.pages.check_used_page(&self.batch)?;
        if self.batch.rows() == 0 {
            return Ok(Step::Ready(None));
        }
        let page_bytes = self.pages.used_up_bytes();
        let column_batch = self.batch.finish(self.is_done(), page_bytes)?;
        self.rows.emit(column_batch.rows);
        Ok(Step::Ready(Some(column_batch)))
    }

    /// Opens a data page with undecoded levels, skipping pages without selected rows. Returns false after the last
    /// page.
    fn open_page(&mut self) -> Result<Step<bool>> {
        loop {
            match self.pages.step(&self.rows, &mut self.batch)? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(PageStep::Levels) => return Ok(Step::Ready(true)),
                Step::Ready(PageStep::Skipped(rows)) => self.rows.advance(rows),
                Step::Ready(PageStep::End) => return Ok(Step::Ready(false)),
            }
        }
    }
}

/// Returns the results of `make`. This is cheap if there are no items, as is typical for most columns.
#[inline]
pub fn each<T, U>(these: impl ExactSizeIterator<Item = T>, make: impl FnMut(T) -> U) -> Vec<U> {
    match these.len() {
        0 => Vec::new(),
        _ => these.map(make).collect(),
    }
}
