//! What a read did so far: what it looked at, decoded and left out.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::filter::PruningStep;

/// What a read did so far. Work that was done again counts again; with several threads, work ahead of the batches counts
/// as well.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadMetrics {
    /// Row groups that were looked at.
    pub row_groups: u64,
    /// Those of which no row can be wanted, as was known before a column was opened.
    pub row_groups_passed_over: u64,
    /// What each step of pruning told, in their order. Steps that were not taken told nothing.
    pub steps: Vec<StepMetrics>,
    /// Rows whose values were tested, once for each stage of the filter.
    pub rows_tested: u64,
    /// Rows that these tests selected.
    pub rows_found: u64,
    /// Pages that were decompressed, dictionaries among them.
    pub pages_read: u64,
    /// Data pages without a wanted row whose bodies were left alone, as far as columns got.
    pub pages_passed_over: u64,
    /// The reads of columns.
    pub columns: ReadCounts,
    /// The requests to the file, and the bytes that they fetched. Bytes that were fetched twice count twice.
    pub fetched: ReadCounts,
    /// The number of times that the read waited for requests. Requests at the same time are one round.
    pub rounds: u64,
}

/// What a step of pruning told of the rows that it was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepMetrics {
    /// The step.
    pub step: PruningStep,
    /// Rows that are known not to be wanted since this step.
    pub rows_refused: u64,
    /// Rows that are known to be wanted since this step.
    pub rows_accepted: u64,
    /// What it read.
    pub reads: ReadCounts,
}

/// How often, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReadCounts {
    /// Times that bytes were handed in that somebody waited for.
    pub requests: u64,
    /// These bytes.
    pub bytes: u64,
}

/// The counters of a read, which all of its threads share.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) row_groups_passed_over: Counter,
    steps: [StepCounters; PruningStep::ALL.len()],
    pub(crate) rows_tested: Counter,
    pub(crate) rows_found: Counter,
    pub(crate) pages_read: Counter,
    pub(crate) pages_passed_over: Counter,
    pub(crate) columns: ReadCounters,
    pub(crate) fetched: ReadCounters,
    pub(crate) rounds: Counter,
}

#[derive(Debug, Default)]
pub(crate) struct StepCounters {
    pub(crate) rows_refused: Counter,
    pub(crate) rows_accepted: Counter,
    pub(crate) reads: ReadCounters,
}

#[derive(Debug, Default)]
pub(crate) struct ReadCounters {
    requests: Counter,
    bytes: Counter,
}

/// A number that only grows. Nothing else is read or written because of it.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl ReadCounters {
    pub(crate) fn add(&self, bytes: usize) {
        self.add_many(1, bytes as u64);
    }

    pub(crate) fn add_many(&self, requests: u64, bytes: u64) {
        self.requests.add(requests);
        self.bytes.add(bytes);
    }

    pub(crate) fn get(&self) -> ReadCounts {
        ReadCounts {
            requests: self.requests.get(),
            bytes: self.bytes.get(),
        }
    }
}

impl Metrics {
    pub(crate) fn step(&self, step: PruningStep) -> &StepCounters {
        let [
            statistics,
            bloom_filters,
            dictionaries,
            column_indexes,
            page_maps,
        ] = &self.steps;
        match step {
            PruningStep::Statistics => statistics,
            PruningStep::BloomFilters => bloom_filters,
            PruningStep::Dictionaries => dictionaries,
            PruningStep::ColumnIndexes => column_indexes,
            PruningStep::PageMaps => page_maps,
        }
    }

    /// Where so many row groups were looked at.
    pub(crate) fn get(&self, row_groups: u64) -> ReadMetrics {
        let steps = PruningStep::ALL.iter().map(|step| {
            let counters = self.step(*step);
            StepMetrics {
                step: *step,
                rows_refused: counters.rows_refused.get(),
                rows_accepted: counters.rows_accepted.get(),
                reads: counters.reads.get(),
            }
        });
        ReadMetrics {
            row_groups,
            row_groups_passed_over: self.row_groups_passed_over.get(),
            steps: steps.collect(),
            rows_tested: self.rows_tested.get(),
            rows_found: self.rows_found.get(),
            pages_read: self.pages_read.get(),
            pages_passed_over: self.pages_passed_over.get(),
            columns: self.columns.get(),
            fetched: self.fetched.get(),
            rounds: self.rounds.get(),
        }
    }
}
