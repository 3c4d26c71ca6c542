//! One leaf over one column chunk: pages in, pieces of an Arrow array out.
//!
//! A column is a state machine without I/O. [`Column::poll`] decodes until the piece at hand has the
//! rows asked for, and stops with [`Step::Need`] where bytes are missing; nothing is lost then.
//!
//! - `flat`: no repetition levels, so a level is a row;
//! - `nested`: rows are found by their repetition levels.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_format::{Error, PageHeader, PageType, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::ParquetSchema;

use crate::Step;
use crate::array::{LeafArray, LeafType, leaf_array};
use crate::budget::{Budget, ColumnMemory, MemoryUse, PieceMemory};
use crate::levels::Levels;
use crate::loss::{Loss, Losses, Lost, is_damage};
use crate::page::{
    Page, PagePlace, PageReader, PageReaderChunk, PageReaderOptions, PageStart, SharedPage,
};

mod dictionary;
mod flat;
pub(crate) mod list_levels;
mod nested;
pub(crate) mod recorder;
mod room;
mod row_counter;
pub(crate) mod selection;

use dictionary::{DictionaryUse, is_indices};
use list_levels::{ListLevels, ListLevelsBuilder, SharedListPlan};
use recorder::{Recorded, Recorder, RecorderPlan};
pub use row_counter::RowCounter;
use selection::{RowRanges, Selection, Stretch};

/// Levels decoded at once, as bytes: they stay in the first cache.
const BLOCK_LEVELS: usize = 4096;
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
    pub(crate) recorders: Vec<RecorderPlan>,
    /// The lists above that other leaves are below as well.
    pub(crate) shared_lists: Vec<SharedListPlan>,
    /// Whether damaged pages become nulls.
    pub(crate) null_pages: bool,
    /// A piece has no more slots than this where rows allow it.
    pub(crate) max_slots: usize,
    /// A piece ends when it holds this many bytes, with at least one row.
    pub(crate) piece_bytes: usize,
    /// More bytes than this for one row are an error.
    pub(crate) row_bytes: usize,
}

impl ColumnPlan {
    /// Path of the leaf, for errors. It is not kept: names may be long, and shared by many leaves.
    pub(crate) fn path(&self) -> String {
        self.schema.column_path(self.leaf)
    }
}

/// Which rows of a row group are wanted, and in what portions.
#[derive(Debug, Clone)]
pub(crate) struct WantedRows {
    pub(crate) row_group: usize,
    /// Rows of the row group, wanted or not.
    pub(crate) num_rows: u64,
    pub(crate) ranges: RowRanges,
    /// Rows of a batch.
    pub(crate) batch_rows: usize,
}

