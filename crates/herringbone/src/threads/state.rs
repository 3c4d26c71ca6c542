//! What is to be done, and what was done: the state that threads share.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};

use herringbone_core::column::{Column, ColumnPart, Piece};
use herringbone_core::read::{BatchAssembler, OpenRowGroup, ReadPlan};
use herringbone_format::{Error, Result};

use super::BATCHES_AHEAD;

#[derive(Default)]
pub(super) struct State {
    /// Tasks that nobody works on.
    pub(super) ready: BTreeSet<Task>,
    /// The same in parts whose turn has not come, for whoever has nothing else to do.
    pub(super) ahead: BTreeSet<Task>,
    /// Row groups with pieces still to be given out; the front one is due.
    pub(super) open: VecDeque<DueRowGroup>,
    /// Index, in the plan, of the front of `open`.
    pub(super) front: usize,
    /// A row group was opened with columns in parts.
    pub(super) has_parts: bool,
    /// Somebody is opening the row group behind the last of `open`.
    pub(super) opening: bool,
    /// A piece that was due failed as its column was cut wrong.
    pub(super) is_cut_wrong: bool,
    /// Opening a row group failed; due once everything before it was given out.
    pub(super) open_error: Option<Error>,
    /// The batch that is due, counted over the whole read.
    pub(super) due: u64,
    /// Workers that sleep.
    pub(super) workers_waiting: usize,
    pub(super) caller_waits: bool,
    pub(super) stop: bool,
    pub(super) panic: Option<Box<dyn Any + Send>>,
}

/// The next piece of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Task {
    /// The batch that the piece belongs to, counted over the whole read.
    pub(super) batch: u64,
    pub(super) column: usize,
    /// Which part of the column.
    pub(super) part: usize,
    /// Index in the plan.
    pub(super) row_group: usize,
}

pub(super) struct DueRowGroup {
    pub(super) columns: Vec<OpenColumn>,
    pub(super) rows_left: u64,
    pub(super) batch_rows: u64,
    /// The first batch behind it, counted over the whole read.
    pub(super) end_batch: u64,
    /// Whether one of its columns is cut into parts.
    pub(super) is_cut: bool,
}

pub(super) struct OpenColumn {
    /// The part whose turn it is, and those behind it.
    pub(super) parts: VecDeque<OpenPart>,
    /// Parts that were given out.
    pub(super) passed: usize,
    /// Whether there were several parts.
    pub(super) is_cut: bool,
}

/// A part of a column, most often all of it.
pub(super) struct OpenPart {
    /// Absent while somebody decodes it, and behind its last piece.
    pub(super) column: Option<Box<Column>>,
    pub(super) pieces: VecDeque<Result<Piece, Failed>>,
    /// The first of its batches, counted over the whole read.
    pub(super) first_batch: u64,
    /// Its last piece, or its error, was delivered.
    pub(super) is_over: bool,
}

impl OpenColumn {
    /// What comes next in a part, unless somebody is at it. Where the part `is_due`, enough of it may
    /// wait already.
    pub(super) fn next_task(
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
pub(super) struct Failed {
    pub(super) error: Error,
    pub(super) peak_bytes: u64,
    pub(super) is_cut_wrong: bool,
}

/// What a free thread may do.
pub(super) enum Job {
    Decode(Task, Box<Column>),
    Open(usize),
}

impl State {
    /// The most urgent thing that may be done.
    pub(super) fn job(&mut self, plan: &ReadPlan, batches_ahead: u64) -> Option<Job> {
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
    pub(super) fn part(&mut self, task: &Task) -> Option<&mut OpenPart> {
        let column = self.column(task)?;
        let index = task.part.checked_sub(column.passed)?;
        column.parts.get_mut(index)
    }

    /// Notes what comes next in the part of a task, where something does.
    pub(super) fn go_on(&mut self, task: &Task) {
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
    pub(super) fn take_turn(&mut self) {
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

/// A column of a row group that begins with batch `first_batch` of the read, in one part or in those
/// that it is cut into.
pub(super) fn open_column(
    row_group: &OpenRowGroup,
    ordinal: usize,
    cuts: &[ColumnPart],
    first_batch: u64,
) -> OpenColumn {
    let part = |column: Result<Box<Column>>, first_batch| {
        let mut pieces = VecDeque::new();
        let column = column
            .map_err(|error| {
                // Due when the column is, as in the plain loop.
                pieces.push_back(Err(Failed {
                    error,
                    peak_bytes: 0,
                    is_cut_wrong: false,
                }));
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
        cuts => {
            let batch_rows = row_group.batch_rows() as u64;
            let first = |cut: &ColumnPart| first_batch + cut.rows.start / batch_rows;
            let columns = row_group.parts(ordinal, cuts).into_iter();
            let columns = columns
                .zip(cuts)
                .map(|(column, cut)| part(column, first(cut)));
            columns.collect()
        }
    };
    OpenColumn {
        parts,
        passed: 0,
        is_cut: cuts.len() > 1,
    }
}

/// Gives the assembler what it needs of the row group that is due; whether it then has all. An
/// error counts once all columns before it have delivered, as in the plain loop.
pub(super) fn take_pieces(
    state: &mut State,
    assembler: &mut BatchAssembler,
    threads: usize,
) -> Result<bool> {
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
                state.is_cut_wrong = failed.is_cut_wrong;
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
