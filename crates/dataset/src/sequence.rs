//! Scheduling the work on many files, without I/O or threads, so that blocking and async reads can
//! share it and tests can drive it by hand.
//!
//! ```text
//! files ─► lanes, in the order of the output ── take ──► a task: to open the file or decode a batch
//!             ├─ next_due ─► batches and errors in order  │
//!             └──────────────────────────── finish ◄── the driver: threads, or the task that polls
//! ```

use std::collections::VecDeque;
use std::mem;

use herringbone::filter::ReadMetrics;
use herringbone::{Error, ErrorKind, Losses};

use crate::options::DatasetReadOptions;
pub use crate::pool::{FileMemory, HeldBatch};
pub use crate::progress::Progress;
pub use crate::reader::{FileCrew, FileResult, ReadFiles};
pub use crate::stream::{FileFuture, FileStream, StreamFiles};
use crate::window::OffsetLimit;

/// The most decoded batches of a file waiting for their turn.
const BATCHES_AHEAD: usize = 2;

/// Rows waiting for their turn.
pub trait Rows {
    /// Returns the number of rows.
    fn num_rows(&self) -> usize;

    /// Returns `length` rows starting at `offset`.
    #[must_use]
    fn part(self, offset: usize, length: usize) -> Self;

    /// Returns true if memory for the rows was granted. By default, memory is not counted.
    fn is_granted(&self) -> bool {
        true
    }
}

/// The schedule for a read's files. It decides which file to open next, which file's batch is due,
/// and which files to close if memory runs short.
///
/// A sequence does no I/O. Instead, a driver [takes](Self::take) tasks, performs them in any order,
/// and [returns](Self::finish) their outcomes: readers `R`, batches `B` and errors `E`. The read's
/// rows do not depend on the driver.
///
/// Files are opened and decoded ahead. If one of several files is refused memory, we close the
/// files ahead and read the first one alone until its end. The others are read again later,
/// starting after their emitted rows, so that a read only needs memory for one file. If the read
/// tolerates damage, only one file is open at a time, because we never read a file again after
/// losses.
///
/// ```
/// use herringbone::arrow::array::{RecordBatch, RecordBatchOptions};
/// use herringbone::arrow::schema::Schema;
/// use herringbone_dataset::DatasetReadOptions;
/// use herringbone_dataset::sequence::{FileSequence, FileStep, Progress, TaskKind};
///
/// // Two files of one batch each, read by a driver that performs one task after the other.
/// let rows = RecordBatchOptions::new().with_row_count(Some(5));
/// let batch = RecordBatch::try_new_with_options(Schema::empty().into(), vec![], &rows)?;
/// let mut files = FileSequence::<(), RecordBatch, String>::new(2, &DatasetReadOptions::new());
/// let mut rows = 0;
/// while let Some(task) = files.take(TaskKind::Any, false) {
///     let step = match task.reader {
///         None => FileStep::Batch((), batch.clone()),
///         Some(()) => FileStep::Finished,
///     };
///     files.finish(task.file, step, Progress::default());
///     while let Some(next) = files.next_due() {
///         rows += next?.num_rows();
///     }
/// }
/// assert_eq!(rows, 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileSequence<R, B, E> {
    num_files: usize,
    most_open: usize,
    is_ordered: bool,
    is_tolerant: bool,
    /// The open files, in output order.
    lanes: VecDeque<FileInWork<R, B, E>>,
    /// The ordinal of the next file to open.
    next: usize,
    /// The number of unfinished tasks.
    running: usize,
    /// True if memory was refused, in which case the first file is read alone until its end.
    is_short: bool,
    window: OffsetLimit,
    /// The losses not taken yet, and the work on closed files.
    sums: Progress,
}

/// The kind of tasks that a driver is ready to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskKind {
    /// Any task.
    Any,
    /// Only tasks that open a file.
    Open,
    /// Only tasks that read an open file.
    Read,
}

/// A task of a [`FileSequence`], that is, decoding a file's next batch.
#[derive(Debug)]
pub struct FileTask<R> {
    /// The file's ordinal.
    pub file: usize,
    /// The number of rows already emitted from the file. If the task opens the file, it has to skip
    /// these rows.
    pub emitted: u64,
    /// The file's reader, or `None` if the task has to open the file.
    pub reader: Option<R>,
}

