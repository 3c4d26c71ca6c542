//! Several threads, the caller's included.
//!
//! A task decodes the next piece of one column. Tasks are ordered by the batch that the piece
//! belongs to, then by column: whoever is free takes the first one, so the batch that is due is
//! always worked on first. Workers run ahead of the caller by a few batches and no further, which
//! bounds the memory; the caller works too instead of waiting, as long as there is work.
//!
//! A column that would keep the others waiting is cut into [parts]. Threads that have nothing to do for
//! the batches that come next work on its later parts, whose pieces wait until it is their turn.
//!
//! Pieces depend on nothing but the bytes, so batches and errors are those of the plain loop. Only
//! the memory that is held at a time does not: where the budget refuses, the plain loop decides
//! ([`Threads::into_inline`]).

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::column::{Column, Piece};
use herringbone_core::read::{BatchAssembler, Budget, Loss, OpenRowGroup, ReadPlan, too_few_rows};
use herringbone_format::{Error, Result};

use crate::inline::Inline;
use crate::parts::{self, Part};
use crate::reader::next_piece;
use crate::source::Source;

/// Batches, behind the one that is due, that workers may decode pieces of.
const BATCHES_AHEAD: u64 = 3;

/// Decodes on several threads.
pub(crate) struct Threads {
    shared: Arc<Shared>,
    assembler: BatchAssembler,
    workers: Vec<JoinHandle<()>>,
    /// Workers to start with the first batch.
    unstarted: usize,
}

struct Shared {
    threads: usize,
    plan: Arc<ReadPlan>,
    source: Arc<dyn Source>,
    budget: Arc<Budget>,
    state: Mutex<State>,
    /// A task became ready, or everything is over.
    work: Condvar,
    /// A piece was delivered.
    delivered: Condvar,
}

#[derive(Default)]
struct State {
    /// Tasks that nobody works on.
    ready: BTreeSet<Task>,
    /// The same in parts whose turn has not come, for whoever has nothing else to do.
    ahead: BTreeSet<Task>,
    /// Row groups with pieces still to be given out; the front one is due.
    open: VecDeque<DueRowGroup>,
    /// Index, in the plan, of the front of `open`.
    front: usize,
    /// A row group was opened with columns in parts.
    has_parts: bool,
    /// Somebody is opening the row group behind the last of `open`.
    opening: bool,
    /// Opening a row group failed; due once everything before it was given out.
    open_error: Option<Error>,
    /// The batch that is due, counted over the whole read.
    due: u64,
    stop: bool,
    panic: Option<Box<dyn Any + Send>>,
}

/// The next piece of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Task {
    /// The batch that the piece belongs to, counted over the whole read.
    batch: u64,
    column: usize,
    /// Which part of the column.
    part: usize,
    /// Index in the plan.
    row_group: usize,
}

struct DueRowGroup {
    columns: Vec<OpenColumn>,
    rows_left: u64,
    batch_rows: u64,
    /// The first batch behind it, counted over the whole read.
    end_batch: u64,
    /// Whether one of its columns is cut into parts.
    is_cut: bool,
}

struct OpenColumn {
    /// The part whose turn it is, and those behind it.
    parts: VecDeque<OpenPart>,
    /// Parts that were given out.
    passed: usize,
    /// Whether there were several parts.
    is_cut: bool,
}

/// A part of a column, most often all of it.
struct OpenPart {
    /// Absent while somebody decodes it, and behind its last piece.
    column: Option<Box<Column>>,
    pieces: VecDeque<Result<Piece, Failed>>,
    /// The first of its batches, counted over the whole read.
    first_batch: u64,
    /// Its last piece, or its error, was delivered.
    is_over: bool,
}

impl OpenColumn {
    /// What comes next in a part, unless somebody is at it. Where the part `is_due`, enough of it may
    /// wait already.
    fn next_task(
        &self,
        (column, part, row_group): (usize, usize, usize),
        is_due: bool,
    ) -> Option<Task> {
        let open = self.parts.get(part.checked_sub(self.passed)?)?;
        let enough = is_due && open.pieces.len() >= BATCHES_AHEAD as usize;
        let idle = open.column.as_ref().filter(|_| !enough)?;
        Some(Task {
            batch: open.first_batch + idle.next_batch(),
            column,
            part,
            row_group,
        })
    }
}

/// Why a column has no more pieces, and the memory that it took up to there.
struct Failed {
    error: Error,
    peak_bytes: u64,
}

/// What a free thread may do.
enum Job {
    Decode(Task, Box<Column>),
    Open(usize),
}

