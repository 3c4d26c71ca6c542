//! An open row group: its column chunks and decoders.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use herringbone_format::modular_encryption::{ChunkCipher, KeyRequest, KeyStep};
use herringbone_format::{CompressionCodec, Error, LayoutCache, PageHeader, ReadableChunk, Result};

use crate::plan::ArrayTree;
use crate::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::Budget;
use herringbone_core::column::selection::{RowSelector, SelectionCursor, SelectionRun};
use herringbone_core::column::{
    ColumnChunkDecoder, ColumnPlan, ColumnRows, ColumnSplit, DictionaryValues, RowCounter,
    Selectors,
};
use herringbone_core::page::body::num_values;
use herringbone_core::page::decompression_limit::DecompressionLimit;
use herringbone_core::page::{
    MaxLevels, PageMap, PageReaderChunk, PageReaderOptions, PageWalker, SharedPage, byte_range,
    has_dictionary,
};

/// The number of columns at which a chunk's metadata is compared with already decoded chunks, to decode it faster.
const MANY_COLUMNS: usize = 64;

/// A row group's column chunks, ready to be decoded.
///
/// A [`ColumnChunkDecoder`] has buffers, so only create one when it is due, and drop it once it [is
/// done](ColumnChunkDecoder::is_done).
pub(crate) struct OpenRowGroup {
    pub(crate) rows: ColumnRows,
    pub(crate) tree: Arc<ArrayTree>,
    /// One chunk per column.
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) pages: Arc<PageReaderOptions>,
    pub(crate) budget: Arc<Budget>,
    /// The first row of each batch, computed on first use.
    pub(crate) batch_starts: OnceLock<Arc<[u64]>>,
}

/// A column chunk of an open row group.
#[derive(Debug, Clone)]
pub(crate) struct ChunkInPlan {
    /// The chunk's byte range in the file.
    pub range: Range<u64>,
    /// The number of levels in the chunk.
    pub num_values: u64,
    /// The decompressed size of the chunk's pages in bytes, as stated by its metadata.
    pub uncompressed_size: u64,
    /// The ordinal of the chunk's row group in the file.
    pub row_group: usize,
    /// The ordinal of the chunk's leaf in the Parquet schema.
    pub leaf: usize,
    /// True if each level is a row. In that case, all page headers contain the row count.
    pub is_flat: bool,
    /// True if the chunk's metadata declares a dictionary.
    pub has_dictionary: bool,
    /// The limit on the decompressed size of the chunk's pages, if they are compressed.
    pub decompression_limit: Option<DecompressionLimit>,
    /// A walker positioned at the chunk's first page.
    walker: PageWalker,
}

impl ChunkInPlan {
    /// Returns a walker over the chunk's pages.
    #[must_use]
    pub(crate) fn walker(&self) -> PageWalker {
        self.walker.clone()
    }

