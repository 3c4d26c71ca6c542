//! Writes datasets: the values of partition columns choose the file of each row.
//!
//! ```text
//! batch ─► rows by their partition ─► the open file of the partition ─► year=2024/part-….parquet
//!                                     └─► too large, or too many are open: it is finished
//! ```

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use herringbone::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone::arrow::buffer::BooleanBuffer;
use herringbone::arrow::schema::SchemaRef;
use herringbone::format::FileMetadata;
use herringbone::{Error, Result, WriteOptions, Writer};
use herringbone_filter::select;

use crate::new_files::{Counted, LocalDirectory, NewFiles};
use crate::partition_name::{Name, names};

/// The options of a [`DatasetWriter`].
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
    /// The columns whose values are in the names of directories, from the root. The files do not have them.
    pub partition_by: Vec<String>,
    /// The largest number of rows in a file.
    pub max_rows: u64,
    /// The approximate largest number of bytes in a file. It is compared after each batch.
    pub max_bytes: u64,
    /// The largest number of open files. If one more is needed, the least recently used is finished.
    pub max_open_files: usize,
    /// The largest number of bytes that open files buffer together. If there are more, the least recently used is
    /// finished.
    pub max_buffered_bytes: usize,
    /// The beginning of the names of files.
    pub file_prefix: String,
}

impl DatasetWriteOptions {
    /// The default largest number of open files.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 64;
    /// The default largest number of buffered bytes.
    pub const DEFAULT_MAX_BUFFERED_BYTES: usize = 512 << 20;

    /// Returns the default options: one file without partition columns.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the options for each file.
    #[must_use]
    pub fn write(self, write: WriteOptions) -> Self {
        Self { write, ..self }
    }

    /// Sets the columns whose values are in the names of directories.
    #[must_use]
    pub fn partition_by<S: Into<String>>(self, columns: impl IntoIterator<Item = S>) -> Self {
        Self {
            partition_by: columns.into_iter().map(Into::into).collect(),
            ..self
        }
    }

    /// Sets the largest number of rows in a file.
    #[must_use]
    pub fn max_rows(self, max_rows: u64) -> Self {
        Self { max_rows, ..self }
    }

    /// Sets the approximate largest number of bytes in a file.
    #[must_use]
    pub fn max_bytes(self, max_bytes: u64) -> Self {
        Self { max_bytes, ..self }
    }

    /// Sets the largest number of open files.
    #[must_use]
    pub fn max_open_files(self, max_open_files: usize) -> Self {
        Self {
            max_open_files,
            ..self
        }
    }
}

impl Default for DatasetWriteOptions {
    fn default() -> Self {
        Self {
            write: WriteOptions::new(),
            partition_by: Vec::new(),
            max_rows: u64::MAX,
            max_bytes: u64::MAX,
            max_open_files: Self::DEFAULT_MAX_OPEN_FILES,
            max_buffered_bytes: Self::DEFAULT_MAX_BUFFERED_BYTES,
            file_prefix: "part".to_owned(),
        }
    }
}

/// A written file.
#[derive(Debug)]
#[non_exhaustive]
pub struct WrittenFile {
    /// The path below the directory of the dataset, with `/` between its components.
    pub path: String,
    /// The number of bytes.
    pub bytes: u64,
    /// The metadata in the footer, with the statistics of the columns.
    pub metadata: FileMetadata,
}

/// Writes record batches to the files of a dataset.
///
/// A file appears under its name when it is complete: when it is large enough, when too many files are open, or at the
/// end. Names are unique, so a writer adds files to a directory and replaces none. If the writer fails or is dropped,
/// complete files remain.
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
pub struct DatasetWriter {
    files: Arc<dyn NewFiles>,
    schema: SchemaRef,
    /// The schema of the files.
    file_schema: SchemaRef,
    options: DatasetWriteOptions,
    /// The columns of the partition, and those of the files.
    partition_columns: Vec<usize>,
    file_columns: Vec<usize>,
    /// The open files by their directories.
    open: HashMap<String, OpenFile>,
    /// The number of uses of open files so far.
    uses: u64,
    /// The part of the names of files that no other writer has.
    id: u64,
    /// The number of files started so far.
    started: u64,
    finished: Vec<WrittenFile>,
    is_failed: bool,
}

struct OpenFile {
    path: String,
    writer: Writer<Counted>,
    last_use: u64,
}

impl fmt::Debug for DatasetWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetWriter")
            .field("files", &self.files)
            .field("schema", &self.schema)
            .field("open_files", &self.open.len())
            .field("finished_files", &self.finished.len())
            .finish_non_exhaustive()
    }
}

