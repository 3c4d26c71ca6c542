//! What is to be done, and what was done: the state that threads share.

use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use herringbone_core::column::{ColumnBatch, ColumnChunkDecoder, ColumnSplit, RowCounter};
use herringbone_core::read::{BatchAssembler, OpenRowGroup, ReadPlan};
use herringbone_format::{Error, Result};

use super::BATCHES_AHEAD;
use crate::parts::{Counting, SplitColumn};

#[derive(Default)]
pub(super) struct State {
    /// Tasks that nobody works on.
    pub(super) ready: BTreeSet<Task>,
    /// The same in parts whose turn has not come, for whoever has nothing else to do.
    pub(super) ahead: BTreeSet<Task>,
    /// Columns with pages that nobody has begun to count.
    pub(super) uncounted: BTreeSet<Place>,
    /// Row groups with column batches still to be given out; the front one is due.
    pub(super) open: VecDeque<DueRowGroup>,
    /// Index, in the plan, of the front of `open`.
    pub(super) front: usize,
    /// Somebody is opening the row group behind the last of `open`.
    pub(super) opening: bool,
    /// A column batch that was due failed as its column was cut wrong.
    pub(super) is_split_wrong: bool,
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

/// A column of the read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// Index in the plan.
    pub(super) row_group: usize,
    pub(super) column: usize,
}

/// The next column batch of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Task {
    /// The batch that the column batch belongs to, counted over the whole read.
    pub(super) batch: u64,
    pub(super) column: usize,
    /// Which part of the column.
    pub(super) part: usize,
    /// Index in the plan.
    pub(super) row_group: usize,
}

pub(super) struct DueRowGroup {
    /// The memory of what is known of its pages goes with it.
    pub(super) _row_group: Arc<OpenRowGroup>,
    pub(super) columns: Vec<OpenColumn>,
    pub(super) rows_left: u64,
    /// Whether the assembler knows that its rows come.
    pub(super) is_begun: bool,
    pub(super) batch_rows: u64,
    /// The first batch behind it, counted over the whole read.
    pub(super) end_batch: u64,
    /// Whether one of its columns is cut into parts.
    pub(super) is_cut: bool,
}

pub(super) struct OpenColumn {
    /// The first of its batches, counted over the whole read.
    pub(super) first_batch: u64,
    /// The part whose turn it is, and those behind it.
    pub(super) parts: VecDeque<OpenPart>,
    /// Where parts are still to come: those whose pages are counted.
    pub(super) counting: Option<Box<Counting>>,
    /// Parts that were given out.
    pub(super) passed: usize,
    /// Whether there were several parts.
    pub(super) is_cut: bool,
}

/// A part of a column, most often all of it.
pub(super) struct OpenPart {
    /// Absent while somebody decodes it, and behind its last column batch.
    pub(super) column: Option<Box<ColumnChunkDecoder>>,
    pub(super) column_batches: VecDeque<Result<ColumnBatch, Failed>>,
    /// The first of its batches, counted over the whole read.
    pub(super) first_batch: u64,
    /// Its last column batch, or its error, was delivered.
    pub(super) is_over: bool,
}

impl Task {
    fn place(&self) -> Place {
        Place {
            row_group: self.row_group,
            column: self.column,
        }
    }
}

impl OpenPart {
    fn new(column: Result<Box<ColumnChunkDecoder>>, first_batch: u64) -> Self {
        let mut column_batches = VecDeque::new();
        let column = column
            .map_err(|error| {
                // Due when the column is, as in the plain loop.
                column_batches.push_back(Err(Failed {
                    error,
                    is_split_wrong: false,
                }));
            })
            .ok();
        Self {
            is_over: column.is_none(),
            column,
            column_batches,
            first_batch,
        }
    }

    /// Whether all of it was given out.
    fn is_passed(&self) -> bool {
        self.is_over && self.column_batches.is_empty()
    }
}

