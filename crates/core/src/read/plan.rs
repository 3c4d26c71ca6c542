//! What a read comes to: which rows of which column chunks.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{
    ColumnChunkLayout, ColumnLayout, CompressionCodec, Error, FileMetadata, Limits, PageHeader,
    Result,
};
use herringbone_schema::{ParquetSchema, to_arrow_projected};

use super::agreement::SharedList;
use super::shape::{Shape, Shapes};
use super::{Budget, ReadOptions};
use crate::column::selection::RowRanges;
use crate::column::{Column, ColumnPlan, WantedRows};
use crate::page::allowance::Allowance;
use crate::page::body::num_values;
use crate::page::{PageReaderOptions, PageStart};

/// Bytes that a column asks for at least, where few columns are read: small pages share a read.
const SMALLEST_WINDOW: u64 = 64 << 10;

/// The same where there are so many that each must do with little.
const LEAST_WINDOW: u64 = 16 << 10;

/// What a read comes to; shared by everything that decodes a part of it.
#[derive(Debug)]
pub struct ReadPlan {
    metadata: Arc<FileMetadata>,
    file_length: u64,
    schema: SchemaRef,
    warnings: Vec<String>,
    shapes: Shapes,
    row_groups: Vec<RowGroupPlan>,
    /// How often the same row group is read, at most.
    repeats: u64,
    /// Column chunks of the whole file.
    chunks_of_file: u64,
    options: ReadOptions,
    limits: Arc<Limits>,
}

/// The wanted rows of one row group.
#[derive(Debug, Clone)]
pub struct RowGroupPlan {
    ordinal: usize,
    num_rows: u64,
    ranges: RowRanges,
    num_wanted: u64,
}

impl RowGroupPlan {
    /// Ordinal of the row group in the file.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// How many of its rows are wanted: at least one.
    #[must_use]
    pub fn num_wanted(&self) -> u64 {
        self.num_wanted
    }
}

impl ReadPlan {
    /// Plans a read of the file that `metadata` and `schema` describe.
    ///
    /// # Errors
    /// Argument where the options name columns or row groups that the file does not have; Corrupt
    /// where row counts make no sense.
    pub fn new(
        metadata: Arc<FileMetadata>,
        schema: &ParquetSchema,
        file_length: u64,
        options: &ReadOptions,
    ) -> Result<Self> {
        let key_values = metadata.key_value_metadata();
        let mapping = to_arrow_projected(schema, key_values, &options.schema, &options.projection)?;
        let shapes = Shapes::new(&mapping, schema, options)?;
        let row_groups = plan_row_groups(&metadata, options)?;
        let metadata_row_groups = metadata.num_row_groups() as u64;
        Ok(Self {
            metadata,
            file_length,
            schema: mapping.schema,
            warnings: mapping.warnings,
            shapes,
            repeats: repeats(&row_groups),
            chunks_of_file: (schema.leaves().len() as u64).saturating_mul(metadata_row_groups),
            row_groups,
            options: options.clone(),
            limits: Arc::new(options.limits.clone()),
        })
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What of the Arrow schema in the file had to be ignored.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The row groups with wanted rows, in the order in which they are read.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroupPlan] {
        &self.row_groups
    }

    /// The options of the read.
    #[must_use]
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    pub(crate) fn columns(&self) -> &[Arc<ColumnPlan>] {
        &self.shapes.columns
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes.roots
    }

    /// The lists with several columns below them.
    pub(crate) fn shared_lists(&self) -> &[SharedList] {
        &self.shapes.shared_lists
    }

    /// How many columns the read decodes: the projected leaves of the schema.
    #[must_use]
    pub fn num_columns(&self) -> usize {
        self.shapes.columns.len()
    }