impl DatasetWriter {
    /// Starts to write batches with this schema to a directory, which need not exist.
    ///
    /// # Errors
    /// Io if the directory cannot be created; see also [`Self::create_in`].
    pub fn create(
        directory: impl AsRef<Path>,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<Self> {
        let files = LocalDirectory::create(directory.as_ref())?;
        Self::create_in(Arc::new(files), schema, options)
    }

    /// Starts to write batches with this schema to files of another place.
    ///
    /// # Errors
    /// Argument if a partition column does not exist or is named twice, or if no column is left; Unsupported if its type has no
    /// text.
    pub fn create_in(
        files: Arc<dyn NewFiles>,
        schema: SchemaRef,
        options: DatasetWriteOptions,
    ) -> Result<Self> {
        let mut partition_columns = Vec::new();
        for name in &options.partition_by {
            let Ok(column) = schema.index_of(name) else {
                return Err(Error::argument(format!(
                    "there is no column `{name}` to partition by"
                )));
            };
            if partition_columns.contains(&column) {
                return Err(Error::argument(format!(
                    "the column `{name}` is named twice to partition by"
                )));
            }
            partition_columns.push(column);
        }
        let all = 0..schema.fields().len();
        let file_columns: Vec<_> = all.filter(|it| !partition_columns.contains(it)).collect();
        if file_columns.is_empty() {
            return Err(Error::argument(
                "files without columns: all are those of the partition",
            ));
        }
        let file_schema = schema.project(&file_columns);
        let file_schema = file_schema.map_err(|error| Error::argument(error.to_string()))?;
        let writer = Self {
            files,
            file_schema: Arc::new(file_schema),
            options,
            partition_columns,
            file_columns,
            open: HashMap::new(),
            uses: 0,
            id: unique_id(),
            started: 0,
            finished: Vec::new(),
            is_failed: false,
            schema: schema.clone(),
        };
        // Types without text are found before the first row.
        writer.names(&RecordBatch::new_empty(schema))?;
        Ok(writer)
    }

    /// Returns the schema that all batches must have.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the complete files.
    #[must_use]
    pub fn finished_files(&self) -> &[WrittenFile] {
        &self.finished
    }

    /// Returns the number of bytes that the open files buffer.
    #[must_use]
    pub fn memory_size(&self) -> usize {
        self.open
            .values()
            .map(|file| file.writer.memory_size())
            .sum()
    }

    /// Writes the rows of a batch to the files of their partitions.
    ///
    /// # Errors
    /// Argument if the batch does not have the schema, or contains a value that cannot be stored; Io if a file cannot be
    /// written. After an error, the dataset cannot be finished.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.is_failed {
            return Err(Error::argument("the writer failed before"));
        }
        self.is_failed = true;
        self.write_batch(batch)?;
        self.is_failed = false;
        Ok(())
    }

    /// Finishes all files. Returns the written files, sorted by their paths.
    ///
    /// # Errors
    /// Io if a file cannot be written; Argument if the writer failed before.
    pub fn finish(mut self) -> Result<Vec<WrittenFile>> {
        if self.is_failed {
            return Err(Error::argument("the writer failed before"));
        }
        while let Some(directory) = self.oldest() {
            self.finish_file(&directory)?;
        }
        self.files.finish()?;
        self.finished
            .sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self.finished)
    }

    fn write_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.schema() != self.schema {
            return Err(Error::argument(
                "the batch does not have the schema of the dataset",
            ));
        }
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let names = self.names(batch)?;
        let files = batch.project(&self.file_columns);
        let files = files.map_err(|error| Error::argument(error.to_string()))?;
        for (directory, runs) in partitions(&names, batch.num_rows()) {
            let mut rest = rows(&files, &runs)?;
            while rest.num_rows() > 0 {
                let written = self.write_some(&directory, &rest)?;
                rest = rest.slice(written, rest.num_rows() - written);
            }
        }
        Ok(())
    }

    /// Returns the names of the directories of all rows, one list per partition column.
    fn names(&self, batch: &RecordBatch) -> Result<Vec<Vec<Name>>> {
        let columns = self
            .partition_columns
            .iter()
            .zip(&self.options.partition_by);
        let columns = columns.map(|(at, name)| names(name, batch.column(*at)));
        columns.collect()
    }

    /// Writes the first rows to the file of a partition, until it is full. Returns the number of rows, at least one.
    fn write_some(&mut self, directory: &str, rows: &RecordBatch) -> Result<usize> {
        self.uses += 1;
        let (uses, max_rows) = (self.uses, self.options.max_rows.max(1));
        let file = match self.open.get_mut(directory) {
            Some(file) => file,
            None => self.start_file(directory)?,
        };
        file.last_use = uses;
        let left = max_rows.saturating_sub(file.writer.num_rows());
        let taken = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(rows.num_rows());
        file.writer.write(&rows.slice(0, taken))?;
        let bytes = file.writer.bytes_written() + file.writer.memory_size() as u64;
        if file.writer.num_rows() >= max_rows || bytes >= self.options.max_bytes {
            self.finish_file(directory)?;
        }
        while self.memory_size() > self.options.max_buffered_bytes
            && let Some(oldest) = self.oldest()
        {
            self.finish_file(&oldest)?;
        }
        Ok(taken)
    }

    fn start_file(&mut self, directory: &str) -> Result<&mut OpenFile> {
        while self.open.len() >= self.options.max_open_files.max(1)
            && let Some(oldest) = self.oldest()
        {
            self.finish_file(&oldest)?;
        }
        let prefix = &self.options.file_prefix;
        let name = format!("{prefix}-{:016x}-{:05}.parquet", self.id, self.started);
        self.started += 1;
        let path = format!("{directory}{name}");
        let (schema, options) = (self.file_schema.clone(), self.options.write.clone());
        let local = self.files.local_path(&path);
        let new = Counted {
            file: self.files.create(&path)?,
            bytes: 0,
        };
        let file = OpenFile {
            writer: Writer::with_path(new, local.as_deref(), schema, options)?,
            path,
            last_use: 0,
        };
        Ok(self.open.entry(directory.to_owned()).or_insert(file))
    }

    /// Returns the directory whose file was not used for the longest time.
    fn oldest(&self) -> Option<String> {
        let oldest = self.open.iter().min_by_key(|(_, file)| file.last_use);
        oldest.map(|(directory, _)| directory.clone())
    }

    fn finish_file(&mut self, directory: &str) -> Result<()> {
        let Some(OpenFile { path, writer, .. }) = self.open.remove(directory) else {
            return Ok(());
        };
        let (metadata, Counted { file, bytes }) = writer.finish_into()?;
        file.complete()?;
        self.finished.push(WrittenFile {
            path,
            bytes,
            metadata,
        });
        Ok(())
    }
}

