//! A row group's columns in stages. Each stage tests rows, and the next one only decodes the remaining rows.
//!
//! ```text
//! stage 0   tested first ── batch ──► bits ──► rows ┐
//! stage 1   tested ◄─ only these rows ── batch ──► bits ──► rows ┐
//! stage 2   emitted ◄─ only these rows ───────────── batch ──► record batch
//! ```
//!
//! Without a filter, there is one stage. A tested column is emitted as it was decoded, unless it is part of a struct
//! with other emitted parts. In that case it is decoded twice.
//!
//! A single thread tests as many rows as the next batch needs, and more while bytes of other columns are missing.
//! Threads sharing a stage ([`shared`]) test the whole row group before moving on to the next stage.

mod found;
mod shared;

use std::ops::Range;
use std::sync::Arc;

use herringbone_format::{Error, Result};

use super::columns::ColumnSet;
use super::open::OpenRowGroup;
use super::selected_rows::SelectedRows;
use super::{Pruned, RowGroupStep};
use crate::bytes::FileBytes;
use crate::plan::FilterPlan;
use crate::{ReadPlan, RowGroupPlan};
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::column::selection::{RowRanges, RowSelector};
use herringbone_core::fetch::{FetchPolicy, bytes, union};
use herringbone_core::loss::Losses;
use herringbone_filter::Verdict;

use found::Found;
pub use shared::{Assembly, SharedStep, StageTask};

/// The row group's columns, in stages.
pub(crate) struct Stages {
    /// One column set per stage. The emitted one comes last.
    sets: Vec<ColumnSet>,
    /// The rows to test in each stage except the last. The last stage only decodes.
    rows: Vec<SelectedRows>,
    /// The rows found by each of these stages, or `None` once all of the stage's rows are tested.
    found: Vec<Option<Found>>,
    num_rows: u64,
    budget: Arc<Budget>,
    /// The number of remaining rows, if there is no filter.
    rows_left: u64,
    /// The rows that might pass the filter, going by the pruning.
    candidates: RowRanges,
    /// The memory taken by the row group's page maps.
    _maps: Reservation,
    /// The stage shared by threads, if any. All stages before it are done.
    shared: Option<usize>,
    /// The error to report once the row group is due.
    error: Option<Error>,
    /// The stages whose tests failed ahead, each with the error to report once its rows are due.
    failed: Vec<(usize, Error)>,
}

impl Stages {
    /// Opens a row group with all planned rows selected.
    ///
    /// # Errors
    /// Fails for the reasons that [`OpenRowGroup::new`] lists.
    pub(crate) fn whole(
        plan: &Arc<ReadPlan>,
        row_group: &RowGroupPlan,
        (budget, maps): (&Arc<Budget>, Reservation),
    ) -> Result<Self> {
        let set = ColumnSet::open(plan, row_group, budget)?;
        Ok(Self {
            sets: vec![set],
            rows: Vec::new(),
            found: Vec::new(),
            num_rows: row_group.num_rows,
            budget: budget.clone(),
            rows_left: row_group.num_wanted(),
            candidates: row_group.ranges.clone(),
            _maps: maps,
            shared: None,
            error: None,
            failed: Vec::new(),
        })
    }

    /// Opens a row group after pruning, or returns `None` if none of its rows can be selected.
    ///
    /// # Errors
    /// Fails for the reasons that [`OpenRowGroup::new`] lists.
    pub(crate) fn of_pruned(
        plan: &Arc<ReadPlan>,
        pruned: Pruned,
        budget: &Arc<Budget>,
    ) -> Result<Option<Self>> {
        match (pruned.verdicts.whole(), plan.filter()) {
            (Verdict::None, Some(_)) => Ok(None),
            (Verdict::Some, Some(filter)) => Self::filtered(plan, filter, pruned, budget).map(Some),
            _ => {
                let row_group = &pruned.row_group;
                let row_group = row_group.restricted(row_group.ranges.clone(), pruned.maps);
                Self::whole(plan, &row_group, (budget, pruned.memory)).map(Some)
            }
        }
    }

