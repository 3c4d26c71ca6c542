//! A row group that is open: where its column chunks lie, and the columns that decode them.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{CompressionCodec, Error, PageHeader, ReadableChunk, Result};

use super::array_node::ArrayTree;
use crate::budget::{Budget, Reservation};
use crate::column::selection::WantedPiece;
use crate::column::{
    ColumnChunkDecoder, ColumnPlan, ColumnSplit, DictionaryValues, RowCounter, WantedRows,
};
use crate::page::body::num_values;
use crate::page::decompression_limit::DecompressionLimit;
use crate::page::{
    MaxLevels, PageMap, PageReaderChunk, PageReaderOptions, PageWalker, SharedPage, byte_range,
    has_dictionary,
};

/// The column chunks of a row group, ready to be decoded.
///
/// A [`ColumnChunkDecoder`] holds buffers, so make each when its turn comes and drop it when it
/// [has no more](ColumnChunkDecoder::is_done).
pub struct OpenRowGroup {
    pub(super) rows: WantedRows,
    pub(super) tree: Arc<ArrayTree>,
    /// One a column.
    pub(super) chunks: Vec<Chunk>,
    pub(super) pages: Arc<PageReaderOptions>,
    pub(super) budget: Arc<Budget>,
    /// The memory of what is known of its pages.
    pub(super) maps_memory: Option<Reservation>,
    /// The rows with which batches begin, once somebody asked.
    pub(super) batch_starts: OnceLock<Arc<[u64]>>,
}

/// A column chunk of a row group that is open.
#[derive(Debug, Clone)]
pub struct ChunkInPlan {
    /// Where it lies in the file.
    pub range: Range<u64>,
    /// Its levels.
    pub num_values: u64,
    /// Bytes of its pages, decompressed, as its metadata has it.
    pub uncompressed_size: u64,
    /// Ordinal of its row group in the file.
    pub row_group: usize,
    /// Ordinal of its leaf in the Parquet schema.
    pub leaf: usize,
    /// Whether a level is a row, so that all page headers tell how many rows a page has.
    pub is_flat: bool,
    /// What its pages may decompress to, if they are compressed.
    decompression_limit: Option<DecompressionLimit>,
    /// Stands before its first page.
    walker: PageWalker,
}

impl ChunkInPlan {
    /// The way through its pages.
    #[must_use]
    pub fn walker(&self) -> PageWalker {
        self.walker.clone()
    }

    /// Counts a page that carries values; whether all pages so far decompress to no more than their
    /// bytes and values account for.
    pub fn allows(&mut self, header: &PageHeader) -> bool {
        match (&mut self.decompression_limit, num_values(header)) {
            (Some(decompression_limit), Ok(values)) => {
                decompression_limit.spend(header, values).is_ok()
            }
            (None, Ok(_)) => true,
            (_, Err(_)) => false,
        }
    }
}

impl OpenRowGroup {
    /// How many columns there are: those of the read.
    #[must_use]
    pub fn num_columns(&self) -> usize {
        self.chunks.len()
    }

    /// Rows of a batch; the last one of the row group may have fewer.
    #[must_use]
    pub fn batch_rows(&self) -> usize {
        self.rows.batch_rows
    }

    /// A column, at its start.
    ///
    /// # Errors
    /// Corrupt or Unsupported where the chunk does not fit its row group or its Arrow type;
    /// Argument where the read has no such column.
    pub fn column(&self, ordinal: usize) -> Result<Box<ColumnChunkDecoder>> {
        let (plan, chunk) = self.get(ordinal)?;
        let decompression_limit = self.decompression_limit(plan);
        let mut column = self.make(plan, chunk, decompression_limit)?;
        if let Some(map) = &chunk.map {
            column.use_map(map.clone());
        }
        Ok(column)
    }

    /// What reads the dictionary of a column, which lies at `place`.
    pub(super) fn dictionary_values(
        &self,
        ordinal: usize,
        place: &Range<u64>,
    ) -> Option<DictionaryValues> {
        let (plan, chunk) = self.get(ordinal).ok()?;
        let pages = self.pages_of(plan, chunk, self.decompression_limit(plan));
        let budget = self.budget.clone();
        Some(DictionaryValues::new(plan.clone(), pages, place, budget))
    }

    fn get(&self, ordinal: usize) -> Result<(&Arc<ColumnPlan>, &Chunk)> {
        let column = self.tree.columns.get(ordinal);
        let column = column.zip(self.chunks.get(ordinal));
        column.ok_or_else(|| Error::argument(format!("the read has no column {ordinal}")))
    }

    fn make(
        &self,
        plan: &Arc<ColumnPlan>,
        chunk: &Chunk,
        decompression_limit: DecompressionLimit,
    ) -> Result<Box<ColumnChunkDecoder>> {
        let pages = self.pages_of(plan, chunk, decompression_limit);
        ColumnChunkDecoder::new(plan.clone(), &self.rows, pages, self.budget.clone())
    }

