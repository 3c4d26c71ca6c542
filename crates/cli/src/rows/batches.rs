//! Returns the rows of several files as one sequence of batches.
//!
//! ```text
//! inputs ─► opened on this thread, in their order ─► FileCrew: decoded ahead ─► notes, losses, window ─► batches
//! ```

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;

use herringbone::{ErrorKind, Loss, Losses, Lost, ParquetFile, ReadOptions, Reader, SchemaOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_dataset::DatasetReadOptions;
use herringbone_dataset::sequence::{
    FileCrew, FileMemory, FileResult, FileSequence, FileStep, FileTask, HeldBatch, Progress,
    ReadFiles, Rows, TaskKind,
};
use herringbone_rewrite::SchemaMerge;

use super::{Request, Window};
use crate::base::failure::{Failure, Result};
use crate::base::plural::counted;
use crate::input::Input;
use crate::input::context::Context;
use crate::input::folder::{BY_NAME, LostColumns};

/// The current input's index, shared with the code that names the input in errors.
pub(crate) type Place = Rc<Cell<usize>>;

/// The number of files to open before each batch: one that is due and one ahead.
const OPENED_AT_ONCE: usize = 2;

/// Iterates over the rows of several files, cut to a window.
pub(crate) struct Batches<'a> {
    context: &'a Context,
    request: &'a Request<'a>,
    inputs: &'a [Input],
    /// The rest of the window.
    window: Window,
    /// True if each read's options already stop at the end of the window.
    is_counted: bool,
    place: Place,
    files: FileCrew<Decoding>,
    /// The read options of each open file.
    started: BTreeMap<usize, ReadOptions>,
    memory: Arc<FileMemory>,
    lost: LostRows,
}

impl<'a> Batches<'a> {
    /// Creates an iterator over the rows of `inputs` in `window`. All inputs must have the same
    /// schema under this request.
    pub(crate) fn new(
        context: &'a Context,
        inputs: &'a [Input],
        request: &'a Request<'a>,
        window: Window,
    ) -> Self {
        let mut options = ReadOptions::new().limits(context.limits.clone());
        options.on_error = request.options.on_error;
        let memory = FileMemory::new(&options);
        // With a single input, we parallelize over its columns instead.
        let threads = match inputs {
            [_] => 1,
            _ => request.options.threads,
        };
        let sequence = FileSequence::new(inputs.len(), &DatasetReadOptions::from(options));
        let decoding = Decoding(memory.clone());
        Self {
            context,
            request,
            inputs,
            window,
            is_counted: true,
            place: Place::default(),
            files: FileCrew::new(decoding, sequence, threads, None),
            started: BTreeMap::new(),
            memory,
            lost: LostRows::default(),
        }
    }

    /// Returns the input index of the newest batch. It is updated with each batch.
    pub(crate) fn place(&self) -> Place {
        self.place.clone()
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        while self.is_counted || !self.window.is_past() {
            let opened = (0..OPENED_AT_ONCE).take_while(|_| self.open_next()).count();
            let Some(decoded) = self.files.next_due() else {
                // A finished file might have made room for another.
                match opened > 0 || self.open_next() {
                    true => continue,
                    false => break,
                }
            };
            let decoded = decoded.map_err(|problem| self.failure(problem))?;
            let Some(input) = self.inputs.get(decoded.file) else {
                continue;
            };
            self.place.set(decoded.file);
            if let Some(notes) = decoded.notes {
                notes.emit(self.context, input);
            }
            self.lost.report(self.context, input, decoded.losses);
            match decoded.batch.map(HeldBatch::into_batch) {
                Some(batch) if self.is_counted => return Ok(Some(batch)),
                Some(batch) => return Ok(Some(self.window.take(&batch))),
                None => {
                    self.started.remove(&decoded.file);
                    mem::take(&mut self.lost).end(self.context, input);
                }
            }
        }
        Ok(None)
    }

    /// Opens the next file. Returns false if no file can be opened now.
    fn open_next(&mut self) -> bool {
        let Some(task) = self.files.take_unopened() else {
            return false;
        };
        let step = match self.open(&task) {
            Ok(Some(file)) => FileStep::Opened(file),
            Ok(None) => FileStep::Finished,
            Err(failure) => FileStep::Failed(Problem::Opening(failure)),
        };
        self.files.finish(task.file, step);
        true
    }