    /// Counts a page of values. Returns true if the compressed size and value count of all pages so far justify their
    /// decompressed size.
    pub(crate) fn allows(&mut self, header: &PageHeader) -> bool {
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
    /// Opens a plan's row group. Its columns share `budget` with the read's other columns.
    ///
    /// # Errors
    /// Fails with `Corrupt` or `Unsupported` if a column chunk's metadata is invalid, or if the chunk lies in another
    /// file. Fails with `Argument` if the plan has no row group with this index.
    pub(crate) fn new(plan: &ReadPlan, index: usize, budget: &Arc<Budget>) -> Result<Self> {
        let row_group = plan.row_groups().get(index);
        let row_group = row_group
            .ok_or_else(|| Error::argument(format!("the read has no row group {index}")))?;
        Self::restricted(plan, row_group, budget)
    }

    /// Opens a plan's row group or part of one.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::new`] lists.
    pub(crate) fn restricted(
        plan: &ReadPlan,
        row_group: &RowGroupPlan,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let locate = |error: Error, column: &ColumnPlan| {
            error
                .in_column(column.path())
                .in_row_group(row_group.ordinal())
        };
        let chunks_present = plan.metadata.num_columns(row_group.ordinal());
        let mut chunks = Vec::with_capacity(plan.columns().len());
        let mut cache = (plan.columns().len() >= MANY_COLUMNS).then(LayoutCache::default);
        let (mut bytes, mut bytes_of_file) = (0u64, 0u64);
        for column in plan.columns() {
            if column.leaf >= chunks_present {
                let error = Error::corrupt(format!(
                    "the row group has {chunks_present} column chunks, but not one for this column"
                ));
                return Err(locate(error, column));
            }
            let chunk = readable_chunk(plan, row_group.ordinal(), column, cache.as_mut())
                .and_then(KeyStep::ready)
                .and_then(|chunk| Chunk::new(chunk, column, plan.pages.file_length))
                .map_err(|error| locate(error, column))?;
            let map = row_group.maps.iter().find(|(leaf, _)| *leaf == column.leaf);
            let chunk = chunk.mapped(map.map(|(_, map)| map.clone()));
            bytes = bytes.saturating_add(chunk.uncompressed_size);
            bytes_of_file = bytes_of_file.saturating_add(chunk.range.end - chunk.range.start);
            chunks.push(chunk);
        }
        check_overlap(
            plan,
            budget.open_row_group(plan.role, row_group.index, bytes_of_file),
        )
        .map_err(|error| error.in_row_group(row_group.ordinal()))?;
        let rows = ColumnRows {
            row_group: row_group.ordinal(),
            num_rows: row_group.num_rows,
            ranges: row_group.ranges.clone(),
            selectors: Selectors::default(),
            rows_before: row_group.rows_before,
            batch_rows: batch_rows(plan, row_group, bytes),
        };
        Ok(Self {
            rows,
            tree: plan.tree.clone(),
            chunks,
            pages: plan.pages.clone(),
            budget: budget.clone(),
            batch_starts: OnceLock::new(),
        })
    }

    /// Returns the number of columns in the read.
    #[must_use]
    pub(crate) fn num_columns(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the number of rows in a batch. The row group's last batch can be shorter.
    #[must_use]
    pub(crate) fn batch_rows(&self) -> usize {
        self.rows.batch_rows
    }

    /// Creates a column's decoder, positioned at the first row.
    ///
    /// # Errors
    /// Fails with `Corrupt` or `Unsupported` if the chunk does not fit its row group or its Arrow type, and with
    /// `Argument` if the read has no such column.
    pub(crate) fn column(&self, ordinal: usize) -> Result<Box<ColumnChunkDecoder>> {
        let (plan, chunk) = self.get(ordinal)?;
        let decompression_limit = self.decompression_limit(plan);
        let mut column = self.make(plan, chunk, decompression_limit)?;
        if let Some(map) = &chunk.map {
            column.use_map(map.clone());
        }
        Ok(column)
    }

    /// Returns a reader for a column's dictionary. The dictionary's bytes are at `place` in the file.
    pub(crate) fn dictionary_values(
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

    /// Returns the options and the chunk needed to create a page reader.
    fn pages_of(
        &self,
        plan: &ColumnPlan,
        chunk: &Chunk,
        decompression_limit: DecompressionLimit,
    ) -> (Arc<PageReaderOptions>, PageReaderChunk) {
        let chunk = PageReaderChunk {
            row_group: self.rows.row_group,
            leaf: plan.leaf,
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

    /// Returns the limit on the decompressed size of a column chunk's pages.
    fn decompression_limit(&self, plan: &ColumnPlan) -> DecompressionLimit {
        let leaf = &plan.leaf_type;
        DecompressionLimit::new(&self.pages.limits, leaf.physical_type, leaf.type_length)
    }

    /// Creates a decoder for a split of a column. The split runs from one multiple of [`Self::batch_rows`] to another,
    /// or to the last row. Without a `limit`, the caller must have checked that all of the chunk's pages are
    /// [allowed](ChunkInPlan::allows).
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::column`] lists.
    pub(crate) fn split(
        &self,
        ordinal: usize,
        split: ColumnSplit,
        limit: Option<DecompressionLimit>,
    ) -> Result<Box<ColumnChunkDecoder>> {
        let (plan, chunk) = self.get(ordinal)?;
        let limit = limit.unwrap_or_else(|| self.decompression_limit(plan).unlimited());
        let mut column = self.make(plan, chunk, limit)?;
        column.restrict(split);
        if let Some(map) = &chunk.map {
            column.use_map(map.clone());
        }
        Ok(column)
    }

    /// Creates a row counter for these adjacent pages of a column chunk. The counter keeps the decompressed pages, so
    /// that the decoders of splits need not decompress them again. All of the chunk's pages must be
    /// [allowed](ChunkInPlan::allows).
    ///
    /// # Errors
    /// Fails with `Argument` if the read has no such column.
    pub(crate) fn row_counter(
        &self,
        ordinal: usize,
        uncounted: VecDeque<SharedPage>,
    ) -> Result<Box<RowCounter>> {
        let (plan, chunk) = self.get(ordinal)?;
        let pages = self.pages_of(plan, chunk, self.decompression_limit(plan).unlimited());
        let counter = RowCounter::new(plan.max_rep_level, pages, uncounted, self.budget.clone());
        Ok(Box::new(counter))
    }

    /// Returns a column's chunk, or `None` if the read has no such column.
    #[must_use]
    pub(crate) fn chunk(&self, ordinal: usize) -> Option<ChunkInPlan> {
        let (plan, chunk) = self.get(ordinal).ok()?;
        let is_compressed = chunk.codec != CompressionCodec::Uncompressed;
        Some(ChunkInPlan {
            range: chunk.range.clone(),
            num_values: chunk.num_values,
            uncompressed_size: chunk.uncompressed_size,
            row_group: self.rows.row_group,
            leaf: plan.leaf,
            is_flat: plan.max_rep_level == 0,
            has_dictionary: chunk.has_dictionary,
            decompression_limit: is_compressed.then(|| self.decompression_limit(plan)),
            walker: PageWalker::new(chunk.range.clone(), self.pages.file_length)
                .encrypted(chunk.cipher.clone(), chunk.has_dictionary),
        })
    }

    /// Returns the byte ranges of all column chunks.
    pub(crate) fn chunk_ranges(&self) -> Vec<Range<u64>> {
        self.chunks
            .iter()
            .map(|chunk| chunk.range.clone())
            .collect()
    }

    /// Returns a cursor over the selected rows known so far.
    pub(crate) fn selection(&self) -> SelectionCursor {
        self.rows.selection()
    }

    /// Returns the ranges that a column needs for a selection, in decode order. The column has already read up to the
    /// offset `from`.
    ///
    /// With a page map, these are the dictionary and the pages with selected rows, if any. For a list, we include the
    /// page after each page with selected rows, since the last row might continue there.
    pub(crate) fn ranges_of(
        &self,
        ordinal: usize,
        from: Option<u64>,
        selection: &SelectionCursor,
    ) -> Vec<Range<u64>> {
        let Ok((plan, chunk)) = self.get(ordinal) else {
            return Vec::new();
        };
        let start = from.unwrap_or(chunk.range.start).min(chunk.range.end);
        let map = chunk.map.as_ref().filter(|map| !map.is_contradicted());
        let first_page = map.and_then(|map| map.get(0));
        let Some((map, first_page)) = map.zip(first_page) else {
            let is_done = selection.run() == SelectionRun::Done;
            let rest = if is_done {
                start..start
            } else {
                start..chunk.range.end
            };
            return vec![rest];
        };
        let mut ranges = Vec::new();
        let mut walk = selection.clone();
        // We walk page by page, since a mask has many runs in each page.
        loop {
            match walk.run() {
                SelectionRun::Skip(rows) => walk.advance(rows),
                SelectionRun::Take(_) => {
                    if from.is_none() && ranges.is_empty() {
                        ranges.push(start..first_page.range.start);
                    }
                    let index = map.page_of(walk.position());
                    let last = index + usize::from(plan.max_rep_level > 0);
                    let end = map.get(last.min(map.num_pages() - 1));
                    let Some((page, end)) = map.get(index).zip(end) else {
                        return ranges;
                    };
                    add_range(&mut ranges, page.range.start.max(start)..end.range.end);
                    // Always move by at least one row, so that the loop ends even if the map ends too early.
                    walk.advance_to(page.rows.end.max(walk.position() + 1));
                }
                SelectionRun::Unknown | SelectionRun::Done => return ranges,
            }
        }
    }

    /// Deselects all rows, to wait for rows to be [added later](Self::extend_selection).
    pub(crate) fn wait_for_rows(&mut self) {
        self.rows.ranges = [].into();
        self.rows.selectors.is_open = true;
    }

    /// Selects more rows. They must come after all others.
    pub(crate) fn extend_selection(&mut self, piece: &RowSelector) {
        self.rows.selectors.pieces.push(piece.clone());
    }

    /// Ends the selection. No more rows will be added.
    pub(crate) fn close_selection(&mut self) {
        self.rows.selectors.is_open = false;
    }

    /// Returns the number of rows in the row group.
    #[must_use]
    pub(crate) fn num_rows(&self) -> u64 {
        self.rows.num_rows
    }

    /// Returns the number of selected rows.
    #[must_use]
    pub(crate) fn num_wanted(&self) -> u64 {
        self.rows.num_wanted()
    }

    /// Returns the first row of each batch, in batch order.
    #[must_use]
    pub(crate) fn batch_starts(&self) -> &Arc<[u64]> {
        self.batch_starts.get_or_init(|| {
            let batch_rows = self.rows.batch_rows.max(1) as u64;
            self.rows.selection().portions(batch_rows).into()
        })
    }
}

/// A column chunk as described by its metadata.
pub(crate) struct Chunk {
    /// The chunk's byte range in the file.
    pub(crate) range: Range<u64>,
    num_values: u64,
    pub(crate) uncompressed_size: u64,
    codec: CompressionCodec,
    has_dictionary: bool,
    cipher: Option<ChunkCipher>,
    /// The locations of the chunk's pages, if they've been looked up.
    map: Option<Arc<PageMap>>,
}

impl Chunk {
    pub(crate) fn mapped(self, map: Option<Arc<PageMap>>) -> Self {
        Self { map, ..self }
    }

    pub(crate) fn new(chunk: ReadableChunk, plan: &ColumnPlan, file_length: u64) -> Result<Self> {
        let metadata = &chunk.layout;
        if metadata.type_ != plan.leaf_type.physical_type {
            return Err(Error::corrupt(format!(
                "the column chunk holds {}, but the schema declares {}",
                metadata.type_, plan.leaf_type.physical_type
            )));
        }
        let num_values = u64::try_from(metadata.num_values).map_err(|_| {
            let declared = metadata.num_values;
            Error::corrupt(format!("the column chunk declares {declared} values"))
        })?;
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

/// Returns the keys that must be [supplied](herringbone_format::modular_encryption::FileDecryption::supply_key) before
/// opening the plan's row group with this index. These are the missing keys of all columns decoded there.
#[must_use]
pub fn missing_keys(plan: &ReadPlan, index: usize) -> Vec<KeyRequest> {
    let row_group = plan.row_groups().get(index);
    let Some(row_group) = row_group.filter(|_| plan.metadata.decryption().is_some()) else {
        return Vec::new();
    };
    let stages = plan.filter().into_iter().flat_map(|plan| plan.stages());
    let tested = stages.flat_map(|stage| stage.columns());
    let columns = plan.columns().iter().chain(tested);
    let mut keys = Vec::new();
    for column in columns {
        // We ignore any other error here, since opening the row group reports it.
        if let Ok(KeyStep::NeedKey(key)) = readable_chunk(plan, row_group.ordinal(), column, None)
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    keys
}

/// Returns a column chunk's metadata, or the key it needs. `cache` holds already decoded chunks.
fn readable_chunk(
    plan: &ReadPlan,
    row_group: usize,
    column: &ColumnPlan,
    cache: Option<&mut LayoutCache>,
) -> Result<KeyStep<ReadableChunk>> {
    let metadata = &plan.metadata;
    let step = match cache {
        Some(cache) => metadata.readable_chunk_cached(row_group, column.leaf, cache)?,
        None => metadata.readable_chunk(row_group, column.leaf)?,
    };
    if let (KeyStep::Ready(chunk), Some(decryption)) = (&step, metadata.decryption())
        && chunk.cipher.is_none()
    {
        decryption.check_plaintext_column(&column.path_parts())?;
    }
    Ok(step)
}

/// Fails if the column chunks opened so far have too many `bytes` for the file's length. That is only possible if the
/// file's chunks overlap, which would multiply a read's work.
fn check_overlap(plan: &ReadPlan, bytes: u64) -> Result<()> {
    let file_length = plan.pages.file_length.max(1);
    let limit = plan.pages.limits.overlap_ratio as u64;
    let most = file_length
        .saturating_mul(limit)
        .saturating_mul(plan.repeats);
    if bytes > most {
        let ratio = bytes.div_ceil(file_length.saturating_mul(plan.repeats));
        return Err(Error::limit("overlap_ratio", ratio, limit));
    }
    Ok(())
}

/// Returns the number of rows in a batch. It is lower than in the options if rows are wide.
fn batch_rows(plan: &ReadPlan, row_group: &RowGroupPlan, bytes: u64) -> usize {
    let row_bytes = (bytes / row_group.num_rows.max(1)).max(1);
    let rows = plan.options.batch_bytes as u64 / row_bytes;
    usize::try_from(rows)
        .unwrap_or(usize::MAX)
        .clamp(1, plan.options.batch_size.max(1))
}

/// Appends a range that follows all others, merging it with the last one if they overlap or touch.
fn add_range(ranges: &mut Vec<Range<u64>>, range: Range<u64>) {
    match ranges.last_mut() {
        Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
        _ if range.start < range.end => ranges.push(range),
        _ => {}
    }
}