/// The outcome of a [`FileTask`].
#[derive(Debug)]
pub enum FileStep<R, B, E> {
    /// A reader for the opened file, without a batch.
    Opened(R),
    /// A batch, and the reader for the following batches.
    Batch(R, B),
    /// The end of the file.
    Finished,
    /// An error caused by refused memory.
    Refused(E),
    /// Any other error. It is returned when the file is due.
    Failed(E),
}

impl<R, B> FileStep<R, B, Error> {
    /// Converts an error to an outcome.
    #[must_use]
    pub fn of_error(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Limit => Self::Refused(error),
            _ => Self::Failed(error),
        }
    }
}

/// A file being read.
#[derive(Debug)]
struct FileInWork<R, B, E> {
    file: usize,
    place: ReaderState<R, E>,
    batches: VecDeque<B>,
    emitted: u64,
    /// True if the file's task has all memory for itself.
    is_alone: bool,
    /// The work on the open file.
    metrics: ReadMetrics,
}

/// The state of a file's reader.
#[derive(Debug)]
enum ReaderState<R, E> {
    Closed,
    /// The driver has the reader and is performing the task.
    Away,
    Open(R),
    Over,
    Failed(E),
}

impl<R, B, E> FileInWork<R, B, E> {
    fn new(file: usize) -> Self {
        Self {
            file,
            place: ReaderState::Closed,
            batches: VecDeque::new(),
            emitted: 0,
            is_alone: false,
            metrics: ReadMetrics::default(),
        }
    }

    fn has_task(&self, kind: TaskKind) -> bool {
        let is_here = match self.place {
            ReaderState::Closed => kind != TaskKind::Read,
            ReaderState::Open(_) => kind != TaskKind::Open,
            _ => false,
        };
        is_here && self.batches.len() < BATCHES_AHEAD
    }

    /// Closes the file. It will be opened again later, continuing after its emitted rows.
    fn close(&mut self) {
        self.batches.clear();
        if !matches!(self.place, ReaderState::Away) {
            self.place = ReaderState::Closed;
        }
    }
}

impl<R, B: Rows, E> FileSequence<R, B, E> {
    /// Creates a sequence for the files `0..num_files`. Order, window, tolerance and number of open
    /// files are taken from a read's options.
    #[must_use]
    pub fn new(num_files: usize, options: &DatasetReadOptions) -> Self {
        Self {
            num_files,
            most_open: options.most_open(),
            is_ordered: options.is_ordered,
            is_tolerant: options.is_tolerant(),
            lanes: VecDeque::new(),
            next: 0,
            running: 0,
            is_short: false,
            window: OffsetLimit::new(&options.read),
            sums: Progress::default(),
        }
    }

    /// Returns the next batch or error, if one is due. Note that this includes empty batches. An
    /// error ends the read.
    pub fn next_due(&mut self) -> Option<Result<B, E>> {
        while !self.window.is_over() {
            match self.due()? {
                Ok(batch) => {
                    if let Some(batch) = self.window.cut(batch) {
                        return Some(Ok(batch));
                    }
                }
                Err(error) => {
                    self.window.end();
                    return Some(Err(error));
                }
            }
        }
        None
    }

