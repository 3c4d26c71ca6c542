//! One leaf over one column chunk: pages in, column batches of an Arrow array out.
//!
//! A column is a state machine without I/O. [`ColumnChunkDecoder::poll`] decodes until the column batch at hand has the
//! rows asked for, and stops with [`Step::Need`] where bytes are missing; nothing is lost then.
//!
//! - `flat`: no repetition levels, so a level is a row;
//! - `masked`: rows that are wanted by a mask;
//! - `nested`: rows are found by their repetition levels;
//! - `open_page`: the way to the next page that has rows that are wanted.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_format::{Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::ParquetSchema;

use crate::Step;
use crate::array::{LeafArray, LeafType, leaf_array};
use crate::budget::{Budget, ColumnMemory, MemoryUse, Reservation};
use crate::levels::Levels;
use crate::loss::Losses;
use crate::page::{
    BLOCK_LEVELS, PageMap, PagePlace, PageReader, PageReaderChunk, PageReaderOptions, PageStart,
    SharedPage,
};

mod dictionary;
mod flat;
pub(crate) mod sibling_levels;
mod nested;
mod map_use;
mod masked;
mod open_page;
pub(crate) mod nesting_builder;
mod fit;
mod dictionary_values;
mod row_counter;
pub(crate) mod selection;

use dictionary::DictionaryUse;
pub(crate) use dictionary_values::DictionaryValues;
use map_use::MapUse;
use nesting_builder::{Nesting, NestingBuilder, NestingPlan};
pub(crate) use open_page::rows_of_page;
pub use row_counter::RowCounter;
use selection::{RowRanges, Selection, SelectionRun, WantedPiece};
use sibling_levels::{ListLevels, ListLevelsBuilder, SharedListPlan};

/// Bytes of the heap that a column takes besides its pages, dictionary and array.
const COLUMN_BYTES: usize = 512;

/// What is the same for a leaf in every row group.
#[derive(Debug)]
pub(crate) struct ColumnPlan {
    /// Ordinal of the leaf in the Parquet schema.
    pub(crate) leaf: usize,
    /// The Parquet schema, which knows the leaf's path.
    pub(crate) schema: ParquetSchema,
    pub(crate) leaf_type: LeafType,
    pub(crate) max_def_level: u8,
    pub(crate) max_rep_level: u8,
    /// From this definition level on, the leaf has a slot: the innermost list has an element.
    pub(crate) slot_def: u8,
    /// Whether the leaf itself may be null, not only its ancestors.
    pub(crate) nullable: bool,
    /// The ancestors that this leaf records.
    pub(crate) nesting_plans: Vec<NestingPlan>,
    /// The lists above that other leaves are below as well.
    pub(crate) shared_lists: Vec<SharedListPlan>,
    /// Whether damaged pages become nulls.
    pub(crate) null_pages: bool,
    /// A column batch has no more slots than this where rows allow it.
    pub(crate) max_slots: usize,
    /// A column batch ends when it holds this many bytes, with at least one row.
    pub(crate) column_batch_bytes: usize,
    /// More bytes than this for one row are an error.
    pub(crate) row_bytes: usize,
}

impl ColumnPlan {
    /// Path of the leaf, for errors. It is not kept: names may be long, and shared by many leaves.
    pub(crate) fn path(&self) -> String {
        self.schema.column_path(self.leaf)
    }

    /// The parts of that path.
    pub(crate) fn path_parts(&self) -> Vec<String> {
        let parts = self.schema.path(self.leaf).into_iter();
        parts.map(str::to_owned).collect()
    }
}

/// Which rows of a row group are wanted, and in what portions.
#[derive(Debug, Clone)]
pub(crate) struct WantedRows {
    pub(crate) row_group: usize,
    /// Rows of the row group, wanted or not.
    pub(crate) num_rows: u64,
    pub(crate) ranges: RowRanges,
    /// Rows behind those, which may become known on the way.
    pub(crate) found: Found,
    /// Rows of a batch.
    pub(crate) batch_rows: usize,
}

impl WantedRows {
    /// How many they are, as far as is known.
    pub(crate) fn num_wanted(&self) -> u64 {
        let ranges = self.ranges.iter().map(|range| range.end - range.start);
        let found = self.found.pieces.iter().map(WantedPiece::count);
        ranges.chain(found).sum()
    }

    /// A walk over them.
    pub(crate) fn selection(&self) -> Selection {
        let mut selection = Selection::new(self.ranges.clone());
        let found = self.found.pieces.iter();
        found.for_each(|piece| selection.extend(piece.clone()));
        if self.found.is_open {
            selection.open();
        }
        selection
    }
}

/// Rows that are wanted behind the ranges that were planned.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) pieces: Vec<WantedPiece>,
    /// Whether others may follow.
    pub(crate) is_open: bool,
}

