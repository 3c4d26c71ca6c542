//! Blocking reads: files are opened and decoded ahead on the threads of the pool.
//!
//! ```text
//! files ─► lanes: an open file and its next batches, the first file in front ─► batches
//!          └─► a task opens the file of a lane, or decodes its next batch
//! ```

use std::collections::VecDeque;
use std::fmt;
use std::mem;

use herringbone::arrow::array::{RecordBatch, RecordBatchReader};
use herringbone::arrow::schema::{ArrowError, SchemaRef};
use herringbone::filter::ReadMetrics;
use herringbone::{Error, ErrorKind, Losses, Reader, Result};
use herringbone_pipeline::{Crew, Shared, Work};

use crate::files::in_file;
use crate::plan::DatasetPlan;
use crate::pool::Held;
use crate::progress::Progress;
use crate::window::Window;

/// The number of decoded batches of a file that wait for their turn.
const BATCHES_AHEAD: usize = 2;

/// An iterator of the record batches of a dataset.
///
/// Files are opened and decoded ahead on threads of the pool, within the memory of one read. If memory is short, files
/// ahead are closed and read again later. After an error, no more batches are returned.
pub struct DatasetReader {
    schema: SchemaRef,
    window: Window,
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
        let read = &plan.options.read;
        let most_open = plan.options.max_open_files.max(1);
        let (of_crew, of_file) = plan.threads();
        let (schema, window, host) = (plan.schema.clone(), Window::new(read), read.spawn.clone());
        let work = FileWork {
            plan,
            threads: of_file,
            most_open,
        };
        Self {
            schema,
            window,
            crew: Some(Crew::new(work, State::default(), of_crew, host)),
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
            Some(crew) => crew.look(State::metrics),
            None => self.metrics.clone(),
        }
    }

    /// Returns the next batch, or `None` after the last batch and after an error.
    ///
    /// # Errors
    /// Errors of the files, with their paths.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let Some(crew) = self.crew.as_mut().filter(|_| !self.window.is_over()) else {
                self.end();
                return Ok(None);
            };
            let next = crew.next(State::ready);
            let losses = crew.update(|state| mem::take(&mut state.sums.losses));
            self.losses.append(losses);
            match next {
                Some(Ok(batch)) => {
                    if let Some(batch) = self.window.cut(&batch) {
                        return Ok(Some(batch));
                    }
                }
                Some(Err(error)) => {
                    self.end();
                    return Err(error);
                }
                None => self.window.end(),
            }
        }
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

/// The tasks of a read: to open files, and to decode their batches.
struct FileWork {
    plan: DatasetPlan,
    /// The number of threads for each file.
    threads: usize,
    most_open: usize,
}

#[derive(Default)]
struct State {
    /// The open files, in the order of the output.
    lanes: VecDeque<Lane>,
    /// The place in the plan of the next file to open.
    next: usize,
    /// The number of running tasks.
    running: usize,
    is_unordered: bool,
    /// True if memory was refused. The first file is then read alone until its end.
    is_short: bool,
    /// The losses not taken yet, and the work of closed files.
    sums: Progress,
}

/// An open file of the read.
struct Lane {
    /// The place of the file in the plan.
    at: usize,
    place: Place,
    batches: VecDeque<(RecordBatch, Option<Held>)>,
    /// The number of rows returned so far.
    emitted: u64,
    /// The work of the open file.
    metrics: ReadMetrics,
}

/// The state of the reader of a file.
enum Place {
    Closed,
    /// A thread has it, and runs the task.
    Away,
    Open(Box<Reader>),
    Over,
    Failed(Error),
}

struct Task {
    at: usize,
    emitted: u64,
    /// True if no other file is open.
    is_alone: bool,
    reader: Option<Box<Reader>>,
}

struct Output {
    at: usize,
    is_alone: bool,
    outcome: Result<Outcome>,
    progress: Progress,
}

enum Outcome {
    Batch(Box<Reader>, RecordBatch, Option<Held>),
    Over,
}

impl Lane {
    fn new(at: usize) -> Self {
        Self {
            at,
            place: Place::Closed,
            batches: VecDeque::new(),
            emitted: 0,
            metrics: ReadMetrics::default(),
        }
    }

    fn has_task(&self) -> bool {
        let is_here = matches!(self.place, Place::Closed | Place::Open(_));
        is_here && self.batches.len() < BATCHES_AHEAD
    }

    fn task(&mut self, is_alone: bool) -> Task {
        let reader = match mem::replace(&mut self.place, Place::Away) {
            Place::Open(reader) => Some(reader),
            _ => None,
        };
        Task {
            at: self.at,
            emitted: self.emitted,
            is_alone,
            reader,
        }
    }

    /// Closes the file. It is opened again after the returned rows.
    fn close(&mut self) {
        self.batches.clear();
        if !matches!(self.place, Place::Away) {
            self.place = Place::Closed;
        }
    }
}

impl State {
    /// Returns the work of all files.
    fn metrics(&self) -> ReadMetrics {
        let mut sum = self.sums.metrics.clone();
        self.lanes.iter().for_each(|lane| sum += &lane.metrics);
        sum
    }

