//! The rows of one row group selected by a filter. They become known as the tested columns are decoded.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, NullArray, RecordBatch, RecordBatchOptions};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, Result};

use crate::plan::{ColumnSource, FilterPlan, RowGroupPlan, count};
use herringbone_core::array::join::{concat, num_joinable};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::column::selection::{RowRanges, RowSelector, SelectionCursor, SelectionRun};
use herringbone_core::page::PageMaps;
use herringbone_filter::verdicts::Verdicts;
use herringbone_filter::{Verdict, select};
use herringbone_kernels::expand::deposit_bits;

/// The average distance between the starts of selected runs, in rows, below which we store a mask rather than ranges.
const SHORT_RUNS: usize = 256;

/// The rows of a row group selected by one filter.
pub(crate) struct SelectedRows {
    filter: Arc<FilterPlan>,
    /// A cursor over the rows to test, positioned at the first untested row.
    walk: SelectionCursor,
    /// The rows selected without a test, but not yet passed to the next stage.
    accepted: VecDeque<Range<u64>>,
    /// The number of rows known so far and left to test.
    untested: u64,
    /// True if more rows to test might follow.
    is_open: bool,
    /// The number of selected rows not emitted yet.
    num_selected: u64,
    /// The selected rows in pieces, each with its row count. Some of the first piece's rows might already be emitted.
    pieces: VecDeque<(RowSelector, u64)>,
    emitted_of_first: u64,
    /// The row after the last fully emitted piece.
    emitted_to: u64,
    /// The joiner, or `None` while a thread is assembling a batch.
    joiner: Option<Joiner>,
    budget: Arc<Budget>,
}

/// Tested columns waiting for the other columns of their batch.
pub(crate) struct Joiner {
    filter: Arc<FilterPlan>,
    schema: SchemaRef,
    waiting: VecDeque<TestedRows>,
    memory: Reservation,
}

/// Some rows of the tested columns, waiting for their batch.
struct TestedRows {
    arrays: Vec<ArrayRef>,
    rows: usize,
    taken: usize,
    bytes: u64,
}

impl TestedRows {
    /// Returns the number of rows not taken yet.
    fn rows_left(&self) -> usize {
        self.rows - self.taken
    }

    /// Returns the rows of a column not taken yet.
    fn rest_of(&self, column: usize) -> ArrayRef {
        match self.arrays.get(column) {
            Some(array) => array.slice(self.taken, self.rows_left()),
            None => Arc::new(NullArray::new(self.rows_left())),
        }
    }
}

/// The result of a test: one bit per tested row, and the selected slots of the emitted tested columns.
pub(crate) struct Tested {
    bits: BooleanBuffer,
    arrays: Vec<ArrayRef>,
    chosen: usize,
}

impl Tested {
    /// Returns the number of tested rows.
    pub(crate) fn num_rows(&self) -> u64 {
        self.bits.len() as u64
    }
}

impl FilterPlan {
    /// Tests a batch of the tested columns.
    ///
    /// # Errors
    /// Returns the predicate's errors.
    pub(crate) fn test(&self, batch: &RecordBatch) -> Result<Tested> {
        let bits = self.evaluate(batch)?;
        let chosen = bits.count_set_bits();
        let mut arrays = Vec::new();
        if chosen > 0 && self.emits_tested() {
            let sources = self.sources().iter();
            let columns = sources.filter_map(|source| match source {
                ColumnSource::Tested(index) => batch.columns().get(*index),
                ColumnSource::Other => None,
            });
            let selected = columns.map(|array| select(array, &bits, chosen));
            arrays = selected.collect::<Result<Vec<_>>>()?;
        }
        Ok(Tested {
            bits,
            arrays,
            chosen,
        })
    }
}

impl SelectedRows {
    pub(crate) fn new(filter: Arc<FilterPlan>, schema: SchemaRef, budget: &Arc<Budget>) -> Self {
        Self {
            joiner: Some(Joiner {
                filter: filter.clone(),
                schema,
                waiting: VecDeque::new(),
                memory: Reservation::new(budget.clone()),
            }),
            budget: budget.clone(),
            filter,
            walk: SelectionCursor::new([].into()),
            accepted: VecDeque::new(),
            untested: 0,
            is_open: false,
            num_selected: 0,
            pieces: VecDeque::new(),
            emitted_of_first: 0,
            emitted_to: 0,
        }
    }