    /// The column chunks of the `index`-th of [`Self::row_groups`], whose columns share `budget`
    /// with all other columns of the read that are under way.
    ///
    /// # Errors
    /// Corrupt or Unsupported where the metadata of a column chunk makes no sense or cannot be
    /// followed, as where the chunk lies in another file.
    pub fn open(&self, index: usize, budget: &Arc<Budget>) -> Result<OpenRowGroup> {
        let row_group = self
            .row_groups
            .get(index)
            .ok_or_else(|| Error::argument(format!("the read has no row group {index}")))?;
        let locate = |error: Error, plan: &ColumnPlan| {
            error.in_column(plan.path()).in_row_group(row_group.ordinal)
        };
        let chunks_present = self.metadata.num_columns(row_group.ordinal);
        let mut chunks = Vec::with_capacity(self.columns().len());
        let (mut bytes, mut bytes_of_file) = (0u64, 0u64);
        for plan in self.columns() {
            if plan.leaf >= chunks_present {
                let error = Error::corrupt(format!(
                    "the row group has {chunks_present} column chunks and none for this column"
                ));
                return Err(locate(error, plan));
            }
            let chunk = self
                .metadata
                .column_layout(row_group.ordinal, plan.leaf)
                .and_then(|chunk| self.chunk(&chunk, plan))
                .map_err(|error| locate(error, plan))?;
            bytes = bytes.saturating_add(chunk.uncompressed_size);
            let range = &chunk.pages.chunk;
            bytes_of_file = bytes_of_file.saturating_add(range.end - range.start);
            chunks.push((plan.clone(), chunk));
        }
        self.check_overlap(budget.open_row_group(index, bytes_of_file))
            .map_err(|error| error.in_row_group(row_group.ordinal))?;
        let rows = WantedRows {
            row_group: row_group.ordinal,
            num_rows: row_group.num_rows,
            ranges: row_group.ranges.clone(),
            batch_rows: self.batch_rows(row_group, bytes),
        };
        Ok(OpenRowGroup {
            rows,
            chunks,
            budget: budget.clone(),
        })
    }

    /// Fails where the column chunks of the read so far have so many bytes that the file must be gone
    /// over too often.
    fn check_overlap(&self, bytes: u64) -> Result<()> {
        let file_length = self.file_length.max(1);
        let limit = self.limits.overlap_ratio as u64;
        let most = file_length
            .saturating_mul(limit)
            .saturating_mul(self.repeats);
        if bytes > most {
            let ratio = bytes.div_ceil(file_length.saturating_mul(self.repeats));
            return Err(Error::limit("overlap_ratio", ratio, limit));
        }
        Ok(())
    }

    /// A batch of a read that decodes nothing, for the next of `rows_left` rows: of no fields, or of
    /// groups without leaves.
    ///
    /// # Errors
    /// Argument where a field has a leaf.
    pub fn batch_without_columns(&self, rows_left: u64) -> Result<RecordBatch> {
        let rows = usize::try_from(rows_left)
            .unwrap_or(usize::MAX)
            .min(self.options.batch_size)
            .max(1);
        let groups = self.shapes().iter().map(|shape| shape.without_leaves(rows));
        let arrays = groups.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options)
            .map_err(|error| Error::argument(error.to_string()))
    }

    /// Rows of a batch: fewer than asked for where rows are so wide that the bytes matter.
    fn batch_rows(&self, row_group: &RowGroupPlan, bytes: u64) -> usize {
        let row_bytes = (bytes / row_group.num_rows.max(1)).max(1);
        let rows = self.options.batch_bytes as u64 / row_bytes;
        usize::try_from(rows)
            .unwrap_or(usize::MAX)
            .clamp(1, self.options.batch_size.max(1))
    }

    /// Bytes that a column asks for at least: less where many columns share the budget.
    fn smallest_window(&self) -> u64 {
        let share = self.limits.memory_bytes / 16 / (self.num_columns() as u64).max(1);
        share.clamp(LEAST_WINDOW, SMALLEST_WINDOW)
    }

    fn chunk(&self, chunk: &ColumnChunkLayout, plan: &ColumnPlan) -> Result<Chunk> {
        let metadata = plain_metadata(chunk)?;
        if metadata.type_ != plan.leaf_type.physical_type {
            return Err(Error::corrupt(format!(
                "the column chunk holds {}, the schema says {}",
                metadata.type_, plan.leaf_type.physical_type
            )));
        }
        let num_values = u64::try_from(metadata.num_values)
            .map_err(|_| Error::corrupt("the column chunk has a negative value count"))?;
        Ok(Chunk {
            uncompressed_size: u64::try_from(metadata.total_uncompressed_size).unwrap_or(0),
            pages: PageReaderOptions {
                chunk: byte_range(metadata, self.file_length)?,
                file_length: self.file_length,
                num_values,
                codec: metadata.codec,
                max_rep_level: plan.max_rep_level,
                max_def_level: plan.max_def_level,
                verify_crc: self.options.verify_crc,
                smallest_window: self.smallest_window(),
                allowance: Allowance::new(
                    &self.limits,
                    (metadata.type_, plan.leaf_type.type_length),
                    self.chunks_of_file,
                ),
                limits: self.limits.clone(),
            },
        })
    }
}

