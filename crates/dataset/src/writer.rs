//! Writing datasets, with each row's file chosen by the values of partition columns.
//!
//! ```text
//! batch ─► rows by their partition ─► the open file of the partition ─► year=2024/part-….parquet
//!                                     └─► too large, or too many are open: it is finished
//! ```

use std::path::Path;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::format::FileMetadata;
use herringbone::format::setters::texts;
use herringbone::{Result, WriteOptions, Writer};

use crate::new_files::{Counted, LocalDirectory, NewFiles};
use crate::partitioner::{OpenFile, Partitioner, Step};

/// Options for a [`DatasetWriter`] or an [`AsyncDatasetWriter`](crate::AsyncDatasetWriter).
///
/// ```
/// use herringbone_dataset::DatasetWriteOptions;
///
/// let options = DatasetWriteOptions::new().partition_by(["year"]).max_rows(1_000_000);
/// assert_eq!(options.max_open_files, 64);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetWriteOptions {
    /// The options for each file.
    pub write: WriteOptions,
    /// The partition columns, from the top down. Their values become directory names, so the files
    /// themselves do not contain these columns.
    pub partition_by: Vec<String>,
    /// The most rows in a file.
    pub max_rows: u64,
    /// The approximate most bytes in a file, checked after each batch.
    pub max_bytes: u64,
    /// The most open files. If another file is needed, the least recently used file is finished.
    pub max_open_files: usize,
    /// The most bytes buffered by all open files. Beyond that, the least recently used file is
    /// finished.
    pub max_buffered_bytes: usize,
    /// The file names, such as `data-{i}.parquet`. Here, `{i}` stands for the file's number in its
    /// directory, counted from 0. Existing files of these names are replaced. With `None`, files
    /// get unique names, such as `part-0123456789abcdef-00000.parquet`.
    pub file_names: Option<String>,
}

impl DatasetWriteOptions {
    /// The default limit on open files.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 64;
    /// The default limit on buffered bytes.
    pub const DEFAULT_MAX_BUFFERED_BYTES: usize = 512 << 20;

    /// Returns the default options, for a single file without partition columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone::format::setters! { DatasetWriteOptions {
    /// Sets the options for each file.
    write: WriteOptions;
    /// Sets the partition columns. Their values become directory names.
    partition_by: impl IntoIterator<Item = impl Into<String>> => texts;
    /// Sets the most rows in a file.
    max_rows: u64;
    /// Sets the approximate most bytes in a file.
    max_bytes: u64;
    /// Sets the most open files.
    max_open_files: usize;
    /// Sets the most bytes buffered by all open files.
    max_buffered_bytes: usize;
    /// Sets the file names, with `{i}` for the file's number in its directory. Existing files of
    /// these names are replaced.
    file_names: impl Into<String> => |names| Some(Into::into(names));
}}

impl Default for DatasetWriteOptions {
    fn default() -> Self {
        Self {
            write: WriteOptions::new(),
            partition_by: Vec::new(),
            max_rows: u64::MAX,
            max_bytes: u64::MAX,
            max_open_files: Self::DEFAULT_MAX_OPEN_FILES,
            max_buffered_bytes: Self::DEFAULT_MAX_BUFFERED_BYTES,
            file_names: None,
        }
    }
}

/// A written file.
#[derive(Debug)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The path below the dataset directory, with `/` between its components.
    pub path: String,
    /// The file's byte count.
    pub bytes: u64,
    /// The footer's metadata, with the column statistics.
    pub metadata: FileMetadata,
}

