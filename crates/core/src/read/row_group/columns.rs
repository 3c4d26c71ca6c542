//! The columns of one row group after the other, from bytes that are supplied: what all drivers of one thread
//! go by.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result};

use super::OpenRowGroup;
use crate::Step;
use crate::budget::Budget;
use crate::column::selection::WantedPiece;
use crate::column::{ColumnBatch, ColumnChunkDecoder};
use crate::loss::Losses;
use crate::read::push::too_few_rows;
use crate::read::{BatchAssembler, Needs, ReadPlan, RowGroupPlan};

/// The columns of one row group after the other.
pub(crate) struct RowGroupCursor {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    assembler: BatchAssembler,
    row_group: Option<OpenRowGroup>,
    columns: Vec<OpenColumn>,
    /// Whether one column is finished before the next.
    in_turn: bool,
    /// The first column that may lack its column batch.
    first: usize,
}

/// A column of the open row group.
#[derive(Default)]
struct OpenColumn {
    /// Made when it is needed, dropped behind its last column batch.
    column: Option<Box<ColumnChunkDecoder>>,
    /// What it must have before it goes on.
    need: Option<Range<u64>>,
    /// Why it does not go on.
    error: Option<Error>,
}

impl RowGroupCursor {
    /// A cursor without a row group, whose columns are all under way at once.
    pub(crate) fn new(plan: Arc<ReadPlan>, budget: Arc<Budget>) -> Self {
        Self {
            assembler: BatchAssembler::new(plan.clone(), &budget),
            plan,
            budget,
            row_group: None,
            columns: Vec::new(),
            in_turn: false,
            first: 0,
        }
    }

    /// From here on, one column is finished before the next.
    pub(crate) fn work_in_turn(&mut self) {
        self.in_turn = true;
    }

    pub(crate) fn is_in_turn(&self) -> bool {
        self.in_turn
    }

    /// Goes to a row group of the plan, which may be restricted.
    ///
    /// # Errors
    /// As [`ReadPlan::open`].
    pub(in crate::read) fn open(&mut self, row_group: &RowGroupPlan) -> Result<()> {
        self.assembler.open(row_group);
        let row_group = OpenRowGroup::restricted(&self.plan, row_group, &self.budget)?;
        self.columns.clear();
        self.columns
            .resize_with(row_group.num_columns(), OpenColumn::default);
        self.row_group = Some(row_group);
        self.first = 0;
        Ok(())
    }

    /// The same, for no rows but those that are [added](Self::extend_selection).
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(in crate::read) fn open_selecting(&mut self, row_group: &RowGroupPlan) -> Result<()> {
        self.open(row_group)?;
        self.assembler.open_selecting(row_group);
        self.row_group
            .iter_mut()
            .for_each(OpenRowGroup::select_on_the_way);
        Ok(())
    }

    /// Wants these rows too, which lie behind all others.
    pub(in crate::read) fn extend_selection(&mut self, piece: &WantedPiece) {
        self.assembler.extend_selection(piece);
        if let Some(row_group) = &mut self.row_group {
            row_group.extend_selection(piece);
        }
        for open in &mut self.columns {
            if let Some(column) = &mut open.column {
                column.extend_selection(piece.clone());
            }
        }
    }

    /// No other rows are wanted.
    pub(in crate::read) fn close_selection(&mut self) {
        if let Some(row_group) = &mut self.row_group {
            row_group.close_selection();
        }
        for open in &mut self.columns {
            if let Some(column) = &mut open.column {
                column.close_selection();
            }
        }
    }

    /// Rows of a batch of the row group.
    pub(in crate::read) fn batch_rows(&self) -> usize {
        self.row_group.as_ref().map_or(1, OpenRowGroup::batch_rows)
    }

    /// Gives up the row group.
    pub(crate) fn close(&mut self) {
        self.row_group = None;
        self.columns.clear();
        self.assembler.clear();
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        self.assembler.take_losses()
    }

