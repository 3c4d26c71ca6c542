//! The writer of record batches whose columns already have their storage types.

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

/// The smallest and the largest number of rows that the columns receive at once.
const SLICE_ROWS: std::ops::RangeInclusive<usize> = 1024..=65_536;

/// The approximate size in bytes of the arrays that the columns receive at once.
const SLICE_BYTES: usize = 16 << 20;

/// The divisor of the memory limit that bounds the arrays that the columns receive at once.
const SLICES_IN_MEMORY: usize = 16;

/// The number of bytes read and written at once when we copy column chunks.
const COPY_BYTES: u64 = 8 << 20;

/// The number of array bytes in a row group from which we retain its columns' memory for the next
/// row group.
const KEEP_MEMORY_FROM: usize = 1 << 20;

/// A writer of record batches in their storage types, which cannot be used after an error.
pub(crate) struct FileWriter<W: Write> {
    out: W,
    plan: Arc<WritePlan>,
    file: FileEncoder,
    encoders: Encoders,
    /// The number of rows in the open row group.
    rows: usize,
    /// The comparison of rows, if the options require one.
    sorting: Option<SortingCheck>,
    /// True if the open row group's rows that were compared so far are sorted.
    is_sorted: bool,
    /// One flag per row group in flight, true if its rows are sorted.
    are_sorted: VecDeque<bool>,
    /// The sorter that rows pass before they are written, if the options require it.
    sorter: Option<Box<Sorter>>,
    /// The schema of the last batch, which has passed the check. If the next batch shares it, we
    /// need not check it again.
    checked: Option<SchemaRef>,
    /// The batch whose rows are being handed to the columns.
    batch: Option<OpenBatch>,
    /// The end to reach after the sorted rows and the rows of the open batch.
    end: Option<End>,
    /// True if no more rows can follow.
    is_over: bool,
    /// The number of row groups that may be in flight until the next one ends.
    most_in_flight: usize,
}

/// The end of a row group's rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    RowGroup,
    /// The last row group ends, so no other one follows.
    File,
}

/// A batch whose first rows the columns may already have received.
struct OpenBatch {
    batch: RecordBatch,
    /// The average number of array bytes per row.
    row_bytes: usize,
    /// The number of rows that the columns have received.
    rows_done: usize,
}

impl<W: Write> FileWriter<W> {
    /// Starts the file, whose path may be known.
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

    /// Returns the leaves whose keys a reader of the footer may lack.
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

    /// Begins to end the row group, if it has rows. After it, a sort starts afresh.
    pub(crate) fn start_flush(&mut self) -> Result<()> {
        self.start_end(End::RowGroup)
    }

    /// Begins to end the last row group.
    pub(crate) fn start_finish(&mut self) -> Result<()> {
        self.start_end(End::File)
    }

    fn start_end(&mut self, end: End) -> Result<()> {
        self.run_steps()?;
        self.end = Some(end);
        Ok(())
    }

    /// Does a part of the started work, and returns false if nothing is left to do.
    ///
    /// Such a part either hands a slice of rows to the columns, or writes one encoded column.
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
        // A caller that ends a row group wants its memory back, or its bytes in the output, so no
        // row group may stay in flight.
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
        // We wrote this metadata, so it is valid. But it may exceed a reader's default limits, so
        // we decode it with higher ones.
        let mut limits = Limits::default();
        limits.footer_bytes = u64::MAX;
        limits.schema_nodes = usize::MAX;
        limits.row_groups = usize::MAX;
        let metadata = FileMetadata::decode(end.metadata, 0, &limits)?;
        Ok((metadata, self.out))
    }

    /// Returns the column encoders of the row group with this ordinal.
    pub(crate) fn column_encoders(&self, row_group: usize) -> Result<Vec<ColumnEncoder>> {
        ColumnEncoder::of_row_group(&self.plan, row_group)
    }

    /// Appends a row group of encoded columns after the rows written so far.
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

    /// Writes all that precedes a row group that our encoders do not encode.
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
        // The new encoders need the right ordinal, because encrypted pages depend on the ordinal of
        // their row group.
        self.encoders = Encoders::new(self.plan.clone(), self.file.num_row_groups())?;
        Ok(())
    }

    /// Begins to append a batch's rows.
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

    /// Begins to write rows in their given order.
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

    /// Hands a batch's next rows to the columns.
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

    /// Compares rows of the open row group if the options let unsorted row groups be written
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
        // Unless memory is short, one row group may still be encoding while the next one starts.
        self.most_in_flight = match memory_is_short || is_last {
            true => 0,
            false => self.encoders.most_in_flight(),
        };
        Ok(())
    }

    /// Writes a column or the end of a row group, if one is complete or if the writer must wait for
    /// one. Returns false if there is neither.
    fn write_due(&mut self) -> Result<bool> {
        if self.encoders.in_flight() > self.most_in_flight || self.encoders.has_row_group() {
            return self.write_next().map(|()| true);
        }
        match self.encoders.complete_column() {
            Some(column) => self.write_column(column).map(|()| true),
            None => Ok(false),
        }
    }

    /// Waits for the next column of the oldest row group in flight, and writes it. After the last
    /// column, this function writes the end of the row group instead.
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
