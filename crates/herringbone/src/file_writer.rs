//! The writer for record batches already in their storage types.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, FileMetadata, KeyValue, Limits, Result, RowGroup};
use herringbone_write::{
    EncodedColumn, FileEncoder, SortingCheck, UnsortedRows, WriteOptions, WritePlan,
};

use crate::allocator::{SEVERAL_THREADS, keep_memory};
use crate::column_encoder::{ColumnEncoder, EncodedChunk};
use crate::encoders::Encoders;
use crate::file::ParquetFile;
use crate::row_group_copy::{RowGroupCopy, check_copy};
use herringbone_sort::Sorter;

/// The allowed number of rows in a slice, that is, the rows passed to the columns at once.
const SLICE_ROWS: std::ops::RangeInclusive<usize> = 1024..=65_536;

/// The target size of a slice's arrays in bytes.
const SLICE_BYTES: usize = 16 << 20;

/// The divisor of the memory limit that bounds the size of a slice's arrays.
const SLICES_IN_MEMORY: usize = 16;

/// The number of bytes to read and write at once when copying column chunks.
const COPY_BYTES: u64 = 8 << 20;

/// The number of array bytes in a row group from which its columns' memory is worth retaining for
/// the next row group.
const KEEP_MEMORY_FROM: usize = 1 << 20;

/// A writer of record batches in their storage types. It must not be used after an error.
pub(crate) struct FileWriter<W: Write> {
    out: W,
    plan: Arc<WritePlan>,
    file: FileEncoder,
    encoders: Encoders,
    /// The number of rows in the open row group.
    rows: usize,
    /// The comparison of rows, if the options require one.
    sorting: Option<SortingCheck>,
    /// True if all rows compared so far in the open row group are sorted.
    is_sorted: bool,
    /// One flag per row group in flight, true if its rows are sorted.
    are_sorted: VecDeque<bool>,
    /// The sorter that rows pass through before being written, if the options ask for it.
    sorter: Option<Box<Sorter>>,
    /// The last batch's schema, already checked. Kept so that a batch sharing it can skip the
    /// check.
    checked: Option<SchemaRef>,
    /// The batch whose rows are being handed to the columns.
    batch: Option<OpenBatch>,
    /// The end to reach once the sorted rows and the open batch's rows are written.
    end: Option<End>,
    /// True once no more rows can follow.
    is_over: bool,
    /// The number of row groups allowed in flight until the next one ends.
    most_in_flight: usize,
}

/// The end of a row group's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    RowGroup,
    /// The end of the last row group, and so of the file.
    File,
}

/// A batch being split into slices. The columns might already have received its first rows.
struct OpenBatch {
    batch: RecordBatch,
    /// The average number of array bytes per row.
    row_bytes: usize,
    /// The number of rows already passed to the columns.
    rows_done: usize,
}

impl<W: Write> FileWriter<W> {
    /// Starts the file, with its path if it is known.
    pub(crate) fn new(
        mut out: W,
        path: Option<&Path>,
        schema: SchemaRef,
        options: &WriteOptions,
    ) -> Result<Self> {
        let plan = Arc::new(WritePlan::new(schema, options, path)?);
        let mut file = FileEncoder::new(plan.clone());
        out.write_all(&file.start())?;
        Ok(Self {
            out,
            encoders: Encoders::new(plan.clone(), 0)?,
            sorting: plan.sorting_check()?,
            sorter: Sorter::new(&plan, path)?.map(Box::new),
            is_sorted: true,
            are_sorted: VecDeque::new(),
            plan,
            file,
            rows: 0,
            checked: None,
            batch: None,
            end: None,
            is_over: false,
            most_in_flight: usize::MAX,
        })
    }

    /// Returns the differences between the file's schema and the schema in the options.
    pub(crate) fn warnings(&self) -> &[String] {
        self.plan.warnings()
    }

    /// Returns the leaves with keys that a reader of the footer might lack.
    pub(crate) fn hidden_leaves(&self) -> Vec<Vec<String>> {
        self.plan.hidden_leaves()
    }