impl Threads {
    pub(crate) fn new(plan: Arc<ReadPlan>, source: Arc<dyn Source>, threads: usize) -> Self {
        let budget = Budget::new(&plan.options().limits);
        let assembler = BatchAssembler::new(plan.clone(), &budget);
        let shared = Shared {
            threads,
            plan,
            source,
            budget,
            state: Mutex::default(),
            work: Condvar::new(),
            delivered: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            assembler,
            workers: Vec::new(),
            unstarted: threads - 1,
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        self.start_workers()?;
        loop {
            let mut state = self.shared.lock();
            if let Some(panic) = state.panic.take() {
                drop(state);
                resume_unwind(panic);
            }
            if state.open.is_empty() && !state.opening {
                if let Some(error) = state.open_error.take() {
                    return Err(error);
                }
                if state.front >= self.shared.plan.row_groups().len() {
                    return Ok(None);
                }
            }
            if take_pieces(&mut state, &mut self.assembler, self.shared.threads)? {
                drop(state);
                let batch = self.assembler.assemble()?;
                self.shared.give_out(batch.num_rows() as u64);
                return Ok(Some(batch));
            }
            match self.shared.job(&mut state) {
                Some(job) => {
                    drop(state);
                    self.shared.run(job);
                }
                None => drop(
                    self.shared
                        .delivered
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner),
                ),
            }
        }
    }

    /// Gives up the row group that the last batch failed in; the rows that are lost.
    pub(crate) fn skip_row_group(&mut self) -> u64 {
        self.assembler.clear();
        let mut state = self.shared.lock();
        let rows = match state.open.pop_front() {
            Some(row_group) => {
                state.due = row_group.end_batch;
                row_group.rows_left
            }
            // It could not even be opened.
            None => {
                let row_group = self.shared.plan.row_groups().get(state.front);
                row_group.map_or(0, |row_group| row_group.num_wanted())
            }
        };
        state.front += 1;
        state.take_turn();
        drop(state);
        self.shared.work.notify_all();
        rows
    }

    pub(crate) fn take_losses(&mut self) -> Vec<Loss> {
        self.assembler.take_losses()
    }

    /// Stops, and has the plain loop start again where the row group that is due starts.
    pub(crate) fn into_inline(self) -> Inline {
        let (plan, source) = (self.shared.plan.clone(), self.shared.source.clone());
        let budget = self.shared.budget.clone();
        let state = self.shared.lock();
        let row_groups = state.front;
        let rows_left = state.open.front().map(|row_group| row_group.rows_left);
        drop(state);
        let rows = plan
            .row_groups()
            .get(row_groups)
            .map_or(0, |g| g.num_wanted());
        let rows_given = rows - rows_left.unwrap_or(rows).min(rows);
        drop(self);
        Inline::new_behind(plan, source, budget, (row_groups, rows_given))
    }

    fn start_workers(&mut self) -> Result<()> {
        for _ in 0..std::mem::take(&mut self.unstarted) {
            let shared = self.shared.clone();
            let builder = std::thread::Builder::new().name("herringbone".into());
            self.workers.push(builder.spawn(move || shared.work())?);
        }
        Ok(())
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.shared.lock().stop = true;
        self.shared.work.notify_all();
        for worker in self.workers.drain(..) {
            // A worker hands its panic over before it ends, so there is nothing to learn here.
            drop(worker.join());
        }
    }
}

/// Gives the assembler what it needs of the row group that is due; whether it then has all. An
/// error counts once all columns before it have delivered, as in the plain loop.
fn take_pieces(state: &mut State, assembler: &mut BatchAssembler, threads: usize) -> Result<bool> {
    let row_group_index = state.front;
    if state.has_parts {
        assembler.expect_parts();
    }
    let Some(mut row_group) = state.open.pop_front() else {
        return Ok(false);
    };
    let mut complete = Ok(true);
    for (ordinal, column) in row_group.columns.iter_mut().enumerate() {
        if !assembler.needs(ordinal) {
            continue;
        }
        state.pass_parts(column, (ordinal, row_group_index), threads);
        let Some(part) = column.parts.front_mut() else {
            continue;
        };
        match part.pieces.pop_front() {
            None => complete = complete.and(Ok(false)),
            Some(Ok(piece)) => {
                assembler.add(ordinal, piece);
                let place = (ordinal, column.passed, row_group_index);
                state.ready.extend(column.next_task(place, true));
            }
            Some(Err(failed)) if matches!(complete, Ok(true)) => {
                complete = assembler
                    .check_error(ordinal, failed.peak_bytes)
                    .and(Err(failed.error));
                break;
            }
            Some(failed) => part.pieces.push_front(failed),
        }
    }
    state.open.push_front(row_group);
    complete
}

