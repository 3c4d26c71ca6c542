//! The rows of one row group that a filter wants, as its tested columns become known.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, Result};

use super::Pruned;
use crate::budget::{Budget, Reservation};
use crate::column::selection::{RowRanges, Selection, SelectionRun, WantedPiece};
use crate::filter::verdict_runs::VerdictRuns;
use crate::filter::{Verdict, concat, select};
use crate::read::plan::{ColumnSource, FilterPlan, RowGroupPlan, count};

/// Wanted rows whose runs begin less than this far from each other, on average, are told as a mask.
const SHORT_RUNS: usize = 256;

/// The wanted rows of one row group after the other.
pub(in crate::read) struct FoundRows {
    plan: Arc<FilterPlan>,
    schema: SchemaRef,
    /// The rows that are tested, up to where they were.
    walk: Selection,
    /// Rows that are wanted and need no test, from the first that the other columns have not been told of.
    sure: VecDeque<Range<u64>>,
    /// Rows still to be tested, as far as they are known.
    untested: u64,
    /// Whether others may follow.
    is_open: bool,
    /// Wanted rows that were not given out.
    found: u64,
    /// Where they are, and how many each piece has. Of the first one, some rows may have been given out.
    pieces: VecDeque<(WantedPiece, u64)>,
    given_of_first: u64,
    /// Up to which row all pieces were given out.
    given_up_to: u64,
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

impl FoundRows {
    pub(in crate::read) fn new(
        plan: Arc<FilterPlan>,
        schema: SchemaRef,
        budget: &Arc<Budget>,
    ) -> Self {
        Self {
            schema,
            plan,
            walk: Selection::new([].into()),
            sure: VecDeque::new(),
            untested: 0,
            is_open: false,
            found: 0,
            pieces: VecDeque::new(),
            given_of_first: 0,
            given_up_to: 0,
            kept: VecDeque::new(),
            memory: Reservation::new(budget.clone()),
            maps_memory: Reservation::new(budget.clone()),
        }
    }

    /// Goes to a row group, of which this is known; what of it is to be tested.
    pub(in crate::read) fn open(&mut self, pruned: Pruned) -> RowGroupPlan {
        self.close();
        let row_group = pruned.row_group;
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
        row_group.restricted(undecided, pruned.maps)
    }

    /// Goes to a row group of which nothing is to be tested, whose maps take this memory.
    pub(in crate::read) fn open_whole(&mut self, maps_memory: Reservation) {
        self.close();
        self.maps_memory = maps_memory;
    }

    /// What is known of a row group of which all that is left is to be tested, with the maps of its pages.
    pub(in crate::read) fn undecided(&self, row_group: &RowGroupPlan) -> Pruned {
        Pruned {
            row_group: row_group.clone(),
            verdicts: VerdictRuns::all(row_group.num_rows, Verdict::Some),
            maps: row_group.maps.clone(),
            memory: Reservation::new(self.memory.budget().clone()),
        }
    }

    /// What is to be tested becomes known on the way.
    pub(in crate::read) fn test_on_the_way(&mut self) {
        self.walk = Selection::new([].into());
        self.walk.open();
        (self.untested, self.is_open) = (0, true);
    }

    /// These rows are to be tested too, which lie behind all others.
    pub(in crate::read) fn extend(&mut self, pieces: Vec<WantedPiece>) {
        for piece in pieces {
            self.untested += piece.count();
            self.walk.extend(piece);
        }
    }

    /// No other rows are to be tested; those that are wanted anyway.
    pub(in crate::read) fn end(&mut self) -> Vec<WantedPiece> {
        self.walk.close();
        (self.untested, self.is_open) = (0, false);
        self.add_sure(Vec::new())
    }

    /// Gives up the row group.
    pub(in crate::read) fn close(&mut self) {
        self.kept.clear();
        self.memory.release();
        self.maps_memory.release();
        self.sure.clear();
        (self.untested, self.found) = (0, 0);
        self.pieces.clear();
        (self.given_of_first, self.given_up_to) = (0, 0);
        self.is_open = false;
    }

    /// Counts rows that are given out.
    fn give_out(&mut self, rows: u64) {
        self.found = self.found.saturating_sub(rows);
        self.given_of_first += rows;
        while let Some((piece, count)) = self.pieces.front()
            && *count <= self.given_of_first
        {
            self.given_of_first -= count;
            self.given_up_to = piece.end();
            self.pieces.pop_front();
        }
    }

    /// Up to which row all wanted rows were given out.
    pub(in crate::read) fn given_up_to(&self) -> u64 {
        match self.pieces.front() {
            Some((piece, _)) if self.given_of_first > 0 => piece.end_of(self.given_of_first),
            Some(_) => self.given_up_to,
            // None is known that was not given out.
            None => self.next_test(),
        }
    }

    /// Up to which row it is known which ones are wanted.
    fn next_test(&self) -> u64 {
        match self.walk.run() {
            SelectionRun::Skip(rows) => self.walk.position() + rows as u64,
            SelectionRun::Take(_) | SelectionRun::Unknown => self.walk.position(),
            SelectionRun::Done => u64::MAX,
        }
    }

