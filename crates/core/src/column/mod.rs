//! One leaf over one column chunk: pages in, column batches of an Arrow array out.
//!
//! A [`ColumnChunkDecoder`] is a state machine without I/O. [`ColumnChunkDecoder::poll`] decodes until the column batch has the
//! rows asked for. It stops with [`Step::Need`] if bytes are missing, and nothing is lost then. Its three parts:
//!
//! ```text
//! RowWalk        the rows of the row group: which come next, selected or not, and where column batches end
//! PageCursor     the pages of the chunk: map, headers, dictionary, and the levels of the open page
//! BatchBuilder   the column batch: array, validity, ancestors, what fits, and the memory of the column
//! ```
//!
//! A page becomes part of a column batch in these steps:
//!
//! 1. `PageCursor::step` jumps by the page map, or decodes the header of the next page (`PageReader::header`).
//! 2. If no row of the page is selected, it returns the rows skipped, and the `RowWalk` advances past them.
//! 3. Otherwise it reads the body (`PageReader::body`: checksum, decryption, decompression). The `BatchBuilder` gets the values
//!    section or the dictionary, the cursor keeps the levels.
//! 4. `fill_flat` or `fill_nested` asks the walk for the next run of rows, and the builder how many of them fit.
//! 5. The builder takes the levels of selected rows from the cursor, and appends validity, ancestors and values. Values of
//!    unselected rows are skipped. If runs are short, `take_masked` decodes all rows and drops the unselected ones.
//! 6. `BatchBuilder::finish` makes the column batch, which carries its memory along.

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

// The parts of a column, and how each kind of column is decoded by them.
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

/// Bytes of the heap that a column takes besides its pages, dictionary and array.
const COLUMN_BYTES: usize = 512;

/// The facts about a leaf that are the same in every row group.
#[derive(Debug)]
pub struct ColumnPlan {
    /// Ordinal of the leaf in the Parquet schema.
    pub leaf: usize,
    /// The Parquet schema, which has the path of the leaf.
    pub schema: ParquetSchema,
    /// The types of the leaf in the file and in Arrow.
    pub leaf_type: LeafType,
    /// The highest definition level.
    pub max_def_level: u8,
    /// The highest repetition level; 0 if the leaf is not in a list.
    pub max_rep_level: u8,
    /// From this definition level on, the leaf has a slot: the innermost list has an element.
    pub slot_def: u8,
    /// The leaf itself may be null, not only its ancestors.
    pub nullable: bool,
    /// The ancestors that this leaf records.
    pub nesting_plans: Vec<NestingPlan>,
    /// The lists above the leaf that have other leaves too.
    pub shared_lists: Vec<SharedListPlan>,
    /// Damaged pages become nulls.
    pub null_pages: bool,
    /// A column batch has no more slots than this, unless one row has more.
    pub max_slots: usize,
    /// A column batch ends when it holds this many bytes, with at least one row.
    pub column_batch_bytes: usize,
    /// More bytes than this for one row are an error.
    pub row_bytes: usize,
}

impl ColumnPlan {
    /// Returns the path of the leaf, for errors. It is not kept: names may be long, and shared by many leaves.
    pub fn path(&self) -> String {
        self.schema.column_path(self.leaf)
    }

    /// Returns the parts of the path of the leaf.
    pub fn path_parts(&self) -> Vec<String> {
        let parts = self.schema.path(self.leaf).into_iter();
        parts.map(str::to_owned).collect()
    }
}

/// The selected rows of a row group.
#[derive(Debug, Clone)]
pub struct ColumnRows {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// Rows of the row group, selected or not.
    pub num_rows: u64,
    /// The selected rows that the plan knows.
    pub ranges: RowRanges,
    /// Selected rows after the ranges, which may become known while columns are decoded.
    pub found: Selectors,
    /// Rows of a batch.
    pub batch_rows: usize,
    /// The number of selected rows that were emitted before the first of these.
    pub rows_before: u64,
}

impl ColumnRows {
    /// Returns the number of selected rows that are known.
    pub fn num_wanted(&self) -> u64 {
        let ranges = self.ranges.iter().map(|range| range.end - range.start);
        let found = self.found.pieces.iter().map(RowSelector::count);
        ranges.chain(found).sum()
    }

    /// Returns a walk over the rows of the row group.
    pub fn selection(&self) -> SelectionCursor {
        let mut selection = SelectionCursor::new(self.ranges.clone());
        let found = self.found.pieces.iter();
        found.for_each(|piece| selection.extend(piece.clone()));
        if self.found.is_open {
            selection.open();
        }
        selection
    }
}

/// Selected rows after the ranges that were planned.
#[derive(Debug, Clone, Default)]
pub struct Selectors {
    /// The selected rows that are known, in order.
    pub pieces: Vec<RowSelector>,
    /// Others may follow.
    pub is_open: bool,
}