    /// The next batch of the row group, which has `rows_left` rows; without bytes for it `None`, and what `needs`
    /// says is needed.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub(crate) fn poll(
        &mut self,
        rows_left: u64,
        needs: &mut Needs,
    ) -> Result<Option<RecordBatch>> {
        self.add_column_batches(needs)?;
        if !needs.now.is_empty() {
            return Ok(None);
        }
        self.first = 0;
        let batch = match self.columns.is_empty() {
            true => self.assembler.batch_without_columns(rows_left)?,
            false => self.assembler.assemble()?,
        };
        Ok(Some(batch))
    }

    /// Polls every column without a column batch; what they must have, if anything. As with one column after
    /// the other, an error counts once all columns before it have their column batches.
    fn add_column_batches(&mut self, needs: &mut Needs) -> Result<()> {
        needs.now.clear();
        needs.soon.clear();
        let Some(row_group) = &self.row_group else {
            return Ok(());
        };
        for (ordinal, open) in self.columns.iter_mut().enumerate().skip(self.first) {
            if !self.assembler.needs(ordinal) {
                continue;
            }
            if let Some(column_batch) = open.poll(row_group, ordinal)? {
                self.assembler.add(ordinal, column_batch);
            } else if let Some(range) = &open.need {
                let end = open.column.as_ref().map_or(0, |column| column.chunk_end());
                if end > range.end {
                    needs.soon.push(range.end..end);
                }
                if needs.now.is_empty() {
                    self.first = ordinal;
                }
                needs.now.push(range.clone());
                if self.in_turn {
                    break;
                }
            } else if !needs.now.is_empty() {
                break;
            } else if let Some(error) = open.error.take() {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Hands in bytes of the file that start at `offset`, to every column that waits for some of
    /// them. Bytes that nobody waits for are dropped.
    pub(crate) fn supply(&mut self, offset: u64, mut bytes: Bytes) {
        let supplied = offset..offset.saturating_add(bytes.len() as u64);
        for open in self.columns.iter_mut().skip(self.first) {
            let Some(need) = &open.need else { continue };
            let Some(column) = &mut open.column else {
                continue;
            };
            if supplied.start <= need.start && need.end <= supplied.end {
                let last = supplied.end.min(column.chunk_end().max(need.end));
                let from = (need.start - offset) as usize;
                let to = (last - offset) as usize;
                let part = match self.in_turn && from == 0 && to == bytes.len() {
                    // Who holds bytes alone is spared what counts the holders.
                    true => std::mem::take(&mut bytes),
                    false => bytes.slice(from..to),
                };
                column.supply(need.start, part);
                open.need = None;
            }
            if self.in_turn {
                break;
            }
        }
    }
}

impl OpenColumn {
    /// The next column batch, unless bytes are missing or the column has failed.
    ///
    /// # Errors
    /// Limit where the budget refuses: that counts at once.
    fn poll(&mut self, row_group: &OpenRowGroup, ordinal: usize) -> Result<Option<ColumnBatch>> {
        if self.need.is_some() || self.error.is_some() {
            return Ok(None);
        }
        match self.step(row_group, ordinal) {
            Ok(Step::Ready(column_batch)) => return Ok(Some(column_batch)),
            Ok(Step::Need(range)) => self.need = Some(range),
            Err(error) if Budget::refused(&error) => return Err(error),
            Err(error) => self.error = Some(error),
        }
        Ok(None)
    }

    fn step(&mut self, row_group: &OpenRowGroup, ordinal: usize) -> Result<Step<ColumnBatch>> {
        let column = match &mut self.column {
            Some(column) => column,
            slot => slot.insert(row_group.column(ordinal)?),
        };
        let column_batch = match column.poll()? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(column_batch) => column_batch.ok_or_else(too_few_rows)?,
        };
        if column.is_done() {
            self.column = None;
        }
        Ok(Step::Ready(column_batch))
    }
}
