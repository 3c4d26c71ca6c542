//! The rows of a row group that a filter wants.
//!
//! ```text
//! tested columns ── a batch ──► bits ──► ranges of rows ──► the other columns decode these alone
//!        └── those that are given out: the chosen slots wait ──────────────────► batch
//! ```
//!
//! Two cursors walk the row group, one over the columns that the predicate looks at, one over those that are given out.
//! The first is ahead by a batch of wanted rows. A column that the predicate looks at is given out as it was
//! decoded, unless it is a part of a struct of which other parts are given out as well: then it is decoded twice.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, Result};
use herringbone_schema::{ParquetSchema, Projection};

use super::cursor::RowGroupCursor;
use super::pruner::Pruned;
use super::{Needs, ReadOptions, ReadPlan};
use crate::budget::{Budget, ColumnRole, Reservation};
use crate::column::selection::{RowRanges, Selection, SelectionRun};
use crate::filter::verdict_runs::VerdictRuns;
use crate::filter::{
    BoundPredicate, BoundTest, Predicate, Verdict, concat, extension_columns, select, tested_leaves,
};
use crate::loss::{Losses, OnError};

/// How a read with a filter goes.
#[derive(Debug)]
pub(crate) struct FilterPlan {
    predicate: BoundPredicate,
    tested: Arc<ReadPlan>,
    /// What is given out and not taken from the tested columns.
    others: Arc<ReadPlan>,
    /// By column that is given out: where it comes from.
    sources: Vec<ColumnSource>,
}

/// Where a column comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnSource {
    /// It is this one of the tested columns.
    Tested(usize),
    /// It is the next one of the others.
    Other,
}

impl FilterPlan {
    /// The plan for what `options` ask for, which is what `all` reads without a filter.
    ///
    /// # Errors
    /// Argument where the predicate does not fit the file; those of [`ReadPlan::new`].
    pub(super) fn new(
        predicate: &Predicate,
        all: &ReadPlan,
        schema: &ParquetSchema,
        file_length: u64,
    ) -> Result<Self> {
        let metadata = &all.metadata;
        let leaves = tested_leaves(predicate, schema)?;
        let plan = |projection, role, change: &dyn Fn(&mut ReadOptions)| {
            let mut options = all.options.clone();
            options.projection = projection;
            options.filter = None;
            (options.offset, options.limit) = (0, None);
            change(&mut options);
            let mut plan = ReadPlan::new(metadata.clone(), schema, file_length, &options)?;
            plan.role = role;
            Ok::<_, Error>(Arc::new(plan))
        };
        let tested = plan(Projection::Leaves(leaves), ColumnRole::Tested, &|options| {
            options.extension_columns = extension_columns(predicate);
            // A null that stands for damage is none of the file's: such rows are lost, and match nothing.
            if options.on_error == OnError::NullPage {
                options.on_error = OnError::SkipRowGroup;
            }
        })?;
        let predicate = BoundPredicate::new(predicate, metadata, schema, tested.schema())?;
        let (mut sources, kept) = sources(all.schema(), tested.schema());
        // Leaves of the roots that are not kept.
        let root_of = |leaf: &usize| schema.path(*leaf).first().map(|root| (*root).to_owned());
        let is_other = |leaf: &usize| root_of(leaf).is_none_or(|root| !kept.contains(&root));
        let leaves = all.leaves().filter(is_other).collect();
        let mut others = plan(Projection::Leaves(leaves), ColumnRole::Filtered, &|_| {})?;
        let expected = all.schema().fields().iter().zip(&sources);
        let expected = expected.filter(|(_, source)| **source == ColumnSource::Other);
        let expected = expected.map(|(field, _)| field);
        if !expected.eq(others.schema().fields()) {
            // Groups without leaves are no part of a projection of leaves.
            others = plan(
                all.options.projection.clone(),
                ColumnRole::Filtered,
                &|_| {},
            )?;
            sources = vec![ColumnSource::Other; others.schema().fields().len()];
        }
        Ok(Self {
            predicate,
            tested,
            others,
            sources,
        })
    }

    /// The tests of the predicate.
    pub(super) fn tests(&self) -> &[BoundTest] {
        self.predicate.tests()
    }

    /// What is known of the rows of a row group, by what is known of each test.
    pub(super) fn verdicts(&self, of_tests: &[VerdictRuns], num_rows: u64) -> VerdictRuns {
        self.predicate.verdicts(of_tests, num_rows)
    }

    /// The plan of the columns that are tested.
    pub(super) fn tested(&self) -> &Arc<ReadPlan> {
        &self.tested
    }

    /// The plan of those that are given out and not taken from the tested ones.
    pub(super) fn others(&self) -> &Arc<ReadPlan> {
        &self.others
    }

    /// Whether columns are given out as they were tested.
    fn gives_out_tested(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.any(|source| *source != ColumnSource::Other)
    }
}