    /// Returns the next batch or error, if it is due.
    fn ready(&mut self) -> Option<Result<RecordBatch>> {
        let mut at = 0;
        while let Some(lane) = self.lanes.get_mut(at) {
            if let Some((batch, _)) = lane.batches.pop_front() {
                lane.emitted += batch.num_rows() as u64;
                return Some(Ok(batch));
            }
            match mem::replace(&mut lane.place, Place::Over) {
                Place::Failed(error) => return Some(Err(error)),
                Place::Over => {
                    drop(self.lanes.remove(at));
                    self.is_short &= at != 0;
                    continue;
                }
                place => lane.place = place,
            }
            if !self.is_unordered {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Returns the lane with the most urgent task.
    fn urgent(&self, work: &FileWork) -> Option<usize> {
        if self.is_short {
            let first = self.lanes.front().filter(|_| self.running == 0);
            return first.filter(|lane| lane.has_task()).map(|_| 0);
        }
        self.lanes
            .iter()
            .position(Lane::has_task)
            .filter(|at| *at == 0 || !work.plan.pool.is_half_used())
    }

    /// Returns true if one more file may be opened.
    fn may_open(&self, work: &FileWork) -> bool {
        let is_first = self.lanes.is_empty();
        let has_room = self.lanes.len() < work.most_open;
        let may_be_ahead = has_room && !self.is_short && !work.plan.pool.is_half_used();
        self.next < work.plan.num_files() && (is_first || may_be_ahead)
    }

    /// Handles the outcome of a task of the lane at `at`.
    fn finish(&mut self, at: usize, output: Output) {
        let Output {
            is_alone,
            outcome,
            progress,
            ..
        } = output;
        self.sums.losses.append(progress.losses);
        let Some(lane) = self.lanes.get_mut(at) else {
            return;
        };
        let is_ahead = at != 0;
        lane.metrics = progress.metrics;
        lane.place = Place::Closed;
        match outcome {
            // Memory was refused to another file meanwhile.
            _ if self.is_short && is_ahead => {}
            Err(error) if error.kind() == ErrorKind::Limit && !is_alone => {
                self.is_short = true;
                self.lanes
                    .iter_mut()
                    .skip(is_ahead.into())
                    .for_each(Lane::close);
            }
            Ok(Outcome::Batch(_, _, None)) if is_ahead => {
                self.is_short = true;
                self.lanes.iter_mut().skip(1).for_each(Lane::close);
            }
            Ok(Outcome::Batch(reader, batch, held)) => {
                lane.place = Place::Open(reader);
                lane.batches.push_back((batch, held));
            }
            Ok(Outcome::Over) => lane.place = Place::Over,
            Err(error) => lane.place = Place::Failed(error),
        }
        for lane in &mut self.lanes {
            if !matches!(lane.place, Place::Open(_) | Place::Away) {
                self.sums.metrics += &mem::take(&mut lane.metrics);
            }
        }
    }
}

impl FileWork {
    fn step(&self, task: Task, progress: &mut Progress) -> Result<Outcome> {
        let file = self.plan.file(task.at)?;
        let mut reader = match task.reader {
            Some(reader) => reader,
            None => {
                let options = self.plan.options_of(task.at, task.emitted)?;
                let opened = self.plan.dataset().files.open_blocking(file)?;
                let reader = opened.read(options.threads(self.threads));
                Box::new(reader.map_err(|error| in_file(&file.path, error))?)
            }
        };
        let batch = reader.next_batch();
        *progress = Progress::of_reader(&file.path, &mut reader);
        Ok(match batch.map_err(|error| in_file(&file.path, error))? {
            None => Outcome::Over,
            Some(batch) => {
                let held = self.plan.pool.hold(batch.get_array_memory_size() as u64);
                Outcome::Batch(reader, batch, held)
            }
        })
    }
}

impl Work for FileWork {
    type State = State;
    type Task = Task;
    type Output = Output;
    type Scratch = ();

    fn take(&self, state: &mut State, (): &mut ()) -> Option<Task> {
        state.is_unordered = !self.plan.options.is_ordered;
        let at = match state.urgent(self) {
            Some(at) => at,
            None if state.may_open(self) => {
                state.lanes.push_back(Lane::new(state.next));
                state.next += 1;
                state.lanes.len() - 1
            }
            None => return None,
        };
        let is_alone = state.is_short || self.plan.is_tolerant();
        let task = state.lanes.get_mut(at).map(|lane| lane.task(is_alone));
        state.running += 1;
        task
    }

    fn wants_help(&self, state: &mut State) -> bool {
        state.urgent(self).is_some() || state.may_open(self)
    }

    fn run(&self, task: Task, (): &mut (), _: &Shared<Self>) -> Output {
        let mut progress = Progress::default();
        Output {
            at: task.at,
            is_alone: task.is_alone,
            outcome: self.step(task, &mut progress),
            progress,
        }
    }

    fn finish(&self, state: &mut State, output: Output) {
        state.running -= 1;
        let lane = state.lanes.iter().position(|lane| lane.at == output.at);
        if let Some(lane) = lane {
            state.finish(lane, output);
        }
    }
}
