//! Record batches into a file.

use std::collections::VecDeque;
use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_core::write::{
    EncodedColumn, FileEncoder, SortingCheck, UnsortedRows, WriteOptions, WritePlan,
};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{Error, FileMetadata, Limits, Result};

use crate::encoders::Encoders;
use crate::target::FileTarget;

/// Rows that are handed to the columns at once, at most and at least.
const SLICE_ROWS: std::ops::RangeInclusive<usize> = 1024..=65_536;

/// Bytes of arrays that are handed to the columns at once, roughly,
const SLICE_BYTES: usize = 16 << 20;

/// and which part of the memory they are, at most.
const SLICES_IN_MEMORY: usize = 16;

/// Writes record batches to a file, or to anything that takes bytes.
///
/// What is written becomes a Parquet file with [`finish`](Self::finish). A writer that is dropped
/// before, or that failed, leaves bytes without a footer, which nobody takes for a file; where it was
/// made by [`create`](crate::create), it leaves nothing.
///
/// The bytes depend on the rows and on the options, not on the number of threads.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::{WriteOptions, Writer};
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::default())?;
/// writer.write(&batch)?;
/// let metadata = writer.finish()?;
/// assert_eq!(metadata.num_rows(), 3);
/// assert_eq!(herringbone::ParquetFile::from_bytes(file)?.metadata().num_rows(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Writer<W: Write> {
    out: W,
    commit: fn(W) -> std::io::Result<()>,
    plan: Arc<WritePlan>,
    file: FileEncoder,
    encoders: Encoders,
    /// Rows of the row group under construction.
    rows: usize,
    /// Compares rows, if the options ask for it.
    sorting: Option<SortingCheck>,
    /// Whether the rows of the row group under construction are sorted, as far as they are compared.
    is_sorted: bool,
    /// The same of the row groups in flight.
    are_sorted: VecDeque<bool>,
    /// The schema of the last batch, which needs no further look.
    checked: Option<SchemaRef>,
    failed: bool,
}

impl<W: Write> Writer<W> {
    /// Writes to `out`, which needs no buffer of its own: bytes come in large parts.
    ///
    /// # Errors
    /// Unsupported where a type of the schema has no form in Parquet, Argument where options make no
    /// sense, Io where `out` does not take bytes.
    pub fn new(out: W, schema: SchemaRef, options: WriteOptions) -> Result<Self> {
        Self::with_commit(out, None, schema, &options, |mut out| out.flush())
    }

    pub(crate) fn with_commit(
        mut out: W,
        path: Option<&Path>,
        schema: SchemaRef,
        options: &WriteOptions,
        commit: fn(W) -> std::io::Result<()>,
    ) -> Result<Self> {
        let plan = Arc::new(WritePlan::new(schema, options, path)?);
        let mut file = FileEncoder::new(plan.clone());
        out.write_all(&file.start())?;
        Ok(Self {
            out,
            commit,
            encoders: Encoders::new(plan.clone())?,
            sorting: plan.sorting_check()?,
            is_sorted: true,
            are_sorted: VecDeque::new(),
            plan,
            file,
            rows: 0,
            checked: None,
            failed: false,
        })
    }