    /// Opens a row group with some rows left for the filter to test.
    ///
    /// # Errors
    /// Fails for the reasons that [`OpenRowGroup::new`] lists.
    fn filtered(
        plan: &Arc<ReadPlan>,
        filter: &Arc<FilterPlan>,
        pruned: Pruned,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let mut plans = filters(plan, filter);
        plans.reverse();
        let maps = pruned.memory;
        let ranges = &pruned.row_group.ranges;
        let candidates = pruned
            .verdicts
            .within(ranges, |verdicts| verdicts != Verdict::None);
        let num_rows = pruned.row_group.num_rows;
        let mut known = Some((pruned.row_group, pruned.verdicts, pruned.maps));
        let mut stages = Self {
            sets: Vec::new(),
            rows: Vec::new(),
            found: Vec::new(),
            num_rows,
            budget: budget.clone(),
            rows_left: 0,
            candidates: candidates.into(),
            _maps: maps,
            shared: None,
            error: None,
            failed: Vec::new(),
        };
        // We go from the last stage to the first. The pruning verdicts apply to the last stage. The rows left undecided
        // are tested in all stages, with each stage only seeing the rows accepted by the stages before it.
        let mut row_groups = Vec::new();
        for (ordinal, (filter, plan)) in plans.iter().rev().enumerate() {
            let mut rows = SelectedRows::new(filter.clone(), plan.schema().clone(), budget);
            let row_group = match known.take() {
                Some((row_group, verdicts, maps)) => rows.open(&row_group, &verdicts, maps),
                None => match row_groups.last() {
                    Some(row_group) => rows.open_undecided(row_group),
                    None => break,
                },
            };
            if ordinal + 1 < plans.len() {
                rows.wait_for_rows();
            }
            row_groups.push(row_group);
            stages.rows.push(rows);
            stages.found.push(Some(Found::default()));
        }
        stages.rows.reverse();
        row_groups.reverse();
        for (ordinal, ((filter, _), row_group)) in plans.iter().zip(&row_groups).enumerate() {
            if ordinal == 0 {
                let first = ColumnSet::open(filter.tested(), row_group, budget)?;
                stages.sets.push(first);
            }
            let next = ColumnSet::open_selecting(filter.others(), row_group, budget)?;
            stages.sets.push(next);
        }
        for stage in 0..stages.rows.len() {
            let accepted = stages
                .rows
                .get_mut(stage)
                .map(|rows| rows.add_accepted(Vec::new()));
            stages.pass_on(stage, accepted.unwrap_or_default());
        }
        Ok(stages)
    }

    /// Returns true if another plan's filters test the same columns as these and can take over in place.
    pub(crate) fn can_replace(&self, plan: &Arc<ReadPlan>) -> bool {
        let Some(filter) = plan.filter() else {
            return false;
        };
        let mut plans = filters(plan, filter);
        plans.reverse();
        plans.len() == self.rows.len()
            && !self.rows.is_empty()
            && (plans.iter().zip(&self.rows)).all(|((filter, _), rows)| rows.is_like(filter))
    }

    /// Switches to another plan's filters for the rows not tested so far. The plan must be a [possible
    /// replacement](Self::can_replace).
    pub(crate) fn replace_filters(&mut self, plan: &Arc<ReadPlan>) {
        let Some(filter) = plan.filter() else {
            return;
        };
        let mut plans = filters(plan, filter);
        plans.reverse();
        for ((filter, _), rows) in plans.into_iter().zip(&mut self.rows) {
            rows.replace_filter(filter);
        }
    }

    /// Returns an upper bound on the number of rows left to emit.
    pub(crate) fn rows_left(&self) -> u64 {
        let Some((last, before)) = self.rows.split_last() else {
            return self.rows_left;
        };
        let to_find: u64 = before.iter().map(SelectedRows::rows_pending).sum();
        last.rows_left() + to_find
    }

    /// Returns the row after the last emitted one, counted within the row group, or `None` if there is no filter.
    pub(crate) fn emitted_to(&self) -> Option<u64> {
        self.rows.last().map(SelectedRows::emitted_to)
    }

    /// Takes the damaged pages left out of the batches since the last call.
    pub(crate) fn take_losses(&mut self) -> Losses {
        let mut losses = Losses::default();
        for set in &mut self.sets {
            losses.append(set.take_losses());
        }
        losses
    }

    /// Returns the ranges that the columns need next, about `ahead` bytes.
    ///
    /// Later stages' columns wait for a test to select rows. We only include their bytes for all candidate rows if
    /// these cost less than a round trip.
    pub(crate) fn planned(&self, ahead: u64, policy: &FetchPolicy) -> Vec<Range<u64>> {
        let active = self.active();
        let Some(set) = self.sets.get(active) else {
            return Vec::new();
        };
        let mut ranges = set.planned(ahead);
        let candidates = self.candidates_after(active);
        if bytes(&candidates) <= self.unproven_bytes(policy).min(ahead) {
            ranges.extend(candidates);
        }
        ranges
    }