    /// Starts reading a file after the rows already returned. Returns `None` if no more rows are
    /// wanted.
    fn open(&mut self, task: &FileTask<OpenFile>) -> Result<Option<OpenFile>> {
        let started = self.started.get(&task.file).cloned();
        let Some(input) = self.inputs.get(task.file) else {
            return Ok(None);
        };
        if started.is_none() && self.window.is_past() {
            return Ok(None);
        }
        let file = input.open()?;
        let options = match started {
            Some(mut options) => {
                options.offset = options.offset.saturating_add(task.emitted);
                options.limit = options
                    .limit
                    .map(|limit| limit.saturating_sub(task.emitted));
                Some(options)
            }
            None => {
                let place = (task.file, input);
                let options = self.window.options(place, &file, self.request)?;
                if let Some(options) = &options {
                    self.is_counted = options.filter.is_none() && options.row_ranges.is_none();
                    self.started.insert(task.file, options.clone());
                }
                options
            }
        };
        let mut opened = OpenFile {
            at: task.file,
            reader: None,
            notes: None,
        };
        let mut notes = Notes::default();
        if let Some(member) = &input.member {
            notes.lost = Some(self.request.lost_columns(member, &file)?);
        }
        if let Some(mut options) = options {
            if self.inputs.len() > 1 {
                options.memory_pool = Some(self.memory.clone());
            }
            opened.reader = Some(start(input, &file, options, &mut notes)?);
        }
        opened.notes = (task.emitted == 0).then_some(notes);
        Ok(Some(opened))
    }

    fn failure(&self, problem: Problem) -> Failure {
        match problem {
            Problem::Opening(failure) => failure,
            Problem::Reading(at, error) => match self.inputs.get(at) {
                Some(input) => input.failure(&error).in_data(),
                None => Failure::parquet("", &error),
            },
        }
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_batch().transpose()
    }
}

/// Decodes open files with a shared memory budget.
struct Decoding(Arc<FileMemory>);

/// An open file.
struct OpenFile {
    at: usize,
    /// The reader, or `None` after the last batch.
    reader: Option<Reader>,
    /// The notes about the file, until the first step takes them.
    notes: Option<Notes>,
}

/// The result of one decoding step.
struct Decoded {
    file: usize,
    /// The batch, or `None` at the end of the file.
    batch: Option<HeldBatch>,
    notes: Option<Notes>,
    losses: Losses,
}

/// A problem that ends all reads.
enum Problem {
    Opening(Failure),
    Reading(usize, herringbone::Error),
}

impl Rows for Decoded {
    fn num_rows(&self) -> usize {
        self.batch.as_ref().map_or(0, Rows::num_rows)
    }

    fn part(self, offset: usize, length: usize) -> Self {
        let batch = self.batch.map(|batch| batch.part(offset, length));
        Self { batch, ..self }
    }

    fn is_granted(&self) -> bool {
        self.batch.as_ref().is_none_or(Rows::is_granted)
    }
}

impl ReadFiles for Decoding {
    type Reader = OpenFile;
    type Batch = Decoded;
    type Error = Problem;
    const TASKS: TaskKind = TaskKind::Read;

    fn step(&self, task: FileTask<OpenFile>) -> FileResult<Self> {
        let finished = (FileStep::Finished, Progress::default());
        let Some(mut file) = task.reader else {
            return finished;
        };
        let mut decoded = Decoded {
            file: file.at,
            batch: None,
            notes: file.notes.take(),
            losses: Losses::default(),
        };
        let step = match &mut file.reader {
            None if decoded.notes.is_none() => return finished,
            None => FileStep::Batch(file, decoded),
            Some(reader) => match reader.next_batch() {
                Ok(batch) => {
                    decoded.losses = reader.take_losses();
                    match batch {
                        Some(batch) => decoded.batch = Some(self.0.hold(batch)),
                        None => file.reader = None,
                    }
                    FileStep::Batch(file, decoded)
                }
                Err(error) if error.kind() == ErrorKind::Limit => {
                    FileStep::Refused(Problem::Reading(file.at, error))
                }
                Err(error) => FileStep::Failed(Problem::Reading(file.at, error)),
            },
        };
        (step, Progress::default())
    }