/// Writes record batches to a dataset's files.
///
/// A file appears under its name when it is complete, that is, when it is large enough, when too
/// many files are open, or at the end. Unless you choose
/// [`file_names`](DatasetWriteOptions::file_names), names are unique, so a writer only adds files
/// to a directory and never replaces any. If the writer fails or is dropped, complete files remain.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
/// use herringbone_dataset::{Dataset, DatasetOptions, DatasetWriteOptions, DatasetWriter};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("herringbone-writer-{}", std::process::id()));
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let cities: ArrayRef = Arc::new(StringArray::from(vec!["Oslo", "Lima", "Oslo"]));
/// let batch = RecordBatch::try_from_iter([("id", ids), ("city", cities)])?;
/// let options = DatasetWriteOptions::new().partition_by(["city"]);
/// let mut writer = DatasetWriter::create(&folder, batch.schema(), options)?;
/// writer.write(&batch)?;
/// let files = writer.finish()?;
/// assert!(files[0].path.starts_with("city=Lima/part-"));
/// assert_eq!(files[1].metadata.num_rows(), 2);
/// assert_eq!(Dataset::open(&folder, DatasetOptions::new())?.files().len(), 2);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DatasetWriter {
    files: Arc<dyn NewFiles>,
    partitions: Partitioner<Writer<Counted>>,
}

impl OpenFile for Writer<Counted> {
    fn num_rows(&self) -> u64 {
        Self::num_rows(self)
    }

    fn bytes(&self) -> u64 {
        self.bytes_written() + OpenFile::memory_size(self)
    }

    fn memory_size(&self) -> u64 {
        Self::memory_size(self) as u64
    }
}

impl DatasetWriter {
    /// Starts writing batches of this schema to a directory, creating the directory if it does not
    /// exist.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the directory cannot be created, and for the
    /// same reasons as [`Self::create_in`].
    pub fn create(
        directory: impl AsRef<Path>,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<Self> {
        let partitions = Partitioner::new(schema, options)?;
        let files = Arc::new(LocalDirectory::create(directory.as_ref())?);
        Ok(Self { files, partitions })
    }

    /// Starts writing batches of this schema to files in another place.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if a partition column does not exist
    /// or is named twice, if no column is left for the files, or if the file names cannot be used.
    /// Fails with [Unsupported](herringbone::ErrorKind::Unsupported) if a partition column's type
    /// cannot be written as text.
    pub fn create_in(
        files: Arc<dyn NewFiles>,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<Self> {
        let partitions = Partitioner::new(schema, options)?;
        Ok(Self { files, partitions })
    }

    /// Returns the schema that all batches must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.partitions.schema()
    }

    /// Returns the complete files. The last few might not have appeared yet, but all of them appear
    /// before [`Self::finish`] returns.
    #[must_use]
    pub fn finished_files(&self) -> &[WrittenFile] {
        self.partitions.finished_files()
    }

    /// Returns the number of bytes buffered by the open files.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        usize::try_from(self.partitions.memory_size()).unwrap_or(usize::MAX)
    }

    /// Writes a batch's rows to their partitions' files.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the batch has another schema, or
    /// contains a value that cannot be stored. Fails with [Io](herringbone::ErrorKind::Io) if a
    /// file cannot be written. After any error, the dataset can no longer be finished.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.partitions.begin(batch)?;
        self.run()
    }

    /// Finishes all files, returning the files written, sorted by path.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if a file cannot be written, and with
    /// [Argument](herringbone::ErrorKind::Argument) if the writer failed before.
    pub fn finish(mut self) -> Result<Vec<WrittenFile>> {
        self.partitions.end()?;
        self.run()?;
        self.files.finish()?;
        Ok(self.partitions.into_finished())
    }

    fn run(&mut self) -> Result<()> {
        while let Some(step) = self.partitions.next() {
            match step {
                Step::Start(path) => {
                    let schema = self.partitions.file_schema().clone();
                    let options = self.partitions.options().write.clone();
                    let local = self.files.local_path(&path);
                    let new = Counted {
                        file: self.files.create(&path)?,
                        bytes: 0,
                    };
                    let file = Writer::with_path(new, local.as_deref(), schema, options)?;
                    self.partitions.started(path, file);
                }
                Step::Write(file, rows) => file.write(&rows)?,
                Step::Finish(path, file) => {
                    let (metadata, Counted { file, bytes }) = file.finish_into()?;
                    file.complete()?;
                    self.partitions.finished(WrittenFile {
                        path,
                        bytes,
                        metadata,
                    });
                }
            }
        }
        Ok(())
    }
}
