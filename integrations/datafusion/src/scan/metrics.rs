//! A scan's metrics, under the names that the engine's own Parquet source uses.

use std::sync::Arc;

use datafusion_datasource::PartitionedFile;
use datafusion_physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Label, MetricBuilder, MetricCategory, MetricType,
    PruningMetrics, RatioMergeStrategy, RatioMetrics, Time,
};
use herringbone::filter::{PruningStep, ReadMetrics, StepMetrics};

/// The metrics for the read of one file or a part of it.
#[derive(Debug, Clone)]
pub(crate) struct FileMetrics {
    files: PruningMetrics,
    row_groups_statistics: PruningMetrics,
    row_groups_bloom_filter: PruningMetrics,
    page_rows: PruningMetrics,
    pages: PruningMetrics,
    limit_row_groups: PruningMetrics,
    bytes_scanned: Count,
    requests: Count,
    rows_pruned: Count,
    rows_matched: Count,
    efficiency: RatioMetrics,
    /// The number of row groups that were ruled out by a filter that changed after the read began.
    /// The row groups ruled out by statistics do not include them.
    pub(crate) dynamic_filter: Count,
    /// The number of predicates that could not be used to rule out data.
    pub(crate) evaluation_errors: Count,
    /// The time spent on the evaluation of engine predicates for rows.
    pub(crate) row_evaluation_time: Time,
    statistics_time: Time,
    bloom_filter_time: Time,
    page_index_time: Time,
    /// The time spent on reading footers.
    pub(crate) metadata_load_time: Time,
    /// The metrics that are only registered if they are not 0.
    rare: RareMetrics,
}

/// The registry for metrics that few files have.
#[derive(Debug, Clone)]
struct RareMetrics {
    metrics: ExecutionPlanMetricsSet,
    partition: usize,
    file: Arc<str>,
}

impl RareMetrics {
    fn add(&self, name: &'static str, number: u64) {
        if number > 0 {
            MetricBuilder::new(&self.metrics)
                .with_label(Label::new("filename", self.file.clone()))
                .with_type(MetricType::Summary)
                .counter(name, self.partition)
                .add(as_count(number));
        }
    }
}

impl FileMetrics {
    /// Registers a file's metrics.
    pub(crate) fn new(
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        file: &PartitionedFile,
    ) -> Self {
        let name: Arc<str> = Arc::from(file.object_meta.location.as_ref());
        let builder =
            || MetricBuilder::new(metrics).with_label(Label::new("filename", name.clone()));
        let summary = || builder().with_type(MetricType::Summary);
        let rows = |name| {
            builder()
                .with_category(MetricCategory::Rows)
                .counter(name, partition)
        };
        // These stay 0, because tested columns are returned as they were decoded, without a cache.
        for name in ["predicate_cache_inner_records", "predicate_cache_records"] {
            builder()
                .with_category(MetricCategory::Rows)
                .gauge(name, partition);
        }
        Self {
            files: MetricBuilder::new(metrics)
                .with_type(MetricType::Summary)
                .pruning_metrics("files_ranges_pruned_statistics", partition),
            row_groups_statistics: summary()
                .pruning_metrics("row_groups_pruned_statistics", partition),
            row_groups_bloom_filter: summary()
                .pruning_metrics("row_groups_pruned_bloom_filter", partition),
            pages: summary().pruning_metrics("page_index_pages_pruned", partition),
            page_rows: builder().pruning_metrics("page_index_rows_pruned", partition),
            limit_row_groups: summary().pruning_metrics("limit_pruned_row_groups", partition),
            bytes_scanned: summary()
                .with_category(MetricCategory::Bytes)
                .counter("bytes_scanned", partition),
            requests: builder().counter("requests", partition),
            rows_pruned: rows("pushdown_rows_pruned"),
            rows_matched: rows("pushdown_rows_matched"),
            efficiency: summary().ratio_metrics_with_strategy(
                "scan_efficiency_ratio",
                partition,
                RatioMergeStrategy::AddPartSetTotal,
            ),
            dynamic_filter: summary().counter("row_groups_pruned_dynamic_filter", partition),
            evaluation_errors: rows("predicate_evaluation_errors"),
            row_evaluation_time: builder().subset_time("row_pushdown_eval_time", partition),
            statistics_time: builder().subset_time("statistics_eval_time", partition),
            bloom_filter_time: builder().subset_time("bloom_filter_eval_time", partition),
            page_index_time: builder().subset_time("page_index_eval_time", partition),
            metadata_load_time: summary().subset_time("metadata_load_time", partition),
            rare: RareMetrics {
                metrics: metrics.clone(),
                partition,
                file: name,
            },
        }
    }