/// A part of a column chunk: the rows of whole batches.
#[derive(Debug, Clone)]
pub struct ColumnSplit {
    /// Its rows, counted from the first one of the row group.
    pub rows: Range<u64>,
    /// The page that has the first of them.
    pub begin: PageOfRow,
    /// The page that has the first row behind them, if there is one.
    pub end: Option<PageOfRow>,
    /// Those of its pages, in order, that others come for too.
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
    pub(crate) row_group: usize,
    pub(crate) rows: usize,
    pub(crate) leaf: ArrayRef,
    pub(crate) nestings: Vec<Nesting>,
    /// Of each list that it shares.
    pub(crate) shared_lists: Vec<ListLevels>,
    /// Damaged pages on the way to it.
    pub(crate) losses: Losses,
    pub(crate) memory: Reservation,
}

/// One leaf over one column chunk.
pub struct ColumnChunkDecoder {
    plan: Arc<ColumnPlan>,
    row_group: usize,
    num_rows: u64,
    /// In memory of its own: allocators are slower at more than a kilobyte at a time.
    pages: Box<PageReader>,
    page: Option<OpenPage>,
    array: Box<dyn LeafArray>,
    selection: Selection,
    /// What an index says of its pages, where it is asked.
    map: Option<MapUse>,
    /// Whether pages are passed over by the rows that their headers state: not where an index contradicts one of them, as
    /// only its body shows then which of them is right.
    believes_headers: bool,
    /// Where it is a part of the chunk, which few columns are.
    cut: Option<Box<SplitEnds>>,
    /// Rows between the places where column batches end.
    batch_rows: usize,
    /// Rows of earlier column batches.
    rows_before: usize,
    /// Rows of the column batch at hand.
    rows: usize,
    /// Validity of the leaf's slots in the column batch at hand.
    validity: Bitmap,
    nesting_builders: Vec<NestingBuilder>,
    shared_lists: Vec<ListLevelsBuilder>,
    block: LevelBlock,
    dictionary: DictionaryUse,
    dictionary_is_lost: bool,
    /// Damaged pages that the column batch at hand does without.
    losses: Losses,
    memory: ColumnMemory,
    /// Bytes of earlier pages that the array keeps in place.
    kept_bytes: usize,
    /// Bytes of the last column batch: as many are prepared for the next one.
    last_bytes: usize,
}

/// What a part of a column chunk knows of its ends.
struct SplitEnds {
    /// The page to begin with, until it did.
    begin: Option<PageOfRow>,
    /// A page still to come, before which other rows may start than was thought.
    end: Option<PageOfRow>,
    /// Pages that others come for too.
    shared: Vec<SharedPage>,
    is_wrong: bool,
}

/// A data page with levels left.
struct OpenPage {
    place: PagePlace,
    repetition: Levels,
    definition: Levels,
    levels_left: usize,
    /// Bytes of levels and values.
    body_bytes: usize,
    /// The page is damaged, and its values are null.
    is_lost: bool,
}

/// Levels that are decoded but not used up.
#[derive(Default)]
struct LevelBlock {
    rep: Vec<u8>,
    def: Vec<u8>,
    /// The first level not yet used up.
    next: usize,
    /// Whether the row that the last used level belongs to is wanted.
    row_is_wanted: bool,
}