    /// What the pages of a chunk are read by.
    fn pages_of(
        &self,
        plan: &ColumnPlan,
        chunk: &Chunk,
        decompression_limit: DecompressionLimit,
    ) -> (Arc<PageReaderOptions>, PageReaderChunk) {
        let chunk = PageReaderChunk {
            range: chunk.range.clone(),
            num_values: chunk.num_values,
            codec: chunk.codec,
            has_dictionary: chunk.has_dictionary,
            cipher: chunk.cipher.clone(),
            max_levels: MaxLevels {
                repetition: plan.max_rep_level,
                definition: plan.max_def_level,
            },
            decompression_limit,
        };
        (self.pages.clone(), chunk)
    }

    /// What the pages of a column chunk may decompress to.
    fn decompression_limit(&self, plan: &ColumnPlan) -> DecompressionLimit {
        let leaf = &plan.leaf_type;
        DecompressionLimit::new(&self.pages.limits, leaf.physical_type, leaf.type_length)
    }

    /// A part of a column, from a multiple of [`Self::batch_rows`] up to another one, or to the last row.
    /// All pages of the chunk must be [allowed](ChunkInPlan::allows).
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn part(&self, ordinal: usize, part: ColumnSplit) -> Result<Box<ColumnChunkDecoder>> {
        let (plan, chunk) = self.get(ordinal)?;
        let mut column = self.make(plan, chunk, self.decompression_limit(plan).unlimited())?;
        column.restrict(part);
        if let Some(map) = &chunk.map {
            column.use_map(map.clone());
        }
        Ok(column)
    }

    /// Counts the rows of these pages of a column, one behind the other in its chunk, and keeps what it
    /// decompressed for the others that come for them. All pages of the chunk must be
    /// [allowed](ChunkInPlan::allows).
    ///
    /// # Errors
    /// Argument where the read has no such column.
    pub fn row_counter(
        &self,
        ordinal: usize,
        uncounted: VecDeque<SharedPage>,
    ) -> Result<Box<RowCounter>> {
        let (plan, chunk) = self.get(ordinal)?;
        let pages = self.pages_of(plan, chunk, self.decompression_limit(plan).unlimited());
        let counter = RowCounter::new(plan.max_rep_level, pages, uncounted, self.budget.clone());
        Ok(Box::new(counter))
    }

    /// The chunk of a column; none where the read has no such column.
    #[must_use]
    pub fn chunk(&self, ordinal: usize) -> Option<ChunkInPlan> {
        let (plan, chunk) = self.get(ordinal).ok()?;
        let is_compressed = chunk.codec != CompressionCodec::Uncompressed;
        Some(ChunkInPlan {
            range: chunk.range.clone(),
            num_values: chunk.num_values,
            uncompressed_size: chunk.uncompressed_size,
            row_group: self.rows.row_group,
            leaf: plan.leaf,
            is_flat: plan.max_rep_level == 0,
            decompression_limit: is_compressed.then(|| self.decompression_limit(plan)),
            walker: PageWalker::new(chunk.range.clone(), self.pages.file_length)
                .encrypted(chunk.cipher.clone(), chunk.has_dictionary),
        })
    }

    /// Wants no rows but those that are [added](Self::extend_selection).
    pub(super) fn select_on_the_way(&mut self) {
        self.rows.ranges = [].into();
        self.rows.found.is_open = true;
    }

    /// Wants these rows too, which lie behind all others.
    pub(super) fn extend_selection(&mut self, piece: &WantedPiece) {
        self.rows.found.pieces.push(piece.clone());
    }

    /// No other rows are wanted.
    pub(super) fn close_selection(&mut self) {
        self.rows.found.is_open = false;
    }

    /// Rows of the row group, wanted or not.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.rows.num_rows
    }

    /// How many of them are wanted.
    #[must_use]
    pub fn num_wanted(&self) -> u64 {
        self.rows.num_wanted()
    }

    /// The rows with which batches begin.
    #[must_use]
    pub fn batch_starts(&self) -> &Arc<[u64]> {
        self.batch_starts.get_or_init(|| {
            let batch_rows = self.rows.batch_rows.max(1) as u64;
            self.rows.selection().portions(batch_rows).into()
        })
    }
}

/// A column chunk, as its metadata has it.
pub(super) struct Chunk {
    /// Where it lies in the file.
    pub(super) range: Range<u64>,
    num_values: u64,
    pub(super) uncompressed_size: u64,
    codec: CompressionCodec,
    has_dictionary: bool,
    cipher: Option<ChunkCipher>,
    /// Where its pages are, if that was looked up.
    map: Option<Arc<PageMap>>,
}

impl Chunk {
    pub(super) fn mapped(self, map: Option<Arc<PageMap>>) -> Self {
        Self { map, ..self }
    }

    pub(super) fn new(chunk: ReadableChunk, plan: &ColumnPlan, file_length: u64) -> Result<Self> {
        let metadata = &chunk.layout;
        if metadata.type_ != plan.leaf_type.physical_type {
            return Err(Error::corrupt(format!(
                "the column chunk holds {}, the schema says {}",
                metadata.type_, plan.leaf_type.physical_type
            )));
        }
        let num_values = u64::try_from(metadata.num_values)
            .map_err(|_| Error::corrupt("the column chunk has a negative value count"))?;
        Ok(Self {
            range: byte_range(metadata, file_length)?,
            num_values,
            uncompressed_size: u64::try_from(metadata.total_uncompressed_size).unwrap_or(0),
            codec: metadata.codec,
            has_dictionary: has_dictionary(metadata),
            cipher: chunk.cipher,
            map: None,
        })
    }
}
