//! Deciding which file gets each row of a written dataset, and when to finish a file. This policy
//! does no I/O, so that all writers can share it.
//!
//! ```text
//! batch ─► begin ─► next ─┬─► Start: the writer starts a new file and passes it to `started`
//!                         ├─► Write: it writes rows to an open file
//!                         └─► Finish: it finishes a file and passes its metadata to `finished`
//! ```

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Range;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use herringbone::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone::arrow::buffer::BooleanBuffer;
use herringbone::arrow::schema::SchemaRef;
use herringbone::{Error, Result};
use herringbone_filter::select;

use crate::partition_name::{Names, names};
use crate::writer::{DatasetWriteOptions, WrittenFile};

/// An incomplete file.
pub(crate) trait OpenFile {
    /// Returns the number of rows written so far.
    fn num_rows(&self) -> u64;
    /// Returns the number of bytes so far, including rows still to be encoded.
    fn bytes(&self) -> u64;
    /// Returns the number of buffered bytes.
    fn memory_size(&self) -> u64;
}

/// A writer's next step.
pub(crate) enum Step<'a, F> {
    /// Starts a file at this path, relative to the dataset directory.
    Start(String),
    /// Writes rows to a file.
    Write(&'a mut F, RecordBatch),
    /// Finishes the file at this path.
    Finish(String, F),
}

/// The rows still to write, and the open files by directory.
pub(crate) struct Partitioner<F> {
    schema: SchemaRef,
    /// The schema of the files.
    file_schema: SchemaRef,
    options: DatasetWriteOptions,
    /// The ordinals of the partition columns, and of the columns in the files.
    partition_columns: Vec<usize>,
    file_columns: Vec<usize>,
    open: HashMap<String, Opened<F>>,
    /// The last batch's unwritten rows, as batches with their directories.
    waiting: VecDeque<(String, RecordBatch)>,
    /// The number of uses of open files so far. Used as a clock to find the least recently used
    /// file.
    uses: u64,
    /// The unique part of this writer's file names.
    id: u64,
    /// The number of files started so far, per directory if the caller chose the file names, or
    /// else for all directories together.
    started: HashMap<String, u64>,
    finished: Vec<WrittenFile>,
    /// True from the beginning of a batch until all its steps are done. It stays true after a
    /// failed step, so that the writer refuses more work.
    is_busy: bool,
    is_ended: bool,
}

struct Opened<F> {
    path: String,
    file: F,
    last_use: u64,
}

impl<F> fmt::Debug for Partitioner<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Partitioner")
            .field("schema", &self.schema)
            .field("open_files", &self.open.len())
            .field("finished_files", &self.finished.len())
            .finish_non_exhaustive()
    }
}

impl<F: OpenFile> Partitioner<F> {
    /// Checks the options for a dataset with batches of this schema.
    ///
    /// # Errors
    /// Fails with Argument if a partition column does not exist or is named twice, if no column is
    /// left for the files, or if the file names cannot be used. Fails with Unsupported if a
    /// partition column's type cannot be written as text.
    pub(crate) fn new(schema: SchemaRef, options: DatasetWriteOptions) -> Result<Self> {
        options.file_names.as_deref().map_or(Ok(()), check_names)?;
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
        let partitioner = Self {
            file_schema: Arc::new(file_schema),
            options,
            partition_columns,
            file_columns,
            open: HashMap::new(),
            waiting: VecDeque::new(),
            uses: 0,
            id: unique_id(),
            started: HashMap::new(),
            finished: Vec::new(),
            is_busy: false,
            is_ended: false,
            schema: schema.clone(),
        };
        // Naming an empty batch's partitions reveals any type without text before the first row.
        partitioner.names(&RecordBatch::new_empty(schema))?;
        Ok(partitioner)
    }

    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(crate) fn file_schema(&self) -> &SchemaRef {
        &self.file_schema
    }

    pub(crate) fn options(&self) -> &DatasetWriteOptions {
        &self.options
    }

    pub(crate) fn finished_files(&self) -> &[WrittenFile] {
        &self.finished
    }

    /// Returns the number of bytes buffered by the open files.
    pub(crate) fn memory_size(&self) -> u64 {
        let files = self.open.values();
        files.map(|opened| opened.file.memory_size()).sum()
    }

