//! Decodes the columns of one row group, on one or more threads.
//!
//! ```text
//! lanes, one per column:   decoder ──► waiting column batches ──► assembler ──► record batch
//! ```
//!
//! A single thread takes the next column batch of each lane in turn, decoding it in place. Otherwise, several threads
//! take [tasks](ColumnSet::take_task): the lane's decoder moves to the thread, then comes back with a column batch that
//! waits for its turn. Both ways end in the same assembler and in the same order, so the batches don't depend on the
//! number of threads.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result};

use super::open::OpenRowGroup;
use super::open_column::OpenColumn;
use super::splits::LaneSplits;
use crate::assemble::BatchAssembler;
use crate::bytes::FileBytes;
use crate::{ReadPlan, RowGroupPlan};
use herringbone_core::Step;
use herringbone_core::budget::Budget;
use herringbone_core::column::selection::{RowRanges, RowSelector, SelectionCursor};
use herringbone_core::column::{ColumnBatch, ColumnChunkDecoder, RowCounter};
use herringbone_core::loss::Losses;

/// The number of column batches per column that can be queued while they wait for the columns before it.
pub(crate) const BATCHES_AHEAD: u64 = 3;

/// The columns of an open row group.
pub(crate) struct ColumnSet {
    plan: Arc<ReadPlan>,
    /// The assembler, or `None` while a thread is assembling a batch.
    assembler: Option<BatchAssembler>,
    row_group: OpenRowGroup,
    lanes: Vec<OpenColumn>,
    /// The first lane that might still lack its column batch.
    first: usize,
    tasks: Tasks,
    /// True if a lane's split turned out to begin at the wrong row.
    is_split_wrong: bool,
    /// The number of rows in the batches so far, if threads share the columns.
    rows: u64,
}

/// The tasks of a column set shared by threads.
#[derive(Default)]
pub(super) struct Tasks {
    /// The column batches of due splits, most urgent first.
    pub(super) due: BTreeSet<TaskKey>,
    /// The column batches of later splits, most urgent first.
    pub(super) ahead: BTreeSet<TaskKey>,
    /// The lanes with uncounted pages.
    pub(super) uncounted: BTreeSet<usize>,
    /// The number of threads. It is also the number of splits per lane that can be in progress ahead.
    pub(super) threads: usize,
}

/// A column batch's position in a row group. Keys sort by urgency, since an earlier batch is due first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TaskKey {
    pub(super) batch: u64,
    pub(super) lane: usize,
    pub(super) split: usize,
}

/// A unit of work on one column. It can run on any thread.
pub enum ColumnTask {
    /// Decodes a lane's next column batch.
    Decode(DecodeTask),
    /// Counts the rows in some pages of a lane.
    Count(CountTask),
}

/// The next column batch of a column's split.
pub struct DecodeTask {
    key: TaskKey,
    decoder: Box<ColumnChunkDecoder>,
    column_batch: Option<Result<ColumnBatch>>,
}

/// The row counts of a page group.
pub struct CountTask {
    lane: usize,
    group: usize,
    counter: Option<Box<RowCounter>>,
    rows: Result<Vec<u64>>,
}

impl ColumnTask {
    /// Does the work. `bytes` must have everything the task needs, because a task cannot wait.
    pub fn run(&mut self, bytes: &mut dyn FileBytes) {
        match self {
            Self::Decode(task) => task.run(bytes),
            Self::Count(task) => task.run(bytes),
        }
    }
}

impl DecodeTask {
    fn run(&mut self, bytes: &mut dyn FileBytes) {
        let column_batch = decode(&mut self.decoder, bytes).and_then(|it| it.ok_or_else(not_read));
        self.column_batch = Some(column_batch);
    }
}

impl CountTask {
    fn run(&mut self, bytes: &mut dyn FileBytes) {
        let Some(counter) = &mut self.counter else {
            return;
        };
        let mut rows = Vec::new();
        self.rows = loop {
            match counter.poll() {
                Ok(Step::Ready(Some(page_rows))) => rows.push(page_rows),
                Ok(Step::Ready(None)) => break Ok(rows),
                Err(error) => break Err(error),
                Ok(Step::Need(need)) => match bytes.get(&need, counter.chunk_end()) {
                    Ok(Some(bytes)) => counter.supply(need.start, bytes),
                    Ok(None) => break Err(not_read()),
                    Err(error) => break Err(error),
                },
            }
        };
    }
}

