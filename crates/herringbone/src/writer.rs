//! The writer of record batches, and the storage of extension types in front of it.

use std::io::Write;
use std::path::{Path, PathBuf};

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, FileMetadata, Result};
use herringbone_write::{StorageBatches, WriteOptions};

use crate::file_writer::FileWriter;
use crate::target::FileTarget;

/// Writes record batches to a file, or to anything that takes bytes.
///
/// What is written becomes a Parquet file with [`finish`](Self::finish). A writer that is dropped
/// before, or that failed, leaves bytes without a footer, which nobody takes for a file; where it was
/// made by [`create`](crate::create), it leaves nothing.
///
/// The bytes depend on the rows and on the options, not on the number of threads.
///
/// Where an [extension type](herringbone_core::extension::ExtensionType) of the options chooses how it is
/// stored, the file begins with the first batch that has rows; what is wrong with its schema comes out then.
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
    /// Where an extension type has a storage of its own.
    storage: Option<StorageBatches>,
    stage: Stage<W>,
    failed: bool,
}

enum Stage<W: Write> {
    /// The storage is chosen by a batch that is yet to come.
    Waiting(Box<Unopened<W>>),
    Open(Box<FileWriter<W>>),
    /// The file could not be started.
    Failed,
}

/// What it takes to start the file.
struct Unopened<W> {
    out: W,
    path: Option<PathBuf>,
    options: WriteOptions,
    commit: fn(W) -> std::io::Result<()>,
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
        out: W,
        path: Option<&Path>,
        schema: SchemaRef,
        options: &WriteOptions,
        commit: fn(W) -> std::io::Result<()>,
    ) -> Result<Self> {
        let storage = StorageBatches::new(&schema, options)?;
        let stage = if storage.is_some() {
            let (options, path) = (options.clone(), path.map(Path::to_path_buf));
            Stage::Waiting(Box::new(Unopened {
                out,
                path,
                options,
                commit,
            }))
        } else {
            let file = FileWriter::new((out, path), schema.clone(), options, commit)?;
            Stage::Open(Box::new(file))
        };
        Ok(Self {
            schema,
            storage,
            stage,
            failed: false,
        })
    }

    /// The schema that batches have to have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Where the schema of the file is not as [`WriteOptions::parquet_schema`] has it.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        self.file().map_or(&[], FileWriter::warnings)
    }

    /// Rows taken so far.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.file().map_or(0, FileWriter::num_rows)
    }

    /// Bytes given to the output so far.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        self.file().map_or(0, FileWriter::bytes_written)
    }

    /// Bytes held: pages of the row group under construction, dictionaries, what waits to be written,
    /// and the footer. Batches that columns still work on are not counted: they are the caller's.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.file().map_or(0, FileWriter::memory_size)
    }

    /// Appends the rows of a batch.
    ///
    /// # Errors
    /// Argument where the batch does not have the schema, or holds a value that cannot be kept: what
    /// is wrong then has its column and row. A decimal with more digits than its type's precision is
    /// such a value, though Arrow does not mind it, unless
    /// [`allow_out_of_range`](WriteOptions::allow_out_of_range) has it written as it is. Io where the output does not take bytes. The file cannot be finished then.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.guard(|writer| writer.write_batch(batch))
    }

    /// Ends the row group, if it has rows. Those that wait to be [sorted](WriteOptions::sort_by) are written before.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn flush(&mut self) -> Result<()> {
        self.guard(|writer| match &mut writer.stage {
            Stage::Open(file) => file.flush(),
            Stage::Waiting(_) | Stage::Failed => Ok(()),
        })
    }

    /// Writes what is left and the footer; what is returned is what the footer says.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(mut self) -> Result<FileMetadata> {
        self.guard(|writer| {
            let empty = RecordBatch::new_empty(writer.schema.clone());
            writer.open(&empty).map(drop)
        })?;
        let hidden = self.file().map(FileWriter::hidden_leaves);
        let key_values = match &mut self.storage {
            Some(storage) => {
                storage.hide(&hidden.unwrap_or_default());
                storage.key_values()?
            }
            None => Vec::new(),
        };
        match self.stage {
            Stage::Open(file) => file.finish(key_values),
            Stage::Waiting(_) | Stage::Failed => Err(failed_before()),
        }
    }

    /// Runs `step` unless an earlier one failed.
    fn guard(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        if self.failed {
            return Err(failed_before());
        }
        self.failed = true;
        step(self)?;
        self.failed = false;
        Ok(())
    }

    fn write_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let Some(storage) = &self.storage else {
            return self.open(batch)?.write(batch);
        };
        if batch.num_rows() == 0 {
            // It says nothing about how rows are stored.
            return storage.check(batch);
        }
        self.open(batch)?;
        let stored = match &mut self.storage {
            Some(storage) => storage.storage(batch)?,
            None => batch.clone(),
        };
        self.open(batch)?.write(&stored)
    }

    /// The file, started if it is not yet, in the form that suits this batch.
    fn open(&mut self, first: &RecordBatch) -> Result<&mut FileWriter<W>> {
        if let Stage::Waiting(_) = self.stage
            && let Some(storage) = &mut self.storage
        {
            let schema = storage.choose(first)?;
            let stage = std::mem::replace(&mut self.stage, Stage::Failed);
            if let Stage::Waiting(unopened) = stage {
                let Unopened {
                    out,
                    path,
                    options,
                    commit,
                } = *unopened;
                let options = storage.options(&options);
                let file = FileWriter::new((out, path.as_deref()), schema, &options, commit)?;
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

#[cold]
fn failed_before() -> Error {
    Error::argument("the writer failed before; its file cannot be finished")
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