    /// Starts writing a batch's rows.
    ///
    /// # Errors
    /// Fails with Argument if the batch has another schema, if a value has no name, or if an
    /// earlier step failed.
    pub(crate) fn begin(&mut self, batch: &RecordBatch) -> Result<()> {
        self.occupy()?;
        if batch.schema() != self.schema {
            return Err(Error::argument(
                "the batch does not have the schema of the dataset",
            ));
        }
        if batch.num_rows() > 0 {
            let names = self.names(batch)?;
            let files = batch.project(&self.file_columns);
            let files = files.map_err(|error| Error::argument(error.to_string()))?;
            for (directory, runs) in partitions(&names, batch.num_rows()) {
                self.waiting.push_back((directory, rows(&files, &runs)?));
            }
        }
        Ok(())
    }

    /// Starts finishing all files.
    ///
    /// # Errors
    /// Fails with Argument if an earlier step failed.
    pub(crate) fn end(&mut self) -> Result<()> {
        self.is_ended = true;
        self.occupy()
    }

    fn occupy(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.is_busy, true) {
            true => Err(Error::argument("the writer failed before")),
            false => Ok(()),
        }
    }

    /// Returns the next step, or `None` if all of the batch's rows are written.
    pub(crate) fn next(&mut self) -> Option<Step<'_, F>> {
        if let Some(directory) = self.due() {
            return self.finish(&directory);
        }
        let Some((directory, rows)) = self.waiting.pop_front() else {
            self.is_busy = false;
            return None;
        };
        if !self.open.contains_key(&directory) {
            self.waiting.push_front((directory, rows));
            if self.open.len() >= self.options.max_open_files.max(1)
                && let Some(oldest) = self.oldest(|_| true)
            {
                return self.finish(&oldest);
            }
            return Some(Step::Start(self.next_path()));
        }
        let opened = self.open.get_mut(&directory)?;
        self.uses += 1;
        opened.last_use = self.uses;
        let left = self.options.max_rows.max(1) - opened.file.num_rows();
        let left = usize::try_from(left).unwrap_or(usize::MAX);
        let taken = rows.slice(0, left.min(rows.num_rows()));
        if taken.num_rows() < rows.num_rows() {
            let rest = rows.slice(taken.num_rows(), rows.num_rows() - taken.num_rows());
            self.waiting.push_front((directory, rest));
        }
        Some(Step::Write(&mut opened.file, taken))
    }

    /// Adds the file requested by the last [`Step::Start`].
    pub(crate) fn started(&mut self, path: String, file: F) {
        let (directory, _) = path.rsplit_once('/').unwrap_or_default();
        let directory = match directory {
            "" => String::new(),
            directory => format!("{directory}/"),
        };
        let opened = Opened {
            path,
            file,
            last_use: self.uses,
        };
        self.open.insert(directory, opened);
    }

    /// Adds a complete file.
    pub(crate) fn finished(&mut self, file: WrittenFile) {
        self.finished.push(file);
    }

    /// Returns the complete files, sorted by path.
    pub(crate) fn into_finished(mut self) -> Vec<WrittenFile> {
        self.finished
            .sort_by(|one, other| one.path.cmp(&other.path));
        self.finished
    }

    /// Takes all open files, to abort them.
    pub(crate) fn take_open(&mut self) -> impl Iterator<Item = F> {
        self.open.drain().map(|(_, opened)| opened.file)
    }

    /// Returns the directory of the file to finish now, if any. This is a full file, or the least
    /// recently used file if memory is short or all rows are written.
    fn due(&self) -> Option<String> {
        let (max_rows, max_bytes) = (self.options.max_rows.max(1), self.options.max_bytes);
        // A new file must get rows before it can be finished. Otherwise, we might never make
        // progress.
        let has_rows = |opened: &Opened<F>| opened.file.num_rows() > 0;
        let is_full = |opened: &Opened<F>| {
            opened.file.num_rows() >= max_rows || opened.file.bytes() >= max_bytes
        };
        let mut open = self.open.iter();
        let full = open.find(|(_, opened)| has_rows(opened) && is_full(opened));
        if let Some((directory, _)) = full {
            return Some(directory.clone());
        }
        let is_short = self.memory_size() > self.options.max_buffered_bytes as u64;
        let is_last = self.is_ended && self.waiting.is_empty();
        self.oldest(|opened| is_last || is_short && has_rows(opened))
    }

    /// Returns the directory of the least recently used file accepted by `is_among`.
    fn oldest(&self, is_among: impl Fn(&Opened<F>) -> bool) -> Option<String> {
        let among = self.open.iter().filter(|(_, opened)| is_among(opened));
        let oldest = among.min_by_key(|(_, opened)| opened.last_use);
        oldest.map(|(directory, _)| directory.clone())
    }

    fn finish(&mut self, directory: &str) -> Option<Step<'_, F>> {
        let Opened { path, file, .. } = self.open.remove(directory)?;
        Some(Step::Finish(path, file))
    }

    /// Returns a new file's path, for the first of the waiting rows.
    fn next_path(&mut self) -> String {
        let directory = self.waiting.front().map_or("", |(directory, _)| directory);
        let counted = match self.options.file_names {
            Some(_) => directory,
            None => "",
        };
        let started = self.started.entry(counted.to_owned()).or_default();
        let ordinal = *started;
        *started += 1;
        match &self.options.file_names {
            Some(names) => format!("{directory}{}", names.replace(PLACE, &ordinal.to_string())),
            None => format!("{directory}part-{:016x}-{ordinal:05}.parquet", self.id),
        }
    }

    /// Returns each partition column's directory names.
    fn names(&self, batch: &RecordBatch) -> Result<Vec<Names>> {
        let columns = self
            .partition_columns
            .iter()
            .zip(&self.options.partition_by);
        let columns = columns.map(|(at, name)| names(name, batch.column(*at)));
        columns.collect()
    }
}