    /// Starts a row group with these verdicts. Returns the row group reduced to the rows to test.
    pub(crate) fn open(
        &mut self,
        row_group: &RowGroupPlan,
        verdicts: &Verdicts,
        maps: PageMaps,
    ) -> RowGroupPlan {
        let within = |is_wanted: fn(Verdict) -> bool| verdicts.within(&row_group.ranges, is_wanted);
        let undecided = match self.filter.emits_tested() {
            // We decode these rows whatever their verdict, because we emit the tested columns.
            true => within(|verdict| verdict != Verdict::None),
            false => {
                self.accepted = within(|verdict| verdict == Verdict::All).into();
                within(|verdict| verdict == Verdict::Some)
            }
        };
        let undecided: RowRanges = undecided.into();
        self.untested = count(undecided.iter());
        self.walk = SelectionCursor::new(undecided.clone());
        row_group.restricted(undecided, maps)
    }

    /// Starts a row group with all rows left to test.
    pub(crate) fn open_undecided(&mut self, row_group: &RowGroupPlan) -> RowGroupPlan {
        let verdicts = Verdicts::all(row_group.num_rows, Verdict::Some);
        self.open(row_group, &verdicts, row_group.maps.clone())
    }

    /// Returns the filter.
    pub(crate) fn filter(&self) -> &Arc<FilterPlan> {
        &self.filter
    }

    /// Returns true if another filter tests the same columns and emits the same ones.
    pub(crate) fn is_like(&self, filter: &FilterPlan) -> bool {
        self.filter.is_like(filter)
    }

    /// Switches to another filter [like](Self::is_like) this one, for the rows not tested so far.
    pub(crate) fn replace_filter(&mut self, filter: Arc<FilterPlan>) {
        if let Some(joiner) = &mut self.joiner {
            joiner.filter = filter.clone();
        }
        self.filter = filter;
    }

    /// Waits for the previous stage to select rows to test.
    pub(crate) fn wait_for_rows(&mut self) {
        self.walk = SelectionCursor::new([].into());
        self.walk.open();
        (self.untested, self.is_open) = (0, true);
    }

    /// Adds rows to test. They must come after all others.
    pub(crate) fn extend(&mut self, pieces: Vec<RowSelector>) {
        for piece in pieces {
            self.untested += piece.count();
            self.walk.extend(piece);
        }
    }

    /// Ends the tests, returning any remaining rows selected without a test.
    pub(crate) fn end(&mut self) -> Vec<RowSelector> {
        self.walk.close();
        (self.untested, self.is_open) = (0, false);
        self.add_accepted(Vec::new())
    }

    /// Counts emitted rows.
    fn emit(&mut self, rows: u64) {
        self.num_selected = self.num_selected.saturating_sub(rows);
        self.emitted_of_first += rows;
        while let Some((piece, count)) = self.pieces.front()
            && *count <= self.emitted_of_first
        {
            self.emitted_of_first -= count;
            self.emitted_to = piece.end();
            self.pieces.pop_front();
        }
    }

    /// Returns the row up to which all selected rows have been emitted.
    pub(crate) fn emitted_to(&self) -> u64 {
        match self.pieces.front() {
            Some((piece, _)) if self.emitted_of_first > 0 => piece.end_of(self.emitted_of_first),
            Some(_) => self.emitted_to,
            // All selected rows known so far have been emitted, so we're at the next test.
            None => self.next_test(),
        }
    }

    /// Returns the first untested row.
    fn next_test(&self) -> u64 {
        match self.walk.run() {
            SelectionRun::Skip(rows) => self.walk.position() + rows as u64,
            SelectionRun::Take(_) | SelectionRun::Unknown => self.walk.position(),
            SelectionRun::Done => u64::MAX,
        }
    }

    /// Returns the number of rows known so far and left to test.
    pub(crate) fn untested(&self) -> u64 {
        self.untested
    }