    /// Returns true if no more batches follow.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.window.is_over() || (self.lanes.is_empty() && self.next == self.num_files)
    }

    /// Takes the most urgent task of this kind, if there is one. If the driver is busy, that is, if
    /// half of its memory is in use, only the first file has tasks.
    pub fn take(&mut self, kind: TaskKind, is_busy: bool) -> Option<FileTask<R>> {
        let at = self.urgent(kind, is_busy).or_else(|| {
            self.may_begin(kind, is_busy).then(|| {
                self.lanes.push_back(FileInWork::new(self.next));
                self.next += 1;
                self.lanes.len() - 1
            })
        })?;
        let lane = self.lanes.get_mut(at)?;
        self.running += 1;
        lane.is_alone = self.is_short || self.is_tolerant;
        Some(FileTask {
            file: lane.file,
            emitted: lane.emitted,
            reader: match mem::replace(&mut lane.place, ReaderState::Away) {
                ReaderState::Open(reader) => Some(reader),
                _ => None,
            },
        })
    }

    /// Returns true if there is a task to [take](Self::take).
    #[must_use]
    pub fn has_task(&self, kind: TaskKind, is_busy: bool) -> bool {
        self.urgent(kind, is_busy).is_some() || self.may_begin(kind, is_busy)
    }

    /// Handles the outcome of a file's task. `progress` has the losses since the file's last task,
    /// and all work since the file was opened.
    pub fn finish(&mut self, file: usize, step: FileStep<R, B, E>, progress: Progress) {
        self.running = self.running.saturating_sub(1);
        self.sums.losses.append(progress.losses);
        let mut lanes = self.lanes.iter_mut().enumerate();
        let Some((at, lane)) = lanes.find(|(_, lane)| lane.file == file) else {
            return;
        };
        let (is_ahead, is_short) = (at != 0, self.is_short);
        lane.metrics = progress.metrics;
        lane.place = ReaderState::Closed;
        match step {
            // Another file was refused memory in the meantime, so this file is closed and read
            // again later.
            _ if is_short && is_ahead => {}
            FileStep::Refused(_) if !lane.is_alone => self.close(is_ahead.into()),
            FileStep::Opened(reader) => lane.place = ReaderState::Open(reader),
            FileStep::Batch(_, batch) if is_ahead && !batch.is_granted() => self.close(1),
            FileStep::Batch(reader, batch) => {
                lane.place = ReaderState::Open(reader);
                lane.batches.push_back(batch);
            }
            FileStep::Finished => lane.place = ReaderState::Over,
            FileStep::Refused(error) | FileStep::Failed(error) => {
                lane.place = ReaderState::Failed(error)
            }
        }
        for lane in &mut self.lanes {
            if !matches!(lane.place, ReaderState::Open(_) | ReaderState::Away) {
                self.sums.metrics += &mem::take(&mut lane.metrics);
            }
        }
    }

    /// Returns true if the driver is allowed to drop a file's task because memory is short. The
    /// file is then read again later.
    pub fn may_drop(&mut self, file: usize) -> bool {
        let mut ahead = self.lanes.iter_mut().skip(1);
        match ahead.find(|lane| lane.file == file) {
            Some(lane) if self.is_short => {
                lane.place = ReaderState::Closed;
                self.sums.metrics += &mem::take(&mut lane.metrics);
                self.running = self.running.saturating_sub(1);
                true
            }
            _ => false,
        }
    }

    /// Returns the number of open files.
    #[must_use]
    pub fn num_open(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the losses since the last [`Self::take_losses`].
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.sums.losses
    }

    /// Takes the losses since the last call.
    pub fn take_losses(&mut self) -> Losses {
        mem::take(&mut self.sums.losses)
    }

    /// Returns the work on all files.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        let mut sum = self.sums.metrics.clone();
        self.lanes.iter().for_each(|lane| sum += &lane.metrics);
        sum
    }

    /// Returns the next batch or error, before applying the window.
    fn due(&mut self) -> Option<Result<B, E>> {
        let mut at = 0;
        while let Some(lane) = self.lanes.get_mut(at) {
            if let Some(batch) = lane.batches.pop_front() {
                lane.emitted += batch.num_rows() as u64;
                return Some(Ok(batch));
            }
            match mem::replace(&mut lane.place, ReaderState::Over) {
                ReaderState::Failed(error) => return Some(Err(error)),
                ReaderState::Over => {
                    drop(self.lanes.remove(at));
                    self.is_short &= at != 0;
                    continue;
                }
                place => lane.place = place,
            }
            if self.is_ordered {
                return None;
            }
            at += 1;
        }
        None
    }

    /// Returns the lane with the most urgent task.
    fn urgent(&self, kind: TaskKind, is_busy: bool) -> Option<usize> {
        if self.window.is_over() {
            return None;
        }
        if self.is_short {
            let first = self.lanes.front().filter(|_| self.running == 0);
            return first.filter(|lane| lane.has_task(kind)).map(|_| 0);
        }
        let with_task = self.lanes.iter().position(|lane| lane.has_task(kind));
        with_task.filter(|at| *at == 0 || !is_busy)
    }

    /// Returns true if the next file can be opened now.
    fn may_begin(&self, kind: TaskKind, is_busy: bool) -> bool {
        let has_room = self.lanes.len() < self.most_open;
        let may_be_ahead = has_room && !self.is_short && !is_busy;
        let is_left = self.next < self.num_files && !self.window.is_over();
        kind != TaskKind::Read && is_left && (self.lanes.is_empty() || may_be_ahead)
    }

    /// Closes all files from lane `first` on, after memory was refused.
    fn close(&mut self, first: usize) {
        self.is_short = true;
        self.lanes
            .iter_mut()
            .skip(first)
            .for_each(FileInWork::close);
    }
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use herringbone::ReadOptions;

    use super::*;

    /// Some rows of a file.
    #[derive(Debug)]
    struct Batch {
        file: usize,
        rows: Range<usize>,
        is_granted: bool,
    }

    impl Rows for Batch {
        fn num_rows(&self) -> usize {
            self.rows.len()
        }

        fn part(self, offset: usize, length: usize) -> Self {
            let start = self.rows.start + offset;
            let rows = start..start + length;
            Self { rows, ..self }
        }

        fn is_granted(&self) -> bool {
            self.is_granted
        }
    }

    /// Drives the sequence by hand. The words of each event:
    ///
    /// - `open F@N`: a task opens file F, after N emitted rows. `read F@N`: one continues with it.
    ///   `idle`: no file has a task.
    /// - `busy`: half of the memory is in use, until `free`.
    /// - `got F A..B`: the task of file F decoded these rows; with `refused`, without memory for
    ///   them.
    /// - `end F`, `refused F`, `failed F`: it ended otherwise. `dropped F`: it may be dropped.
    /// - `F A..B`: these rows are due. `error F`: so is this error. `wait`: nothing is due. `over`:
    ///   the read is over.
    fn drive(files: usize, options: DatasetReadOptions, events: &str) {
        let mut sequence = FileSequence::<usize, Batch, usize>::new(files, &options);
        let mut is_busy = false;
        for (at, event) in events.split(',').map(str::trim).enumerate() {
            let words: Vec<&str> = event.split(' ').collect();
            let number = |word: &str| word.parse::<usize>().unwrap();
            let range = |word: &str| {
                let (start, end) = word.split_once("..").unwrap();
                number(start)..number(end)
            };
            let mut finish = |file: &str, step| {
                sequence.finish(number(file), step, Progress::default());
                event.to_owned()
            };
            let found = match &words[..] {
                ["busy" | "free"] => {
                    is_busy = event == "busy";
                    continue;
                }
                ["open" | "read" | "idle", ..] => {
                    let kind = TaskKind::Any;
                    let has_task = sequence.has_task(kind, is_busy);
                    let task = sequence.take(kind, is_busy);
                    assert_eq!(has_task, task.is_some(), "event {at}: {event}");
                    task.map_or("idle".into(), |task| {
                        let verb = task.reader.map_or("open", |_| "read");
                        assert!(task.reader.is_none_or(|reader| reader == task.file));
                        format!("{verb} {}@{}", task.file, task.emitted)
                    })
                }
                ["got", file, rows, rest @ ..] => {
                    let batch = Batch {
                        file: number(file),
                        rows: range(rows),
                        is_granted: rest.is_empty(),
                    };
                    finish(file, FileStep::Batch(number(file), batch))
                }
                ["end", file] => finish(file, FileStep::Finished),
                ["refused", file] => finish(file, FileStep::Refused(number(file))),
                ["failed", file] => finish(file, FileStep::Failed(number(file))),
                ["dropped" | "kept", file] => match sequence.may_drop(number(file)) {
                    true => format!("dropped {file}"),
                    false => format!("kept {file}"),
                },
                _ => match sequence.next_due() {
                    Some(Ok(batch)) => {
                        format!("{} {}..{}", batch.file, batch.rows.start, batch.rows.end)
                    }
                    Some(Err(file)) => format!("error {file}"),
                    None if sequence.is_over() => "over".into(),
                    None => "wait".into(),
                },
            };
            assert_eq!(found, event, "event {at}");
        }
    }

    #[test]
    fn batches_have_the_order_of_the_files() {
        drive(
            3,
            DatasetReadOptions::new(),
            "wait, open 0@0, open 1@0, open 2@0, idle, got 1 0..4, wait, read 1@0, got 1 4..8, idle, end 2, \
             wait, got 0 0..5, 0 0..5, wait, read 0@5, end 0, 1 0..4, read 1@4, 1 4..8, wait, end 1, over, \
             idle",
        );
    }

    #[test]
    fn without_an_order_any_file_is_due() {
        drive(
            2,
            DatasetReadOptions::new().is_ordered(false),
            "open 0@0, open 1@0, got 1 0..4, 1 0..4, read 1@4, end 1, wait, failed 0, error 0, over",
        );
    }

    #[test]
    fn a_file_is_open_only_while_few_are() {
        drive(
            3,
            DatasetReadOptions::new().max_open_files(2),
            "open 0@0, open 1@0, idle, end 1, idle, end 0, wait, open 2@0, end 2, over",
        );
        drive(
            1,
            DatasetReadOptions::new().max_open_files(0),
            "open 0@0, end 0, over",
        );
    }

    #[test]
    fn only_the_first_file_goes_on_while_half_of_the_memory_is_in_use() {
        drive(
            3,
            DatasetReadOptions::new(),
            "busy, open 0@0, idle, free, open 1@0, got 1 0..4, busy, idle, got 0 0..5, read 0@0, idle, free, \
             read 1@0, open 2@0",
        );
    }

    #[test]
    fn an_error_ahead_is_returned_in_its_turn() {
        drive(
            3,
            DatasetReadOptions::new(),
            "open 0@0, open 1@0, failed 1, wait, got 0 0..5, 0 0..5, wait, read 0@5, end 0, error 1, over, \
             idle",
        );
    }

    #[test]
    fn memory_refused_to_a_file_ahead_is_left_to_the_first() {
        drive(
            3,
            DatasetReadOptions::new(),
            "open 0@0, open 1@0, got 1 0..4, read 1@0, open 2@0, refused 2, idle, got 1 4..8, idle, got 0 0..5, \
             0 0..5, read 0@5, idle, end 0, wait, open 1@0, open 2@0, got 1 0..4, 1 0..4",
        );
    }

    #[test]
    fn a_first_file_without_memory_is_read_again_alone() {
        drive(
            2,
            DatasetReadOptions::new(),
            "open 0@0, got 0 0..5, 0 0..5, read 0@5, open 1@0, refused 0, idle, got 1 0..4, open 0@5, idle, \
             refused 0, error 0, over",
        );
    }

    #[test]
    fn rows_ahead_without_memory_are_read_again() {
        drive(
            2,
            DatasetReadOptions::new(),
            "open 0@0, open 1@0, got 1 0..4 refused, got 0 0..5 refused, 0 0..5, read 0@5, idle, end 0, wait, \
             open 1@0, got 1 0..4 refused, 1 0..4",
        );
    }

    #[test]
    fn tasks_ahead_may_be_dropped_while_memory_is_short() {
        drive(
            3,
            DatasetReadOptions::new(),
            "open 0@0, open 1@0, open 2@0, kept 1, refused 2, kept 0, dropped 1, idle, end 0, wait, open 1@0, \
             open 2@0",
        );
    }

    #[test]
    fn a_window_ends_the_read() {
        drive(
            3,
            ReadOptions::new().offset(7).limit(3).into(),
            "open 0@0, got 0 0..5, wait, read 0@5, end 0, wait, open 1@0, got 1 0..4, 1 2..4, read 1@4, \
             got 1 4..8, 1 4..5, over, idle",
        );
        drive(2, ReadOptions::new().limit(0).into(), "over, idle");
    }

    #[test]
    fn a_read_beyond_damage_has_one_file_with_all_memory() {
        drive(
            2,
            ReadOptions::new()
                .on_error(herringbone::OnError::SkipRowGroup)
                .into(),
            "open 0@0, idle, refused 0, error 0, over",
        );
    }
}
