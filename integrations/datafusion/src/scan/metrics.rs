//! The metrics of a scan, under the names that the engine's own Parquet source has.

use std::sync::Arc;

use datafusion_datasource::PartitionedFile;
use datafusion_physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Label, MetricBuilder, MetricCategory, MetricType,
    PruningMetrics, RatioMergeStrategy, RatioMetrics, Time,
};
use herringbone::filter::{PruningStep, ReadMetrics};

/// The metrics of the read of one file or part of it.
#[derive(Debug, Clone)]
pub(crate) struct FileMetrics {
    files: PruningMetrics,
    row_groups_statistics: PruningMetrics,
    row_groups_bloom_filter: PruningMetrics,
    page_rows: PruningMetrics,
    limit_row_groups: PruningMetrics,
    bytes_scanned: Count,
    requests: Count,
    rows_pruned: Count,
    rows_matched: Count,
    efficiency: RatioMetrics,
    /// The number of row groups that a dynamic filter ruled out.
    pub(crate) dynamic_filter: Count,
    /// The number of predicates that could not be used to rule out data.
    pub(crate) evaluation_errors: Count,
    /// The time in which predicates of the engine were evaluated for rows.
    pub(crate) row_evaluation_time: Time,
    /// The time in which predicates of the engine were evaluated for statistics.
    pub(crate) statistics_time: Time,
    /// The time in which footers were read.
    pub(crate) metadata_load_time: Time,
}

impl FileMetrics {
    /// Registers the metrics of a file.
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
        Self {
            files: MetricBuilder::new(metrics)
                .with_type(MetricType::Summary)
                .pruning_metrics("files_ranges_pruned_statistics", partition),
            row_groups_statistics: summary()
                .pruning_metrics("row_groups_pruned_statistics", partition),
            row_groups_bloom_filter: summary()
                .pruning_metrics("row_groups_pruned_bloom_filter", partition),
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
            metadata_load_time: summary().subset_time("metadata_load_time", partition),
        }
    }

    /// Records whether the statistics of the file ruled it out.
    pub(crate) fn record_file(&self, is_ruled_out: bool) {
        match is_ruled_out {
            true => self.files.add_pruned(1),
            false => self.files.add_matched(1),
        }
    }

    /// Records which of the row groups of a read were not looked at, because it reached its limit before.
    pub(crate) fn record_limit(&self, row_groups: usize, read: &ReadMetrics) {
        let opened = usize::try_from(read.row_groups).map_or(row_groups, |it| it.min(row_groups));
        self.limit_row_groups.add_pruned(row_groups - opened);
        self.limit_row_groups.add_matched(opened);
    }

    /// Records the counts of a finished read.
    pub(crate) fn record_read(&self, read: &ReadMetrics, file_size: u64) {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let step = |step: PruningStep| read.steps.iter().find(|it| it.step == step);
        let opened = read.row_groups.saturating_sub(read.row_groups_pruned);
        let by_bloom_filter =
            step(PruningStep::BloomFilters).is_some_and(|it| it.rows_ruled_out > 0);
        let pruned = count(read.row_groups_pruned);
        let (by_statistics, by_bloom_filter) = if by_bloom_filter {
            (0, pruned)
        } else {
            (pruned, 0)
        };
        self.row_groups_statistics.add_pruned(by_statistics);
        self.row_groups_statistics
            .add_matched(count(read.row_groups).saturating_sub(by_statistics));
        self.row_groups_bloom_filter.add_pruned(by_bloom_filter);
        self.row_groups_bloom_filter.add_matched(count(opened));
        if let Some(pages) = step(PruningStep::ColumnIndexes) {
            self.page_rows.add_pruned(count(pages.rows_ruled_out));
            self.page_rows.add_matched(count(pages.rows_accepted));
        }
        self.bytes_scanned.add(count(read.fetched.bytes));
        self.requests.add(count(read.fetched.requests));
        self.rows_pruned
            .add(count(read.rows_tested.saturating_sub(read.rows_found)));
        self.rows_matched.add(count(read.rows_found));
        self.efficiency.add_part(count(read.fetched.bytes));
        self.efficiency.set_total(count(file_size));
    }
}