/// A part of a column chunk: the rows of whole batches.
#[derive(Debug, Clone)]
pub struct ColumnPart {
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
pub struct Piece {
    pub(crate) row_group: usize,
    pub(crate) rows: usize,
    pub(crate) leaf: ArrayRef,
    pub(crate) recorded: Vec<Recorded>,
    /// Of each list that it shares.
    pub(crate) shared_lists: Vec<ListLevels>,
    /// Damaged pages on the way to it.
    pub(crate) losses: Losses,
    pub(crate) memory: PieceMemory,
}

/// One leaf over one column chunk.
pub struct Column {
    plan: Arc<ColumnPlan>,
    row_group: usize,
    num_rows: u64,
    pages: PageReader,
    page: Option<OpenPage>,
    array: Box<dyn LeafArray>,
    selection: Selection,
    /// Where it is a part of the chunk, which few columns are.
    cut: Option<Box<Cut>>,
    /// Rows between the places where pieces end.
    batch_rows: usize,
    /// Rows of earlier pieces.
    rows_before: usize,
    /// Rows of the piece at hand.
    rows: usize,
    /// Validity of the leaf's slots in the piece at hand.
    validity: Bitmap,
    recorders: Vec<Recorder>,
    shared_lists: Vec<ListLevelsBuilder>,
    block: LevelBlock,
    dictionary: DictionaryUse,
    dictionary_is_lost: bool,
    /// Damaged pages that the piece at hand does without.
    losses: Losses,
    memory: ColumnMemory,
    /// Bytes of earlier pages that the array keeps in place.
    kept_bytes: usize,
    /// Bytes of the last piece: as many are prepared for the next one.
    last_bytes: usize,
}

/// What a part of a column chunk knows of its ends.
struct Cut {
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

impl Column {
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
        let bytes = size_of::<Self>() + COLUMN_BYTES + 2 * block;
        memory
            .hold(MemoryUse::Column, bytes as u64)
            .map_err(locate)?;
        let array = leaf_array(&plan.leaf_type).map_err(locate)?;
        let shared_lists = plan.shared_lists.iter().copied();
        Ok(Box::new(Self {
            row_group,
            num_rows,
            pages: PageReader::new(pages, chunk),
            page: None,
            array,
            selection: Selection::new(rows.ranges.clone()),
            cut: None,
            batch_rows: batch_rows.max(1),
            rows_before: 0,
            rows: 0,
            validity: Bitmap::new(),
            recorders: plan.recorders.iter().cloned().map(Recorder::new).collect(),
            shared_lists: shared_lists.map(ListLevelsBuilder::new).collect(),
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

    /// Wants the rows of this part alone.
    pub(crate) fn restrict(&mut self, part: ColumnPart) {
        self.selection = Selection::new([part.rows].into());
        self.cut = Some(Box::new(Cut {
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
    pub fn is_cut_wrong(&self) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.is_wrong)
    }

    /// Hands in bytes of the file that start at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.pages.supply(offset, bytes);
    }

    /// Where the column chunk ends in the file.
    pub fn chunk_end(&self) -> u64 {
        self.pages.end()
    }

    /// Whether all wanted rows were given out.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.selection.stretch() == Stretch::Done
    }

    /// Which batch of the row group the next piece belongs to.
    #[must_use]
    pub fn next_batch(&self) -> u64 {
        (self.rows_before / self.batch_rows) as u64
    }

    /// The most memory that it held since its last piece, in bytes.
    #[must_use]
    pub fn peak_bytes(&self) -> u64 {
        self.memory.peak()
    }

    /// The next piece; `None` when no wanted row is left.
    ///
    /// Pieces end where the wanted rows of the row group are a multiple of `batch_rows`, so that
    /// all columns of a row group fall into step again after one of them, for the sake of its
    /// bytes, had to end a piece early.
    pub fn poll(&mut self) -> Result<Step<Option<Piece>>> {
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
            Step::Ready(()) if self.rows == 0 => Ok(Step::Ready(None)),
            Step::Ready(()) => self.finish().map(|piece| Step::Ready(Some(piece))),
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

    fn finish(&mut self) -> Result<Piece> {
        let memory = self.piece_memory()?;
        let nulls = self.validity.finish();
        let leaf = self
            .array
            .finish(if self.plan.nullable { nulls } else { None })?;
        let recorded = self.recorders.iter_mut().map(Recorder::finish).collect();
        let shared_lists = self.shared_lists.iter_mut();
        let shared_lists = shared_lists.map(ListLevelsBuilder::finish).collect();
        let rows = std::mem::take(&mut self.rows);
        self.rows_before += rows;
        Ok(Piece {
            row_group: self.row_group,
            rows,
            leaf,
            recorded,
            shared_lists,
            losses: std::mem::take(&mut self.losses),
            memory,
        })
    }

    /// Lets go of a dictionary that is of no use any more, between two pieces.
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

    /// Makes sure that a data page with levels left is open; false behind the last page. Pages
    /// whose rows are known to be unwanted are passed over.
    fn open_page(&mut self) -> Result<Step<bool>> {
        loop {
            if self.page.as_ref().is_some_and(|page| page.levels_left > 0) {
                return Ok(Step::Ready(true));
            }
            // Errors from here on belong to the next page, and so does the memory of this one, unless
            // the array keeps parts of it.
            let left = self.page.take();
            self.array.leave_page();
            self.kept_bytes = match (self.array.keeps_pages(), left) {
                (true, Some(page)) => self.kept_bytes.saturating_add(page.body_bytes),
                (true, None) => self.kept_bytes,
                (false, _) => 0,
            };
            let place = self.pages.place();
            let opened = self
                .open_next_page(place)
                .map_err(|error| place.of(error))?;
            match opened {
                Step::Ready(true) => {}
                other => return Ok(other),
            }
        }
    }

    /// Opens or passes over one page; false behind the last one.
    fn open_next_page(&mut self, place: PagePlace) -> Result<Step<bool>> {
        let unwanted = match self.selection.stretch() {
            Stretch::Skip(rows) => rows,
            Stretch::Take(_) | Stretch::Done => 0,
        };
        let flat = self.plan.max_rep_level == 0;
        let header = match self.pages.header(&mut self.memory)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(None) => return Ok(Step::Ready(false)),
            Step::Ready(Some(header)) => header,
        };
        let is_dictionary = header.type_ == PageType::DictionaryPage;
        let needs_dictionary = refers_to_dictionary(header);
        let page_rows = match is_dictionary {
            true => None,
            false => rows_of_page(header, flat),
        };
        let begin = self.cut.as_mut().filter(|_| !is_dictionary);
        if let Some(begin) = begin.and_then(|cut| cut.begin.take()) {
            self.pages.jump(begin.page);
            let rows = usize::try_from(begin.rows_before).unwrap_or(usize::MAX);
            self.selection.advance(rows.min(unwanted));
            return Ok(Step::Ready(true));
        }
        let page = self.pages.start();
        if let Some(cut) = &mut self.cut {
            cut.check_end(page, self.selection.position())?;
        }
        if let Some(rows) = page_rows.filter(|&rows| rows <= unwanted) {
            self.pages.pass()?;
            self.selection.advance(rows);
            return Ok(Step::Ready(true));
        }
        if needs_dictionary && let Some(dictionary) = self.dictionary.return_for(page) {
            self.pages.read_dictionary_again(dictionary);
            return Ok(Step::Ready(true));
        }
        let another = self.array.keeps_pages();
        let shared = self.cut.as_ref().and_then(|cut| cut.shared(page));
        let opened = match self.pages.body(another, shared, &mut self.memory) {
            Ok(Step::Need(range)) => return Ok(Step::Need(range)),
            Ok(Step::Ready(page)) => self.open_body(page, place),
            Err(error) => {
                self.pages.pass()?;
                Err(error)
            }
        };
        if !is_dictionary {
            self.dictionary.count(needs_dictionary);
        } else if let Some(page) = self.dictionary.read(page) {
            self.pages.jump(page);
        }
        match opened {
            // A budget that is too small is no fault of the page.
            Err(error) if self.plan.null_pages && is_damage(&error) && !Budget::refused(&error) => {
                self.dictionary_is_lost |= is_dictionary;
                self.lose_page(error, page_rows.unwrap_or(0), place);
            }
            opened => opened?,
        }
        Ok(Step::Ready(true))
    }

    fn open_body(&mut self, page: Page, place: PagePlace) -> Result<()> {
        match page {
            Page::Dictionary { values, num_values } => {
                // Entries without a byte are an error still to come.
                let entries = num_values.min(values.len());
                let bytes = self.array.dictionary_bytes(values.len(), entries);
                self.memory
                    .hold_at_least(MemoryUse::Dictionary, bytes as u64)?;
                self.array.set_dictionary(&values, num_values)
            }
            Page::Data(page) if self.dictionary_is_lost && is_indices(page.encoding) => {
                Err(Error::corrupt("the dictionary of the page is damaged"))
            }
            Page::Data(page) => {
                let copied = self.array.page_bytes(page.encoding, page.values.len());
                self.memory.hold(MemoryUse::Copy, copied as u64)?;
                let body_bytes = page.bytes();
                self.array
                    .set_page(page.encoding, page.values, page.num_values)?;
                self.page = Some(OpenPage {
                    place,
                    repetition: Levels::new(page.repetition, self.plan.max_rep_level),
                    definition: Levels::new(page.definition, self.plan.max_def_level),
                    levels_left: page.num_values,
                    body_bytes,
                    is_lost: false,
                });
                Ok(())
            }
        }
    }

    /// Puts nulls in the place of a damaged page: none for a dictionary.
    fn lose_page(&mut self, error: Error, rows: usize, place: PagePlace) {
        let error = place.of(error).in_column(self.plan.path());
        self.losses.push(Loss {
            error: error.in_row_group(self.row_group),
            lost: Lost::Values(rows as u64),
        });
        let max_def = self.plan.max_def_level;
        self.page = Some(OpenPage {
            place,
            repetition: Levels::constant(0, 0),
            definition: Levels::constant(max_def.saturating_sub(1), max_def),
            levels_left: rows,
            body_bytes: 0,
            is_lost: true,
        });
    }
}

impl Cut {
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

/// Whether the values of a page are indices into the dictionary.
fn refers_to_dictionary(header: &PageHeader) -> bool {
    header.type_ != PageType::DictionaryPage && header.encoding().is_some_and(is_indices)
}

/// How many rows a data page has, as far as its header tells. Nothing is wanted of a page without
/// levels, whatever its body decompresses to.
fn rows_of_page(header: &PageHeader, flat: bool) -> Option<usize> {
    let (num_values, num_rows) = match (&header.data_page_header, &header.data_page_header_v2) {
        (Some(v1), _) if header.type_ == PageType::DataPage => (v1.num_values, None),
        // A page that starts no row goes on with the last one, which may be wanted.
        (_, Some(v2)) => (v2.num_values, Some(v2.num_rows).filter(|rows| *rows > 0)),
        _ => return None,
    };
    let rows = if flat || num_values == 0 {
        Some(num_values)
    } else {
        num_rows
    };
    rows.and_then(|rows| usize::try_from(rows).ok())
}