/// Where the columns of `all` come from, and the names of those that are tested columns as they stand there.
fn sources(all: &SchemaRef, tested: &SchemaRef) -> (Vec<ColumnSource>, Vec<String>) {
    let mut kept = Vec::new();
    let is_alone = |schema: &SchemaRef, name: &str| {
        schema
            .fields()
            .iter()
            .filter(|field| field.name() == name)
            .count()
            == 1
    };
    let sources = all.fields().iter().map(|field| {
        let same = tested.fields().iter().position(|tested| tested == field);
        let name = field.name();
        match same.filter(|_| is_alone(all, name) && is_alone(tested, name)) {
            Some(index) => {
                kept.push(name.clone());
                ColumnSource::Tested(index)
            }
            None => ColumnSource::Other,
        }
    });
    (sources.collect(), kept)
}

/// The wanted rows of one row group after the other.
pub(crate) struct FilteredRows {
    plan: Arc<FilterPlan>,
    schema: SchemaRef,
    tested: RowGroupCursor,
    others: RowGroupCursor,
    /// The rows that are tested, up to where they were.
    walk: Selection,
    /// Rows that are wanted and need no test, from the first that the other columns have not been told of.
    sure: VecDeque<Range<u64>>,
    /// Rows still to be tested.
    untested: u64,
    /// Wanted rows that were not given out.
    found: u64,
    /// Columns of these that are given out as they were tested.
    kept: VecDeque<Kept>,
    memory: Reservation,
    /// The memory of what is known of the pages of the row group.
    maps_memory: Reservation,
}

/// Rows of tested columns that wait for their batch.
struct Kept {
    arrays: Vec<ArrayRef>,
    rows: usize,
    taken: usize,
    bytes: u64,
}

/// How many rows ranges have.
fn count<'a>(ranges: impl IntoIterator<Item = &'a Range<u64>>) -> u64 {
    let ranges = ranges.into_iter();
    ranges.map(|range| range.end - range.start).sum()
}

/// What came of a step.
pub(crate) enum FilterStep {
    /// Bytes are missing.
    Need,
    Batch(RecordBatch),
    /// The row group has no more rows.
    End,
}

impl FilteredRows {
    pub(crate) fn new(plan: Arc<FilterPlan>, schema: SchemaRef, budget: &Arc<Budget>) -> Self {
        Self {
            tested: RowGroupCursor::new(plan.tested.clone(), budget.clone()),
            others: RowGroupCursor::new(plan.others.clone(), budget.clone()),
            schema,
            plan,
            walk: Selection::new([].into()),
            sure: VecDeque::new(),
            untested: 0,
            found: 0,
            kept: VecDeque::new(),
            memory: Reservation::new(budget.clone()),
            maps_memory: Reservation::new(budget.clone()),
        }
    }

    pub(crate) fn work_in_turn(&mut self) {
        self.tested.work_in_turn();
        self.others.work_in_turn();
    }

    /// Goes to the `index`-th row group of the plan, of which this is known.
    ///
    /// # Errors
    /// As [`ReadPlan::open`].
    pub(crate) fn open(&mut self, index: usize, pruned: Pruned) -> Result<()> {
        self.close();
        let row_group = self.plan.tested.row_groups().get(index);
        let row_group = row_group
            .ok_or_else(|| Error::argument(format!("the read has no row group {index}")))?;
        let within =
            |is_wanted: fn(Verdict) -> bool| pruned.verdicts.within(&row_group.ranges, is_wanted);
        let undecided = match self.plan.gives_out_tested() {
            // They are decoded whatever is known.
            true => within(|verdict| verdict != Verdict::None),
            false => {
                self.sure = within(|verdict| verdict == Verdict::All).into();
                within(|verdict| verdict == Verdict::Some)
            }
        };
        let undecided: RowRanges = undecided.into();
        self.untested = count(undecided.iter());
        self.walk = Selection::new(undecided.clone());
        self.maps_memory = pruned.memory;
        self.tested.open(index, undecided, &pruned.maps)?;
        self.others.open_selecting(index, &pruned.maps)?;
        self.pass_on(Vec::new());
        Ok(())
    }

    /// Gives up the row group.
    pub(crate) fn close(&mut self) {
        self.tested.close();
        self.others.close();
        self.kept.clear();
        self.memory.release();
        self.maps_memory.release();
        self.sure.clear();
        (self.untested, self.found) = (0, 0);
    }

    /// Rows of the row group that may still come.
    pub(crate) fn rows_left(&self) -> u64 {
        self.untested + self.found + count(self.sure.iter())
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        let mut losses = self.tested.take_losses();
        losses.append(self.others.take_losses());
        losses
    }

    /// Hands in bytes of the file that start at `offset`.
    pub(crate) fn supply(&mut self, offset: u64, bytes: &Bytes) {
        self.tested.supply(offset, bytes);
        self.others.supply(offset, bytes);
    }