/// A column of a row group that begins with batch `first_batch` of the read, in one part or in those
/// that it is cut into.
fn open_column(
    row_group: &OpenRowGroup,
    ordinal: usize,
    cuts: &[Part],
    first_batch: u64,
) -> OpenColumn {
    let part = |column: Result<Box<Column>>, first_batch| {
        let mut pieces = VecDeque::new();
        let column = column
            .map_err(|error| {
                // Due when the column is, as in the plain loop.
                let peak_bytes = 0;
                pieces.push_back(Err(Failed { error, peak_bytes }));
            })
            .ok();
        OpenPart {
            is_over: column.is_none(),
            column,
            pieces,
            first_batch,
        }
    };
    let parts = match cuts {
        [] => [part(row_group.column(ordinal), first_batch)].into(),
        cuts => cuts
            .iter()
            .map(|cut| {
                let batch = first_batch + cut.rows.start / row_group.batch_rows() as u64;
                part(row_group.part(ordinal, cut.rows.clone(), cut.start), batch)
            })
            .collect(),
    };
    OpenColumn {
        parts,
        passed: 0,
        is_cut: cuts.len() > 1,
    }
}

impl State {
    /// The most urgent thing that may be done.
    fn job(&mut self, plan: &ReadPlan, batches_ahead: u64) -> Option<Job> {
        let latest = self.due + batches_ahead;
        let behind = self.open.back().map_or(0, |row_group| row_group.end_batch);
        let next = self.front + self.open.len();
        let may_open = !self.opening && self.open_error.is_none();
        let may_open = may_open && next < plan.row_groups().len();
        if may_open && behind <= latest {
            self.opening = true;
            return Some(Job::Open(next));
        }
        while let Some(&task) = self.ready.first() {
            if task.batch > latest {
                break;
            }
            self.ready.remove(&task);
            if let Some(column) = self.part(&task).and_then(|part| part.column.take()) {
                return Some(Job::Decode(task, column));
            }
        }
        // Where memory is short, nothing is done ahead of its turn.
        while batches_ahead > 0
            && let Some(task) = self.ahead.pop_first()
        {
            if let Some(column) = self.part(&task).and_then(|part| part.column.take()) {
                return Some(Job::Decode(task, column));
            }
        }
        // Nor is anything left to do of parts, once all of them are under way.
        let is_cut = self.open.front().is_some_and(|row_group| row_group.is_cut);
        if may_open && batches_ahead > 0 && is_cut && self.open.len() == 1 {
            self.opening = true;
            return Some(Job::Open(next));
        }
        None
    }

    /// The column of a task, unless its row group was given out.
    fn column(&mut self, task: &Task) -> Option<&mut OpenColumn> {
        let index = task.row_group.checked_sub(self.front)?;
        self.open.get_mut(index)?.columns.get_mut(task.column)
    }

    /// The part of a task, unless it was given out.
    fn part(&mut self, task: &Task) -> Option<&mut OpenPart> {
        let column = self.column(task)?;
        let index = task.part.checked_sub(column.passed)?;
        column.parts.get_mut(index)
    }

    /// Notes what comes next in the part of a task, where something does.
    fn go_on(&mut self, task: &Task) {
        let is_front = task.row_group == self.front;
        let Some(column) = self.column(task) else {
            return;
        };
        let is_due = task.part == column.passed && (is_front || !column.is_cut);
        let next = column.next_task((task.column, task.part, task.row_group), is_due);
        if is_due {
            self.ready.extend(next);
        } else {
            self.ahead.extend(next);
        }
    }

    /// Notes that it is the turn of the row group at the front.
    fn take_turn(&mut self) {
        let Some(row_group) = self.open.front() else {
            return;
        };
        for (ordinal, column) in row_group.columns.iter().enumerate() {
            let place = (ordinal, column.passed, self.front);
            if column.is_cut
                && let Some(task) = column.next_task(place, true)
            {
                self.ahead.remove(&task);
                self.ready.insert(task);
            }
        }
    }