    /// Records whether the file was ruled out by its statistics.
    pub(crate) fn record_file(&self, is_ruled_out: bool) {
        match is_ruled_out {
            true => self.files.add_pruned(1),
            false => self.files.add_matched(1),
        }
    }

    /// Records how many of a read's row groups were not looked at, because the read reached its
    /// limit before.
    pub(crate) fn record_limit(&self, row_groups: usize, read: &ReadMetrics) {
        let opened = usize::try_from(read.row_groups).map_or(row_groups, |it| it.min(row_groups));
        self.limit_row_groups.add_pruned(row_groups - opened);
        self.limit_row_groups.add_matched(opened);
    }

    /// Records the counts of a finished read.
    pub(crate) fn record_read(&self, read: &ReadMetrics, file_size: u64) {
        for step in &read.steps {
            match step.step {
                PruningStep::Statistics => self.record_statistics(step, read),
                PruningStep::BloomFilters => {
                    let pruned = as_count(step.row_groups_ruled_out);
                    self.row_groups_bloom_filter.add_pruned(pruned);
                    self.bloom_filter_time.add_duration(step.time);
                }
                PruningStep::Dictionaries => {
                    let pruned = step.row_groups_ruled_out;
                    self.rare.add("row_groups_pruned_dictionaries", pruned);
                }
                PruningStep::ColumnIndexes => {
                    self.page_rows.add_pruned(as_count(step.rows_ruled_out));
                    self.page_rows.add_matched(as_count(step.rows_kept));
                    self.pages.add_pruned(as_count(step.pages_ruled_out));
                    self.pages.add_matched(as_count(step.pages_kept));
                    self.page_index_time.add_duration(step.time);
                }
                _ => {}
            }
        }
        self.bytes_scanned.add(as_count(read.fetched.bytes));
        self.requests.add(as_count(read.fetched.requests));
        self.rows_pruned
            .add(as_count(read.rows_tested.saturating_sub(read.rows_found)));
        self.rows_matched.add(as_count(read.rows_found));
        self.efficiency.add_part(as_count(read.fetched.bytes));
        self.efficiency.set_total(as_count(file_size));
    }

    fn record_statistics(&self, step: &StepMetrics, read: &ReadMetrics) {
        let accepted = step.row_groups_accepted;
        let by_change = self.dynamic_filter.value() as u64;
        let pruned = step.row_groups_ruled_out.saturating_sub(by_change);
        let left = read.row_groups.saturating_sub(pruned);
        self.row_groups_statistics.add_pruned(as_count(pruned));
        self.row_groups_statistics.add_matched(as_count(left));
        self.row_groups_statistics
            .add_fully_matched(as_count(accepted));
        self.statistics_time.add_duration(step.time);
        let by_bloom_filter = read
            .steps
            .iter()
            .filter(|step| step.step == PruningStep::BloomFilters)
            .map(|step| step.row_groups_ruled_out)
            .sum();
        self.row_groups_bloom_filter
            .add_matched(as_count(left.saturating_sub(by_bloom_filter)));
        if accepted == left {
            self.rare.add("page_index_load_skipped", accepted.min(1));
        }
        let skipped = "page_index_pages_skipped_by_fully_matched";
        self.rare.add(skipped, read.pages_accepted);
    }
}

fn as_count(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
