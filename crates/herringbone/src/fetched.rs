//! Reads from slow sources. Ranges are fetched in rounds of many concurrent requests, so that a
//! read waits once per round rather than once per range.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_core::budget::Budget;
use herringbone_core::fetch::{FetchPolicy, requests_within};
use herringbone_core::loss::Losses;
use herringbone_filter::Predicate;
use herringbone_format::Result;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_read::{Needs, Poll, PushDecoder, ReadSequence};

use crate::source::Source;

/// A read that decodes on the caller's thread, from bytes fetched in rounds.
pub(crate) struct Fetched {
    decoder: PushDecoder,
    source: Arc<dyn Source>,
    policy: FetchPolicy,
    budget: Arc<Budget>,
}

impl Fetched {
    pub(crate) fn new(sequence: ReadSequence, source: Arc<dyn Source>) -> Self {
        let policy = source.fetch_policy();
        Self {
            budget: sequence.budget().clone(),
            decoder: PushDecoder::from((sequence, policy.clone())),
            source,
            policy,
        }
    }

    /// Returns the next batch, or `None` after the last one.
    ///
    /// # Errors
    /// Returns errors in the file's bytes, with their location, and errors of the source.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            match self.decoder.poll()? {
                Poll::Batch(batch) => return Ok(Some(batch)),
                Poll::Finished => return Ok(None),
                Poll::Needs(needs) => self.fetch(needs)?,
                Poll::NeedsKeys(keys) => {
                    for key in keys {
                        KeyStep::<()>::NeedKey(key).ready()?;
                    }
                }
            }
        }
    }

    fn fetch(&mut self, needs: Needs) -> Result<()> {
        let soon = needs.soon.into_iter().map(|soon| soon.range);
        let ranges: Vec<_> = needs.now.into_iter().chain(soon).collect();
        let requests = requests_within(&ranges, &self.policy, self.budget.left());
        self.budget.add_rounds(1);
        let fetched = self.source.read_many(&requests)?;
        for (range, bytes) in requests.iter().zip(&fetched) {
            self.decoder.supply(range.start, bytes);
        }
        Ok(())
    }

    pub(crate) fn take_losses(&mut self) -> Losses {
        self.decoder.take_losses()
    }

    pub(crate) fn decoder(&self) -> &PushDecoder {
        &self.decoder
    }

    /// Replaces the filter with a tighter one, for all rows not yet tested by the old one.
    ///
    /// # Errors
    /// Fails for the same reasons as [`PushDecoder::tighten_filter`].
    pub(crate) fn tighten_filter(&mut self, filter: &Predicate) -> Result<()> {
        self.decoder.tighten_filter(filter)
    }
}