    /// Goes on to the part of a column whose turn it is, and starts one more in its stead.
    fn pass_parts(
        &mut self,
        column: &mut OpenColumn,
        (ordinal, row_group): (usize, usize),
        threads: usize,
    ) {
        let is_passed = |part: &OpenPart| part.is_over && part.pieces.is_empty();
        while column.parts.len() > 1 && column.parts.front().is_some_and(is_passed) {
            column.parts.pop_front();
            column.passed += 1;
            if let Some(task) = column.next_task((ordinal, column.passed, row_group), true) {
                self.ahead.remove(&task);
                self.ready.insert(task);
            }
            let last = column.passed + threads - 1;
            let last = column.next_task((ordinal, last, row_group), false);
            self.ahead.extend(last.filter(|_| threads > 1));
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic is handed over before a lock can be poisoned by it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most urgent thing that may be done: nothing ahead of time where memory is short.
    fn job(&self, state: &mut State) -> Option<Job> {
        let ahead = if self.budget.is_short() {
            0
        } else {
            BATCHES_AHEAD
        };
        state.job(&self.plan, ahead)
    }

    /// The life of a worker.
    fn work(&self) {
        let mut state = self.lock();
        while !state.stop {
            if let Some(job) = self.job(&mut state) {
                drop(state);
                let outcome = catch_unwind(AssertUnwindSafe(|| self.run(job)));
                state = self.lock();
                if let Err(panic) = outcome {
                    state.panic = Some(panic);
                    self.delivered.notify_all();
                    return;
                }
            } else {
                state = self
                    .work
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn run(&self, job: Job) {
        match job {
            Job::Decode(task, mut column) => {
                let piece = next_piece(&mut column, &*self.source)
                    .and_then(|piece| piece.ok_or_else(too_few_rows))
                    .map_err(|error| Failed {
                        error,
                        peak_bytes: column.peak_bytes(),
                    });
                self.deliver(task, column, piece);
            }
            Job::Open(index) => {
                let row_group = self.plan.open(index, &self.budget);
                let parts = row_group.as_ref().map_or(Vec::new(), |row_group| {
                    let options = self.plan.options();
                    parts::of_row_group(row_group, &self.source, options, self.threads)
                });
                self.opened(index, row_group, &parts);
            }
        }
    }

    fn deliver(&self, task: Task, column: Box<Column>, piece: Result<Piece, Failed>) {
        let mut state = self.lock();
        let Some(part) = state.part(&task) else {
            return;
        };
        if piece.is_ok() && !column.is_done() {
            part.column = Some(column);
        } else {
            part.is_over = true;
        }
        part.pieces.push_back(piece);
        state.go_on(&task);
        drop(state);
        self.work.notify_one();
        self.delivered.notify_one();
    }

    fn opened(&self, index: usize, row_group: Result<OpenRowGroup>, parts: &[Vec<Part>]) {
        let mut state = self.lock();
        state.opening = false;
        match row_group {
            Err(error) => state.open_error = Some(error),
            Ok(row_group) => {
                let first_batch = state
                    .open
                    .back()
                    .map_or(state.due, |row_group| row_group.end_batch);
                let rows_left = self
                    .plan
                    .row_groups()
                    .get(index)
                    .map_or(0, |g| g.num_wanted());
                let batch_rows = row_group.batch_rows() as u64;
                let end_batch = first_batch + rows_left.div_ceil(batch_rows);
                state.has_parts |= parts.iter().any(|parts| !parts.is_empty());
                let mut columns = Vec::with_capacity(row_group.num_columns());
                for ordinal in 0..row_group.num_columns() {
                    let cuts = parts.get(ordinal).map_or(&[][..], Vec::as_slice);
                    let column = open_column(&row_group, ordinal, cuts, first_batch);
                    let first = column.next_task((ordinal, 0, index), true);
                    if index == state.front || !column.is_cut {
                        state.ready.extend(first);
                    } else {
                        state.ahead.extend(first);
                    }
                    let ahead = 1..self.threads;
                    let ahead =
                        ahead.filter_map(|part| column.next_task((ordinal, part, index), false));
                    state.ahead.extend(ahead);
                    columns.push(column);
                }
                state.open.push_back(DueRowGroup {
                    columns,
                    rows_left,
                    batch_rows,
                    end_batch,
                    is_cut: parts.iter().any(|cuts| cuts.len() > 1),
                });
            }
        }
        drop(state);
        self.work.notify_all();
        self.delivered.notify_one();
    }

    /// Counts rows that were given out, and makes way for the pieces behind them.
    fn give_out(&self, rows: u64) {
        let mut state = self.lock();
        let Some(row_group) = state.open.front_mut() else {
            return;
        };
        row_group.rows_left = row_group.rows_left.saturating_sub(rows);
        if row_group.rows_left == 0 {
            let end = row_group.end_batch;
            state.open.pop_front();
            state.front += 1;
            state.due = end;
            state.take_turn();
        } else {
            let batches_left = row_group.rows_left.div_ceil(row_group.batch_rows);
            state.due = row_group.end_batch - batches_left;
        }
        drop(state);
        self.work.notify_all();
    }
}