/// Returns the error for a driver lacking the bytes it promised.
pub(super) fn not_read() -> Error {
    Error::argument("a task needs bytes that its driver does not have")
}

/// Returns the error for a column that ends before its row group.
pub(crate) fn too_few_rows() -> Error {
    Error::corrupt("a column has fewer rows than its row group")
}

/// Decodes the next column batch, or returns `None` if bytes are missing.
pub(super) fn decode(
    decoder: &mut ColumnChunkDecoder,
    bytes: &mut dyn FileBytes,
) -> Result<Option<ColumnBatch>> {
    loop {
        match decoder.poll()? {
            Step::Ready(column_batch) => {
                // The decoder has taken these bytes or is done with them.
                bytes.release(decoder.chunk().start..decoder.progress().0);
                return column_batch.ok_or_else(too_few_rows).map(Some);
            }
            Step::Need(need) => {
                bytes.release(decoder.chunk().start..need.start);
                let Some(found) = bytes.get(&need, decoder.chunk_end())? else {
                    return Ok(None);
                };
                decoder.supply(need.start, found);
            }
        }
    }
}

impl ColumnSet {
    /// Opens a plan's columns in a row group or part of one.
    ///
    /// # Errors
    /// Fails for the reasons that [`OpenRowGroup::new`] lists.
    pub(crate) fn open(
        plan: &Arc<ReadPlan>,
        row_group: &RowGroupPlan,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let mut assembler = BatchAssembler::new(plan.clone(), budget);
        assembler.open(row_group);
        let row_group = OpenRowGroup::restricted(plan, row_group, budget)?;
        let mut lanes = Vec::new();
        lanes.resize_with(row_group.num_columns(), OpenColumn::default);
        Ok(Self {
            plan: plan.clone(),
            assembler: Some(assembler),
            row_group,
            lanes,
            first: 0,
            tasks: Tasks::default(),
            is_split_wrong: false,
            rows: 0,
        })
    }

    /// Opens the columns like [`Self::open`], but with no rows selected except those [added
    /// later](Self::extend_selection).
    ///
    /// # Errors
    /// Fails for the reasons that [`OpenRowGroup::new`] lists.
    pub(crate) fn open_selecting(
        plan: &Arc<ReadPlan>,
        row_group: &RowGroupPlan,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let mut set = Self::open(plan, row_group, budget)?;
        if let Some(assembler) = &mut set.assembler {
            assembler.open_selecting(row_group);
        }
        set.row_group.wait_for_rows();
        Ok(set)
    }

    /// Selects more rows. They must come after all others.
    pub(crate) fn extend_selection(&mut self, piece: &RowSelector) {
        if let Some(assembler) = &mut self.assembler {
            assembler.extend_selection(piece);
        }
        self.row_group.extend_selection(piece);
        for lane in &mut self.lanes {
            if let Some(decoder) = lane.decoder() {
                decoder.extend_selection(piece.clone());
            }
        }
    }

    /// Ends the selection. No more rows will be added.
    pub(crate) fn close_selection(&mut self) {
        self.row_group.close_selection();
        for lane in &mut self.lanes {
            if let Some(decoder) = lane.decoder() {
                decoder.close_selection();
            }
        }
    }

    /// Returns the open row group.
    pub(crate) fn row_group(&self) -> &OpenRowGroup {
        &self.row_group
    }

    /// Returns the plan the columns were opened with.
    pub(crate) fn plan(&self) -> &Arc<ReadPlan> {
        &self.plan
    }

