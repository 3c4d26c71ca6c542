//! Runs selective queries over local files, which may fetch at most a tenth more bytes than the
//! engine's own reader.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::file::properties::WriterProperties;

use crate::support::{Folder, Reader, create, rows, session_with};

const ROWS: i64 = 400_000;

/// Returns a number that looks random.
fn mixed(row: i64) -> i64 {
    let product = (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product ^ (product >> 29)) >> 20) as i64
}

/// Writes page views in 4 row groups, sorted by `counter`, in pages of at most 20,000 rows.
fn write(folder: &Folder) -> String {
    let numbers = |value: fn(i64) -> i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(value)))
    };
    let texts = |text: fn(i64) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..ROWS).map(text)))
    };
    let width: ArrayRef = Arc::new(Int32Array::from_iter_values(
        (0..ROWS).map(|row| (mixed(row) % 100) as i32),
    ));
    let batch = RecordBatch::try_from_iter([
        ("counter", numbers(|row| row / 500)),
        ("watch", numbers(mixed)),
        ("user", numbers(|row| mixed(row) % 30_000 * 7)),
        (
            "url",
            texts(|row| format!("http://example.org/path/{}", mixed(row) % 100_000)),
        ),
        (
            "title",
            texts(|row| format!("Title of the page {}", mixed(row) % 20_000)),
        ),
        ("width", width),
    ]);
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(100_000));
    folder.write_with("views.parquet", &batch.unwrap(), properties.build())
}

/// Returns a query's sum of `bytes_scanned`, with the footers in the cache.
async fn fetched(session: &SessionContext, query: &str) -> usize {
    let frame = session.sql(query).await.unwrap();
    let plan = frame.create_physical_plan().await.unwrap();
    collect(plan.clone(), session.task_ctx()).await.unwrap();
    scanned(&plan)
}

fn scanned(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let metrics = plan.metrics();
    let bytes = metrics.and_then(|metrics| metrics.sum_by_name("bytes_scanned"));
    let below: usize = plan.children().into_iter().map(scanned).sum();
    bytes.map_or(0, |bytes| bytes.as_usize()) + below
}

async fn views(reader: Reader, pushdown: bool, path: &str) -> SessionContext {
    let key = "datafusion.execution.parquet.pushdown_filters";
    let config = SessionConfig::new().with_target_partitions(1);
    let session = session_with(reader, config.set_bool(key, pushdown));
    create(&session, "views", path).await;
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selective_queries_fetch_no_more_than_the_engine() {
    let folder = Folder::new();
    let path = write(&folder);
    let mut differences = Vec::new();
    for query in [
        "select * from views where user = 1",
        "select * from views where watch = 5",
        "select url, title from views where counter = 62 and user = 1",
        "select url, title from views where counter = 62",
        "select sum(width), count(distinct user) from views where counter between 300 and 310",
        "select title from views where counter between 700 and 720 and width > 100000",
        "select url from views where url like '%path/777'",
        "select sum(width) from views where user = 7919 * 7",
        "select count(*) from views where title <> ''",
    ] {
        let ours = views(Reader::Herringbone, false, &path).await;
        let default = views(Reader::Stock, false, &path).await;
        let pushed_down = views(Reader::Stock, true, &path).await;
        // The engine's reader fetched the page indexes when the table was created, while ours
        // fetches them with this query.
        assert_eq!(rows(&ours, query).await, rows(&default, query).await);
        let found = fetched(&ours, query).await;
        let unfiltered = fetched(&default, query).await;
        let expected = unfiltered.min(fetched(&pushed_down, query).await);
        println!("{query}: {found}, the engine's reader {expected}");
        if found * 10 > expected * 11 {
            differences.push(format!(
                "{query}: {found} bytes, and {expected} by the engine's reader"
            ));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}
