//! The loop of one thread: every column in turn, on the caller's thread.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::Budget;
use herringbone_core::loss::Losses;
use herringbone_core::read::{self, BegunRowGroup, PushDecoder, ReadPlan};
use herringbone_format::Result;
use herringbone_format::modular_encryption::KeyStep;

use crate::blocking::read_ahead;
use crate::source::Source;

/// Decodes on the caller's thread.
pub(crate) struct Inline {
    decoder: PushDecoder,
    source: Arc<dyn Source>,
}

/// What a step came to.
pub(crate) enum Progress {
    /// Bytes were read.
    Reads,
    Batch(RecordBatch),
    /// There are no more rows.
    End,
}

impl Inline {
    /// Starts with the first row. No memory of `budget` is in use.
    pub(crate) fn new(plan: Arc<ReadPlan>, source: Arc<dyn Source>, budget: Arc<Budget>) -> Self {
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
        Self::of(PushDecoder::in_turn(plan, budget, row_groups, rows), source)
    }

    /// Drives a decoder that works on one column after the other.
    pub(crate) fn of(decoder: PushDecoder, source: Arc<dyn Source>) -> Self {
        Self { decoder, source }
    }

    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.advance()? {
                Progress::Reads => {}
                Progress::Batch(batch) => return Ok(Some(batch)),
                Progress::End => return Ok(None),
            }
        }
    }

    /// Goes on, up to the next read of the source at most.
    pub(crate) fn advance(&mut self) -> Result<Progress> {
        match self.decoder.advance()? {
            read::Progress::Batch(batch) => return Ok(Progress::Batch(batch)),
            read::Progress::Finished => return Ok(Progress::End),
            read::Progress::NeedsKey(request) => KeyStep::NeedKey(request).ready()?,
            read::Progress::Needs => {}
        }
        let needs = self.decoder.needs();
        let soon = needs.soon.first().map_or(0, |soon| soon.end);
        if let Some(need) = needs.now.first().cloned() {
            let bytes = read_ahead(&*self.source, &need, soon.max(need.end))?;
            self.decoder.supply_owned(need.start, bytes);
        }
        Ok(Progress::Reads)
    }

    /// Goes on by another plan of the same read, as soon as that may be.
    ///
    /// # Errors
    /// As [`PushDecoder::go_on_by`].
    pub(crate) fn go_on_by(&mut self, plan: Arc<ReadPlan>) -> Result<()> {
        self.decoder.go_on_by(plan)
    }

    /// As [`PushDecoder::begun`].
    pub(crate) fn begun(&self) -> Option<BegunRowGroup> {
        self.decoder.begun()
    }

    /// Rows still to come.
    pub(crate) fn rows_left(&self) -> u64 {
        self.decoder.rows_left()
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        self.decoder.take_losses()
    }
}
