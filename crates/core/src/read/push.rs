//! Record batches from bytes that are pushed in.
//!
//! The decoder reads nothing itself. It says which byte ranges of the file it must have now and
//! which it will want soon, takes them in any order and in any portions that cover what it must
//! have, and gives batches in between. Files, object stores and networks are thin loops around it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::modular_encryption::KeyRequest;
use herringbone_format::{Error, Result};

use super::{BatchAssembler, OpenRowGroup, ReadPlan};
use crate::Step;
use crate::budget::Budget;
use crate::column::{ColumnBatch, ColumnChunkDecoder};
use crate::loss::{Loss, Losses, Lost};

/// What a [`PushDecoder`] came to.
#[derive(Debug)]
pub enum Poll {
    /// Bytes of the file are missing.
    Needs(Needs),
    /// The key of a column is missing: [supply](PushDecoder::supply_key) it.
    NeedsKey(KeyRequest),
    /// The next batch.
    Batch(RecordBatch),
    /// There are no more rows.
    Finished,
}

/// Byte ranges of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// Nothing goes on without these.
    pub now: Vec<Range<u64>>,
    /// These come next, unless the read is given up: worth fetching along where that is cheap.
    pub soon: Vec<Range<u64>>,
}

/// Decodes a read from bytes that are pushed in, on the caller's thread.
///
/// All columns of a row group are under way at once, so that their bytes can be fetched together.
/// Where the [`Budget`] does not allow for that, the row group is started again with one column
/// after the other, and the rest of the read goes on like this: bytes may be asked for once more.
pub struct PushDecoder {
    plan: Arc<ReadPlan>,
    budget: Arc<Budget>,
    assembler: BatchAssembler,
    /// Index, in the plan, of the row group after the open one.
    next_row_group: usize,
    row_group: Option<OpenRowGroup>,
    columns: Vec<OpenColumn>,
    /// Rows of the open row group that were not given out; used where no column counts them.
    rows_left: u64,
    /// Whether one column is finished before the next.
    in_turn: bool,
    /// Rows, of those that are left, that were given out before the row group was started again.
    rows_again: u64,
    losses: Losses,
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

impl PushDecoder {
    /// A decoder at the start of its read.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        let budget = Budget::new(&plan.options().limits);
        let assembler = BatchAssembler::new(plan.clone(), &budget);
        Self {
            plan,
            budget,
            assembler,
            next_row_group: 0,
            row_group: None,
            columns: Vec::new(),
            rows_left: 0,
            in_turn: false,
            rows_again: 0,
            losses: Losses::default(),
        }
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, with its place. The decoder is of no use afterwards.
    pub fn poll(&mut self) -> Result<Poll> {
        loop {
            match self.advance() {
                Err(error) if Budget::refused(&error) && !self.in_turn => self.start_again(),
                Err(error) if self.plan.options().on_error.goes_on(&error) => {
                    let rows = std::mem::take(&mut self.rows_left);
                    let again = std::mem::take(&mut self.rows_again);
                    self.close_row_group();
                    let lost = Lost::Rows(rows.saturating_sub(again));
                    self.losses.push(Loss { error, lost });
                }
                Ok(Poll::Batch(batch)) if self.rows_again > 0 => {
                    self.rows_again = self.rows_again.saturating_sub(batch.num_rows() as u64);
                    drop(self.assembler.take_losses());
                }
                polled => {
                    if matches!(polled, Ok(Poll::Batch(_))) {
                        self.losses.append(self.assembler.take_losses());
                    }
                    return polled;
                }
            }
        }
    }

    /// What the batches so far did without, if [damage](crate::loss::OnError) is no reason to fail.
    #[must_use]
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Goes back to the start of the row group, to decode one column after the other.
    fn start_again(&mut self) {
        self.in_turn = true;
        self.budget.work_in_turn();
        self.next_row_group -= 1;
        let row_group = self.plan.row_groups().get(self.next_row_group);
        let wanted = row_group.map_or(0, |row_group| row_group.num_wanted());
        self.rows_again = wanted.saturating_sub(std::mem::take(&mut self.rows_left));
        self.close_row_group();
    }

    fn close_row_group(&mut self) {
        self.columns.clear();
        self.assembler.clear();
    }

    fn advance(&mut self) -> Result<Poll> {
        if self.rows_left == 0 {
            let Some(row_group) = self.plan.row_groups().get(self.next_row_group) else {
                return Ok(Poll::Finished);
            };
            if let Some(request) = self.plan.needs_key(self.next_row_group) {
                return Ok(Poll::NeedsKey(request));
            }
            self.rows_left = row_group.num_wanted();
            self.next_row_group += 1;
            let row_group = self.plan.open(self.next_row_group - 1, &self.budget)?;
            self.columns.clear();
            self.columns
                .resize_with(row_group.num_columns(), OpenColumn::default);
            self.row_group = Some(row_group);
        }
        if let Some(needs) = self.fill_column_batches()? {
            return Ok(Poll::Needs(needs));
        }
        let batch = if self.columns.is_empty() {
            self.plan.batch_without_columns(self.rows_left)?
        } else {
            self.assembler.assemble()?
        };
        self.rows_left = self.rows_left.saturating_sub(batch.num_rows() as u64);
        Ok(Poll::Batch(batch))
    }

    /// Polls every column without a column batch; what they must have, if anything. As in the plain loop,
    /// an error counts once all columns before it have their column batches.
    fn fill_column_batches(&mut self) -> Result<Option<Needs>> {
        let mut needs = Needs {
            now: Vec::new(),
            soon: Vec::new(),
        };
        let Some(row_group) = &self.row_group else {
            return Ok(None);
        };
        for (ordinal, open) in self.columns.iter_mut().enumerate() {
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
                needs.now.push(range.clone());
                if self.in_turn {
                    break;
                }
            } else if !needs.now.is_empty() {
                break;
            } else if let Some(error) = open.error.take() {
                let column = open.column.as_ref();
                let peak = column.map_or(0, |column| column.peak_bytes());
                self.assembler.check_error(ordinal, peak)?;
                return Err(error);
            }
        }
        Ok((!needs.now.is_empty()).then_some(needs))
    }

    /// Hands over the key that `request` asked for.
    ///
    /// # Errors
    /// Argument where it has a length that no key has, or the file is not encrypted.
    pub fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        match self.plan.metadata().decryption() {
            Some(file) => file.supply_key(request, key),
            None => Err(Error::argument("the file is not encrypted")),
        }
    }

    /// Hands in bytes of the file that start at `offset`, to every column that waits for some of
    /// them. Bytes that nobody waits for are dropped.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        let supplied = offset..offset.saturating_add(bytes.len() as u64);
        for open in &mut self.columns {
            let Some(need) = &open.need else { continue };
            let Some(column) = &mut open.column else {
                continue;
            };
            if supplied.start <= need.start && need.end <= supplied.end {
                let last = supplied.end.min(column.chunk_end().max(need.end));
                let from = (need.start - offset) as usize;
                let to = (last - offset) as usize;
                column.supply(need.start, bytes.slice(from..to));
                open.need = None;
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

/// A column ends before the rows of its row group do.
pub fn too_few_rows() -> Error {
    Error::corrupt("a column has fewer rows than its row group")
}