    /// Goes on; without bytes, `needs` says what is needed. No more than `most` rows are looked for in advance.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, or a predicate says.
    pub(crate) fn poll(&mut self, most: u64, needs: &mut Needs) -> Result<FilterStep> {
        let batch_rows = self.others.batch_rows() as u64;
        while self.untested > 0 && self.found < batch_rows.min(most) {
            match self.tested.poll(self.untested, needs)? {
                Some(batch) => self.test(&batch)?,
                None => return Ok(FilterStep::Need),
            }
        }
        if self.found == 0 {
            return Ok(FilterStep::End);
        }
        // Without columns, as many rows as there may be.
        match self.others.poll(self.found, needs)? {
            Some(batch) => self.put_together(&batch).map(FilterStep::Batch),
            None => Ok(FilterStep::Need),
        }
    }

    /// Finds the wanted rows of a batch.
    fn test(&mut self, batch: &RecordBatch) -> Result<()> {
        let bits = self.plan.predicate.evaluate(batch)?;
        let chosen = bits.count_set_bits();
        self.untested = self.untested.saturating_sub(batch.num_rows() as u64);
        let ranges = self.ranges(&bits);
        self.pass_on(ranges);
        if chosen == 0 || !self.plan.gives_out_tested() {
            return Ok(());
        }
        let columns = self.plan.sources.iter().filter_map(|source| match source {
            ColumnSource::Tested(index) => batch.columns().get(*index),
            ColumnSource::Other => None,
        });
        let arrays = columns.map(|array| select(array, &bits, chosen));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let bytes = arrays
            .iter()
            .map(|array| array.get_array_memory_size() as u64);
        let bytes = bytes.sum();
        self.memory
            .resize(self.memory.bytes().saturating_add(bytes))?;
        self.kept.push_back(Kept {
            arrays,
            rows: chosen,
            taken: 0,
            bytes,
        });
        Ok(())
    }

    /// Rows of the row group, for bits of the next tested rows.
    fn ranges(&mut self, bits: &BooleanBuffer) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let mut first = 0;
        while first < bits.len() {
            match self.walk.run() {
                SelectionRun::Skip(rows) => self.walk.advance(rows),
                SelectionRun::Take(rows) => {
                    let rows = rows.min(bits.len() - first);
                    let start = self.walk.position();
                    for (from, to) in bits.slice(first, rows).set_slices() {
                        let range = start + from as u64..start + to as u64;
                        match ranges.last_mut() {
                            Some(last) if last.end == range.start => last.end = range.end,
                            _ => ranges.push(range),
                        }
                    }
                    self.walk.advance(rows);
                    first += rows;
                }
                SelectionRun::Unknown | SelectionRun::Done => break,
            }
        }
        ranges
    }

    /// Tells the other columns of these rows, and of all that are wanted anyway up to where the next test is.
    fn pass_on(&mut self, found: Vec<Range<u64>>) {
        let next = match self.walk.run() {
            SelectionRun::Skip(rows) => self.walk.position() + rows as u64,
            SelectionRun::Take(_) => self.walk.position(),
            SelectionRun::Unknown | SelectionRun::Done => u64::MAX,
        };
        let mut ranges = Vec::with_capacity(found.len());
        let mut sure = |before: u64, ranges: &mut Vec<Range<u64>>| {
            while self.sure.front().is_some_and(|range| range.start < before) {
                ranges.extend(self.sure.pop_front());
            }
        };
        for range in found {
            sure(range.start, &mut ranges);
            ranges.push(range);
        }
        sure(next, &mut ranges);
        self.found += count(&ranges);
        self.others.extend_selection(&ranges.into());
        if self.untested == 0 {
            self.others.close_selection();
        }
    }

    /// A batch of the next wanted rows, of which `others` has its columns.
    fn put_together(&mut self, others: &RecordBatch) -> Result<RecordBatch> {
        let rows = others.num_rows();
        self.found = self.found.saturating_sub(rows as u64);
        let mut kept = self.take_kept(rows)?.into_iter();
        let mut others = others.columns().iter().cloned();
        let columns = self.plan.sources.iter().filter_map(|source| match source {
            ColumnSource::Tested(_) => kept.next(),
            ColumnSource::Other => others.next(),
        });
        let columns = columns.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::corrupt(error.to_string()))
    }

    /// The next `rows` rows of the columns that are given out as they were tested.
    fn take_kept(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        let mut pieces: Vec<Vec<ArrayRef>> = Vec::new();
        let (mut left, mut freed) = (rows, 0);
        while left > 0
            && let Some(kept) = self.kept.front_mut()
        {
            let taken = left.min(kept.rows - kept.taken);
            let slices = kept
                .arrays
                .iter()
                .map(|array| array.slice(kept.taken, taken));
            pieces.push(slices.collect());
            kept.taken += taken;
            left -= taken;
            if kept.taken == kept.rows {
                freed += kept.bytes;
                self.kept.pop_front();
            }
        }
        self.memory
            .resize(self.memory.bytes().saturating_sub(freed))?;
        let columns = pieces.first().map_or(0, Vec::len);
        let column = |column: usize| {
            let pieces = pieces
                .iter()
                .filter_map(|arrays| arrays.get(column).cloned());
            concat(&pieces.collect::<Vec<_>>()).transpose()
        };
        (0..columns).filter_map(column).collect()
    }
}
