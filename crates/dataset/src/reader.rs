//! Blocking reads, with a crew of threads performing the tasks of a [`FileSequence`].

use std::fmt;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::ReadMetrics;
use herringbone::{ArrowReader, Error, Losses, Reader, Result, Spawn};
use herringbone_pipeline::{Crew, Shared, Work};

use crate::plan::DatasetPlan;
use crate::pool::HeldBatch;
use crate::progress::Progress;
use crate::sequence::{FileSequence, FileStep, FileTask, Rows, TaskKind};

/// The outcome of a [`FileCrew`]'s task.
pub type FileResult<F> = (
    FileStep<<F as ReadFiles>::Reader, <F as ReadFiles>::Batch, <F as ReadFiles>::Error>,
    Progress,
);

/// The files to be read by a [`FileCrew`].
pub trait ReadFiles: Send + Sync + 'static {
    /// An open file.
    type Reader: Send;
    /// The rows returned by one step.
    type Batch: Rows + Send;
    /// An error.
    type Error: Send;
    /// The kind of tasks for threads to take. If this excludes opening files, the caller has to
    /// [open](FileCrew::take_unopened) them.
    const TASKS: TaskKind = TaskKind::Any;

    /// Performs a task, that is, opens the file if necessary and decodes its next batch.
    fn step(&self, task: FileTask<Self::Reader>) -> FileResult<Self>
    where
        Self: Sized;

    /// Returns true if half of the memory is in use. Work ahead then has to wait. By default,
    /// memory is not counted.
    fn is_busy(&self) -> bool {
        false
    }
}

/// The threads for reading many files, together with the files. You only need this if each file
/// keeps its own schema.
pub struct FileCrew<F: ReadFiles>(Crew<FileWork<F>>);

impl<F: ReadFiles> FileCrew<F> {
    /// Creates a crew of at most `threads` threads, including the caller's, or one thread per core
    /// if `threads` is 0. The helpers come from `host`, or by default from the process's pool.
    pub fn new(
        files: F,
        sequence: FileSequence<F::Reader, F::Batch, F::Error>,
        threads: usize,
        host: Option<Arc<dyn Spawn>>,
    ) -> Self {
        let threads = herringbone_pipeline::threads(threads);
        Self(Crew::new(FileWork(files), sequence, threads, host))
    }

    /// Waits for the next batch or error. Returns `None` if nothing can follow before the caller
    /// opens a file.
    pub fn next_due(&mut self) -> Option<Result<F::Batch, F::Error>> {
        match self.0.look(FileSequence::is_over) {
            true => None,
            false => self.0.next(FileSequence::next_due),
        }
    }

    /// Takes the task to open the next file on this thread, or returns `None` if no file can be
    /// opened now.
    pub fn take_unopened(&self) -> Option<FileTask<F::Reader>> {
        let is_busy = self.0.work().0.is_busy();
        self.0.update(|files| files.take(TaskKind::Open, is_busy))
    }

    /// Stores the outcome of a task for opening a file.
    pub fn finish(&self, file: usize, step: FileStep<F::Reader, F::Batch, F::Error>) {
        let finish = |files: &mut State<F>| files.finish(file, step, Progress::default());
        self.0.update(finish);
    }

    /// Passes the files to `at`.
    pub fn look<T>(&self, at: impl FnOnce(&State<F>) -> T) -> T {
        self.0.look(at)
    }

    /// Takes the losses since the last call.
    pub fn take_losses(&self) -> Losses {
        self.0.update(FileSequence::take_losses)
    }
}

/// The sequence shared by the threads.
type State<F> =
    FileSequence<<F as ReadFiles>::Reader, <F as ReadFiles>::Batch, <F as ReadFiles>::Error>;

/// The tasks of a crew.
struct FileWork<F>(F);

impl<F: ReadFiles> Work for FileWork<F> {
    type State = State<F>;
    type Task = FileTask<F::Reader>;
    type Output = (usize, FileResult<F>);
    type Scratch = ();

    fn take(&self, files: &mut State<F>, (): &mut ()) -> Option<Self::Task> {
        files.take(F::TASKS, self.0.is_busy())
    }

    fn wants_help(&self, files: &mut State<F>) -> bool {
        files.has_task(F::TASKS, self.0.is_busy())
    }

    fn run(&self, task: Self::Task, (): &mut (), _: &Shared<Self>) -> Self::Output {
        (task.file, self.0.step(task))
    }

    fn finish(&self, files: &mut State<F>, (file, (step, progress)): Self::Output) {
        files.finish(file, step, progress);
    }
}

