//! Explanations of a read: the results of pruning the row groups, and the cost of reading them.

use std::sync::Arc;

use herringbone_format::Result;

use super::levels::Levels;
use super::pruner::RowGroupPruner;
use crate::bytes::FileBytes;
use crate::plan::{ReadPlan, new_budget};
use herringbone_core::fetch::{FetchPolicy, requests};
use herringbone_core::metrics::ReadCounts;
use herringbone_filter::PruningStep;

/// The result of pruning a row group, before its rows are decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowGroupExplanation {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// The number of rows that the read selects before its filter.
    pub rows: u64,
    /// The pruning steps, in the order in which they ran.
    pub steps: Vec<StepExplanation>,
    /// The number of bytes in all pages that the read may need after these steps.
    pub wanted_bytes: u64,
    /// The number of requests for these bytes, and the number of bytes that they fetch. The latter includes the gaps
    /// that they read over.
    pub fetched: ReadCounts,
    /// The largest number of times that a read of this row group alone waits for requests.
    pub rounds: u64,
}

/// The result of a pruning step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepExplanation {
    /// The step.
    pub step: PruningStep,
    /// The number of rows ruled out by this step and those before it.
    pub ruled_out: u64,
    /// The number of rows selected without a test.
    pub accepted: u64,
    /// The number of bytes of the file that the step read.
    pub bytes: u64,
}

impl StepExplanation {
    pub(crate) fn new(step: PruningStep, ruled_out: u64, accepted: u64, bytes: u64) -> Self {
        Self {
            step,
            ruled_out,
            accepted,
            bytes,
        }
    }
}

impl RowGroupExplanation {
    /// Returns the number of rows whose values must be tested.
    #[must_use]
    pub fn undecided(&self) -> u64 {
        let last = self.steps.last();
        let decided = last.map_or(0, |last| last.ruled_out.saturating_add(last.accepted));
        self.rows.saturating_sub(decided)
    }
}

/// Prunes the row groups of a read. `bytes` must have all bytes that it needs. The policy determines how requests are
/// counted.
///
/// # Errors
/// Errors of `bytes`; Corrupt if metadata is invalid; Key; errors of custom predicates.
pub fn explain(
    plan: &Arc<ReadPlan>,
    policy: &FetchPolicy,
    bytes: &mut dyn FileBytes,
) -> Result<Vec<RowGroupExplanation>> {
    let mut explanations = Vec::with_capacity(plan.row_groups().len());
    for row_group in plan.row_groups() {
        let budget = new_budget(plan);
        let pruner = RowGroupPruner::new(plan.clone(), row_group.clone(), budget.clone())?;
        let mut pruner = pruner.explained();
        let Some(pruned) = pruner.poll(bytes)? else {
            return Err(super::columns::not_read());
        };
        let steps = pruner.into_explanation();
        let levels = Levels::of_pruned(plan, pruned, &budget)?;
        let (wanted, rounds) = levels.map_or((Vec::new(), 0), |it| it.all_ranges(policy));
        let lookups = steps.iter().filter(|step| step.bytes > 0).count() as u64;
        let mut fetched = ReadCounts::default();
        for request in requests(wanted.clone(), policy) {
            fetched.requests += 1;
            fetched.bytes += request.range.end - request.range.start;
        }
        explanations.push(RowGroupExplanation {
            row_group: row_group.ordinal(),
            rows: row_group.num_wanted(),
            steps,
            wanted_bytes: wanted.iter().map(|range| range.end - range.start).sum(),
            fetched,
            rounds: lookups + rounds,
        });
    }
    Ok(explanations)
}