/// A part of a column chunk: the rows of whole batches.
#[derive(Debug, Clone)]
pub struct ColumnSplit {
    /// Rows of the part, counted from the first one of the row group.
    pub rows: Range<u64>,
    /// The page that has the first row of the part.
    pub begin: PageOfRow,
    /// The page that has the first row after the part, if there is one.
    pub end: Option<PageOfRow>,
    /// The pages of the part, in order, that other parts decode too.
    pub shared: Vec<SharedPage>,
}

/// A data page that has a certain row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOfRow {
    /// The page.
    pub page: PageStart,
    /// Rows of the row group that start before it.
    pub rows_before: u64,
}

/// Rows of one leaf, with what it records of its ancestors.
#[derive(Debug)]
pub struct ColumnBatch {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// The number of rows.
    pub rows: usize,
    /// The slots of the leaf.
    pub leaf: ArrayRef,
    /// The ancestors that the leaf records, from the top down.
    pub nestings: Vec<Nesting>,
    /// Levels of each list that the leaf shares with others.
    pub shared_lists: Vec<ListLevels>,
    /// Damaged pages whose values are null.
    pub losses: Losses,
    /// The memory that the column batch holds.
    pub memory: Reservation,
}

/// The decoder of one leaf over one column chunk.
pub struct ColumnChunkDecoder {
    plan: Arc<ColumnPlan>,
    rows: RowWalk,
    pages: PageCursor,
    batch: BatchBuilder,
}

impl ColumnChunkDecoder {
    /// Creates the decoder of one chunk of a row group.
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
                "column chunk has {} values, its row group {num_rows} rows",
                chunk.num_values
            ))));
        }
        let mut memory = ColumnMemory::new(budget);
        // Two bytes a level of a block that is decoded before it is used.
        let block = usize::try_from(chunk.num_values).map_or(BLOCK_LEVELS, |n| n.min(BLOCK_LEVELS));
        let own = size_of::<Self>() + size_of::<PageReader>();
        let bytes = own + COLUMN_BYTES + 2 * block;
        memory
            .hold(MemoryUse::Column, bytes as u64)
            .map_err(locate)?;
        let array = leaf_array(&plan.leaf_type).map_err(locate)?;
        Ok(Box::new(Self {
            rows: RowWalk::new(rows),
            pages: PageCursor::new(plan.clone(), pages, chunk),
            batch: BatchBuilder::new(plan.clone(), row_group, (array, memory)),
            plan,
        }))
    }

    /// Selects more rows, which come after all others.
    pub fn extend_selection(&mut self, piece: RowSelector) {
        self.rows.extend(piece);
    }

    /// Notes that no more rows will be selected.
    pub fn close_selection(&mut self) {
        self.rows.close();
    }

    /// Goes by this map to pages with selected rows, unless something contradicts it.
    pub fn use_map(&mut self, map: Arc<PageMap>) {
        self.pages.use_map(map);
    }

    /// Keeps the rows of this part only.
    pub fn restrict(&mut self, part: ColumnSplit) {
        self.rows.restrict(&part.rows);
        self.pages.restrict(part);
    }

    /// Returns true if the column failed because the part after it begins with another row than expected: the chunk must be
    /// read as a whole.
    #[must_use]
    pub fn is_split_wrong(&self) -> bool {
        self.pages.is_split_wrong()
    }

    /// Hands in bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        let metrics = self.batch.memory().metrics();
        metrics.columns.add(bytes.len());
        self.pages.supply(offset, bytes);
    }

    /// Returns the range of the column chunk in the file.
    pub fn chunk(&self) -> Range<u64> {
        self.pages.chunk()
    }

    /// Returns the offset of the next page, and the rows that are still selected.
    pub fn progress(&self) -> (u64, &SelectionCursor) {
        (self.pages.next_offset(), self.rows.selection())
    }

    /// Returns the end of the column chunk in the file, or of the pages that come next if that is known.
    pub fn chunk_end(&self) -> u64 {
        self.pages.end()
    }

    /// Returns true if all selected rows were emitted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rows.is_done()
    }

    /// Returns the batch of the row group that the next column batch belongs to.
    #[must_use]
    pub fn next_batch(&self) -> u64 {
        self.rows.next_batch()
    }

    /// Returns the next column batch; `None` if no selected row is left.
    ///
    /// Column batches end where the selected rows of the row group are a multiple of the rows of a batch. A column may end a
    /// column batch early because of its bytes: all columns of a row group are in step again at the next multiple.
    pub fn poll(&mut self) -> Result<Step<Option<ColumnBatch>>> {
        self.decode().map_err(|error| {
            let error = self.pages.locate(error);
            self.batch.locate(error)
        })
    }

    fn decode(&mut self) -> Result<Step<Option<ColumnBatch>>> {
        self.pages.leave_dictionary(&mut self.batch)?;
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

    /// Makes sure that a data page with levels left is open, past pages without selected rows. Returns false after the last
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

/// Returns the results of `make`. Most columns have no items, which this makes cheap.
#[inline]
pub fn each<T, U>(these: impl ExactSizeIterator<Item = T>, make: impl FnMut(T) -> U) -> Vec<U> {
    match these.len() {
        0 => Vec::new(),
        _ => these.map(make).collect(),
    }
}
