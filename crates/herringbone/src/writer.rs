//! The writer of record batches, including the conversion of extension types to their storage.

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use herringbone_arrow::array::{RecordBatch, RecordBatchWriter};
use herringbone_arrow::schema::{ArrowError, SchemaRef};
use herringbone_format::{Error, FileMetadata, KeyValue, Result, RowGroup};
use herringbone_write::{StorageBatches, WriteOptions};

use crate::column_encoder::{ColumnEncoder, EncodedChunk};
use crate::file::ParquetFile;
use crate::file_target::FileTarget;
use crate::file_writer::FileWriter;
use crate::write_steps::WriteSteps;

/// A writer of record batches to a file or any other [`Write`].
///
/// The output only becomes a Parquet file when you call [`finish`](Self::finish). If the writer
/// fails or is dropped before that, the output has no footer, so readers reject it. A writer that
/// [`create`](crate::create) made leaves no file in this case.
///
/// The output depends on the rows and the options, but never on the number of threads.
///
/// If an [extension type](herringbone_core::extension::ExtensionType) in the options chooses its
/// own storage, the file starts only with the first batch that has rows, because the type chooses
/// by the values. Errors in the file's schema are also reported only then.
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
    schema: SchemaRef,
    /// The conversion to storage types, if an extension type chooses its own storage.
    storage: Option<StorageBatches>,
    stage: Stage<W>,
    /// Footer pairs added after the writer was created.
    key_values: Vec<KeyValue>,
    /// The function to call with the output once its last byte is written.
    commit: fn(W) -> std::io::Result<()>,
    failed: bool,
}

impl<W: Write> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("schema", &self.schema)
            .field("rows", &self.num_rows())
            .field("bytes_written", &self.bytes_written())
            .finish_non_exhaustive()
    }
}

enum Stage<W: Write> {
    /// The file isn't started yet, because the storage depends on the first batch with rows.
    Waiting(Box<Unopened<W>>),
    Open(Box<FileWriter<W>>),
    /// The file could not be started.
    Failed,
}

/// Everything needed to start the file later.
struct Unopened<W> {
    out: W,
    path: Option<PathBuf>,
    options: WriteOptions,
}

impl<W: Write> Writer<W> {
    /// Starts a file in `out`. There is no need to buffer it, because the writer writes in large
    /// pieces.
    ///
    /// # Errors
    /// Fails with [Unsupported](crate::ErrorKind::Unsupported) if Parquet cannot represent one of
    /// the schema's types, with [Argument](crate::ErrorKind::Argument) if the options are invalid
    /// or contradict each other, and with [Io](crate::ErrorKind::Io) if `out` returns an error.
    pub fn new(out: W, schema: SchemaRef, options: WriteOptions) -> Result<Self> {
        Self::with_path(out, None, schema, options)
    }

    /// Starts a file in `out`, which will end up at the given path. The path matters because keys
    /// can depend on it, and because a sort puts its temporary files next to it.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::new`].
    pub fn with_path(
        out: W,
        path: Option<&Path>,
        schema: SchemaRef,
        options: WriteOptions,
    ) -> Result<Self> {
        Self::with_commit(out, path, schema, &options, |mut out| out.flush())
    }

    pub(crate) fn with_commit(
        out: W,
        path: Option<&Path>,
        schema: SchemaRef,
        options: &WriteOptions,
        commit: fn(W) -> std::io::Result<()>,
    ) -> Result<Self> {
        let storage = StorageBatches::new(&schema, options)?;
        let stage = if storage.is_some() {
            let (options, path) = (options.clone(), path.map(Path::to_path_buf));
            Stage::Waiting(Box::new(Unopened { out, path, options }))
        } else {
            let file = FileWriter::new(out, path, schema.clone(), options)?;
            Stage::Open(Box::new(file))
        };
        Ok(Self {
            schema,
            storage,
            stage,
            key_values: Vec::new(),
            commit,
            failed: false,
        })
    }

