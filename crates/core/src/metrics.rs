//! Counts of a read's work.
//!
//! These counts show whether pruning pays off, that is, how many row groups, pages and rows each step ruled out, and at
//! what cost in bytes and time.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A read's counts so far. Repeated work counts again. With several threads, work ahead of the emitted batches is
/// included too.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::filter::col;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // The row groups have the ids 0 to 15 and 16 to 23.
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let mut reader = file.read(ReadOptions::new().filter(col("id").ge(20)))?;
/// while reader.next_batch()?.is_some() {}
/// let metrics = reader.metrics();
/// assert_eq!((metrics.row_groups, metrics.row_groups_pruned, metrics.rows_found), (2, 1, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadMetrics {
    /// The number of row groups pruned or opened.
    pub row_groups: u64,
    /// The number of row groups ruled out by pruning.
    pub row_groups_pruned: u64,
    /// The results of each pruning step, in order. A skipped step has zeros.
    pub steps: Vec<StepMetrics>,
    /// The number of data pages in row groups accepted by statistics, whose column indexes were never read. This counts
    /// the pages of the first tested column, according to its metadata.
    pub pages_accepted: u64,
    /// The number of rows whose values were tested, once for each stage of the filter.
    pub rows_tested: u64,
    /// The number of rows selected by these tests, once for each stage of the filter.
    pub rows_found: u64,
    /// The number of decompressed pages, including dictionary pages.
    pub pages_read: u64,
    /// The number of data pages skipped without decoding the body, because they have no selected rows.
    pub pages_skipped: u64,
    /// The reads of column data.
    pub columns: ReadCounts,
    /// The requests to the file and the bytes they fetched. Bytes fetched twice count twice.
    pub fetched: ReadCounts,
    /// The number of waits for requests. Simultaneous requests count as one round.
    pub rounds: u64,
}

/// A pruning step. Before a row group is decoded, such a step narrows down its rows or locates their pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PruningStep {
    /// Bounds and counts in the column chunks' metadata.
    Statistics,
    /// Bloom filters of columns compared with a few values.
    BloomFilters,
    /// Dictionaries of tested columns, if all pages of a column refer to its dictionary.
    Dictionaries,
    /// Bounds and counts of pages, from column indexes and the offset indexes of the same columns.
    ColumnIndexes,
    /// Offset indexes of all columns, used to skip pages without reading their headers.
    PageMaps,
}

impl PruningStep {
    /// All steps, in order.
    pub const ALL: [Self; 5] = [
        Self::Statistics,
        Self::BloomFilters,
        Self::Dictionaries,
        Self::ColumnIndexes,
        Self::PageMaps,
    ];

    /// The steps that need to read from the file, in order.
    pub const LOOKUPS: [Self; 4] = [
        Self::BloomFilters,
        Self::Dictionaries,
        Self::ColumnIndexes,
        Self::PageMaps,
    ];
}

/// The result of a pruning step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepMetrics {
    /// The step being counted.
    pub step: PruningStep,
    /// The number of row groups whose last remaining rows were ruled out by this step.
    pub row_groups_ruled_out: u64,
    /// The number of row groups whose last undecided rows were accepted by this step, without ruling out others.
    pub row_groups_accepted: u64,
    /// The number of rows ruled out by this step.
    pub rows_ruled_out: u64,
    /// The number of rows accepted by this step without a test.
    pub rows_accepted: u64,
    /// The number of pages ruled out for the filter, after [`ColumnIndexes`](PruningStep::ColumnIndexes). We count the
    /// pages of the first tested column with indexes, except for pages without wanted rows.
    pub pages_ruled_out: u64,
    /// The number of that column's pages that might still have selected rows.
    pub pages_kept: u64,
    /// The number of rows in the pages kept.
    pub rows_kept: u64,
    /// The time spent decoding and evaluating bytes in this step, without requests. This is 0 on platforms without a
    /// clock.
    pub time: Duration,
    /// The reads caused by this step.
    pub reads: ReadCounts,
}

/// The number of reads and the number of bytes read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ReadCounts {
    /// The number of reads.
    pub requests: u64,
    /// The number of bytes read.
    pub bytes: u64,
}

impl Default for ReadMetrics {
    /// Returns the counts of a read before its start.
    fn default() -> Self {
        Metrics::default().get(0)
    }
}