/// Returns directories in the order of their first rows, and the runs of rows in each.
fn partitions(names: &[Vec<Name>], num_rows: usize) -> Vec<(String, Vec<Range<usize>>)> {
    let directory =
        |row: usize| -> Vec<&Name> { names.iter().filter_map(|column| column.get(row)).collect() };
    let mut places: HashMap<Vec<&Name>, usize> = HashMap::new();
    let mut partitions: Vec<(String, Vec<Range<usize>>)> = Vec::new();
    let mut start = 0;
    while start < num_rows {
        let first = directory(start);
        let mut end = start + 1;
        while end < num_rows && directory(end) == first {
            end += 1;
        }
        let text: String = first.iter().map(|name| format!("{name}/")).collect();
        let place = *places.entry(first).or_insert_with(|| {
            partitions.push((text, Vec::new()));
            partitions.len() - 1
        });
        if let Some((_, runs)) = partitions.get_mut(place) {
            runs.push(start..end);
        }
        start = end;
    }
    partitions
}

/// Returns the rows of a batch in these runs.
fn rows(batch: &RecordBatch, runs: &[Range<usize>]) -> Result<RecordBatch> {
    if let [run] = runs {
        return Ok(batch.slice(run.start, run.len()));
    }
    let mut is_selected = vec![false; batch.num_rows()];
    for run in runs {
        if let Some(selected) = is_selected.get_mut(run.clone()) {
            selected.fill(true);
        }
    }
    let bits = BooleanBuffer::from(is_selected);
    let chosen = bits.count_set_bits();
    let columns = batch
        .columns()
        .iter()
        .map(|array| select(array, &bits, chosen));
    let columns: Vec<ArrayRef> = columns.collect::<Result<_>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(chosen));
    RecordBatch::try_new_with_options(batch.schema(), columns, &options)
        .map_err(|error| Error::argument(error.to_string()))
}

/// Returns a number that other writers do not have, except by an unlikely accident.
fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // The lower bits of the nanoseconds change the most.
    let nanos = since.map_or(0, |it| it.as_nanos() as u64);
    let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = u64::from(process::id()).rotate_left(32);
    nanos ^ process ^ ordinal.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
