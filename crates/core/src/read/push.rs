//! Record batches from bytes that are pushed in.
//!
//! The decoder reads nothing itself. It says which byte ranges of the file it must have now and
//! which it will want soon, takes them in any order and in any portions that cover what it must
//! have, and gives batches in between. Files, object stores and networks are thin loops around it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::modular_encryption::KeyRequest;
use herringbone_format::{Error, Result};

use super::ReadPlan;
use super::plan::{RowGroupPlan, Window};
use super::row_group::{
    FilterStep, FilteredRows, Pruned, RowGroupCursor, RowGroupPruner, missing_key,
};
use crate::budget::{Budget, Reservation};
use crate::filter::Verdict;
use crate::loss::{Loss, Losses, Lost};
use crate::metrics::ReadMetrics;

/// What a [`PushDecoder`] came to.
#[derive(Debug)]
pub enum Poll {
    /// Bytes of the file are missing.
    Needs(Needs),
    /// The key of a column is missing: [supply](PushDecoder::supply_key) it.
    NeedsKey(KeyRequest),
    /// The next batch.
    Batch(RecordBatch),
    /// There are no more rows.
    Finished,
}

/// Byte ranges of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Needs {
    /// Nothing goes on without these.
    pub now: Vec<Range<u64>>,
    /// These come next, unless the read is given up: worth fetching along where that is cheap.
    pub soon: Vec<Range<u64>>,
}

/// Decodes a read from bytes that are pushed in, on the caller's thread.
///
/// All columns of a row group are under way at once, so that their bytes can be fetched together.
/// Where the [`Budget`] does not allow for that, the row group is started again with one column
/// after the other, and the rest of the read goes on like this: bytes may be asked for once more.
pub struct PushDecoder {
    plan: Arc<ReadPlan>,
    /// Another one, from the next row group or span of rows on.
    next_plan: Option<Arc<ReadPlan>>,
    budget: Arc<Budget>,
    /// Over row groups of which all planned rows are wanted.
    cursor: RowGroupCursor,
    /// Over the others.
    filter: Option<Box<Filter>>,
    /// What finds out which rows of the row group that comes next are wanted, and where they lie.
    pruner: Option<Box<RowGroupPruner>>,
    /// The memory of what is known of the pages of the row group.
    maps_memory: Reservation,
    /// The open row group, or the part of it that the plan was begun with.
    row_group: Option<RowGroupPlan>,
    /// The part of a row group that is opened next, where it is not the whole next one.
    rest: Option<RowGroupPlan>,
    /// Index, in the plan, of the row group after the open one.
    next_row_group: usize,
    /// The same of the first one that is not read.
    end: usize,
    /// Rows of the open row group that were not given out; with a filter, those that may be.
    rows_of_row_group: u64,
    /// Rows of it that were given out.
    rows_given: u64,
    /// Rows of the row groups behind it.
    rows_behind: u64,
    /// Rows, of those that are left, that were given out before the row group was started again.
    rows_again: u64,
    /// Others may read the rest of the plan at the same time.
    is_among_others: bool,
    losses: Losses,
    /// What the last step must have and would like to have.
    needs: Needs,
}

/// A row group, or a part of it, and the plan that it was begun by.
#[doc(hidden)] // For drivers.
#[derive(Debug, Clone)]
pub struct BegunRowGroup {
    pub(super) plan: Arc<ReadPlan>,
    pub(super) row_group: RowGroupPlan,
}

impl BegunRowGroup {
    /// Whether both were begun at the same row, by the same plan.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.plan, &other.plan)
            && self.row_group.index == other.row_group.index
            && self.row_group.ranges.first() == other.row_group.ranges.first()
    }
}

/// A filter of the rows.
struct Filter {
    rows: FilteredRows,
    /// Which of the wanted rows are given out.
    window: Window,
    /// Whether it is asked about the rows of the open row group.
    is_asked: bool,
}

/// What a step of a [`PushDecoder`] came to.
#[doc(hidden)] // For drivers.
#[derive(Debug)]
pub enum Progress {
    /// Bytes are missing: [those](PushDecoder::needs).
    Needs,
    /// The key of a column is missing.
    NeedsKey(KeyRequest),
    /// The next batch.
    Batch(RecordBatch),
    /// There are no more rows.
    Finished,
}

