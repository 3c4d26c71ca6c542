//! The plain loop: every column in turn, on the caller's thread.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::Budget;
use herringbone_core::column::ColumnChunkDecoder;
use herringbone_core::loss::Losses;
use herringbone_core::read::{BatchAssembler, OpenRowGroup, ReadPlan, too_few_rows};
use herringbone_format::Result;

use crate::blocking::next_column_batch;
use crate::source::Source;

/// Decodes on the caller's thread.
pub(crate) struct Inline {
    plan: Arc<ReadPlan>,
    source: Arc<dyn Source>,
    assembler: BatchAssembler,
    next_row_group: usize,
    row_group: Option<OpenRowGroup>,
    /// Columns that are under way; made when their turn comes, dropped behind their last column batch.
    columns: Vec<Option<Box<ColumnChunkDecoder>>>,
    /// Rows of the open row group still to come.
    rows_left: u64,
    /// Rows, of those that are left, that another driver has given out.
    rows_again: u64,
    budget: Arc<Budget>,
}

impl Inline {
    pub(crate) fn new(plan: Arc<ReadPlan>, source: Arc<dyn Source>) -> Self {
        let budget = Budget::new(&plan.options().limits);
        Self::new_behind(plan, source, budget, 0, 0)
    }

    /// Goes on behind so many row groups, and rows of the next one, that were given out before. No
    /// memory of `budget` is in use.
    pub(crate) fn new_behind(
        plan: Arc<ReadPlan>,
        source: Arc<dyn Source>,
        budget: Arc<Budget>,
        row_groups: usize,
        rows: u64,
    ) -> Self {
        budget.work_in_turn();
        Self {
            assembler: BatchAssembler::new(plan.clone(), &budget),
            plan,
            source,
            next_row_group: row_groups,
            row_group: None,
            columns: Vec::new(),
            rows_left: 0,
            rows_again: rows,
            budget,
        }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            let batch = self.decode_batch()?;
            match &batch {
                Some(again) if self.rows_again > 0 => {
                    self.rows_again = self.rows_again.saturating_sub(again.num_rows() as u64);
                    drop(self.take_losses());
                }
                _ => return Ok(batch),
            }
        }
    }

    fn decode_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.rows_left == 0 {
            let Some(row_group) = self.plan.row_groups().get(self.next_row_group) else {
                return Ok(None);
            };
            self.rows_left = row_group.num_wanted();
            self.next_row_group += 1;
            let row_group = self.plan.open(self.next_row_group - 1, &self.budget)?;
            self.columns.clear();
            self.columns.resize_with(row_group.num_columns(), || None);
            self.row_group = Some(row_group);
        }
        self.add_column_batches()?;
        let batch = if self.columns.is_empty() {
            self.plan.batch_without_columns(self.rows_left)?
        } else {
            self.assembler.assemble()?
        };
        self.rows_left = self.rows_left.saturating_sub(batch.num_rows() as u64);
        Ok(Some(batch))
    }

    /// Gives up the row group that the last batch failed in; the rows that are lost.
    pub(crate) fn skip_row_group(&mut self) -> u64 {
        self.columns.clear();
        self.assembler.clear();
        let again = std::mem::take(&mut self.rows_again);
        std::mem::take(&mut self.rows_left).saturating_sub(again)
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        self.assembler.take_losses()
    }

    /// Gives the assembler the next column batch of every column that it needs one of.
    fn add_column_batches(&mut self) -> Result<()> {
        let Some(row_group) = &self.row_group else {
            return Ok(());
        };
        for (ordinal, slot) in self.columns.iter_mut().enumerate() {
            if !self.assembler.needs(ordinal) {
                continue;
            }
            let mut column = match slot.take() {
                Some(column) => column,
                None => row_group.column(ordinal)?,
            };
            let column_batch =
                next_column_batch(&mut column, &*self.source)?.ok_or_else(too_few_rows)?;
            self.assembler.add(ordinal, column_batch);
            if !column.is_done() {
                *slot = Some(column);
            }
        }
        Ok(())
    }
}