    fn is_busy(&self) -> bool {
        self.0.is_half_used()
    }
}

/// Notes to print before a file's rows.
#[derive(Default)]
struct Notes {
    lost: Option<LostColumns>,
    /// The reader's warnings.
    warnings: Vec<String>,
}

impl Notes {
    fn emit(self, context: &Context, input: &Input) {
        if let Some((member, lost)) = input.member.as_ref().zip(self.lost) {
            member.note_lost(context, &input.name, lost);
        }
        for warning in self.warnings {
            context.note(&format!("{}: {warning}", input.name));
        }
    }
}

/// A file's losses and the number already reported.
#[derive(Default)]
struct LostRows {
    losses: Losses,
    reported: usize,
}

impl LostRows {
    fn report(&mut self, context: &Context, input: &Input, more: Losses) {
        self.losses.append(more);
        for loss in self.losses.kept().iter().skip(self.reported) {
            context.lost(&input.name, &said(input, loss));
        }
        self.reported = self.losses.kept().len();
    }

    fn end(self, context: &Context, input: &Input) {
        if self.losses.not_kept() > 0 {
            let more = self.losses.not_kept();
            let more = format!("{more} more losses that are not listed");
            context.lost(&input.name, &more);
        }
    }
}

/// Starts reading a file, adding the reader's warnings to the notes.
fn start(
    input: &Input,
    file: &ParquetFile,
    options: ReadOptions,
    notes: &mut Notes,
) -> Result<Reader> {
    let wanted = options.wanted_schema.clone();
    let reader = file.read(options).map_err(|error| {
        let failure = input.failure(&error);
        let is_later = input
            .member
            .as_ref()
            .is_some_and(|member| !member.is_first());
        match wanted.filter(|_| is_later) {
            Some(wanted) => failure.in_data().hinting(&advice(file, wanted.schema())),
            None => failure,
        }
    })?;
    notes.warnings = reader.warnings().to_vec();
    Ok(reader)
}

/// Returns advice about a file that doesn't fit the columns of its folder's first file. We only
/// suggest merging after checking that it would help.
fn advice(file: &ParquetFile, table: &SchemaRef) -> String {
    let mut merge = SchemaMerge::default();
    (merge.by_name, merge.cast) = (true, true);
    let schema = file.arrow_schema(&SchemaOptions::default());
    let helps = schema.and_then(|schema| merge.schema(&[("", table.clone()), ("", schema)]));
    match helps {
        Ok(_) => format!("; {BY_NAME}"),
        Err(_) => {
            "; no type has the values of both: leave the column out with -c '!COLUMN', or change its type in one of \
             the files with `rewrite -c`"
                .into()
        }
    }
}

fn said(input: &Input, loss: &Loss) -> String {
    let error = input.advised(&loss.error);
    match loss.lost {
        Lost::Rows(rows) => format!("{}: {error}", counted(rows, "row")),
        Lost::Values(0) => format!("a dictionary: {error}"),
        Lost::Values(1) => format!("1 value replaced by null: {error}"),
        Lost::Values(values) => format!("{values} values replaced by nulls: {error}"),
    }
}

/// Counts the rows of a read.
pub(crate) fn count_read(
    context: &Context,
    input: &Input,
    file: &ParquetFile,
    options: ReadOptions,
) -> Result<u64> {
    let (mut notes, mut lost) = (Notes::default(), LostRows::default());
    let options = options.limits(input.limits().clone());
    let mut reader = start(input, file, options, &mut notes)?;
    notes.emit(context, input);
    let mut count = 0_u64;
    loop {
        let batch = reader.next_batch();
        let batch = batch.map_err(|error| input.failure(&error).in_data())?;
        lost.report(context, input, reader.take_losses());
        match batch {
            Some(batch) => count = count.saturating_add(batch.num_rows() as u64),
            None => break,
        }
    }
    lost.end(context, input);
    Ok(count)
}