impl ColumnChunkDecoder {
    /// The column over one chunk of a row group.
    pub(crate) fn new(
        plan: Arc<ColumnPlan>,
        rows: &WantedRows,
        (pages, chunk): (Arc<PageReaderOptions>, PageReaderChunk),
        budget: Arc<Budget>,
    ) -> Result<Box<Self>> {
        let WantedRows {
            row_group,
            num_rows,
            batch_rows,
            ..
        } = *rows;
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
            row_group,
            num_rows,
            pages: Box::new(PageReader::new(pages, chunk)),
            page: None,
            array,
            selection: rows.selection(),
            map: None,
            believes_headers: true,
            cut: None,
            batch_rows: batch_rows.max(1),
            rows_before: 0,
            rows: 0,
            validity: Bitmap::new(),
            nesting_builders: each(plan.nesting_plans.iter().cloned(), NestingBuilder::new),
            shared_lists: each(plan.shared_lists.iter().copied(), ListLevelsBuilder::new),
            block: LevelBlock::default(),
            dictionary: DictionaryUse::default(),
            dictionary_is_lost: false,
            losses: Losses::default(),
            memory,
            kept_bytes: 0,
            last_bytes: 0,
            plan,
        }))
    }

    /// Wants these rows too, which lie behind all others.
    pub(crate) fn extend_selection(&mut self, piece: WantedPiece) {
        self.selection.extend(piece);
    }

    /// No other rows are wanted.
    pub(crate) fn close_selection(&mut self) {
        self.selection.close();
    }

    /// Goes by this map to pages that are wanted, unless it is contradicted.
    pub(crate) fn use_map(&mut self, map: Arc<PageMap>) {
        self.believes_headers = !map.is_contradicted();
        self.map = self.believes_headers.then(|| MapUse::new(map));
    }

    /// Starts after the first `emitted` selected rows, which count as unselected. Column batches end where they do
    /// if the column starts at its first row.
    pub(crate) fn start_after(&mut self, emitted: u64) {
        self.selection.pass_emitted(emitted);
        self.rows_before = usize::try_from(emitted).unwrap_or(usize::MAX);
    }

    /// Wants the rows of this part alone.
    pub(crate) fn restrict(&mut self, part: ColumnSplit) {
        self.selection = self.selection.within(&part.rows);
        self.cut = Some(Box::new(SplitEnds {
            begin: Some(part.begin),
            // The headers that were counted are all there is to know of rows without lists.
            end: part.end.filter(|_| self.plan.max_rep_level > 0),
            shared: part.shared,
            is_wrong: false,
        }));
    }

    /// Whether it failed because the part behind it begins with another row than was thought, so that
    /// the chunk must be read as a whole.
    #[must_use]
    pub fn is_split_wrong(&self) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.is_wrong)
    }

    /// Hands in bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.memory.metrics().columns.add(bytes.len());
        self.pages.supply(offset, bytes);
    }

    /// Where the column chunk ends in the file.
    pub fn chunk_end(&self) -> u64 {
        self.pages.end()
    }

    /// Whether all wanted rows were given out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.selection.run() == SelectionRun::Done
    }

    /// Which batch of the row group the next column batch belongs to.
    #[must_use]
    pub fn next_batch(&self) -> u64 {
        (self.rows_before / self.batch_rows) as u64
    }

    /// The next column batch; `None` when no wanted row is left.
    ///
    /// Column batches end where the wanted rows of the row group are a multiple of `batch_rows`, so that
    /// all columns of a row group fall into step again after one of them, for the sake of its
    /// bytes, had to end a column batch early.
    pub fn poll(&mut self) -> Result<Step<Option<ColumnBatch>>> {
        let max_rows = self.batch_rows - self.rows_before % self.batch_rows;
        let step = self.leave_dictionary().and_then(|()| {
            if self.plan.max_rep_level == 0 {
                self.fill_flat(max_rows)
            } else {
                self.fill_nested(max_rows)
            }
        });
        step.and_then(|step| match step {
            Step::Need(range) => Ok(Step::Need(range)),
            Step::Ready(()) => {
                self.check_used_page()?;
                match self.rows {
                    0 => Ok(Step::Ready(None)),
                    _ => self.finish().map(Some).map(Step::Ready),
                }
            }
        })
        .map_err(|error| {
            let error = match &self.page {
                Some(page) => page.place.of(error),
                None => error,
            };
            error
                .in_column(self.plan.path())
                .in_row_group(self.row_group)
        })
    }

    fn finish(&mut self) -> Result<ColumnBatch> {
        let memory = self.column_batch_memory()?;
        let nulls = self.validity.finish();
        let leaf = self
            .array
            .finish(if self.plan.nullable { nulls } else { None })?;
        let nestings = each(self.nesting_builders.iter_mut(), NestingBuilder::finish);
        let shared_lists = each(self.shared_lists.iter_mut(), ListLevelsBuilder::finish);
        let rows = std::mem::take(&mut self.rows);
        self.rows_before += rows;
        Ok(ColumnBatch {
            row_group: self.row_group,
            rows,
            leaf,
            nestings,
            shared_lists,
            losses: std::mem::take(&mut self.losses),
            memory,
        })
    }

    /// Lets go of a dictionary that is of no use any more, between two column batches.
    fn leave_dictionary(&mut self) -> Result<()> {
        if !self.dictionary.is_idle() || self.array_bytes() > 0 {
            return Ok(());
        }
        let is_away = self.array.leave_dictionary();
        self.dictionary.leave(is_away);
        match is_away {
            true => self.memory.hold(MemoryUse::Dictionary, 0),
            false => Ok(()),
        }
    }
}

/// What is made of each of these. Most columns have none, and are spared what it takes to make a list of nothing.
#[inline]
pub(crate) fn each<T, U>(
    these: impl ExactSizeIterator<Item = T>,
    make: impl FnMut(T) -> U,
) -> Vec<U> {
    match these.len() {
        0 => Vec::new(),
        _ => these.map(make).collect(),
    }
}

impl SplitEnds {
    /// The page, if others come for it too.
    fn shared(&self, page: PageStart) -> Option<&SharedPage> {
        let found = self
            .shared
            .binary_search_by_key(&page.offset, |shared| shared.start().offset);
        found.ok().and_then(|index| self.shared.get(index))
    }

    /// Notes that `page` comes next, before which so many rows start.
    fn check_end(&mut self, page: PageStart, rows_before: u64) -> Result<()> {
        if let Some(end) = self.end.filter(|end| end.page.offset == page.offset) {
            if end.rows_before != rows_before {
                return Err(self.wrong());
            }
            self.end = None;
        }
        Ok(())
    }

    fn wrong(&mut self) -> Error {
        self.is_wrong = true;
        Error::corrupt("a page begins with another row than its header or the offset index says")
    }
}
