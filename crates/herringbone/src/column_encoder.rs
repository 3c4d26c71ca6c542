//! Column encoding on the caller's own threads.

use std::fmt;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result};
use herringbone_write::{BlockMemory, ChunkPages, ColumnWriter, EncodedColumn, WritePlan};

/// An encoder for one column chunk. Use this if you want to encode columns on your own threads.
///
/// [`Writer::column_encoders`](crate::Writer::column_encoders) returns one encoder for each leaf of
/// the schema. Pass all of the row group's batches to each encoder, then the finished chunks to
/// [`Writer::append_row_group`](crate::Writer::append_row_group).
///
/// ```
/// use std::sync::Arc;
/// use std::thread;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{ColumnEncoder, WriteOptions, Writer};
///
/// let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("a", numbers.clone()), ("b", numbers)])?;
/// let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new())?;
///
/// let encode = |mut encoder: ColumnEncoder| {
///     encoder.write(&batch)?;
///     encoder.finish()
/// };
/// let encoders = writer.column_encoders(0)?;
/// let chunks = thread::scope(|scope| {
///     let tasks = encoders.into_iter().map(|encoder| scope.spawn(move || encode(encoder)));
///     let tasks: Vec<_> = tasks.collect();
///     tasks.into_iter().map(|task| task.join().unwrap()).collect::<herringbone::Result<Vec<_>>>()
/// })?;
/// writer.append_row_group(chunks)?;
/// let (metadata, file) = writer.finish_into()?;
/// assert_eq!(metadata.num_rows(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ColumnEncoder {
    plan: Arc<WritePlan>,
    place: ChunkId,
    /// The ordinal of the top-level field containing the column.
    field: usize,
    writer: ColumnWriter,
    pages: ChunkPages,
    memory: BlockMemory,
    /// True after an error, because the chunk might then contain only part of a batch.
    failed: bool,
}

/// A column chunk's place in the file, used to check that finished chunks form one row group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChunkId {
    row_group: usize,
    leaf: usize,
}

/// A column chunk encoded by a [`ColumnEncoder`].
pub struct EncodedChunk {
    plan: Arc<WritePlan>,
    place: ChunkId,
    column: EncodedColumn,
}

impl ColumnEncoder {
    pub(crate) fn of_row_group(plan: &Arc<WritePlan>, row_group: usize) -> Result<Vec<Self>> {
        let columns = (0..plan.num_columns()).map(|leaf| {
            Ok(Self {
                plan: plan.clone(),
                place: ChunkId { row_group, leaf },
                field: plan.field_of(leaf).unwrap_or(usize::MAX),
                writer: plan.column_writer(leaf, row_group, None)?,
                pages: ChunkPages::default(),
                memory: BlockMemory::default(),
                failed: false,
            })
        });
        columns.collect()
    }

    /// Returns the column's ordinal among the leaves of the schema.
    #[must_use]
    pub fn leaf(&self) -> usize {
        self.place.leaf
    }

    /// Returns the number of buffered bytes.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.writer.heap_bytes() + self.pages.heap_bytes()
    }

    /// Returns the approximate number of bytes that the column chunk would take in the file if it
    /// ended now.
    #[must_use]
    pub fn estimated_bytes(&self) -> usize {
        self.writer.estimated_bytes() + self.pages.bytes()
    }

    /// Appends this column's values from a batch of the writer's schema.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the batch does not have the schema, or
    /// contains a value that cannot be stored. The encoder cannot be finished after an error.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.plan.check(batch.schema_ref())?;
        let array = batch.columns().get(self.field);
        let array = array.ok_or_else(|| Error::argument("the batch has fewer columns"))?;
        let rows = 0..batch.num_rows();
        let was_failed = std::mem::replace(&mut self.failed, true);
        self.writer
            .write(array, rows, &mut self.memory, &mut self.pages)?;
        self.failed = was_failed;
        Ok(())
    }

    /// Ends the column chunk.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if an earlier call failed, and with
    /// [Limit](crate::ErrorKind::Limit) if a page is too large for the format.
    pub fn finish(mut self) -> Result<EncodedChunk> {
        if self.failed {
            return Err(Error::argument(
                "the column encoder failed before; its chunk cannot be finished",
            ));
        }
        let ended = self.writer.finish(&mut self.pages)?;
        Ok(EncodedChunk {
            plan: self.plan,
            place: self.place,
            column: ended.with_pages(self.pages)?,
        })
    }
}

impl EncodedChunk {
    /// Returns the column chunk's row count.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.column.num_rows()
    }

    /// Returns the number of buffered bytes.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.column.heap_bytes()
    }

    /// Checks that these chunks are all columns of a single row group, returning its row count.
    pub(crate) fn check(chunks: &[Self], plan: &Arc<WritePlan>, row_group: usize) -> Result<u64> {
        if chunks.len() != plan.num_columns() {
            return Err(Error::argument(format!(
                "the row group has {} column chunks, and the schema {} leaves",
                chunks.len(),
                plan.num_columns()
            )));
        }
        let rows = chunks.first().map_or(0, Self::num_rows);
        for (leaf, chunk) in chunks.iter().enumerate() {
            let place = ChunkId { row_group, leaf };
            if !Arc::ptr_eq(&chunk.plan, plan) || chunk.place.leaf != leaf {
                return Err(Error::argument(format!(
                    "column chunk {leaf} was encoded for another writer or another leaf"
                )));
            }
            // The row group's ordinal only matters for encryption, since encrypted pages depend on
            // it.
            if chunk.place != place && plan.is_encrypted() {
                return Err(Error::argument(format!(
                    "the column chunks were encoded for row group {} of an encrypted file, and \
                     this is row group {row_group}",
                    chunk.place.row_group
                )));
            }
            if chunk.num_rows() != rows {
                return Err(Error::argument(format!(
                    "column chunk {leaf} has {} rows, and the first one has {rows}",
                    chunk.num_rows()
                )));
            }
        }
        Ok(rows)
    }

    pub(crate) fn into_column(self) -> EncodedColumn {
        self.column
    }
}

impl fmt::Debug for ColumnEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnEncoder")
            .field("place", &self.place)
            .field("memory_size", &self.memory_size())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EncodedChunk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncodedChunk")
            .field("place", &self.place)
            .field("num_rows", &self.num_rows())
            .finish_non_exhaustive()
    }
}