    /// Returns the ranges that the lanes need next, up to `ahead` bytes in total.
    pub(crate) fn planned(&self, ahead: u64) -> Vec<Range<u64>> {
        let ranges = self.lanes.iter().enumerate();
        let ranges = ranges.map(|(ordinal, lane)| lane.planned(&self.row_group, ordinal));
        let ranges: Vec<Vec<Range<u64>>> = ranges.collect();
        let all = ranges.iter().flatten().map(|range| range.end - range.start);
        if all.sum::<u64>() <= ahead {
            return ranges.into_iter().flatten().collect();
        }
        // The ranges don't all fit, so each lane gets an equal share of the bytes.
        let share = ahead / (self.lanes.len().max(1) as u64);
        let first = |ranges: Vec<Range<u64>>| {
            let mut left = share;
            let clipped = ranges.into_iter().map(move |range| {
                let end = range.end.min(range.start.saturating_add(left));
                left -= end - range.start;
                range.start..end
            });
            clipped.filter(|range| !range.is_empty())
        };
        ranges.into_iter().flat_map(first).collect()
    }

    /// Returns the ranges that the lanes need if exactly these rows are selected.
    pub(crate) fn planned_for(&self, rows: &RowRanges) -> Vec<Range<u64>> {
        let selection = SelectionCursor::new(rows.clone());
        let lanes = 0..self.lanes.len();
        let ranges = lanes.map(|lane| self.row_group.ranges_of(lane, None, &selection));
        ranges.flatten().collect()
    }

    /// Takes the damaged pages left out of the batches since the last call.
    pub(crate) fn take_losses(&mut self) -> Losses {
        let losses = self.assembler.as_mut().map(BatchAssembler::take_losses);
        losses.unwrap_or_default()
    }

    /// Returns the row group's next batch, or `None` if bytes are missing. `rows_left` is the number of remaining rows,
    /// and `most` is the maximum batch length.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file.
    pub(crate) fn poll(
        &mut self,
        rows_left: u64,
        most: usize,
        bytes: &mut dyn FileBytes,
    ) -> Result<Option<RecordBatch>> {
        if !self.gather(Some(bytes))? {
            return Ok(None);
        }
        self.first = 0;
        let assembler = self.assembler.as_mut();
        let batch = assembler.map(|assembler| assembler.next_batch(rows_left, most));
        batch.transpose()
    }

    /// Takes the assembler, once the column batches for a batch have been [gathered](Self::gather).
    pub(crate) fn take_assembler(&mut self) -> Option<BatchAssembler> {
        self.first = 0;
        self.assembler.take()
    }

    /// Takes back the assembler after it has returned a batch of `rows` rows.
    pub(crate) fn put_assembler(&mut self, assembler: BatchAssembler, rows: u64) {
        self.assembler = Some(assembler);
        self.rows += rows;
    }

    /// Returns the ordinal of the due batch.
    fn due(&self) -> u64 {
        self.rows / self.row_group.batch_rows().max(1) as u64
    }

    /// Returns the number of batches left to assemble.
    pub(crate) fn batches_left(&self) -> u64 {
        let batch_rows = self.row_group.batch_rows().max(1) as u64;
        let batches = self.row_group.num_wanted().div_ceil(batch_rows);
        batches.saturating_sub(self.due())
    }

    /// Passes on the next column batch of each lane that the assembler is missing. Returns false if a column batch
    /// isn't available yet.
    ///
    /// An error is only returned once all lanes before it have delivered, so that the first error does not depend on
    /// threads. Without `bytes`, only threads decode.
    ///
    /// # Errors
    /// Returns the first error in column order.
    pub(crate) fn gather(&mut self, mut bytes: Option<&mut dyn FileBytes>) -> Result<bool> {
        let Some(assembler) = &mut self.assembler else {
            return Ok(false);
        };
        for (ordinal, lane) in self.lanes.iter_mut().enumerate().skip(self.first) {
            if !assembler.needs(ordinal) {
                continue;
            }
            let column_batch = match &mut bytes {
                Some(bytes) => lane.decode(&self.row_group, ordinal, *bytes)?,
                None => self.tasks.take_column_batch(lane, ordinal)?,
            };
            let Some(column_batch) = column_batch else {
                self.first = ordinal;
                return Ok(false);
            };
            assembler.add(ordinal, column_batch);
        }
        Ok(true)
    }

