//! Record batches from bytes that are pushed in.
//!
//! The decoder reads nothing itself. It says which byte ranges of the file it must have now and
//! which it will want soon, takes them in any order and in any portions that cover what it must
//! have, and gives batches in between. Files, object stores and networks are thin loops around it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result};

use super::{BatchAssembler, Loss, Lost, ReadPlan};
use crate::column::Column;
use crate::page::Step;

/// What a [`PushDecoder`] came to.
#[derive(Debug)]
pub enum Poll {
    /// Bytes of the file are missing.
    Needs(Needs),
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
pub struct PushDecoder {
    plan: Arc<ReadPlan>,
    assembler: BatchAssembler,
    /// Index, in the plan, of the row group after the open one.
    next_row_group: usize,
    columns: Vec<OpenColumn>,
    /// Rows of the open row group that were not given out; used where no column counts them.
    rows_left: u64,
    losses: Vec<Loss>,
}

struct OpenColumn {
    column: Box<Column>,
    /// What it must have before it goes on.
    need: Option<Range<u64>>,
}

impl PushDecoder {
    /// A decoder at the start of its read.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>) -> Self {
        let assembler = BatchAssembler::new(plan.clone());
        Self {
            plan,
            assembler,
            next_row_group: 0,
            columns: Vec::new(),
            rows_left: 0,
            losses: Vec::new(),
        }
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes, with its place. The decoder is of no use afterwards.
    pub fn poll(&mut self) -> Result<Poll> {
        loop {
            match self.advance() {
                Err(error) if self.plan.options().on_error.goes_on(&error) => {
                    let rows = std::mem::take(&mut self.rows_left);
                    self.columns.clear();
                    self.assembler.clear();
                    let lost = Lost::Rows(rows);
                    self.losses.push(Loss { error, lost });
                }
                polled => {
                    if matches!(polled, Ok(Poll::Batch(_))) {
                        self.losses.append(&mut self.assembler.take_losses());
                    }
                    return polled;
                }
            }
        }
    }

    /// What the batches so far did without, if [damage](super::OnError) is no reason to fail.
    #[must_use]
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn advance(&mut self) -> Result<Poll> {
        if self.rows_left == 0 {
            let Some(row_group) = self.plan.row_groups().get(self.next_row_group) else {
                return Ok(Poll::Finished);
            };
            self.rows_left = row_group.num_wanted();
            self.next_row_group += 1;
            let row_group = self.plan.open(self.next_row_group - 1)?;
            self.columns = (0..row_group.num_columns())
                .map(|ordinal| row_group.column(ordinal))
                .map(|column| {
                    Ok(OpenColumn {
                        column: column?,
                        need: None,
                    })
                })
                .collect::<Result<_>>()?;
        }
        if let Some(needs) = self.fill_pieces()? {
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

    /// Polls every column without a piece; what they must have, if anything.
    fn fill_pieces(&mut self) -> Result<Option<Needs>> {
        let mut needs = Needs {
            now: Vec::new(),
            soon: Vec::new(),
        };
        for (ordinal, open) in self.columns.iter_mut().enumerate() {
            if !self.assembler.needs(ordinal) {
                continue;
            }
            if open.need.is_none() {
                match open.column.poll()? {
                    Step::Ready(Some(piece)) => self.assembler.add(ordinal, piece),
                    Step::Ready(None) => {
                        return Err(Error::corrupt("a column has fewer rows than the others"));
                    }
                    Step::Need(range) => open.need = Some(range),
                }
            }
            if let Some(range) = &open.need {
                let end = open.column.chunk_end();
                if end > range.end {
                    needs.soon.push(range.end..end);
                }
                needs.now.push(range.clone());
            }
        }
        Ok((!needs.now.is_empty()).then_some(needs))
    }

    /// Hands in bytes of the file that start at `offset`, to every column that waits for some of
    /// them. Bytes that nobody waits for are dropped.
    pub fn supply(&mut self, offset: u64, bytes: &Bytes) {
        let supplied = offset..offset.saturating_add(bytes.len() as u64);
        for open in &mut self.columns {
            let Some(need) = &open.need else { continue };
            if supplied.start <= need.start && need.end <= supplied.end {
                let last = supplied.end.min(open.column.chunk_end().max(need.end));
                let from = (need.start - offset) as usize;
                let to = (last - offset) as usize;
                open.column.supply(need.start, bytes.slice(from..to));
                open.need = None;
            }
        }
    }
}