    /// Returns true if there are no more rows to test, now or later.
    pub(crate) fn is_tested(&self) -> bool {
        self.untested == 0 && !self.is_open
    }

    /// Returns the number of rows left to test, plus the waiting rows selected without a test.
    pub(crate) fn rows_pending(&self) -> u64 {
        self.untested + count(self.accepted.iter())
    }

    /// Returns the number of selected rows known so far and not emitted yet.
    pub(crate) fn num_selected(&self) -> u64 {
        self.num_selected
    }

    /// Returns an upper bound on the number of rows left to emit.
    pub(crate) fn rows_left(&self) -> u64 {
        self.rows_pending() + self.num_selected
    }

    /// Records the result of testing the next rows. Returns the newly selected rows.
    ///
    /// # Errors
    /// Fails with `Limit` if the budget refuses memory.
    pub(crate) fn record(&mut self, tested: Tested) -> Result<Vec<RowSelector>> {
        let (bits, chosen) = (tested.bits.clone(), tested.chosen as u64);
        // We push first, so that the rows still count as untested if the budget refuses memory.
        if let Some(joiner) = &mut self.joiner {
            joiner.push(tested)?;
        }
        let metrics = self.budget.metrics();
        metrics.rows_tested.add(bits.len() as u64);
        metrics.rows_found.add(chosen);
        self.untested = self.untested.saturating_sub(bits.len() as u64);
        let pieces = self.pieces(&bits);
        Ok(self.add_accepted(pieces))
    }

    /// Takes the waiting tested columns, to [join](Joiner::join) them with the other columns.
    pub(crate) fn take_joiner(&mut self) -> Option<Joiner> {
        self.joiner.take()
    }

    /// Takes back the tested columns after `rows` of their rows have been emitted.
    pub(crate) fn put_joiner(&mut self, joiner: Joiner, rows: u64) {
        self.joiner = Some(joiner);
        self.emit(rows);
    }

    /// Returns the rows selected by the bits of the next tested rows.
    fn pieces(&mut self, bits: &BooleanBuffer) -> Vec<RowSelector> {
        let mut pieces = Vec::new();
        let mut first = 0;
        while first < bits.len() {
            let (start, left) = (self.walk.position(), bits.len() - first);
            let (rows, selected) = match (self.walk.mask(), self.walk.run()) {
                (Some(mask), _) => {
                    let mask = up_to_set_bit(mask, left);
                    let tested = bits.slice(first, mask.count_set_bits());
                    first += tested.len();
                    (mask.len(), deposit_bits(&tested, &mask))
                }
                (None, SelectionRun::Take(rows)) => {
                    let rows = rows.min(left);
                    first += rows;
                    (rows, bits.slice(first - rows, rows))
                }
                (None, SelectionRun::Skip(rows)) => {
                    self.walk.advance(rows);
                    continue;
                }
                (None, SelectionRun::Unknown | SelectionRun::Done) => break,
            };
            pieces.extend(piece(start, selected));
            self.walk.advance(rows);
        }
        pieces
    }

    /// Merges these selected rows with the rows accepted without a test before the next test.
    pub(crate) fn add_accepted(&mut self, tested: Vec<RowSelector>) -> Vec<RowSelector> {
        let next = self.next_test();
        let mut pieces = Vec::with_capacity(tested.len());
        let mut add_accepted = |before: u64, pieces: &mut Vec<RowSelector>| {
            let ranges = std::iter::from_fn(|| {
                let is_before = self
                    .accepted
                    .front()
                    .is_some_and(|accepted| accepted.start < before);
                is_before.then(|| self.accepted.pop_front()).flatten()
            });
            let ranges: Vec<Range<u64>> = ranges.collect();
            if !ranges.is_empty() {
                pieces.push(RowSelector::Ranges(ranges.into()));
            }
        };
        for piece in tested {
            add_accepted(piece.start(), &mut pieces);
            pieces.push(piece);
        }
        add_accepted(next, &mut pieces);
        for piece in &pieces {
            let count = piece.count();
            self.num_selected += count;
            self.pieces.push_back((piece.clone(), count));
        }
        pieces
    }