    /// Shares the columns among threads. `splits` has each column's splits.
    pub(crate) fn share(&mut self, splits: Vec<LaneSplits>, threads: usize) {
        self.tasks.threads = threads;
        for (ordinal, (lane, splits)) in self.lanes.iter_mut().zip(splits).enumerate() {
            lane.share(&self.row_group, ordinal, splits);
            self.tasks.add_first(lane, ordinal);
        }
    }

    /// Takes the most urgent task, at most `ahead` batches after the due batch.
    pub(crate) fn take_task(&mut self, ahead: u64) -> Option<ColumnTask> {
        let latest = self.due().saturating_add(ahead);
        let (tasks, lanes) = (&mut self.tasks, &mut self.lanes);
        while let Some(key) = tasks.due.first().copied().filter(|key| key.batch <= latest) {
            tasks.due.remove(&key);
            if let Some(task) = take(lanes, key) {
                return Some(task);
            }
        }
        // Without work ahead, we only count pages if nothing else in their column is queued.
        let most = if ahead > 0 { self.tasks.threads } else { 0 };
        if let Some(task) = self.take_count(most) {
            return Some(task);
        }
        if ahead == 0 {
            return None;
        }
        let (tasks, lanes) = (&mut self.tasks, &mut self.lanes);
        while let Some(key) = tasks.ahead.pop_first() {
            if let Some(task) = take(lanes, key) {
                return Some(task);
            }
        }
        None
    }

    /// Returns true if [`Self::take_task`] would find a task.
    pub(crate) fn has_task(&self, ahead: u64) -> bool {
        let latest = self.due().saturating_add(ahead);
        self.tasks
            .due
            .first()
            .is_some_and(|key| key.batch <= latest)
            || !self.tasks.uncounted.is_empty()
            || (ahead > 0 && !self.tasks.ahead.is_empty())
    }

    /// Returns true if a column was split at the wrong row. In that case, a single thread must decode it again.
    pub(crate) fn is_split_wrong(&self) -> bool {
        self.is_split_wrong
    }

    /// Takes a page group to count, from the first lane that can count more.
    fn take_count(&mut self, most: usize) -> Option<ColumnTask> {
        let row_group = &self.row_group;
        for lane in &self.tasks.uncounted {
            let begun = self.lanes.get_mut(*lane);
            let begun = begun.and_then(|begun| begun.begin_count(row_group, most));
            let Some((group, counter)) = begun else {
                continue;
            };
            let (counter, rows) = match counter {
                Ok(counter) => (Some(counter), Ok(Vec::new())),
                Err(error) => (None, Err(error)),
            };
            return Some(ColumnTask::Count(CountTask {
                lane: *lane,
                group,
                counter,
                rows,
            }));
        }
        None
    }

    /// Takes back a task after it has run.
    pub(crate) fn deliver(&mut self, task: ColumnTask) {
        match task {
            ColumnTask::Decode(task) => {
                let Some(lane) = self.lanes.get_mut(task.key.lane) else {
                    return;
                };
                let result = task.column_batch.unwrap_or_else(|| Err(not_read()));
                self.is_split_wrong |= !lane.deliver(task.key.split, task.decoder, result);
                self.tasks.add(lane, task.key.lane, task.key.split);
            }
            ColumnTask::Count(task) => {
                let Some(lane) = self.lanes.get_mut(task.lane) else {
                    return;
                };
                let first = lane.counted(&self.row_group, task.lane, task.group, task.rows);
                self.tasks.add_splits(lane, task.lane, first);
                if !lane.has_uncounted() {
                    self.tasks.uncounted.remove(&task.lane);
                }
            }
        }
    }
}

/// Takes a task's decoder from its lane, unless a thread already has it.
fn take(lanes: &mut [OpenColumn], key: TaskKey) -> Option<ColumnTask> {
    let decoder = lanes
        .get_mut(key.lane)?
        .split_at(key.split)?
        .take_decoder()?;
    Some(ColumnTask::Decode(DecodeTask {
        key,
        decoder,
        column_batch: None,
    }))
}
