//! The rows of a row group that a filter wants, on one thread.
//!
//! ```text
//! tested columns ── a batch ──► bits ──► ranges of rows ──► the other columns decode these alone
//!        └── those that are given out: the chosen slots wait ──────────────────► batch
//! ```
//!
//! Two cursors walk the row group, one over the columns that the predicate looks at, one over those that are given out.
//! The first is ahead by a batch of wanted rows. If the filter has several stages, the tested columns are themselves
//! those of a filter, which has the earlier stages. A column that the predicate looks at is given out as it was
//! decoded, unless it is a part of a struct of which other parts are given out as well: then it is decoded twice.

use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::SchemaRef;
use herringbone_format::Result;

use super::{FoundRows, Pruned, RowGroupCursor};
use crate::budget::Budget;
use crate::column::selection::WantedPiece;
use crate::loss::Losses;
use crate::read::Needs;
use crate::read::plan::FilterPlan;

/// The wanted rows of one row group after the other.
pub(crate) struct FilteredRows {
    tested: Tested,
    others: RowGroupCursor,
    rows: FoundRows,
    /// What was found of these rows, where others are tested by it.
    passed_on: Option<Vec<WantedPiece>>,
}

/// What tested columns come from.
enum Tested {
    Rows(Box<RowGroupCursor>),
    FilteredRows(Box<FilteredRows>),
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
        let tested = plan.tested();
        let tested = match tested.filter() {
            None => {
                let cursor = RowGroupCursor::new(tested.clone(), budget.clone());
                Tested::Rows(Box::new(cursor))
            }
            Some(filter) => {
                let mut first = Self::new(filter.clone(), tested.schema().clone(), budget);
                first.passed_on = Some(Vec::new());
                Tested::FilteredRows(Box::new(first))
            }
        };
        Self {
            tested,
            others: RowGroupCursor::new(plan.others().clone(), budget.clone()),
            rows: FoundRows::new(plan, schema, budget),
            passed_on: None,
        }
    }

    pub(crate) fn work_in_turn(&mut self) {
        match &mut self.tested {
            Tested::Rows(cursor) => cursor.work_in_turn(),
            Tested::FilteredRows(first) => first.work_in_turn(),
        }
        self.others.work_in_turn();
    }

    /// Goes to a row group of the plan, of which this is known.
    ///
    /// # Errors
    /// As [`ReadPlan::open`](super::ReadPlan::open).
    pub(crate) fn open(&mut self, pruned: Pruned) -> Result<()> {
        self.close();
        let row_group = self.rows.open(pruned);
        match &mut self.tested {
            Tested::Rows(cursor) => cursor.open(&row_group)?,
            Tested::FilteredRows(first) => {
                self.rows.test_on_the_way();
                first.open(self.rows.undecided(&row_group))?;
                self.rows.extend(first.take_passed_on());
            }
        }
        self.others.open_selecting(&row_group)?;
        let sure = self.rows.add_sure(Vec::new());
        self.pass_on(sure);
        Ok(())
    }

    /// Gives up the row group.
    pub(crate) fn close(&mut self) {
        match &mut self.tested {
            Tested::Rows(cursor) => cursor.close(),
            Tested::FilteredRows(first) => first.close(),
        }
        self.passed_on.iter_mut().for_each(Vec::clear);
        self.others.close();
        self.rows.close();
    }

    /// Returns the number of rows of the row group that may still be emitted.
    pub(crate) fn rows_left(&self) -> u64 {
        self.rows.found() + self.rows_to_find()
    }

    /// Returns the number of rows that this stage or one before it still has to test, or selects without a test.
    fn rows_to_find(&self) -> u64 {
        let earlier = match &self.tested {
            Tested::Rows(_) => 0,
            Tested::FilteredRows(first) => first.rows_to_find(),
        };
        self.rows.rows_to_find() + earlier
    }

    /// Up to which row all wanted rows were given out.
    pub(crate) fn given_up_to(&self) -> u64 {
        self.rows.given_up_to()
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        let mut losses = match &mut self.tested {
            Tested::Rows(cursor) => cursor.take_losses(),
            Tested::FilteredRows(first) => first.take_losses(),
        };
        losses.append(self.others.take_losses());
        losses
    }

    /// Hands in bytes of the file that start at `offset`.
    pub(crate) fn supply(&mut self, offset: u64, bytes: &Bytes) {
        match &mut self.tested {
            Tested::Rows(cursor) => cursor.supply(offset, bytes.clone()),
            Tested::FilteredRows(first) => first.supply(offset, bytes),
        }
        self.others.supply(offset, bytes.clone());
    }

    /// Goes on; without bytes, `needs` says what is needed. No more than `most` rows are looked for in advance.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, or a predicate says.
    pub(crate) fn poll(&mut self, most: u64, needs: &mut Needs) -> Result<FilterStep> {
        let batch_rows = self.others.batch_rows() as u64;
        while !self.rows.is_tested() && self.rows.found() < batch_rows.min(most) {
            let wanted = match self.poll_tested(needs)? {
                FilterStep::Need => return Ok(FilterStep::Need),
                FilterStep::Batch(batch) => self.rows.test(&batch)?,
                FilterStep::End => self.rows.end(),
            };
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

    /// The next rows of the tested columns.
    fn poll_tested(&mut self, needs: &mut Needs) -> Result<FilterStep> {
        match &mut self.tested {
            Tested::Rows(cursor) => {
                let batch = cursor.poll(self.rows.untested(), needs)?;
                Ok(batch.map_or(FilterStep::Need, FilterStep::Batch))
            }
            Tested::FilteredRows(first) => {
                let step = first.poll(u64::MAX, needs)?;
                self.rows.extend(first.take_passed_on());
                Ok(step)
            }
        }
    }

    /// Tells the other columns of rows that are wanted.
    fn pass_on(&mut self, pieces: Vec<WantedPiece>) {
        for piece in &pieces {
            self.others.extend_selection(piece);
        }
        if self.rows.is_tested() {
            self.others.close_selection();
        }
        if let Some(passed_on) = &mut self.passed_on {
            passed_on.extend(pieces);
        }
    }

    /// What was found since the last call.
    fn take_passed_on(&mut self) -> Vec<WantedPiece> {
        self.passed_on.as_mut().map_or(Vec::new(), std::mem::take)
    }
}