    /// Returns the maximum number of rows in the next batch.
    pub(crate) fn most_rows(&self) -> usize {
        self.joiner.as_ref().map_or(usize::MAX, Joiner::most_rows)
    }

    /// Creates a batch from the next selected rows. `others` has the untested columns.
    ///
    /// # Errors
    /// Fails with `Limit` if the budget refuses memory.
    pub(crate) fn put_together(&mut self, others: &RecordBatch) -> Result<RecordBatch> {
        let Some(joiner) = &mut self.joiner else {
            return Err(Error::argument("a batch is assembled twice"));
        };
        let batch = joiner.join(others)?;
        self.emit(batch.num_rows() as u64);
        Ok(batch)
    }
}

impl Joiner {
    fn push(&mut self, tested: Tested) -> Result<()> {
        let Tested { arrays, chosen, .. } = tested;
        if arrays.is_empty() {
            return Ok(());
        }
        let bytes = arrays
            .iter()
            .map(|array| array.get_array_memory_size() as u64);
        let bytes = bytes.sum();
        self.memory.add(bytes)?;
        self.waiting.push_back(TestedRows {
            arrays,
            rows: chosen,
            taken: 0,
            bytes,
        });
        Ok(())
    }

    /// Returns the maximum number of rows in the next batch, that is, the number of rows whose tested columns can be
    /// joined. Joining more might fail, because a narrow dictionary's keys might not reach the values of all parts.
    pub(crate) fn most_rows(&self) -> usize {
        let columns = self
            .waiting
            .front()
            .map_or(0, |waiting| waiting.arrays.len());
        let column = |column: usize| {
            num_joinable(|| {
                let parts = self.waiting.iter();
                parts.map(move |part| part.rest_of(column))
            })
        };
        let Some(parts) = (0..columns).map(column).min() else {
            return usize::MAX;
        };
        match parts < self.waiting.len() {
            true => {
                let parts = self.waiting.iter().take(parts);
                parts.map(TestedRows::rows_left).sum()
            }
            false => usize::MAX,
        }
    }

    /// Creates a batch from the next rows. `others` has the untested columns.
    ///
    /// # Errors
    /// Fails with `Limit` if the budget refuses memory.
    pub(crate) fn join(&mut self, others: &RecordBatch) -> Result<RecordBatch> {
        let rows = others.num_rows();
        let mut tested = self.take_tested(rows)?.into_iter();
        let mut others = others.columns().iter().cloned();
        let columns = self
            .filter
            .sources()
            .iter()
            .filter_map(|source| match source {
                ColumnSource::Tested(_) => tested.next(),
                ColumnSource::Other => others.next(),
            });
        let columns = columns.collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|error| Error::corrupt(error.to_string()))
    }

    /// Takes the next `rows` rows of the columns emitted as they were tested.
    fn take_tested(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        let mut pieces: Vec<Vec<ArrayRef>> = Vec::new();
        let (mut left, mut freed) = (rows, 0);
        while left > 0
            && let Some(front) = self.waiting.front_mut()
        {
            let taken = left.min(front.rows_left());
            let slices = front
                .arrays
                .iter()
                .map(|array| array.slice(front.taken, taken));
            pieces.push(slices.collect());
            front.taken += taken;
            left -= taken;
            if front.taken == front.rows {
                freed += front.bytes;
                self.waiting.pop_front();
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

/// Returns the bits up to and including the `most`-th set bit, or all bits if fewer are set.
fn up_to_set_bit(bits: BooleanBuffer, most: usize) -> BooleanBuffer {
    let wanted = bits.count_set_bits().min(most) as u64;
    let mask = RowSelector::Mask {
        start: 0,
        bits: bits.clone(),
    };
    bits.slice(0, mask.end_of(wanted) as usize)
}

/// Returns the rows selected by the bits, counted from `start`, or `None` if there are none.
fn piece(start: u64, bits: BooleanBuffer) -> Option<RowSelector> {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (from, to) in bits.set_slices() {
        if ranges.len() > bits.len() / SHORT_RUNS {
            return RowSelector::mask(start, bits);
        }
        ranges.push(start + from as u64..start + to as u64);
    }
    (!ranges.is_empty()).then(|| RowSelector::Ranges(ranges.into()))
}