/// The column chunks of a row group, ready to be decoded.
///
/// A [`Column`] holds buffers, so make each when its turn comes and drop it when it
/// [has no more](Column::is_done).
pub struct OpenRowGroup {
    rows: WantedRows,
    chunks: Vec<(Arc<ColumnPlan>, Chunk)>,
    budget: Arc<Budget>,
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
    /// Whether a level is a row, so that page headers tell which rows a page has.
    pub is_flat: bool,
    /// What its pages may decompress to, if they are compressed.
    allowance: Option<Allowance>,
}

impl ChunkInPlan {
    /// Counts a page that carries values; whether all pages so far decompress to no more than their
    /// bytes and values account for.
    pub fn allows(&mut self, header: &PageHeader) -> bool {
        match (&mut self.allowance, num_values(header)) {
            (Some(allowance), Ok(values)) => allowance.spend(header, values).is_ok(),
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
    pub fn column(&self, ordinal: usize) -> Result<Box<Column>> {
        let (plan, chunk) = self
            .chunks
            .get(ordinal)
            .ok_or_else(|| Error::argument(format!("the read has no column {ordinal}")))?;
        self.make(plan, chunk.pages.clone())
    }

    fn make(&self, plan: &Arc<ColumnPlan>, chunk: PageReaderOptions) -> Result<Box<Column>> {
        Column::new(plan.clone(), &self.rows, chunk, self.budget.clone()).map(Box::new)
    }

    /// A part of a flat column: the rows from `rows.start`, a multiple of [`Self::batch_rows`], up to
    /// the next such multiple or the last row, beginning with the page that has the first of them. All
    /// pages of the chunk must be [allowed](ChunkInPlan::allows).
    ///
    /// # Errors
    /// As [`Self::column`].
    pub fn part(&self, ordinal: usize, rows: Range<u64>, start: PageStart) -> Result<Box<Column>> {
        let (plan, chunk) = self
            .chunks
            .get(ordinal)
            .ok_or_else(|| Error::argument(format!("the read has no column {ordinal}")))?;
        let mut pages = chunk.pages.clone();
        pages.allowance = pages.allowance.unlimited();
        let mut column = self.make(plan, pages)?;
        column.begin_with(rows, start);
        Ok(column)
    }

    /// The chunk of a column; none where the read has no such column.
    #[must_use]
    pub fn chunk(&self, ordinal: usize) -> Option<ChunkInPlan> {
        let (plan, chunk) = self.chunks.get(ordinal)?;
        Some(ChunkInPlan {
            range: chunk.pages.chunk.clone(),
            num_values: chunk.pages.num_values,
            uncompressed_size: chunk.uncompressed_size,
            is_flat: plan.max_rep_level == 0,
            allowance: (chunk.pages.codec != CompressionCodec::Uncompressed)
                .then(|| chunk.pages.allowance.clone()),
        })
    }

    /// Rows of the row group, if all of them are wanted.
    #[must_use]
    pub fn whole(&self) -> Option<u64> {
        (self.rows.ranges.as_ref() == [0..self.rows.num_rows]).then_some(self.rows.num_rows)
    }
}

/// What a column chunk's metadata says.
struct Chunk {
    uncompressed_size: u64,
    pages: PageReaderOptions,
}

/// The metadata of a column chunk that can be read here: in this file, and not encrypted.
///
/// # Errors
/// Unsupported where the chunk lies in another file or is encrypted.
pub fn plain_metadata(chunk: &ColumnChunkLayout) -> Result<&ColumnLayout> {
    if let Some(path) = &chunk.file_path {
        return Err(Error::unsupported(format!(
            "the column chunk lies in another file, `{path}`, which is not looked up"
        )));
    }
    match &chunk.meta_data {
        Some(metadata) if chunk.crypto_metadata.is_none() => Ok(metadata),
        _ => Err(Error::unsupported("the column chunk is encrypted")),
    }
}

/// Where a column chunk lies. Offsets of 0 stand for no dictionary page in files of old writers.
///
/// # Errors
/// Corrupt where it lies outside of a file of `file_length` bytes.
pub fn byte_range(metadata: &ColumnLayout, file_length: u64) -> Result<Range<u64>> {
    let data = metadata.data_page_offset;
    let start = match metadata.dictionary_page_offset {
        // Without data pages, the offset of the first one is 0 with some writers.
        Some(dictionary) if dictionary > 0 && (dictionary < data || data == 0) => dictionary,
        _ => data,
    };
    let length = metadata.total_compressed_size;
    let range = u64::try_from(start)
        .ok()
        .zip(u64::try_from(length).ok())
        .and_then(|(start, length)| Some(start..start.checked_add(length)?));
    range.filter(|range| range.end <= file_length).ok_or_else(|| {
        Error::corrupt(format!(
            "the column chunk at {start} with {length} bytes lies outside of the file, which has \
             {file_length}"
        ))
    })
}

/// How often the row group is read that is read most often.
fn repeats(row_groups: &[RowGroupPlan]) -> u64 {
    let mut ordinals: Vec<_> = row_groups.iter().map(RowGroupPlan::ordinal).collect();
    ordinals.sort_unstable();
    let runs = ordinals.chunk_by(|a, b| a == b).map(<[_]>::len);
    runs.max().unwrap_or(1) as u64
}

fn plan_row_groups(metadata: &FileMetadata, options: &ReadOptions) -> Result<Vec<RowGroupPlan>> {
    let wanted = options.row_ranges.clone().map(normalize);
    let mut starts = Vec::with_capacity(metadata.num_row_groups());
    let mut total = 0u64;
    for ordinal in 0..metadata.num_row_groups() {
        let num_rows = metadata.row_group_header(ordinal)?.num_rows;
        let next = u64::try_from(num_rows)
            .ok()
            .and_then(|rows| total.checked_add(rows));
        let next = next.ok_or_else(|| {
            Error::corrupt(format!("{num_rows} rows make no sense")).in_row_group(ordinal)
        })?;
        starts.push(total..next);
        total = next;
    }
    let ordinals = match &options.row_groups {
        Some(ordinals) => ordinals.clone(),
        None => (0..starts.len()).collect(),
    };
    let mut window = Window {
        offset: options.offset,
        left: options.limit.unwrap_or(u64::MAX),
    };
    let mut plans = Vec::new();
    for ordinal in ordinals {
        let rows = starts.get(ordinal).cloned().ok_or_else(|| {
            Error::argument(format!(
                "there is no row group {ordinal}, the file has {}",
                starts.len()
            ))
        })?;
        let ranges = match &wanted {
            Some(wanted) => within(wanted, &rows),
            None => vec![0..rows.end - rows.start],
        };
        let ranges = window.cut(ranges);
        let num_wanted = ranges.iter().map(|range| range.end - range.start).sum();
        if num_wanted > 0 {
            let num_rows = rows.end - rows.start;
            plans.push(RowGroupPlan {
                ordinal,
                num_rows,
                ranges: ranges.into(),
                num_wanted,
            });
        }
    }
    Ok(plans)
}

/// Sorted, disjoint and not empty.
fn normalize(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// The parts of normalized `ranges` within `rows`, counted from its start.
fn within(ranges: &[Range<u64>], rows: &Range<u64>) -> Vec<Range<u64>> {
    let first = ranges.partition_point(|range| range.end <= rows.start);
    ranges
        .iter()
        .skip(first)
        .take_while(|range| range.start < rows.end)
        .map(|range| range.start.max(rows.start) - rows.start..range.end.min(rows.end) - rows.start)
        .filter(|range| range.start < range.end)
        .collect()
}

/// Rows still to be passed over, and rows still to be read.
struct Window {
    offset: u64,
    left: u64,
}

impl Window {
    fn cut(&mut self, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
        let mut kept = Vec::with_capacity(ranges.len());
        for range in ranges {
            let rows = range.end - range.start;
            let passed = rows.min(self.offset);
            self.offset -= passed;
            let taken = (rows - passed).min(self.left);
            self.left -= taken;
            if taken > 0 {
                kept.push(range.start + passed..range.start + passed + taken);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_cut_to_row_groups() {
        let ranges = normalize(vec![7..9, 0..2, 5..5, 1..4, 8..12]);
        assert_eq!(ranges, [0..4, 7..12]);
        assert_eq!(within(&ranges, &(0..5)), [0..4]);
        assert_eq!(within(&ranges, &(3..8)), [0..1, 4..5]);
        assert_eq!(within(&ranges, &(4..7)), []);
        assert_eq!(within(&ranges, &(10..20)), [0..2]);
    }

    #[test]
    fn offset_and_limit_count_wanted_rows() {
        let mut window = Window { offset: 3, left: 4 };
        assert_eq!(window.cut(vec![0..2, 4..6]), [5..6]);
        assert_eq!(window.cut(vec![0..2, 8..20]), [0..2, 8..9]);
        assert_eq!(window.cut(vec![0..2]), []);
    }
}