    /// Returns the number of rows accepted so far.
    pub(crate) fn num_rows(&self) -> u64 {
        let waiting = self.sorter.as_ref().map_or(0, |sorter| sorter.num_rows());
        let open = self.batch.as_ref().map_or(0, OpenBatch::rows_left);
        self.file.num_rows() + self.encoders.rows_in_flight() + (self.rows + open) as u64 + waiting
    }

    /// Returns the number of bytes written to the output so far.
    pub(crate) fn bytes_written(&self) -> u64 {
        self.file.position()
    }

    /// Returns the complete row groups.
    pub(crate) fn row_groups(&self) -> &[RowGroup] {
        self.file.row_groups()
    }

    /// Returns the number of rows in the open row group.
    pub(crate) fn rows_in_progress(&self) -> usize {
        self.rows
    }

    pub(crate) fn get_ref(&self) -> &W {
        &self.out
    }

    pub(crate) fn get_mut(&mut self) -> &mut W {
        &mut self.out
    }

    /// Returns the number of buffered bytes.
    pub(crate) fn memory_size(&self) -> usize {
        let sorted = self.sorter.as_ref().map_or(0, |sorter| sorter.heap_bytes());
        self.encoders.heap_bytes() + self.file.heap_bytes() + sorted
    }

    /// Starts ending the row group, if it has rows. A sort then starts afresh.
    pub(crate) fn start_flush(&mut self) -> Result<()> {
        self.start_end(End::RowGroup)
    }

    /// Starts ending the last row group.
    pub(crate) fn start_finish(&mut self) -> Result<()> {
        self.start_end(End::File)
    }

    fn start_end(&mut self, end: End) -> Result<()> {
        self.run_steps()?;
        self.end = Some(end);
        Ok(())
    }

    /// Does one step of the started work, returning false if nothing is left to do.
    ///
    /// A step either passes a slice of rows to the columns or writes one encoded column.
    pub(crate) fn step(&mut self) -> Result<bool> {
        if self.write_due()? {
            return Ok(true);
        }
        if let Some(open) = self.batch.take() {
            return self.write_slice(open).map(|()| true);
        }
        let Some(end) = self.end else {
            return Ok(false);
        };
        let sorted = match &mut self.sorter {
            Some(sorter) => sorter.next_batch()?,
            None => None,
        };
        if let Some(batch) = sorted {
            return self.open_batch(batch).map(|()| true);
        }
        self.end = None;
        if let Some(sorting) = &mut self.sorting {
            sorting.restart();
        }
        self.end_row_group(end)?;
        // A caller ending a row group wants its memory back, or its bytes in the output, so we
        // can't leave any row group in flight.
        self.most_in_flight = 0;
        Ok(true)
    }

    /// Does the rest of the started work.
    pub(crate) fn run_steps(&mut self) -> Result<()> {
        while self.step()? {}
        Ok(())
    }

    /// Writes the buffered rows and the footer, with `key_values` added to the footer's key-value
    /// metadata. Returns the metadata and the output.
    pub(crate) fn finish(mut self, key_values: Vec<KeyValue>) -> Result<(FileMetadata, W)> {
        self.start_finish()?;
        self.run_steps()?;
        self.file.add_key_values(key_values);
        let end = self.file.finish()?;
        self.out.write_all(&end.bytes)?;
        // We wrote this metadata ourselves, so it's valid. But it might exceed a reader's default
        // limits, so we decode it with higher limits.
        let mut limits = Limits::default();
        limits.footer_bytes = u64::MAX;
        limits.schema_nodes = usize::MAX;
        limits.row_groups = usize::MAX;
        let metadata = FileMetadata::decode(end.metadata, 0, &limits)?;
        Ok((metadata, self.out))
    }

    /// Returns column encoders for the row group with this ordinal.
    pub(crate) fn column_encoders(&self, row_group: usize) -> Result<Vec<ColumnEncoder>> {
        ColumnEncoder::of_row_group(&self.plan, row_group)
    }