    /// Returns the number of bytes we can request for later stages before a test has selected their rows.
    fn unproven_bytes(&self, policy: &FetchPolicy) -> u64 {
        // Step 0 of the outlook is the pruning, so the stages start at step 1.
        let steps = self.active() + 1..self.rows.len() + 1;
        self.budget.outlook().unproven_bytes(policy, steps)
    }

    /// Returns the ranges that all columns need before anything is decoded, and the number of rounds it takes to fetch
    /// them.
    pub(crate) fn all_ranges(&self, policy: &FetchPolicy) -> (Vec<Range<u64>>, u64) {
        let mut ranges = self.planned(u64::MAX, policy);
        let later = self.candidates_after(self.active());
        let rounds = match bytes(&later) <= self.unproven_bytes(policy) {
            true => 1,
            false => self.sets.len() as u64,
        };
        ranges.extend(later);
        (union(ranges), rounds)
    }

    /// Returns the ranges of the columns in later stages, for all candidate rows.
    fn candidates_after(&self, stage: usize) -> Vec<Range<u64>> {
        let later = self.sets.iter().skip(stage + 1);
        later
            .flat_map(|set| set.planned_for(&self.candidates))
            .collect()
    }

    /// Returns the ranges of all column chunks.
    pub(crate) fn chunk_ranges(&self) -> Vec<Range<u64>> {
        let sets = self.sets.iter().map(ColumnSet::row_group);
        sets.flat_map(OpenRowGroup::chunk_ranges).collect()
    }

    /// Returns the ordinal of the first stage with rows left to test, or of the last stage if there is none.
    fn active(&self) -> usize {
        let is_tested = |rows: &&SelectedRows| rows.is_tested();
        self.rows.iter().take_while(is_tested).count()
    }

    /// Decodes the next batch on this thread. Stops testing rows once `most` selected rows are found.
    ///
    /// With `tests_ahead`, it goes on to test more rows while bytes of other columns are missing.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file. Predicate errors are returned too.
    pub(crate) fn poll(
        &mut self,
        most: u64,
        tests_ahead: bool,
        bytes: &mut dyn FileBytes,
    ) -> Result<RowGroupStep> {
        let last = self.rows.len();
        let step = self.poll_stage(last, most, tests_ahead, bytes)?;
        if let (RowGroupStep::Batch(batch), true) = (&step, self.rows.is_empty()) {
            self.rows_left = self.rows_left.saturating_sub(batch.num_rows() as u64);
        }
        Ok(step)
    }

    fn poll_stage(
        &mut self,
        stage: usize,
        most: u64,
        tests_ahead: bool,
        bytes: &mut dyn FileBytes,
    ) -> Result<RowGroupStep> {
        let Some(below) = stage.checked_sub(1) else {
            return self.poll_first(bytes);
        };
        loop {
            let (Some(rows), Some(set)) = (self.rows.get_mut(below), self.sets.get_mut(stage))
            else {
                return Ok(RowGroupStep::End);
            };
            let mut is_ahead = false;
            let is_over = rows.is_tested() || rows.num_selected() >= most;
            let batch_rows = set.row_group().batch_rows() as u64;
            if is_over || rows.num_selected() >= batch_rows {
                if rows.num_selected() == 0 {
                    return Ok(RowGroupStep::End);
                }
                let most = rows.most_rows();
                if let Some(batch) = set.poll(rows.num_selected(), most, bytes)? {
                    return rows.put_together(&batch).map(RowGroupStep::Batch);
                }
                if is_over || !tests_ahead {
                    return Ok(RowGroupStep::Pending);
                }
                is_ahead = true;
            }
            if !self.test_next(below, tests_ahead, is_ahead, bytes)? {
                return Ok(RowGroupStep::Pending);
            }
        }
    }