    /// Returns the schema that all batches must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the differences between the file's schema and [`WriteOptions::parquet_schema`].
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.file().map_or(&[], FileWriter::warnings)
    }

    /// Returns the number of rows written so far, including buffered rows.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.file().map_or(0, FileWriter::num_rows)
    }

    /// Returns the number of bytes written to the output so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.file().map_or(0, FileWriter::bytes_written)
    }

    /// Returns the number of buffered bytes: the open row group's pages and dictionaries, data
    /// waiting to be written, and the footer. Batches still being encoded are not counted, because
    /// they belong to the caller.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.file().map_or(0, FileWriter::memory_size)
    }

    /// Returns the complete row groups. Their bytes are already in the output, or about to be.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroup] {
        self.file().map_or(&[], FileWriter::row_groups)
    }

    /// Returns the number of rows in the open row group.
    #[must_use]
    pub fn rows_in_progress(&self) -> usize {
        self.file().map_or(0, FileWriter::rows_in_progress)
    }

    /// Returns the output, or `None` if the file could not be started.
    #[must_use]
    pub fn get_ref(&self) -> Option<&W> {
        match &self.stage {
            Stage::Waiting(unopened) => Some(&unopened.out),
            Stage::Open(file) => Some(file.get_ref()),
            Stage::Failed => None,
        }
    }

    /// Returns the output, or `None` if the file could not be started. Write nothing to it: your
    /// bytes would become part of the file, and damage it.
    #[must_use]
    pub fn get_mut(&mut self) -> Option<&mut W> {
        match &mut self.stage {
            Stage::Waiting(unopened) => Some(&mut unopened.out),
            Stage::Open(file) => Some(file.get_mut()),
            Stage::Failed => None,
        }
    }

    /// Adds a pair to the footer's key-value metadata. If there is an earlier pair with this key,
    /// the new one replaces it.
    ///
    /// ```
    /// # use herringbone::{WriteOptions, Writer};
    /// # use herringbone::arrow::schema::Schema;
    /// let schema = std::sync::Arc::new(Schema::empty());
    /// let mut writer = Writer::new(Vec::new(), schema, WriteOptions::new())?;
    /// writer.add_key_value(("batch", "17"));
    /// let metadata = writer.finish()?;
    /// assert!(metadata.key_value_metadata().iter().any(|it| it.key == "batch"));
    /// # Ok::<(), herringbone::Error>(())
    /// ```
    pub fn add_key_value(&mut self, pair: impl Into<KeyValue>) {
        let pair = pair.into();
        self.key_values
            .retain(|key_value| key_value.key != pair.key);
        self.key_values.push(pair);
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the batch does not have the writer's
    /// schema, or if it contains a value that cannot be stored. In the second case, the error has
    /// the value's column and row. Decimals with more digits than their type's precision are such
    /// values, although Arrow accepts them, but
    /// [`allow_out_of_range`](WriteOptions::allow_out_of_range) lets you write them. Fails with
    /// [Io](crate::ErrorKind::Io) if the output returns an error. After an error, the file cannot
    /// be finished.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.start_write(batch)?;
        self.run_steps()
    }

    /// Ends the row group, if it has rows. If you [sort](WriteOptions::sort_by), the rows buffered
    /// for it are written first.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.start_flush()?;
        self.run_steps()
    }

    fn run_steps(&mut self) -> Result<()> {
        while self.step()? {}
        Ok(())
    }

    /// Returns encoders for a row group's columns, one for each leaf of the schema, so that you can
    /// encode the columns on your own threads. The row group's ordinal matters only if the file is
    /// encrypted.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if an [extension
    /// type](herringbone_core::extension::ExtensionType) in the options chooses its own storage.
    pub fn column_encoders(&mut self, row_group: usize) -> Result<Vec<ColumnEncoder>> {
        self.check_no_storage()?;
        match &self.stage {
            Stage::Open(file) => file.column_encoders(row_group),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        }
    }

    /// Ends the open row group and appends one with the columns encoded by
    /// [`column_encoders`](Self::column_encoders). Pass the columns in leaf order.
    ///
    /// Since this function cannot compare the rows, the row group declares the
    /// [sorting columns](WriteOptions::sorting_columns) only if rows are
    /// [unchecked](crate::UnsortedRows::Unchecked).
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the chunks do not form one row group of
    /// this writer, or if rows must be sorted. Fails with [Io](crate::ErrorKind::Io) if the output
    /// returns an error. After an error, the file cannot be finished.
    pub fn append_row_group(&mut self, chunks: Vec<EncodedChunk>) -> Result<()> {
        self.check_no_storage()?;
        self.guard(|writer| match &mut writer.stage {
            Stage::Open(file) => file.append_row_group(chunks),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        })
    }

    /// Checks that [`copy_row_group`](Self::copy_row_group) can copy a file's row groups.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if it cannot. The error has the reason.
    pub fn check_copy(&self, file: &ParquetFile) -> Result<()> {
        self.check_no_storage()?;
        match &self.stage {
            Stage::Open(writer) => writer.check_copy(file),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        }
    }

    /// Ends the open row group and appends one from another file without decoding it. Its pages,
    /// page indexes and bloom filters keep their encodings and compression. Columns that only the
    /// other file has are left out.
    ///
    /// The page headers are still read, to compare their value counts with the metadata. Bounds are
    /// dropped if the two files declare a different order for them.
    ///
    /// ```
    /// use herringbone::{ParquetFile, WriteOptions, Writer};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let file = ParquetFile::open("testdata/example.parquet")?;
    /// let schema = file.arrow_schema(&Default::default())?;
    /// // Columns are stored as in the other file.
    /// let mut options = WriteOptions::new();
    /// options.schema.parquet_schema = Some(file.parquet_schema().clone());
    /// let mut writer = Writer::new(Vec::new(), schema, options)?;
    /// for _ in 0..2 {
    ///     for row_group in 0..file.metadata().num_row_groups() {
    ///         writer.copy_row_group(&file, row_group)?;
    ///     }
    /// }
    /// assert_eq!(writer.finish()?.num_rows(), 2 * file.metadata().num_rows());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such row group, or if it
    /// cannot be copied because one of the files is encrypted, because a column is missing or has
    /// another type, or because rows must be sorted and are not. You can continue the file after
    /// these errors. Fails with [Corrupt](crate::ErrorKind::Corrupt) if the pages contradict the
    /// metadata, and with [Io](crate::ErrorKind::Io) if the output or the source returns an error.
    pub fn copy_row_group(&mut self, file: &ParquetFile, row_group: usize) -> Result<()> {
        self.check_no_storage()?;
        let copy = match self.file() {
            Some(writer) => writer.plan_copy(file, row_group)?,
            None => return Err(failed_before()),
        };
        self.guard(|writer| match &mut writer.stage {
            Stage::Open(writer) => writer.copy_row_group(file, copy),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        })
    }

    fn check_no_storage(&self) -> Result<()> {
        match &self.storage {
            None => Ok(()),
            Some(_) => Err(Error::argument(
                "an extension type chooses its own storage, which takes batches: use `write`",
            )),
        }
    }

    /// Writes the buffered rows and the footer, and returns the footer's metadata.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub fn finish(self) -> Result<FileMetadata> {
        let commit = self.commit;
        let (metadata, out) = self.finish_into()?;
        commit(out)?;
        Ok(metadata)
    }

    /// Writes the buffered rows and the footer, returning the footer's metadata and the unflushed
    /// output. If the output is a [`FileTarget`], it appears under its name only when you
    /// [commit](FileTarget::commit) it.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::write`].
    pub fn finish_into(mut self) -> Result<(FileMetadata, W)> {
        self.start_finish()?;
        self.run_steps()?;
        let hidden = self.file().map(FileWriter::hidden_leaves);
        let mut key_values = match &mut self.storage {
            Some(storage) => {
                storage.hide(&hidden.unwrap_or_default());
                storage.key_values()?
            }
            None => Vec::new(),
        };
        key_values.append(&mut self.key_values);
        match self.stage {
            Stage::Open(file) => file.finish(key_values),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        }
    }

    /// Runs `step`, unless an earlier step failed.
    fn guard<T>(&mut self, step: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.failed {
            return Err(failed_before());
        }
        self.failed = true;
        let done = step(self)?;
        self.failed = false;
        Ok(done)
    }

    fn start_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(storage) = &self.storage else {
            return self.open(batch)?.start_write(batch);
        };
        if batch.num_rows() == 0 {
            // An empty batch has no values to choose a storage by, so we wait for the next batch.
            return storage.check(batch);
        }
        self.open(batch)?;
        let stored = match &mut self.storage {
            Some(storage) => storage.storage(batch)?,
            None => batch.clone(),
        };
        self.open(batch)?.start_write(&stored)
    }

    /// Returns the file, starting it if necessary, with the storage that the extension types choose
    /// for this batch.
    fn open(&mut self, first: &RecordBatch) -> Result<&mut FileWriter<W>> {
        if let Stage::Waiting(_) = self.stage
            && let Some(storage) = &mut self.storage
        {
            let schema = storage.choose(first)?;
            let stage = std::mem::replace(&mut self.stage, Stage::Failed);
            if let Stage::Waiting(unopened) = stage {
                let Unopened { out, path, options } = *unopened;
                let options = storage.options(&options);
                let file = FileWriter::new(out, path.as_deref(), schema, &options)?;
                self.stage = Stage::Open(Box::new(file));
            }
        }
        match &mut self.stage {
            Stage::Open(file) => Ok(file),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        }
    }

    fn file(&self) -> Option<&FileWriter<W>> {
        match &self.stage {
            Stage::Open(file) => Some(file),
            Stage::Waiting(_) | Stage::Failed => None,
        }
    }
}