    /// Appends a row group of already encoded columns.
    pub(crate) fn append_row_group(&mut self, chunks: Vec<EncodedChunk>) -> Result<()> {
        self.begin_foreign_row_group()?;
        let ordinal = self.file.num_row_groups();
        let rows = EncodedChunk::check(&chunks, &self.plan, ordinal)?;
        let is_sorted = self.plan.is_encoded_sorted()?;
        for chunk in chunks {
            self.write_column(chunk.into_column())?;
        }
        self.end_foreign_row_group(rows, is_sorted)
    }

    /// Checks that a file's row groups can be copied.
    pub(crate) fn check_copy(&self, file: &ParquetFile) -> Result<()> {
        self.check_no_sorter()?;
        check_copy(file, &self.plan).map(drop)
    }

    /// Plans the copy of another file's row group.
    pub(crate) fn plan_copy(&self, file: &ParquetFile, row_group: usize) -> Result<RowGroupCopy> {
        self.check_no_sorter()?;
        RowGroupCopy::new(file, row_group, &self.plan)
    }

    /// Appends a row group of another file without decoding it.
    pub(crate) fn copy_row_group(&mut self, file: &ParquetFile, copy: RowGroupCopy) -> Result<()> {
        self.begin_foreign_row_group()?;
        for (chunk, range) in copy.chunks {
            self.file.copied_column(chunk)?;
            let mut at = range.start;
            while at < range.end {
                let end = range.end.min(at + COPY_BYTES);
                self.out.write_all(&file.source().read(at..end)?)?;
                at = end;
            }
        }
        self.end_foreign_row_group(copy.num_rows, copy.is_sorted)
    }

    /// Finishes everything buffered, before a row group not encoded by our own encoders.
    fn begin_foreign_row_group(&mut self) -> Result<()> {
        self.check_no_sorter()?;
        self.start_flush()?;
        self.run_steps()?;
        self.check_not_over()?;
        while self.encoders.in_flight() > 0 {
            self.write_next()?;
        }
        Ok(())
    }

    fn check_not_over(&self) -> Result<()> {
        match self.is_over {
            false => Ok(()),
            true => Err(Error::argument(
                "rows were added after `start_finish`: write them before it",
            )),
        }
    }

    fn check_no_sorter(&self) -> Result<()> {
        match &self.sorter {
            None => Ok(()),
            Some(_) => Err(Error::argument(
                "`sort_by` sorts the rows of batches; encoded row groups cannot be appended",
            )),
        }
    }

    fn end_foreign_row_group(&mut self, rows: u64, is_sorted: bool) -> Result<()> {
        let parts = self.file.end_row_group(rows, is_sorted)?;
        self.write_parts(&parts)?;
        // The new encoders need the right ordinal, since encrypted pages depend on their row
        // group's ordinal.
        self.encoders = Encoders::new(self.plan.clone(), self.file.num_row_groups())?;
        Ok(())
    }