impl OpenColumn {
    /// Opens parts behind those that are open.
    fn add_parts(&mut self, row_group: &OpenRowGroup, ordinal: usize, parts: Vec<ColumnSplit>) {
        let starts = row_group.batch_starts();
        for part in parts {
            let before = starts.partition_point(|start| *start < part.rows.start);
            let first_batch = self.first_batch + before as u64;
            let part = OpenPart::new(row_group.part(ordinal, part), first_batch);
            self.parts.push_back(part);
        }
    }

    /// The next group of pages to be counted, where no more than `most` parts and groups that were begun
    /// wait already.
    fn begin_to_count(&mut self, most: usize) -> Option<(usize, Result<Box<RowCounter>>)> {
        let counting = self.counting.as_mut()?;
        let parts = self.parts.iter().filter(|part| !part.is_passed()).count();
        if parts + counting.num_begun() > most {
            return None;
        }
        counting.begin()
    }

    /// What comes next in a part, unless somebody is at it. Where the part `is_due`, enough of it may
    /// wait already.
    pub(super) fn next_task(&self, place: Place, part: usize, is_due: bool) -> Option<Task> {
        let open = self.parts.get(part.checked_sub(self.passed)?)?;
        let enough = is_due && open.column_batches.len() >= BATCHES_AHEAD as usize;
        let idle = open.column.as_ref().filter(|_| !enough)?;
        Some(Task {
            batch: open.first_batch + idle.next_batch(),
            column: place.column,
            part,
            row_group: place.row_group,
        })
    }
}

/// The reason why a column has no more column batches.
pub(super) struct Failed {
    pub(super) error: Error,
    pub(super) is_split_wrong: bool,
}

/// What a free thread may do.
pub(super) enum Job {
    Decode(Task, Box<ColumnChunkDecoder>),
    /// A group of pages of a column.
    Count(Place, usize, Result<Box<RowCounter>>),
    Open(usize),
}