    /// The schema that batches have to have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.plan.schema()
    }

    /// Where the schema of the file is not as [`WriteOptions::parquet_schema`] has it.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.plan.warnings()
    }

    /// Rows taken so far.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.file.num_rows() + self.encoders.rows_in_flight() + self.rows as u64
    }

    /// Bytes given to the output so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.file.position()
    }

    /// Bytes held: pages of the row group under construction, dictionaries, what waits to be written,
    /// and the footer. Batches that columns still work on are not counted: they are the caller's.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.encoders.heap_bytes() + self.file.heap_bytes()
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// Argument where the batch does not have the schema, or holds a value that cannot be kept: what
    /// is wrong then has its column and row. A decimal with more digits than its type's precision is
    /// such a value, though Arrow does not mind it. Io where the output does not take bytes. The file cannot be finished then.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guard(|writer| writer.write_batch(batch))
    }

    /// Ends the row group, if it has rows.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.guard(|writer| {
            if let Some(sorting) = &mut writer.sorting {
                sorting.restart();
            }
            writer.end_row_group()
        })
    }

    /// Writes what is left and the footer; what is returned is what the footer says.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(mut self) -> Result<FileMetadata> {
        self.guard(|writer| {
            writer.end_row_group()?;
            while writer.encoders.in_flight() > 0 {
                writer.write_row_group()?;
            }
            Ok(())
        })?;
        let (bytes, parts) = self.file.finish()?;
        self.out.write_all(&bytes)?;
        (self.commit)(self.out)?;
        let mut metadata = CompactWriter::new();
        parts.encode(&mut metadata);
        // What was just written is within the limits of the format, if not within the reader's.
        let mut limits = Limits::default();
        limits.footer_bytes = u64::MAX;
        limits.schema_nodes = usize::MAX;
        limits.row_groups = usize::MAX;
        FileMetadata::decode(Bytes::from(metadata.finish()), 0, &limits)
    }

    /// Runs `step` unless an earlier one failed.
    fn guard(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.failed {
            return Err(Error::argument(
                "the writer failed before; its file cannot be finished",
            ));
        }
        self.failed = true;
        step(self)?;
        self.failed = false;
        Ok(())
    }

    fn write_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema_ref();
        if !self
            .checked
            .as_ref()
            .is_some_and(|known| Arc::ptr_eq(known, schema))
        {
            self.plan.check(schema)?;
            self.checked = Some(schema.clone());
        }
        let options = self.plan.options();
        if let Some(sorting) = &mut self.sorting
            && options.unsorted_rows == UnsortedRows::Error
        {
            sorting.check(batch)?;
        }
        let rows = batch.num_rows();
        let row_bytes = batch.get_array_memory_size() / rows.max(1);
        let slice_bytes = SLICE_BYTES.min(options.memory_bytes / SLICES_IN_MEMORY);
        let slice = (slice_bytes / row_bytes.max(1)).clamp(*SLICE_ROWS.start(), *SLICE_ROWS.end());
        let most = options.row_group_rows;
        let mut at = 0;
        while at < rows {
            let n = slice.min(most - self.rows).min(rows - at);
            self.compare(batch, at..at + n)?;
            let is_large = self.encoders.write(batch, at..at + n, n * row_bytes)?;
            self.rows += n;
            at += n;
            if is_large || self.rows >= most {
                self.end_row_group()?;
            }
            while self.encoders.has_row_group() {
                self.write_row_group()?;
            }
        }
        Ok(())
    }

    /// Compares rows of the row group under construction, where only sorted ones are declared so.
    fn compare(&mut self, batch: &RecordBatch, rows: Range<usize>) -> Result<()> {
        if let Some(sorting) = &mut self.sorting
            && self.plan.options().unsorted_rows == UnsortedRows::Undeclared
            && self.is_sorted
        {
            let rows = batch.slice(rows.start, rows.len());
            self.is_sorted = sorting.first_unsorted(&rows)?.is_none();
        }
        Ok(())
    }

    fn end_row_group(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.are_sorted
            .push_back(std::mem::replace(&mut self.is_sorted, true));
        if let Some(sorting) = &mut self.sorting
            && self.plan.options().unsorted_rows == UnsortedRows::Undeclared
        {
            sorting.restart();
        }
        let memory_is_short = self.encoders.heap_bytes() >= self.plan.options().memory_bytes / 2;
        self.encoders
            .end_row_group(std::mem::take(&mut self.rows) as u64)?;
        // A row group may still be encoded while the next one begins.
        let most = if memory_is_short {
            0
        } else {
            self.encoders.most_in_flight()
        };
        while self.encoders.in_flight() > most {
            self.write_row_group()?;
        }
        Ok(())
    }

    /// Writes the oldest row group in flight.
    fn write_row_group(&mut self) -> Result<()> {
        let (rows, columns): (u64, Vec<EncodedColumn>) = self.encoders.next_row_group()?;
        let is_sorted = self.are_sorted.pop_front().unwrap_or(true);
        if columns.is_empty() {
            return self.file.rows_without_columns(rows);
        }
        let parts = match is_sorted {
            true => self.file.row_group(columns)?,
            false => self.file.unsorted_row_group(columns)?,
        };
        for part in parts {
            self.out.write_all(&part)?;
        }
        Ok(())
    }
}

/// Writes to a file, which appears under its name when the writer is finished.
pub(crate) fn create(
    path: &Path,
    schema: SchemaRef,
    options: &WriteOptions,
) -> Result<Writer<FileTarget>> {
    let target = FileTarget::create(path)?;
    Writer::with_commit(target, Some(path), schema, options, FileTarget::commit)
}