impl AddAssign<&Self> for ReadMetrics {
    /// Adds the counts of another read.
    fn add_assign(&mut self, other: &Self) {
        // The sums saturate, because footers can claim any number of rows.
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.row_groups, other.row_groups);
        add(&mut self.row_groups_pruned, other.row_groups_pruned);
        // We can zip the steps, because all reads have all steps in order.
        for (step, other_step) in self.steps.iter_mut().zip(&other.steps) {
            add(
                &mut step.row_groups_ruled_out,
                other_step.row_groups_ruled_out,
            );
            add(
                &mut step.row_groups_accepted,
                other_step.row_groups_accepted,
            );
            add(&mut step.rows_ruled_out, other_step.rows_ruled_out);
            add(&mut step.rows_accepted, other_step.rows_accepted);
            add(&mut step.pages_ruled_out, other_step.pages_ruled_out);
            add(&mut step.pages_kept, other_step.pages_kept);
            add(&mut step.rows_kept, other_step.rows_kept);
            step.time = step.time.saturating_add(other_step.time);
            step.reads += other_step.reads;
        }
        add(&mut self.pages_accepted, other.pages_accepted);
        add(&mut self.rows_tested, other.rows_tested);
        add(&mut self.rows_found, other.rows_found);
        add(&mut self.pages_read, other.pages_read);
        add(&mut self.pages_skipped, other.pages_skipped);
        self.columns += other.columns;
        self.fetched += other.fetched;
        add(&mut self.rounds, other.rounds);
    }
}

impl AddAssign for ReadCounts {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The counters of a read, shared by all of its threads.
#[derive(Debug, Default)]
pub struct Metrics {
    /// The row groups ruled out by pruning.
    pub row_groups_pruned: Counter,
    steps: [StepCounters; PruningStep::ALL.len()],
    /// The pages in row groups accepted by statistics.
    pub pages_accepted: Counter,
    /// The rows whose values were tested.
    pub rows_tested: Counter,
    /// The rows selected by these tests.
    pub rows_found: Counter,
    pub(crate) pages_read: Counter,
    pub(crate) pages_skipped: Counter,
    pub(crate) columns: ReadCounters,
    pub(crate) fetched: ReadCounters,
    pub(crate) rounds: Counter,
}

/// The counters of a pruning step.
#[derive(Debug, Default)]
pub struct StepCounters {
    /// The row groups ruled out by the step.
    pub row_groups_ruled_out: Counter,
    /// The row groups accepted by the step without a test.
    pub row_groups_accepted: Counter,
    /// The rows ruled out by the step.
    pub rows_ruled_out: Counter,
    /// The rows accepted by the step without a test.
    pub rows_accepted: Counter,
    /// The pages ruled out by the step.
    pub pages_ruled_out: Counter,
    /// The pages kept by the step.
    pub pages_kept: Counter,
    /// The rows in kept pages.
    pub rows_kept: Counter,
    /// The nanoseconds spent in the step, without requests.
    pub nanos: Counter,
    /// The reads caused by the step.
    pub reads: ReadCounters,
}

/// Counters for reads and read bytes.
#[derive(Debug, Default)]
pub struct ReadCounters {
    requests: Counter,
    bytes: Counter,
}

/// A counter that only grows. Relaxed ordering is enough, because no other memory access depends on the number.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `more` to the number.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stopwatch, started on creation.
#[derive(Debug)]
pub struct Stopwatch(#[cfg(not(target_family = "wasm"))] std::time::Instant);

impl Stopwatch {
    /// Starts the clock.
    #[must_use]
    pub fn start() -> Self {
        // There's no clock here, because the standard library has none for WebAssembly in a browser.
        Self(
            #[cfg(not(target_family = "wasm"))]
            std::time::Instant::now(),
        )
    }

    /// Adds the nanoseconds since the start to a counter.
    pub fn stop(self, nanos: &Counter) {
        #[cfg(not(target_family = "wasm"))]
        nanos.add(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX));
        #[cfg(target_family = "wasm")]
        nanos.add(0);
    }
}

impl ReadCounters {
    /// Counts a read of `bytes` bytes.
    pub fn add(&self, bytes: usize) {
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
    /// Returns the counters of a step.
    pub fn step(&self, step: PruningStep) -> &StepCounters {
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

    /// Returns the counts. The caller passes the number of row groups looked at as `row_groups`.
    pub(crate) fn get(&self, row_groups: u64) -> ReadMetrics {
        let steps = PruningStep::ALL.iter().map(|step| {
            let counters = self.step(*step);
            StepMetrics {
                step: *step,
                row_groups_ruled_out: counters.row_groups_ruled_out.get(),
                row_groups_accepted: counters.row_groups_accepted.get(),
                rows_ruled_out: counters.rows_ruled_out.get(),
                rows_accepted: counters.rows_accepted.get(),
                pages_ruled_out: counters.pages_ruled_out.get(),
                pages_kept: counters.pages_kept.get(),
                rows_kept: counters.rows_kept.get(),
                time: Duration::from_nanos(counters.nanos.get()),
                reads: counters.reads.get(),
            }
        });
        ReadMetrics {
            row_groups,
            row_groups_pruned: self.row_groups_pruned.get(),
            steps: steps.collect(),
            pages_accepted: self.pages_accepted.get(),
            rows_tested: self.rows_tested.get(),
            rows_found: self.rows_found.get(),
            pages_read: self.pages_read.get(),
            pages_skipped: self.pages_skipped.get(),
            columns: self.columns.get(),
            fetched: self.fetched.get(),
            rounds: self.rounds.get(),
        }
    }
}