impl State {
    /// The most urgent thing that may be done.
    pub(super) fn job(
        &mut self,
        plan: &ReadPlan,
        threads: usize,
        batches_ahead: u64,
    ) -> Option<Job> {
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
        // Pages are counted when all that is counted is under way.
        let most = if batches_ahead > 0 { threads } else { 0 };
        if let Some(job) = self.count(most) {
            return Some(job);
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

    /// A group of pages to be counted.
    fn count(&mut self, most: usize) -> Option<Job> {
        let places: Vec<Place> = self.uncounted.iter().copied().collect();
        for place in places {
            let column = self.column(place);
            if let Some((group, counter)) = column.and_then(|column| column.begin_to_count(most)) {
                return Some(Job::Count(place, group, counter));
            }
        }
        None
    }

    /// Notes what rows start in each page of a group, and opens the parts that are known with that.
    pub(super) fn counted(
        &mut self,
        place: Place,
        (group, rows): (usize, Result<Vec<u64>>),
        threads: usize,
    ) {
        let is_front = place.row_group == self.front;
        let Some(column) = self.column(place) else {
            return;
        };
        let Some(counting) = &mut column.counting else {
            return;
        };
        let parts = counting.counted(group, rows);
        let (row_group, has_more) = (counting.row_group().clone(), counting.has_more());
        let before = column.passed + column.parts.len();
        column.add_parts(&row_group, place.column, parts);
        let behind = (column.passed + column.parts.len()).min(column.passed + threads + 1);
        let (mut due, mut ahead) = (None, Vec::new());
        for part in before..behind {
            let is_due = part == column.passed && is_front;
            let task = column.next_task(place, part, is_due);
            match is_due {
                true => due = task,
                false => ahead.extend(task),
            }
        }
        self.ready.extend(due);
        self.ahead.extend(ahead);
        if !has_more {
            self.uncounted.remove(&place);
        }
    }

    /// A column, unless its row group was given out.
    fn column(&mut self, place: Place) -> Option<&mut OpenColumn> {
        let index = place.row_group.checked_sub(self.front)?;
        self.open.get_mut(index)?.columns.get_mut(place.column)
    }

    /// The part of a task, unless it was given out.
    pub(super) fn part(&mut self, task: &Task) -> Option<&mut OpenPart> {
        let column = self.column(task.place())?;
        let index = task.part.checked_sub(column.passed)?;
        column.parts.get_mut(index)
    }

    /// Notes what comes next in the part of a task, where something does.
    pub(super) fn go_on(&mut self, task: &Task) {
        let is_front = task.row_group == self.front;
        let Some(column) = self.column(task.place()) else {
            return;
        };
        let is_due = task.part == column.passed && (is_front || !column.is_cut);
        let next = column.next_task(task.place(), task.part, is_due);
        if is_due {
            self.ready.extend(next);
        } else {
            self.ahead.extend(next);
        }
    }

    /// Notes that it is the turn of the row group at the front.
    pub(super) fn take_turn(&mut self) {
        let front = self.front;
        self.uncounted.retain(|place| place.row_group >= front);
        let Some(row_group) = self.open.front() else {
            return;
        };
        for (ordinal, column) in row_group.columns.iter().enumerate() {
            let place = Place {
                row_group: self.front,
                column: ordinal,
            };
            if column.is_cut
                && let Some(task) = column.next_task(place, column.passed, true)
            {
                self.ahead.remove(&task);
                self.ready.insert(task);
            }
        }
    }

    /// Goes on to the part of a column whose turn it is, and starts one more in its stead.
    fn pass_parts(&mut self, column: &mut OpenColumn, place: Place, threads: usize) {
        while column.parts.len() > 1 && column.parts.front().is_some_and(OpenPart::is_passed) {
            column.parts.pop_front();
            column.passed += 1;
            if let Some(task) = column.next_task(place, column.passed, true) {
                self.ahead.remove(&task);
                self.ready.insert(task);
            }
            let last = column.passed + threads;
            let last = column.next_task(place, last, false);
            self.ahead.extend(last);
        }
    }
}

/// A column of a row group that begins with batch `first_batch` of the read, cut as it is to be.
pub(super) fn open_column(
    row_group: &OpenRowGroup,
    ordinal: usize,
    cut: SplitColumn,
    first_batch: u64,
) -> OpenColumn {
    let mut column = OpenColumn {
        first_batch,
        parts: VecDeque::new(),
        counting: None,
        passed: 0,
        is_cut: true,
    };
    match cut {
        SplitColumn::Whole => {
            let whole = OpenPart::new(row_group.column(ordinal), first_batch);
            column.parts.push_back(whole);
            column.is_cut = false;
        }
        SplitColumn::Parts(parts) => column.add_parts(row_group, ordinal, parts),
        SplitColumn::Counting(counting) => column.counting = Some(counting),
    }
    column
}

/// Gives the assembler what it needs of the row group that is due; whether it then has all. An
/// error counts once all columns before it have delivered, as in the plain loop.
pub(super) fn take_column_batches(
    state: &mut State,
    assembler: &mut BatchAssembler,
    threads: usize,
) -> Result<bool> {
    let row_group_index = state.front;
    let Some(mut row_group) = state.open.pop_front() else {
        return Ok(false);
    };
    if !row_group.is_begun {
        row_group.is_begun = true;
        assembler.open_index(row_group_index);
    }
    let mut complete = Ok(true);
    for (ordinal, column) in row_group.columns.iter_mut().enumerate() {
        if !assembler.needs(ordinal) {
            continue;
        }
        let place = Place {
            row_group: row_group_index,
            column: ordinal,
        };
        state.pass_parts(column, place, threads);
        let front = column.parts.front_mut();
        match front.and_then(|part| part.column_batches.pop_front()) {
            None => complete = complete.and(Ok(false)),
            Some(Ok(column_batch)) => {
                assembler.add(ordinal, column_batch);
                let next = column.next_task(place, column.passed, true);
                state.ready.extend(next);
            }
            Some(Err(failed)) if matches!(complete, Ok(true)) => {
                state.is_split_wrong = failed.is_split_wrong;
                complete = Err(failed.error);
                break;
            }
            Some(failed) => {
                if let Some(part) = column.parts.front_mut() {
                    part.column_batches.push_front(failed);
                }
            }
        }
    }
    state.open.push_front(row_group);
    complete
}
