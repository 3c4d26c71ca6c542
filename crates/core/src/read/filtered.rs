//! The rows of a row group that a filter wants, on one thread.
//!
//! ```text
//! tested columns ── a batch ──► bits ──► ranges of rows ──► the other columns decode these alone
//!        └── those that are given out: the chosen slots wait ──────────────────► batch
//! ```
//!
//! Two cursors walk the row group, one over the columns that the predicate looks at, one over those that are given out.
//! The first is ahead by a batch of wanted rows. A column that the predicate looks at is given out as it was
//! decoded, unless it is a part of a struct of which other parts are given out as well: then it is decoded twice.

use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::{Error, Result};

use super::Needs;
use super::cursor::RowGroupCursor;
use super::filter_plan::FilterPlan;
use super::found_rows::FoundRows;
use super::pruner::Pruned;
use crate::budget::Budget;
use crate::column::selection::WantedPiece;
use crate::loss::Losses;

/// The wanted rows of one row group after the other.
pub(crate) struct FilteredRows {
    plan: Arc<FilterPlan>,
    tested: RowGroupCursor,
    others: RowGroupCursor,
    rows: FoundRows,
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
            tested: RowGroupCursor::new(plan.tested().clone(), budget.clone()),
            others: RowGroupCursor::new(plan.others().clone(), budget.clone()),
            rows: FoundRows::new(plan.clone(), schema, budget),
            plan,
        }
    }

    pub(crate) fn work_in_turn(&mut self) {
        self.tested.work_in_turn();
        self.others.work_in_turn();
    }

    /// Goes to the `index`-th row group of the plan, of which this is known.
    ///
    /// # Errors
    /// As [`ReadPlan::open`](super::ReadPlan::open).
    pub(crate) fn open(&mut self, index: usize, pruned: Pruned) -> Result<()> {
        self.close();
        let row_group = self.plan.tested().row_groups().get(index);
        let row_group = row_group
            .ok_or_else(|| Error::argument(format!("the read has no row group {index}")))?;
        let row_group = self.rows.open(row_group, pruned);
        self.tested.open(&row_group)?;
        self.others.open_selecting(&row_group)?;
        let sure = self.rows.add_sure(Vec::new());
        self.pass_on(sure);
        Ok(())
    }

    /// Gives up the row group.
    pub(crate) fn close(&mut self) {
        self.tested.close();
        self.others.close();
        self.rows.close();
    }

    /// Rows of the row group that may still come.
    pub(crate) fn rows_left(&self) -> u64 {
        self.rows.rows_left()
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
        while self.rows.untested() > 0 && self.rows.found() < batch_rows.min(most) {
            let Some(batch) = self.tested.poll(self.rows.untested(), needs)? else {
                return Ok(FilterStep::Need);
            };
            let wanted = self.rows.test(&batch)?;
            self.pass_on(wanted);
        }
        if self.rows.found() == 0 {
            return Ok(FilterStep::End);
        }
        // Without columns, as many rows as there may be.
        match self.others.poll(self.rows.found(), needs)? {
            Some(batch) => self.rows.put_together(&batch).map(FilterStep::Batch),
            None => Ok(FilterStep::Need),
        }
    }

    /// Tells the other columns of rows that are wanted.
    fn pass_on(&mut self, pieces: Vec<WantedPiece>) {
        for piece in &pieces {
            self.others.extend_selection(piece);
        }
        if self.rows.untested() == 0 {
            self.others.close_selection();
        }
    }
}
