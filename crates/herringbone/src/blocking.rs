//! Bytes of a source, for decoders that wait for them.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_core::budget::Budget;
use herringbone_core::fetch::{FetchPolicy, requests};
use herringbone_core::read::FileBytes;
use herringbone_format::Result;

use crate::source::Source;

/// Reads the bytes that a decoder asks for, as it asks for them.
pub(crate) struct SourceBytes<'a> {
    source: &'a dyn Source,
    /// The counts of the read.
    budget: &'a Budget,
    in_memory: bool,
}

impl<'a> SourceBytes<'a> {
    pub(crate) fn new(source: &'a Arc<dyn Source>, budget: &'a Budget) -> Self {
        Self {
            source: &**source,
            budget,
            in_memory: source.fetch_policy().in_memory,
        }
    }
}

impl FileBytes for SourceBytes<'_> {
    /// Bytes that are fetched take memory that a read counts, so only a source in memory returns more than needed.
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        let end = if self.in_memory { end } else { need.end };
        let bytes = self.source.read(need.start..end.max(need.end))?;
        self.budget.add_round();
        self.budget.add_fetched(bytes.len() as u64);
        Ok(Some(bytes))
    }
}

/// Fetches ranges in one round of requests, and hands the bytes of each request to `supply`.
///
/// # Errors
/// Errors of the source.
pub(crate) fn fetch(
    source: &dyn Source,
    ranges: impl IntoIterator<Item = Range<u64>>,
    policy: &FetchPolicy,
    mut supply: impl FnMut(u64, &Bytes),
) -> Result<()> {
    let ranges: Vec<_> = requests(ranges, policy).map(|it| it.range).collect();
    let bytes = source.read_many(&ranges)?;
    for (range, bytes) in ranges.iter().zip(&bytes) {
        supply(range.start, bytes);
    }
    Ok(())
}