    /// Starts appending a batch's rows.
    pub(crate) fn start_write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.run_steps()?;
        self.check_not_over()?;
        let schema = batch.schema_ref();
        if !self
            .checked
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, schema))
        {
            self.plan.check(schema)?;
            self.checked = Some(schema.clone());
        }
        match &mut self.sorter {
            Some(sorter) => sorter.push(batch),
            None => self.open_batch(batch.clone()),
        }
    }

    /// Starts writing rows in their given order.
    fn open_batch(&mut self, batch: RecordBatch) -> Result<()> {
        if let Some(sorting) = &mut self.sorting
            && self.plan.options().unsorted_rows == UnsortedRows::Error
        {
            sorting.check(&batch)?;
        }
        let rows = batch.num_rows();
        self.batch = (rows > 0).then(|| OpenBatch {
            row_bytes: batch.get_array_memory_size() / rows,
            batch,
            rows_done: 0,
        });
        Ok(())
    }

    /// Passes a batch's next slice to the columns.
    fn write_slice(&mut self, mut open: OpenBatch) -> Result<()> {
        let options = self.plan.options();
        let row_bytes = open.row_bytes;
        let slice_bytes = SLICE_BYTES.min(options.memory_bytes / SLICES_IN_MEMORY);
        let slice = (slice_bytes / row_bytes.max(1)).clamp(*SLICE_ROWS.start(), *SLICE_ROWS.end());
        let most = options.row_group_rows;
        let (at, n) = (
            open.rows_done,
            slice.min(most - self.rows).min(open.rows_left()),
        );
        self.compare(&open.batch, at..at + n)?;
        let is_large = self
            .encoders
            .write(&open.batch, at..at + n, n * row_bytes)?;
        self.rows += n;
        open.rows_done += n;
        self.batch = (open.rows_left() > 0).then_some(open);
        if self.plan.options().tune_allocator
            && self.rows.saturating_mul(row_bytes) >= KEEP_MEMORY_FROM
        {
            keep_memory(SEVERAL_THREADS);
        }
        match is_large || self.rows >= most {
            true => self.end_row_group(End::RowGroup),
            false => Ok(()),
        }
    }

    /// Compares the open row group's rows, if the options allow unsorted row groups to be written
    /// without a declared order.
    fn compare(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<()> {
        if let Some(sorting) = &mut self.sorting
            && self.plan.options().unsorted_rows == UnsortedRows::OmitSortingColumns
            && self.is_sorted
        {
            let rows = batch.slice(rows.start, rows.len());
            self.is_sorted = sorting.first_unsorted(&rows)?.is_none();
        }
        Ok(())
    }

    fn end_row_group(&mut self, end: End) -> Result<()> {
        let is_last = end == End::File;
        self.is_over |= is_last;
        if is_last {
            self.most_in_flight = 0;
        }
        if self.rows == 0 {
            return Ok(());
        }
        self.are_sorted
            .push_back(std::mem::replace(&mut self.is_sorted, true));
        if let Some(sorting) = &mut self.sorting
            && self.plan.options().unsorted_rows == UnsortedRows::OmitSortingColumns
        {
            sorting.restart();
        }
        let memory_is_short = self.encoders.heap_bytes() >= self.plan.options().memory_bytes / 2;
        self.encoders
            .end_row_group(std::mem::take(&mut self.rows) as u64, is_last)?;
        // Unless memory is short, one row group can still be encoding while the next one starts.
        self.most_in_flight = match memory_is_short || is_last {
            true => 0,
            false => self.encoders.most_in_flight(),
        };
        Ok(())
    }

    /// Writes a column or the end of a row group, if one is complete or too many row groups are in
    /// flight. Returns false if there is nothing to write yet.
    fn write_due(&mut self) -> Result<bool> {
        if self.encoders.in_flight() > self.most_in_flight || self.encoders.has_row_group() {
            return self.write_next().map(|()| true);
        }
        match self.encoders.complete_column() {
            Some(column) => self.write_column(column).map(|()| true),
            None => Ok(false),
        }
    }

    /// Waits for the next column of the oldest row group in flight and writes it. After the last
    /// column, this writes the row group's end instead.
    fn write_next(&mut self) -> Result<()> {
        if let Some(column) = self.encoders.next_column()? {
            return self.write_column(column);
        }
        let rows = self.encoders.pop_row_group()?;
        let is_sorted = self.are_sorted.pop_front().unwrap_or(true);
        let parts = self.file.end_row_group(rows, is_sorted)?;
        self.write_parts(&parts)
    }

    fn write_column(&mut self, column: EncodedColumn) -> Result<()> {
        let parts = self.file.column(column)?;
        self.write_parts(&parts)
    }

    fn write_parts(&mut self, parts: &[Bytes]) -> Result<()> {
        for part in parts {
            self.out.write_all(part)?;
        }
        Ok(())
    }
}

impl OpenBatch {
    fn rows_left(&self) -> usize {
        self.batch.num_rows() - self.rows_done
    }
}