impl PushDecoder {
    /// A decoder at the start of its read.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        let budget = Budget::new(&plan.options().limits);
        let row_groups = 0..plan.row_groups().len();
        Self::of_row_groups(plan, budget, row_groups)
    }

    /// One that works on one column after the other, and asks for the bytes of one column at a time. It goes on
    /// behind so many row groups, and rows of the next one, that were given out before. No memory of
    /// `budget` is in use.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn in_turn(plan: Arc<ReadPlan>, budget: Arc<Budget>, row_groups: usize, rows: u64) -> Self {
        let row_groups = row_groups..plan.row_groups().len();
        let mut decoder = Self::of_row_groups(plan, budget, row_groups);
        decoder.rows_again = rows;
        decoder.work_in_turn();
        decoder
    }

    /// The same for a row group that was begun before the row group with this index, or a part of it.
    pub(super) fn in_turn_from(
        begun: BegunRowGroup,
        budget: Arc<Budget>,
        next_row_group: usize,
        rows: u64,
    ) -> Self {
        let mut decoder = Self::in_turn(begun.plan, budget, next_row_group, rows);
        decoder.rest = Some(begun.row_group);
        decoder
    }

    /// What the rows that were given out last came of, if any were.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn begun(&self) -> Option<BegunRowGroup> {
        Some(BegunRowGroup {
            plan: self.plan.clone(),
            row_group: self.row_group.clone()?,
        })
    }

    /// One for a row group alone, one column after the other; of what a filter finds there, offset and limit leave out
    /// nothing. Others may read the rest of the plan at the same time, so where an error may be due to them, it fails,
    /// whatever is to be done [about damage](crate::loss::OnError).
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn of_row_group(plan: Arc<ReadPlan>, budget: Arc<Budget>, row_group: usize) -> Self {
        let mut decoder = Self::of_row_groups(plan, budget, row_group..row_group + 1);
        decoder.work_in_turn();
        decoder.is_among_others = true;
        decoder.with_window(Window::all())
    }

    /// The same, by another plan of the same read as soon as that may be.
    pub(super) fn then_by(mut self, plan: Arc<ReadPlan>) -> Self {
        self.next_plan = Some(plan).filter(|it| !Arc::ptr_eq(it, &self.plan));
        self
    }

    /// Goes on by another plan of the same read, whose filter may want fewer rows: what is wanted of what comes may be known
    /// better than at the start. It counts from the next row group on, and in the one at hand behind a batch with
    /// which 131,072 rows of it were gone over: what is left of it is opened again then. Rows before that still come by the
    /// old one.
    ///
    /// # Errors
    /// Argument if it is a plan of another file, other columns or row groups, or has no filter. A read without a filter that has
    /// an offset or a limit cannot receive one: it counts other rows.
    pub fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.plan.check_goes_on_by(&plan)?;
        self.next_plan = Some(plan);
        Ok(())
    }

    /// Takes the plan that was handed in, unless rows of the row group were given out by the old one.
    fn take_next_plan(&mut self) {
        let Some(plan) = self.next_plan.take_if(|_| self.rows_again == 0) else {
            return;
        };
        let in_turn = self.cursor.is_in_turn();
        self.cursor = RowGroupCursor::new(plan.clone(), self.budget.clone());
        if let Some(next) = plan.filter() {
            let rows = FilteredRows::new(next.clone(), plan.schema().clone(), &self.budget);
            // Without a filter before, offset and limit were applied by the plan.
            let window = self.filter.as_ref().map_or(Window::all(), |it| it.window);
            self.filter = Some(Box::new(Filter {
                rows,
                window,
                is_asked: false,
            }));
        }
        self.plan = plan;
        if in_turn {
            self.work_in_turn();
        }
    }

    /// With a filter, gives out these of the wanted rows that are left.
    pub(super) fn with_window(mut self, window: Window) -> Self {
        if let Some(filter) = &mut self.filter {
            filter.window = window;
        }
        self
    }

    fn of_row_groups(plan: Arc<ReadPlan>, budget: Arc<Budget>, row_groups: Range<usize>) -> Self {
        let to_come = plan.row_groups().get(row_groups.clone());
        let to_come = to_come.unwrap_or_default().iter();
        let maps_budget = budget.clone();
        Self {
            rows_behind: to_come.map(|row_group| row_group.num_wanted()).sum(),
            cursor: RowGroupCursor::new(plan.clone(), budget.clone()),
            filter: plan.filter().map(|filter| {
                let schema = plan.schema().clone();
                Box::new(Filter {
                    rows: FilteredRows::new(filter.clone(), schema, &budget),
                    window: Window::of(plan.options()),
                    is_asked: false,
                })
            }),
            plan,
            next_plan: None,
            budget,
            pruner: None,
            maps_memory: Reservation::new(maps_budget),
            row_group: None,
            rest: None,
            next_row_group: row_groups.start,
            end: row_groups.end,
            rows_of_row_group: 0,
            rows_given: 0,
            rows_again: 0,
            is_among_others: false,
            losses: Losses::default(),
            needs: Needs::default(),
        }
    }

    fn work_in_turn(&mut self) {
        self.cursor.work_in_turn();
        if let Some(filter) = &mut self.filter {
            filter.rows.work_in_turn();
        }
    }

    /// Gives up the open row group.
    fn close(&mut self) {
        self.cursor.close();
        self.pruner = None;
        self.maps_memory.release();
        if let Some(filter) = &mut self.filter {
            filter.rows.close();
        }
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, with its place. The decoder is of no use afterwards.
    pub fn poll(&mut self) -> Result<Poll> {
        Ok(match self.advance()? {
            Progress::Needs => Poll::Needs(std::mem::take(&mut self.needs)),
            Progress::NeedsKey(request) => Poll::NeedsKey(request),
            Progress::Batch(batch) => Poll::Batch(batch),
            Progress::Finished => Poll::Finished,
        })
    }

    /// The same, with what is needed left [here](Self::needs).
    ///
    /// # Errors
    /// As [`Self::poll`].
    #[doc(hidden)] // For drivers.
    pub fn advance(&mut self) -> Result<Progress> {
        loop {
            match self.step() {
                Err(error) if self.is_among_others && Budget::depends_on_others(&error) => {
                    return Err(error);
                }
                Err(error) if Budget::refused(&error) && !self.cursor.is_in_turn() => {
                    self.start_again();
                }
                Err(error) if self.plan.options().on_error.goes_on(&error) => {
                    let rows = std::mem::take(&mut self.rows_of_row_group);
                    let again = std::mem::take(&mut self.rows_again);
                    self.close();
                    let lost = Lost::Rows(rows.saturating_sub(again));
                    self.losses.push(Loss { error, lost });
                }
                Ok(Progress::Batch(batch)) => {
                    let rows = batch.num_rows() as u64;
                    self.rows_given += rows;
                    self.rows_of_row_group = match &self.filter {
                        Some(filter) if filter.is_asked => filter.rows.rows_left(),
                        _ => self.rows_of_row_group.saturating_sub(rows),
                    };
                    let losses = self.take_losses_of_row_group();
                    let again = self.rows_again.min(rows);
                    self.rows_again -= again;
                    if again > 0 && again == rows {
                        continue;
                    }
                    self.losses.append(losses);
                    let batch = match again {
                        0 => batch,
                        // Where a span of rows ended with a batch, those that were given out may end within one.
                        again => batch.slice(again as usize, (rows - again) as usize),
                    };
                    if let Some(batch) = self.within_window(batch) {
                        return Ok(Progress::Batch(batch));
                    }
                }
                other => return other,
            }
        }
    }

    fn take_losses_of_row_group(&mut self) -> Losses {
        let mut losses = self.cursor.take_losses();
        if let Some(filter) = &mut self.filter {
            losses.append(filter.rows.take_losses());
        }
        losses
    }

    /// The rows of a batch that are to be given out: all of them, unless a filter comes before offset and limit.
    fn within_window(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        let Some(filter) = &mut self.filter else {
            return Some(batch);
        };
        let batch = filter.window.cut_batch(batch);
        if filter.window.left == 0 {
            self.close();
            (self.rest, self.next_row_group) = (None, self.end);
            (self.rows_of_row_group, self.rows_behind) = (0, 0);
        }
        batch
    }

    /// What the read did so far.
    #[must_use]
    pub fn metrics(&self) -> ReadMetrics {
        self.budget.read_metrics()
    }

    /// What the last step must have, and would like to have.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn needs(&self) -> &Needs {
        &self.needs
    }

    /// Rows still to come.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        let rest = self.rest.as_ref().map_or(0, RowGroupPlan::num_wanted);
        let here = self.rows_of_row_group.saturating_add(rest);
        let rows = here.saturating_add(self.rows_behind);
        rows.saturating_sub(self.rows_again)
    }

    /// What the batches so far did without, if [damage](crate::loss::OnError) is no reason to fail.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// The same since the last call.
    #[doc(hidden)] // For drivers.
    pub fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Goes back to where the row group was opened, to decode one column after the other.
    fn start_again(&mut self) {
        self.work_in_turn();
        self.rest = self.row_group.take();
        self.rows_of_row_group = 0;
        self.rows_again = std::mem::take(&mut self.rows_given);
        self.close();
    }

    /// Leaves what is left of the row group to the plan that was handed in, once that is worth it.
    fn end_span(&mut self) {
        let Some(row_group) = self.row_group.as_ref().filter(|_| {
            self.next_plan.is_some() && self.rows_again == 0 && self.rows_of_row_group > 0
        }) else {
            return;
        };
        let end = match &self.filter {
            Some(filter) if filter.is_asked => filter.rows.given_up_to(),
            _ => row_group.end_of(self.rows_given),
        };
        if let Some(rest) = row_group.behind_span(end) {
            self.close();
            self.rest = Some(rest);
            self.rows_of_row_group = 0;
        }
    }

    fn step(&mut self) -> Result<Progress> {
        self.end_span();
        loop {
            if self.rows_of_row_group == 0 {
                if let Some(end) = self.next_row_group()? {
                    return Ok(end);
                }
                continue;
            }
            if let Some(pruner) = &mut self.pruner {
                let Some(pruned) = pruner.poll(&mut self.needs)? else {
                    return Ok(Progress::Needs);
                };
                self.pruner = None;
                self.open(pruned)?;
                continue;
            }
            let Some(filter) = self.filter.as_mut().filter(|filter| filter.is_asked) else {
                let batch = self.cursor.poll(self.rows_of_row_group, &mut self.needs)?;
                return Ok(batch.map_or(Progress::Needs, Progress::Batch));
            };
            let wanted = filter.window.wanted().saturating_add(self.rows_again);
            match filter.rows.poll(wanted, &mut self.needs)? {
                FilterStep::Need => return Ok(Progress::Needs),
                FilterStep::Batch(batch) => return Ok(Progress::Batch(batch)),
                FilterStep::End => self.rows_of_row_group = 0,
            }
        }
    }

    /// Goes to the next row group, unless something comes first: the end, or a key.
    fn next_row_group(&mut self) -> Result<Option<Progress>> {
        self.take_next_plan();
        let is_full = self.filter.as_ref().is_some_and(|it| it.window.left == 0);
        let plan = self.plan.clone();
        let next = plan.row_groups().get(self.next_row_group);
        let next = next.filter(|_| self.next_row_group < self.end);
        let row_group = self.rest.as_ref().or(next).filter(|_| !is_full);
        let Some(row_group) = row_group.cloned() else {
            return Ok(Some(Progress::Finished));
        };
        if let Some(request) = missing_key(&plan, row_group.index) {
            return Ok(Some(Progress::NeedsKey(request)));
        }
        let is_whole = row_group.num_wanted() == row_group.num_rows;
        self.rows_of_row_group = row_group.num_wanted();
        self.rows_given = 0;
        if self.rest.take().is_none() {
            self.rows_behind = self.rows_behind.saturating_sub(self.rows_of_row_group);
            self.next_row_group += 1;
        }
        self.row_group = Some(row_group.clone());
        if is_whole && self.filter.is_none() {
            // Columns of the one before it make room one by one: all at once is slower.
            self.cursor.open(&row_group)?;
            self.maps_memory.release();
        } else {
            // Nothing is held for the one before it any more, as if this one were read alone.
            self.close();
            let pruner = RowGroupPruner::new(plan, row_group, self.budget.clone())?;
            self.pruner = Some(Box::new(pruner));
        }
        Ok(None)
    }

    /// Opens the last row group that was passed, of which this is known.
    fn open(&mut self, pruned: Pruned) -> Result<()> {
        let verdict = pruned.verdicts.whole();
        let Some(filter) = self.filter.as_mut().filter(|_| verdict != Verdict::All) else {
            self.maps_memory = pruned.memory;
            if let Some(filter) = &mut self.filter {
                filter.is_asked = false;
            }
            let row_group = pruned.row_group;
            let row_group = row_group.restricted(row_group.ranges.clone(), pruned.maps);
            return self.cursor.open(&row_group);
        };
        filter.is_asked = verdict == Verdict::Some;
        if verdict == Verdict::None {
            self.rows_of_row_group = 0;
            return Ok(());
        }
        filter.rows.open(pruned)?;
        self.rows_of_row_group = filter.rows.rows_left();
        Ok(())
    }

    /// Hands over the key that `request` asked for.
    ///
    /// # Errors
    /// Argument where it has a length that no key has, or the file is not encrypted.
    pub fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        match self.plan.metadata().decryption() {
            Some(file) => file.supply_key(request, key),
            None => Err(Error::argument("the file is not encrypted")),
        }
    }

    /// Hands in bytes of the file that start at `offset`, to every column that waits for some of
    /// them. Bytes that nobody waits for are dropped.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        self.supply_owned(offset, bytes.clone());
    }

    /// The same with bytes that nobody else has use for.
    #[doc(hidden)] // For drivers.
    pub fn supply_owned(&mut self, offset: u64, bytes: Bytes) {
        if let Some(pruner) = &mut self.pruner {
            return pruner.supply(offset, &bytes);
        }
        if let Some(filter) = &mut self.filter {
            filter.rows.supply(offset, &bytes);
        }
        self.cursor.supply(offset, bytes);
    }
}

/// A column ends before the rows of its row group do.
pub fn too_few_rows() -> Error {
    Error::corrupt("a column has fewer rows than its row group")
}
