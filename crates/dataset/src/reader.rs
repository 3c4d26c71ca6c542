//! Blocking reads: a crew of threads performs the tasks of a [`FileSequence`].

use std::fmt;

use herringbone::arrow::array::{RecordBatch, RecordBatchReader};
use herringbone::arrow::schema::{ArrowError, SchemaRef};
use herringbone::filter::ReadMetrics;
use herringbone::{Error, Losses, Reader, Result};
use herringbone_pipeline::{Crew, Shared, Work};

use crate::files::in_file;
use crate::plan::DatasetPlan;
use crate::pool::HeldBatch;
use crate::progress::Progress;
use crate::sequence::{FileSequence, FileStep, FileTask};

/// An iterator of the record batches of a dataset.
///
/// Files are opened and decoded ahead on threads of the pool, within the memory of one read. If memory is short, files
/// ahead are closed and read again later. After an error, no more batches are returned.
pub struct DatasetReader {
    schema: SchemaRef,
    /// `None` after the last batch and after an error.
    crew: Option<Crew<FileWork>>,
    losses: Losses,
    /// The work of a finished read.
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
        let (of_crew, threads) = plan.threads();
        let (schema, host) = (plan.schema.clone(), plan.options.read.spawn.clone());
        Self {
            schema,
            crew: Some(Crew::new(FileWork { plan, threads }, files, of_crew, host)),
            losses: Losses::default(),
            metrics: ReadMetrics::default(),
        }
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Returns the data lost to damage so far, with the paths of the files, if the options
    /// [tolerate](herringbone::OnError) damage.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Returns the counts of the read so far, as sums over all files: row groups, rows, pages, requests and bytes.
    ///
    /// Listings and footers are not included.
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
    /// Errors of the files, with their paths.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let Some(crew) = &mut self.crew else {
            return Ok(None);
        };
        let next = match crew.look(FileSequence::is_over) {
            true => None,
            false => crew.next(FileSequence::next_due),
        };
        self.losses.append(crew.update(FileSequence::take_losses));
        if !matches!(next, Some(Ok(_))) {
            self.end();
        }
        next.transpose().map(|next| next.map(|held| held.batch))
    }

    fn end(&mut self) {
        self.metrics = self.metrics();
        self.crew = None;
    }
}

impl Iterator for DatasetReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().map_err(ArrowError::from).transpose()
    }
}

impl RecordBatchReader for DatasetReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

/// The files of the crew.
type State = FileSequence<Box<Reader>, HeldBatch, Error>;
type Step = FileStep<Box<Reader>, HeldBatch, Error>;

/// The tasks of a read: to open files, and to decode their batches.
struct FileWork {
    plan: DatasetPlan,
    /// The number of threads for each file.
    threads: usize,
}

impl FileWork {
    fn step(&self, task: FileTask<Box<Reader>>, progress: &mut Progress) -> Result<Step> {
        let file = self.plan.file(task.file)?;
        let mut reader = match task.reader {
            Some(reader) => reader,
            None => {
                let options = self.plan.options_of(task.file, task.emitted)?;
                let opened = self.plan.dataset().files.open_blocking(file)?;
                let reader = opened.read(options.threads(self.threads));
                Box::new(reader.map_err(|error| in_file(&file.path, error))?)
            }
        };
        let batch = reader.next_batch();
        *progress = Progress::of_reader(&file.path, &mut reader);
        Ok(match batch.map_err(|error| in_file(&file.path, error))? {
            None => FileStep::Finished,
            Some(batch) => FileStep::Batch(reader, self.plan.pool.hold(batch)),
        })
    }
}

impl Work for FileWork {
    type State = State;
    type Task = FileTask<Box<Reader>>;
    type Output = (usize, Step, Progress);
    type Scratch = ();

    fn take(&self, files: &mut State, (): &mut ()) -> Option<Self::Task> {
        files.take(self.plan.pool.is_half_used())
    }

    fn wants_help(&self, files: &mut State) -> bool {
        files.has_task(self.plan.pool.is_half_used())
    }

    fn run(&self, task: Self::Task, (): &mut (), _: &Shared<Self>) -> Self::Output {
        let (file, mut progress) = (task.file, Progress::default());
        let step = self.step(task, &mut progress);
        (file, step.unwrap_or_else(FileStep::of_error), progress)
    }

    fn finish(&self, files: &mut State, (file, step, progress): Self::Output) {
        files.finish(file, step, progress);
    }
}