impl<W: Write> WriteSteps for Writer<W> {
    fn start_write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guard(|writer| writer.start_batch(batch))
    }

    fn start_flush(&mut self) -> Result<()> {
        self.guard(|writer| match &mut writer.stage {
            Stage::Open(file) => file.start_flush(),
            Stage::Waiting(_) | Stage::Failed => Ok(()),
        })
    }

    fn start_finish(&mut self) -> Result<()> {
        self.guard(|writer| {
            let empty = RecordBatch::new_empty(writer.schema.clone());
            writer.open(&empty)?.start_finish()
        })
    }

    fn step(&mut self) -> Result<bool> {
        self.guard(|writer| match &mut writer.stage {
            Stage::Open(file) => file.step(),
            Stage::Waiting(_) | Stage::Failed => Ok(false),
        })
    }
}

impl<W: Write> RecordBatchWriter for Writer<W> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        Self::write(self, batch).map_err(ArrowError::from)
    }

    fn close(self) -> Result<(), ArrowError> {
        self.finish().map(drop).map_err(ArrowError::from)
    }
}

#[cold]
fn failed_before() -> Error {
    Error::argument("the writer failed earlier, so its file cannot be finished")
}

/// Creates a writer to a file that only appears under its name once the writer is finished.
pub(crate) fn create(
    path: &Path,
    schema: SchemaRef,
    options: &WriteOptions,
) -> Result<Writer<FileTarget>> {
    let target = FileTarget::create(path)?;
    Writer::with_commit(target, Some(path), schema, options, FileTarget::commit)
}
