//! Compares the metrics of scans with those of the engine's own reader.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use datafusion::physical_plan::metrics::{MetricValue, MetricsSet};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::file::properties::WriterProperties;

use crate::support::{Folder, Reader, create, session_with};

/// Writes 10 row groups of 1,000 rows, in 10 pages each. `id` ascends in the file, `part` ascends
/// in each row group, and `even` only has even numbers.
fn write(folder: &Folder) -> String {
    let column = |value: fn(i64) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..10_000).map(value)))
    };
    let batch = RecordBatch::try_from_iter([
        ("id", column(|row| row)),
        ("part", column(|row| row % 1_000)),
        ("even", column(|row| row * 7_919 % 1_000 * 2)),
    ]);
    let properties = WriterProperties::builder()
        .set_max_row_group_row_count(Some(1_000))
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(100)
        .set_dictionary_enabled(false)
        .set_column_bloom_filter_enabled("even".into(), true);
    folder.write_with("t.parquet", &batch.unwrap(), properties.build())
}

/// The summed metrics of a query's scan, where counts are their text, and times are true if they
/// are not 0.
struct Metrics(MetricsSet);

impl Metrics {
    async fn of(session: &SessionContext, query: &str) -> Self {
        let plan = session.sql(query).await.unwrap();
        let plan = plan.create_physical_plan().await.unwrap();
        collect(plan.clone(), session.task_ctx()).await.unwrap();
        let mut scan: Arc<dyn ExecutionPlan> = plan;
        while let Some(child) = scan.children().first().map(|child| Arc::clone(child)) {
            scan = child;
        }
        Self(scan.metrics().unwrap().aggregate_by_name())
    }

    fn text(&self, name: &str) -> String {
        let found = self.0.iter().find(|it| it.value().name() == name);
        match found.map(|found| found.value()) {
            Some(MetricValue::Time { time, .. }) => (time.value() > 0).to_string(),
            Some(value) => value.to_string(),
            None => "none".to_owned(),
        }
    }
}

fn session(reader: Reader) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(1);
    let pushdown = "datafusion.execution.parquet.pushdown_filters";
    session_with(reader, config.set_bool(pushdown, true))
}

const NAMES: [&str; 10] = [
    "row_groups_pruned_statistics",
    "row_groups_pruned_bloom_filter",
    "page_index_rows_pruned",
    "page_index_pages_pruned",
    "page_index_pages_skipped_by_fully_matched",
    "page_index_load_skipped",
    "bloom_filter_eval_time",
    "page_index_eval_time",
    "statistics_eval_time",
    "files_ranges_pruned_statistics",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_those_of_the_engine() {
    let folder = Folder::new();
    let path = write(&folder);
    let mut differences = Vec::new();
    for query in [
        "select part from t",
        "select part from t where id >= 2500 and id < 6000",
        "select part from t where id >= 2000",
        "select id from t where part between 150 and 349",
        "select id from t where part between 150 and 349 and id > 5000",
        "select id from t where part >= 150 and part < 250 and id < 8200",
        "select id from t where even = 501",
        "select part from t where id = 4321 and even >= 0",
        "select part from t where id = 20000",
    ] {
        let (ours, stock) = (session(Reader::Herringbone), session(Reader::Stock));
        create(&ours, "t", &path).await;
        create(&stock, "t", &path).await;
        let (our_value, stock_value) = (
            Metrics::of(&ours, query).await,
            Metrics::of(&stock, query).await,
        );
        for name in NAMES {
            let (ours, stock) = (our_value.text(name), stock_value.text(name));
            if ours != stock {
                differences.push(format!("{query}: {name} is {ours}, not {stock}"));
            }
        }
        // These are 0, because tested columns are returned as they were decoded, without a cache.
        for name in ["predicate_cache_inner_records", "predicate_cache_records"] {
            assert_eq!(our_value.text(name), "0");
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// If a changed filter rules out a row group, the row group is not counted twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn row_groups_are_counted_once() {
    let folder = Folder::new();
    let path = write(&folder);
    for (query, by_statistics, by_change) in [
        (
            "select part from t order by id desc limit 5",
            "10 total → 10 matched",
            "9",
        ),
        (
            "select part from t order by part desc limit 5",
            "10 total → 10 matched",
            "5",
        ),
    ] {
        for reader in [Reader::Herringbone, Reader::Stock] {
            let session = session(reader);
            create(&session, "t", &path).await;
            let metrics = Metrics::of(&session, query).await;
            let counts = [
                metrics.text("row_groups_pruned_statistics"),
                metrics.text("row_groups_pruned_dynamic_filter"),
            ];
            assert_eq!(counts, [by_statistics, by_change], "{query}: {reader:?}");
        }
    }
}
