//! How far a read has come.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::Result;

use super::plan::{RowGroupPlan, Window};
use super::{BegunRowGroup, PushDecoder, ReadPlan};
use crate::budget::Budget;

/// What was given out of the wanted rows of a read, whoever finds them.
#[doc(hidden)] // For drivers.
pub struct GivenOut {
    plan: Arc<ReadPlan>,
    /// Index, in the plan, of the row group behind the one at hand.
    next: usize,
    /// Planned rows of the row groups behind the one at hand.
    rows_behind: u64,
    /// The row group at hand, or what was left of it when another plan took over, if any of it was given out.
    begun: Option<BegunRowGroup>,
    /// Planned rows of it.
    rows_here: u64,
    /// Wanted rows of it that were given out.
    given: u64,
    /// Which of the wanted rows are given out, before these and now.
    window_before: Window,
    window: Window,
}

impl GivenOut {
    /// Nothing yet.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        // Without a filter, the planned rows are those of the window.
        let window = match plan.is_filtered() {
            true => Window::of(plan.options()),
            false => Window::all(),
        };
        Self {
            next: 0,
            rows_behind: plan.row_groups().iter().map(RowGroupPlan::num_wanted).sum(),
            begun: None,
            rows_here: 0,
            given: 0,
            window_before: window,
            window,
            plan,
        }
    }

    /// Goes to the next row group; its index in the plan, or none where no more rows are to be given out.
    pub fn next_row_group(&mut self) -> Option<usize> {
        // Of the last row group, nothing more comes, whatever was left of the upper bound.
        self.rows_here = 0;
        let row_group = self.plan.row_groups().get(self.next);
        let row_group = row_group.filter(|_| !self.is_full())?;
        self.rows_here = row_group.num_wanted();
        self.rows_behind = self.rows_behind.saturating_sub(self.rows_here);
        (self.given, self.window_before) = (0, self.window);
        self.begun = None;
        self.next += 1;
        Some(self.next - 1)
    }

    /// The row group so many behind the next one.
    pub(super) fn row_group_behind(&self, row_groups: usize) -> Option<&RowGroupPlan> {
        self.plan.row_groups().get(self.next + row_groups)
    }

    /// Whether all planned rows of what is at hand were given out.
    pub(super) fn is_given_whole(&self) -> bool {
        self.given >= self.rows_here
    }

    /// Counts a batch of the row group at hand, which came of this; what of it is to be given out.
    pub fn give_out(&mut self, batch: RecordBatch, begun: BegunRowGroup) -> Option<RecordBatch> {
        let is_same = |it: &BegunRowGroup| it.is_same(&begun);
        if !self.begun.as_ref().is_some_and(is_same) {
            self.rows_here = begun.row_group.num_wanted();
            (self.given, self.window_before) = (0, self.window);
            self.begun = Some(begun);
        }
        self.given += batch.num_rows() as u64;
        self.window.cut_batch(batch)
    }

    /// The plan of the read.
    #[must_use]
    pub fn plan(&self) -> &Arc<ReadPlan> {
        &self.plan
    }

    /// Has what begins from now on read by another plan.
    ///
    /// # Errors
    /// Argument where it is a plan of something else.
    pub fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.plan.check_goes_on_by(&plan)?;
        self.plan = plan;
        Ok(())
    }

    /// Wanted rows that were given out of what is at hand.
    pub(super) fn given(&self) -> u64 {
        self.given
    }

    /// How many more wanted rows are to be found.
    pub(super) fn rows_to_find(&self) -> u64 {
        self.window.wanted()
    }

    /// Rows still to come, at most.
    #[must_use]
    pub fn rows_left(&self) -> u64 {
        let here = self.rows_here.saturating_sub(self.given);
        self.rows_behind.saturating_add(here).min(self.window.left)
    }

    /// Whether as many rows were given out as are wanted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.window.left == 0
    }

    /// What goes on behind the last batch with one column after the other. Nothing of the budget may be in use.
    #[must_use]
    pub fn into_decoder(self, budget: Arc<Budget>) -> PushDecoder {
        let mut window = self.window_before;
        window.next(self.given);
        budget.close_row_groups_from(self.next.saturating_sub(1));
        let decoder = match self.begun {
            Some(begun) => PushDecoder::in_turn_from(begun, budget, self.next, self.given),
            None => {
                let row_group = self.next.saturating_sub(1);
                PushDecoder::in_turn(self.plan.clone(), budget, row_group, 0)
            }
        };
        decoder.with_window(window).then_by(self.plan)
    }
}