/// An iterator over a dataset's record batches.
///
/// Pool threads open and decode files ahead, within the memory of a single read. If memory runs
/// short, files ahead are closed and read again later. After an error, no more batches are
/// returned.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ReadOptions;
/// use herringbone::filter::col;
/// use herringbone_dataset::{Dataset, DatasetOptions};
///
/// let dataset = Dataset::open("testdata/datasets/codes", DatasetOptions::new())?;
/// let options = ReadOptions::new().filter(col("code").eq("01001"));
/// let mut reader = dataset.read(options)?;
/// let mut rows = 0;
/// while let Some(batch) = reader.next_batch()? {
///     rows += batch.num_rows();
/// }
/// assert_eq!(rows, 2);
/// // Six of eight files have another code in their paths, and were not opened.
/// assert_eq!(reader.metrics().row_groups, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DatasetReader {
    schema: SchemaRef,
    /// The crew, or `None` after the last batch and after an error.
    crew: Option<FileCrew<DatasetFiles>>,
    losses: Losses,
    /// The read's work, once it is finished.
    metrics: ReadMetrics,
}

impl fmt::Debug for DatasetReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatasetReader")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl DatasetReader {
    pub(crate) fn new(plan: DatasetPlan) -> Self {
        let files = FileSequence::new(plan.num_files(), &plan.options);
        let (crew_size, threads) = plan.threads();
        let (schema, host) = (plan.schema.clone(), plan.options.read.spawn.clone());
        let crew = FileCrew::new(DatasetFiles { plan, threads }, files, crew_size, host);
        Self {
            schema,
            crew: Some(crew),
            losses: Losses::default(),
            metrics: ReadMetrics::default(),
        }
    }

    /// Converts the reader into one that implements Arrow's `RecordBatchReader` and returns Arrow's
    /// errors.
    #[must_use]
    pub fn into_record_batch_reader(self) -> ArrowReader<Self> {
        let schema = self.schema();
        ArrowReader::new(self, schema)
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Returns the data lost to damage so far, with the files' paths, if the options
    /// [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Returns the read's metrics so far, summed over all files: row groups, rows, pages, requests
    /// and bytes.
    ///
    /// Work on listings and footers is not included.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        match &self.crew {
            Some(crew) => crew.look(FileSequence::metrics),
            None => self.metrics.clone(),
        }
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Reader::next_batch`](herringbone::Reader::next_batch). The
    /// error has the file path.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(crew) = &mut self.crew else {
            return Ok(None);
        };
        let next = crew.next_due();
        self.losses.append(crew.take_losses());
        if !matches!(next, Some(Ok(_))) {
            self.end();
        }
        next.transpose().map(|next| next.map(HeldBatch::into_batch))
    }

    fn end(&mut self) {
        self.metrics = self.metrics();
        self.crew = None;
    }
}

impl Iterator for DatasetReader {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// A dataset's files.
struct DatasetFiles {
    plan: DatasetPlan,
    /// The number of threads for each file.
    threads: usize,
}

impl DatasetFiles {
    fn next_step(
        &self,
        task: FileTask<Box<Reader>>,
        progress: &mut Progress,
    ) -> Result<FileStep<Box<Reader>, HeldBatch, Error>> {
        let file = self.plan.file(task.file)?;
        let mut reader = match task.reader {
            Some(reader) => reader,
            None => {
                let mut options = self.plan.options_of(task.file, task.emitted)?;
                let opened = self.plan.dataset().files.open_blocking(file)?;
                if let Some(bytes) = self.plan.bytes_of(task.file) {
                    options = options.row_groups(opened.row_groups_in(bytes)?);
                }
                let reader = opened.read(options.threads(self.threads));
                Box::new(reader.map_err(|error| error.in_file(&file.path))?)
            }
        };
        let batch = reader.next_batch();
        *progress = Progress::of_reader(&file.path, &mut reader);
        Ok(match batch.map_err(|error| error.in_file(&file.path))? {
            None => FileStep::Finished,
            Some(batch) => FileStep::Batch(reader, self.plan.pool.hold(batch)),
        })
    }
}

impl ReadFiles for DatasetFiles {
    type Reader = Box<Reader>;
    type Batch = HeldBatch;
    type Error = Error;

    fn step(&self, task: FileTask<Box<Reader>>) -> FileResult<Self> {
        let mut progress = Progress::default();
        let step = self.next_step(task, &mut progress);
        (step.unwrap_or_else(FileStep::of_error), progress)
    }

    fn is_busy(&self) -> bool {
        self.plan.pool.is_half_used()
    }
}
