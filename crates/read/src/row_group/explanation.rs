//! Explains a read: the rows ruled out by pruning in each row group, and the cost of reading the rest.

use std::collections::VecDeque;
use std::sync::Arc;

use herringbone_format::Result;

use super::pruner::{Pruned, RowGroupPruner};
use super::stages::Stages;
use crate::bytes::FileBytes;
use crate::plan::{ReadPlan, new_budget};
use herringbone_core::budget::Budget;
use herringbone_core::fetch::{FetchPolicy, requests};
use herringbone_core::metrics::ReadCounts;
use herringbone_filter::PruningStep;

/// The result of pruning a row group before its rows are decoded. Use this to find out why a filtered read is slow, or
/// how well a file's layout suits its queries.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::filter::{PruningStep, col};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // The row groups have the ids 0 to 15 and 16 to 23.
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let explained = file.explain(&ReadOptions::new().filter(col("id").ge(16)))?;
/// assert_eq!(explained[0].steps[0].step, PruningStep::Statistics);
/// assert_eq!((explained[0].rows, explained[0].steps[0].ruled_out), (16, 16));
/// // All rows of the second row group are accepted without a test.
/// assert_eq!((explained[1].rows, explained[1].undecided()), (8, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowGroupExplanation {
    /// The row group's ordinal in the file.
    pub row_group: usize,
    /// The number of rows selected by the read before its filter.
    pub rows: u64,
    /// The pruning steps, in the order they ran.
    pub steps: Vec<StepExplanation>,
    /// The number of bytes in all pages that the read might still need after these steps.
    pub wanted_bytes: u64,
    /// The number of requests for these bytes, and the number of bytes fetched by them, including any gaps read over.
    pub fetched: ReadCounts,
    /// The most times that a read of this row group alone waits for requests. Simultaneous requests count as one wait.
    pub rounds: u64,
}

/// The result of one pruning step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepExplanation {
    /// The pruning step.
    pub step: PruningStep,
    /// The number of rows ruled out by this step and the steps before it.
    pub ruled_out: u64,
    /// The number of rows selected without a test, going by this step and the steps before it.
    pub accepted: u64,
    /// The number of file bytes read by the step.
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
    /// Returns the number of rows left undecided by pruning, so that their values must be tested.
    #[must_use]
    pub fn undecided(&self) -> u64 {
        let last = self.steps.last();
        let decided = last.map_or(0, |last| last.ruled_out.saturating_add(last.accepted));
        self.rows.saturating_sub(decided)
    }
}

/// The number of row groups that an [`Explainer`] prunes at once, so that their lookups share request rounds.
const ROW_GROUPS_AT_ONCE: usize = 64;

/// A state machine without I/O that explains a read by pruning its row groups.
pub struct Explainer {
    plan: Arc<ReadPlan>,
    /// The policy used to count requests.
    policy: FetchPolicy,
    /// The row groups in progress, in plan order.
    open: VecDeque<Explained>,
    /// The number of row groups begun so far.
    begun: usize,
    explanations: Vec<RowGroupExplanation>,
}

/// A row group whose pruning is in progress.
struct Explained {
    budget: Arc<Budget>,
    pruner: RowGroupPruner,
    pruned: Option<Pruned>,
}

impl Explainer {
    /// Begins explaining a read. The policy determines how requests are counted.
    #[must_use]
    pub fn new(plan: Arc<ReadPlan>, policy: FetchPolicy) -> Self {
        Self {
            explanations: Vec::with_capacity(plan.row_groups().len()),
            plan,
            policy,
            open: VecDeque::new(),
            begun: 0,
        }
    }

    /// Returns each row group's explanation, or `None` if bytes are missing. In that case, it has requested all missing
    /// ranges from `bytes`, so that they can be fetched in one round.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if metadata is invalid, and with
    /// [`Key`](herringbone_format::ErrorKind::Key) if a key is missing or encrypted data is not authentic. Errors from
    /// `bytes` and from custom predicates are returned too.
    pub fn poll(&mut self, bytes: &mut dyn FileBytes) -> Result<Option<Vec<RowGroupExplanation>>> {
        loop {
            while self.open.len() < ROW_GROUPS_AT_ONCE {
                let Some(row_group) = self.plan.row_groups().get(self.begun) else {
                    break;
                };
                let budget = new_budget(&self.plan);
                let pruner =
                    RowGroupPruner::new(self.plan.clone(), row_group.clone(), budget.clone())?;
                self.begun += 1;
                self.open.push_back(Explained {
                    budget,
                    pruner: pruner.explained(),
                    pruned: None,
                });
            }
            if self.open.is_empty() {
                return Ok(Some(std::mem::take(&mut self.explanations)));
            }
            for row_group in &mut self.open {
                if row_group.pruned.is_none() {
                    row_group.pruned = row_group.pruner.poll(bytes)?;
                }
            }
            if self.open.front().is_some_and(|open| open.pruned.is_none()) {
                return Ok(None);
            }
            while let Some(pruned) = self.open.front_mut().and_then(|open| open.pruned.take()) {
                if let Some(Explained { budget, pruner, .. }) = self.open.pop_front() {
                    let explanation = self.explanation(pruned, pruner, &budget)?;
                    self.explanations.push(explanation);
                }
            }
        }
    }

    fn explanation(
        &self,
        pruned: Pruned,
        pruner: RowGroupPruner,
        budget: &Arc<Budget>,
    ) -> Result<RowGroupExplanation> {
        let (ordinal, rows) = (pruned.row_group.ordinal(), pruned.row_group.num_wanted());
        let steps = pruner.into_explanation();
        let stages = Stages::of_pruned(&self.plan, pruned, budget)?;
        let (wanted, rounds) =
            stages.map_or((Vec::new(), 0), |stages| stages.all_ranges(&self.policy));
        let lookups = steps.iter().filter(|step| step.bytes > 0).count() as u64;
        let mut fetched = ReadCounts::default();
        for request in requests(wanted.clone(), &self.policy) {
            fetched.requests += 1;
            fetched.bytes += request.range.end - request.range.start;
        }
        Ok(RowGroupExplanation {
            row_group: ordinal,
            rows,
            steps,
            wanted_bytes: wanted.iter().map(|range| range.end - range.start).sum(),
            fetched,
            rounds: lookups + rounds,
        })
    }
}