    /// Tests a stage's next batch, passing the selected rows to the next stage. Returns false if bytes are missing. If
    /// a test that `is_ahead` fails, its error waits until it is due, since the rows before it can still be emitted.
    fn test_next(
        &mut self,
        stage: usize,
        tests_ahead: bool,
        is_ahead: bool,
        bytes: &mut dyn FileBytes,
    ) -> Result<bool> {
        if let Some(failed) = self.failed.iter().position(|(it, _)| *it == stage) {
            return match is_ahead {
                true => Ok(false),
                false => Err(self.failed.swap_remove(failed).1),
            };
        }
        match self.test(stage, tests_ahead, bytes) {
            Err(error) if is_ahead => {
                self.failed.push((stage, error));
                Ok(false)
            }
            result => result,
        }
    }

    fn test(&mut self, stage: usize, tests_ahead: bool, bytes: &mut dyn FileBytes) -> Result<bool> {
        let step = self.poll_stage(stage, u64::MAX, tests_ahead, bytes)?;
        let Some(rows) = self.rows.get_mut(stage) else {
            return Ok(true);
        };
        let pieces = match step {
            RowGroupStep::Pending => return Ok(false),
            RowGroupStep::Batch(batch) => {
                let tested = rows.filter().test(&batch)?;
                rows.record(tested)?
            }
            RowGroupStep::End => rows.end(),
        };
        self.pass_on(stage, pieces);
        Ok(true)
    }

    /// Returns true if some rows are left to test.
    pub(crate) fn is_testing(&self) -> bool {
        self.active() < self.rows.len()
    }

    /// Tests rows before they are due, until bytes are missing or memory is short.
    ///
    /// # Errors
    /// Returns errors in the bytes along with their location in the file. Predicate errors are returned too.
    pub(crate) fn test_ahead(&mut self, budget: &Budget, bytes: &mut dyn FileBytes) -> Result<()> {
        let Some(last) = self.rows.len().checked_sub(1) else {
            return Ok(());
        };
        while self.is_testing() && !budget.is_short() && self.test_next(last, true, false, bytes)? {
        }
        Ok(())
    }

    /// Decodes the first stage's next batch. No other stage selects rows for it.
    fn poll_first(&mut self, bytes: &mut dyn FileBytes) -> Result<RowGroupStep> {
        let rows_left = match self.rows.first() {
            Some(rows) => rows.untested(),
            None => self.rows_left,
        };
        let Some(set) = self.sets.first_mut().filter(|_| rows_left > 0) else {
            return Ok(RowGroupStep::End);
        };
        let batch = set.poll(rows_left, usize::MAX, bytes)?;
        Ok(batch.map_or(RowGroupStep::Pending, RowGroupStep::Batch))
    }

    /// Records how many bytes the next stage needs for the rows found by a stage. Later row groups use this share to
    /// decide what to request early.
    fn note_found(&mut self, stage: usize) {
        let found = self.found.get_mut(stage).and_then(Option::take);
        if let (Some(found), Some(next)) = (found, self.sets.get(stage + 1)) {
            let needed = bytes(&next.planned_for(&found.into_ranges(self.num_rows)));
            let (left, all) = match bytes(&next.planned_for(&self.candidates)) {
                // If the next stage has no bytes at all, none can be requested in vain.
                0 => (1, 1),
                all => (needed, all),
            };
            self.budget.outlook().add(stage + 1, left, all);
        }
    }

    /// Passes the rows selected by a stage on to the next one.
    fn pass_on(&mut self, stage: usize, pieces: Vec<RowSelector>) {
        let is_tested = self.rows.get(stage).is_some_and(SelectedRows::is_tested);
        if let Some(Some(found)) = self.found.get_mut(stage) {
            pieces.iter().for_each(|piece| found.add(piece));
        }
        if is_tested {
            self.note_found(stage);
        }
        if let Some(set) = self.sets.get_mut(stage + 1) {
            pieces.iter().for_each(|piece| set.extend_selection(piece));
            if is_tested {
                set.close_selection();
            }
        }
        if let Some(rows) = self.rows.get_mut(stage + 1) {
            rows.extend(pieces);
        }
    }
}

/// Returns a plan's filters, each with the plan whose batches it produces. The last stage comes first.
fn filters(
    plan: &Arc<ReadPlan>,
    filter: &Arc<FilterPlan>,
) -> Vec<(Arc<FilterPlan>, Arc<ReadPlan>)> {
    let mut plans = vec![(filter.clone(), plan.clone())];
    while let Some((filter, _)) = plans.last()
        && let Some(first) = filter.tested().filter()
    {
        let next = (first.clone(), filter.tested().clone());
        plans.push(next);
    }
    plans
}