/// The placeholder for a file's number in its name.
const PLACE: &str = "{i}";

/// Rejects file names that would not be unique, that contain directories, or that dataset readers
/// skip.
///
/// # Errors
/// Fails with Argument.
fn check_names(names: &str) -> Result<()> {
    let problem = match names {
        _ if names.matches(PLACE).count() != 1 => "they need `{i}` once, for the file's number",
        _ if names.contains(['/', '\\']) => "they must be names without directories",
        _ if names.starts_with(['.', '_']) => {
            "readers of directories skip names that begin with `.` or `_`"
        }
        _ => return Ok(()),
    };
    Err(Error::argument(format!(
        "file names `{names}`: {problem}; choose for example `data-{PLACE}.parquet`"
    )))
}

/// Returns the directories, ordered by their first row, each with its runs of rows.
fn partitions(columns: &[Names], num_rows: usize) -> Vec<(String, Vec<Range<usize>>)> {
    // One number per row. Rows share a number if their names agree in all columns so far, and
    // numbers are assigned in order of first appearance.
    let mut places = vec![0; num_rows];
    for column in columns {
        let mut known: HashMap<(usize, u32), usize> = HashMap::new();
        for (place, name) in places.iter_mut().zip(column.ordinals()) {
            let next = known.len();
            *place = *known.entry((*place, *name)).or_insert(next);
        }
    }
    let mut partitions: Vec<(String, Vec<Range<usize>>)> = Vec::new();
    let mut start = 0;
    for run in places.chunk_by(|a, b| a == b) {
        let rows = start..start + run.len();
        start = rows.end;
        let place = run.first().copied().unwrap_or_default();
        if place == partitions.len() {
            let names = columns.iter().filter_map(|column| column.get(rows.start));
            partitions.push((names.map(|name| format!("{name}/")).collect(), Vec::new()));
        }
        if let Some((_, runs)) = partitions.get_mut(place) {
            runs.push(rows);
        }
    }
    partitions
}

/// Returns a batch's rows in these runs.
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

/// Returns a number that is almost certainly unique to this writer.
fn unique_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    // We take the low bits of the nanoseconds, because they change the most.
    let nanos = since.map_or(0, |since| since.as_nanos() as u64);
    let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = u64::from(process::id()).rotate_left(32);
    nanos ^ process ^ ordinal.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