    /// Rows still to be tested, as far as they are known.
    pub(in crate::read) fn untested(&self) -> u64 {
        self.untested
    }

    /// Whether nothing else is to be tested.
    pub(in crate::read) fn is_tested(&self) -> bool {
        self.untested == 0 && !self.is_open
    }

    /// Rows of which it is not known that they are wanted, and those that are anyway.
    pub(in crate::read) fn rows_to_find(&self) -> u64 {
        self.untested + count(self.sure.iter())
    }

    /// Wanted rows that are known and were not given out.
    pub(in crate::read) fn found(&self) -> u64 {
        self.found
    }

    /// Tests the next rows; those that are wanted behind all that were returned before.
    ///
    /// # Errors
    /// What the predicate says; Limit where the budget refuses.
    pub(in crate::read) fn test(&mut self, batch: &RecordBatch) -> Result<Vec<WantedPiece>> {
        let bits = self.plan.evaluate(batch)?;
        let chosen = bits.count_set_bits();
        let metrics = self.memory.budget().metrics();
        metrics.rows_tested.add(batch.num_rows() as u64);
        metrics.rows_found.add(chosen as u64);
        self.untested = self.untested.saturating_sub(batch.num_rows() as u64);
        let pieces = self.pieces(&bits);
        let pieces = self.add_sure(pieces);
        if chosen == 0 || !self.plan.gives_out_tested() {
            return Ok(pieces);
        }
        let columns = self
            .plan
            .sources()
            .iter()
            .filter_map(|source| match source {
                ColumnSource::Tested(index) => batch.columns().get(*index),
                ColumnSource::Other => None,
            });
        let arrays = columns.map(|array| select(array, &bits, chosen));
        let arrays = arrays.collect::<Result<Vec<_>>>()?;
        let bytes = arrays
            .iter()
            .map(|array| array.get_array_memory_size() as u64);
        let bytes = bytes.sum();
        self.memory.add(bytes)?;
        self.kept.push_back(Kept {
            arrays,
            rows: chosen,
            taken: 0,
            bytes,
        });
        Ok(pieces)
    }

    /// What is wanted of the row group, for bits of the next tested rows.
    fn pieces(&mut self, bits: &BooleanBuffer) -> Vec<WantedPiece> {
        let mut pieces = Vec::new();
        let mut first = 0;
        while first < bits.len() {
            match self.walk.run() {
                SelectionRun::Skip(rows) => self.walk.advance(rows),
                SelectionRun::Take(rows) => {
                    let rows = rows.min(bits.len() - first);
                    let start = self.walk.position();
                    pieces.extend(piece(start, bits.slice(first, rows)));
                    self.walk.advance(rows);
                    first += rows;
                }
                SelectionRun::Unknown | SelectionRun::Done => break,
            }
        }
        pieces
    }

    /// These wanted rows, and all that are wanted anyway up to where the next test is.
    pub(in crate::read) fn add_sure(&mut self, found: Vec<WantedPiece>) -> Vec<WantedPiece> {
        let next = self.next_test();
        let mut pieces = Vec::with_capacity(found.len());
        let mut add_sure = |before: u64, pieces: &mut Vec<WantedPiece>| {
            let ranges = std::iter::from_fn(|| {
                let is_before = self.sure.front().is_some_and(|it| it.start < before);
                is_before.then(|| self.sure.pop_front()).flatten()
            });
            let ranges: Vec<Range<u64>> = ranges.collect();
            if !ranges.is_empty() {
                pieces.push(WantedPiece::Ranges(ranges.into()));
            }
        };
        for piece in found {
            add_sure(piece.start(), &mut pieces);
            pieces.push(piece);
        }
        add_sure(next, &mut pieces);
        for piece in &pieces {
            let count = piece.count();
            self.found += count;
            self.pieces.push_back((piece.clone(), count));
        }
        pieces
    }

    /// A batch of the next wanted rows, of which `others` has its columns.
    ///
    /// # Errors
    /// Limit where the budget refuses.
    pub(in crate::read) fn put_together(&mut self, others: &RecordBatch) -> Result<RecordBatch> {
        let rows = others.num_rows();
        self.give_out(rows as u64);
        let mut kept = self.take_kept(rows)?.into_iter();
        let mut others = others.columns().iter().cloned();
        let columns = self
            .plan
            .sources()
            .iter()
            .filter_map(|source| match source {
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

/// What is wanted of the rows from `start` on, if anything.
fn piece(start: u64, bits: BooleanBuffer) -> Option<WantedPiece> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (from, to) in bits.set_slices() {
        if ranges.len() > bits.len() / SHORT_RUNS {
            return WantedPiece::mask(start, bits);
        }
        ranges.push(start + from as u64..start + to as u64);
    }
    (!ranges.is_empty()).then(|| WantedPiece::Ranges(ranges.into()))
}
