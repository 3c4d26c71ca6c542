//! Checks the parts of queries that are pushed down, and the requests and bytes that they save.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::prelude::{SessionConfig, SessionContext};
use parquet::file::properties::WriterProperties;

use crate::support::{
    CountingStore, Folder, Reader, create, rows, run, session, session_with, text,
};

/// Returns 100 row groups of 1,000 rows, where every fifth row group has the largest values.
fn table() -> RecordBatch {
    let value = |row: i64| {
        let group = row / 1_000;
        (group * 37 % 100) * 1_000 + row % 1_000
    };
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values((0..100_000).map(value)));
    let rows: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100_000));
    let words = (0..100_000).map(|row| format!("word {}", row * 7_919 % 100_003));
    let words: ArrayRef = Arc::new(StringArray::from_iter_values(words));
    RecordBatch::try_from_iter([("v", values), ("row", rows), ("word", words)]).unwrap()
}

fn write(folder: &Folder) -> String {
    folder.write("t.parquet", &table(), 1_000)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_filter_reads_what_it_may_select() {
    let folder = Folder::new();
    let path = write(&folder);
    let ours = session(Reader::Herringbone, 1);
    let store = CountingStore::of(&ours);
    create(&ours, "t", &path).await;
    // One request for the footer serves the schema, the statistics and all queries.
    assert_eq!(store.take().0, 1);
    assert_eq!(
        rows(&ours, "select count(*), min(v), max(row) from t").await,
        "100000 0 99999"
    );
    assert_eq!(store.take(), (0, 0));
    let all = std::fs::metadata(&path).unwrap().len();
    assert_eq!(
        rows(
            &ours,
            "select count(word) from t where v = 56789 and row < 77000"
        )
        .await,
        "0"
    );
    let (requests, bytes) = store.take();
    assert!(
        requests <= 4 && bytes < all / 50,
        "{requests} requests, {bytes} bytes"
    );
    let first = rows(&ours, "select word from t where v between 42000 and 42003").await;
    assert_eq!(first.split("; ").count(), 4);
    let second = store.take();
    assert_eq!(
        rows(&ours, "select word from t where v between 42000 and 42003").await,
        first
    );
    assert!(store.take().0 <= second.0);
}

/// Small page indexes are read along with the footer, and kept with it. Other page indexes are read
/// by the first query.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_indexes_are_read_once() {
    for (rows_per_page, is_small) in [(500, true), (20, false)] {
        let folder = Folder::new();
        let properties = WriterProperties::builder()
            .set_data_page_row_count_limit(rows_per_page)
            .set_write_batch_size(10);
        let path = folder.write_with("t.parquet", &table(), properties.build());
        let file = herringbone_datafusion::herringbone::ParquetFile::open(&path).unwrap();
        let chunk = file.metadata().column_chunk(0, 0).unwrap();
        let indexes = chunk.offset_index_offset.min(chunk.column_index_offset);
        let indexes = u64::try_from(indexes.unwrap()).unwrap();
        let ours = session(Reader::Herringbone, 1);
        let store = CountingStore::of(&ours);
        create(&ours, "t", &path).await;
        store.take();
        store.take_end();
        let query = "select word from t where row between 60010 and 60020";
        let first = rows(&ours, query).await;
        let (requests, bytes) = store.take();
        assert_eq!(store.take_end() <= indexes, is_small);
        assert_eq!(rows(&ours, query).await, first);
        let (requests_again, bytes_again) = store.take();
        match is_small {
            // These are the bytes of a first page's header, with which we checked an offset index.
            true => assert!(requests - requests_again <= 1 && bytes - bytes_again <= 256),
            // The page maps of columns without a filter are read again.
            false => assert!(requests_again <= requests && bytes_again < bytes),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_small_file_takes_one_request() {
    let folder = Folder::new();
    let path = folder.write("t.parquet", &table().slice(0, 2_000), 1_000);
    let config = SessionConfig::new().with_target_partitions(1);
    let config = config.set_bool("datafusion.execution.collect_statistics", false);
    let ours = session_with(Reader::Herringbone, config);
    let store = CountingStore::of(&ours);
    let columns = "v bigint, row bigint, word varchar";
    let create = format!("create external table t ({columns}) stored as parquet location '{path}'");
    run(&ours, &create).await.unwrap();
    assert_eq!(store.take(), (0, 0));
    let query = "select count(*), count(distinct word), sum(row) from t where v >= 0";
    assert_eq!(rows(&ours, query).await, "2000 2000 1999000");
    // The request has the footer and all pages.
    assert_eq!(store.take(), (1, std::fs::metadata(&path).unwrap().len()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_plan_has_no_filter_and_shows_the_reader() {
    let folder = Folder::new();
    let ours = session(Reader::Herringbone, 2);
    create(&ours, "t", &write(&folder)).await;
    let query = "select row from t where v > 3 and word like '%7%' and length(word) > 6";
    let plan = text(&ours, &format!("explain {query}")).await;
    let tree = text(&ours, &format!("explain format tree {query}")).await;
    assert!(
        !text(&ours, &format!("explain format indent {query}"))
            .await
            .contains("FilterExec"),
        "{plan}"
    );
    assert!(tree.contains("reader: herringbone"), "{tree}");
    let analyzed = text(&ours, &format!("explain analyze {query}")).await;
    for metric in [
        "reader=herringbone",
        "bytes_scanned=",
        "row_groups_pruned_statistics=",
        "pushdown_rows_pruned=",
    ] {
        assert!(analyzed.contains(metric), "{metric}: {analyzed}");
    }
    // The engine evaluates volatile expressions itself.
    let volatile = text(
        &ours,
        "explain format indent select row from t where random() < 2",
    )
    .await;
    assert!(volatile.contains("FilterExec"), "{volatile}");
    run(&ours, "set herringbone.pushdown = false")
        .await
        .unwrap();
    let off = text(&ours, &format!("explain format indent {query}")).await;
    assert!(off.contains("FilterExec"), "{off}");
    let count = format!("select count(*) from ({query})");
    let without = rows(&ours, &count).await;
    run(&ours, "set herringbone.pushdown = true").await.unwrap();
    assert_eq!(rows(&ours, &count).await, without);
    assert_ne!(without, "0");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_top_k_reads_the_row_groups_that_matter() {
    let folder = Folder::new();
    let path = write(&folder);
    let all = std::fs::metadata(&path).unwrap().len();
    for (order, expected) in [("desc", "99999; 99998; 99997"), ("asc", "0; 1; 2")] {
        let ours = session(Reader::Herringbone, 1);
        let store = CountingStore::of(&ours);
        create(&ours, "t", &path).await;
        store.take();
        let query = format!("select v from (select v, word from t order by v {order} limit 3)");
        assert_eq!(rows(&ours, &query).await, expected);
        let query = format!("select v, word from t order by v {order} limit 3");
        run(&ours, &query).await.unwrap();
        let (requests, bytes) = store.take();
        assert!(
            requests <= 6 && bytes * 20 < all,
            "{requests} requests, {bytes} bytes"
        );
        let plan = text(
            &ours,
            &format!("explain analyze select v, word from t order by v {order} limit 3"),
        )
        .await;
        assert!(plan.contains("row_group_order=[v"), "{plan}");
        let pruned = metric(&plan, "row_groups_pruned_dynamic_filter");
        assert!(pruned >= 95, "{pruned} row groups: {plan}");
    }
}

/// Returns a metric's sum in a plan.
fn metric(plan: &str, name: &str) -> usize {
    let name = format!("{name}=");
    let parts = plan.split(&name).skip(1);
    let number = |part: &str| {
        part.split(|it: char| !it.is_ascii_digit())
            .next()
            .unwrap()
            .parse::<usize>()
    };
    parts
        .filter_map(|part| number(part).ok())
        .max()
        .unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_join_filters_the_other_side() {
    let folder = Folder::new();
    let path = write(&folder);
    let (ours, plain) = (session(Reader::Herringbone, 2), session(Reader::Plain, 2));
    for session in [&ours, &plain] {
        create(session, "t", &path).await;
        run(
            session,
            "create table small as values (42007), (42001), (7)",
        )
        .await
        .unwrap();
    }
    let query = "select count(*), sum(row) from small join t on column1 = v";
    assert_eq!(rows(&ours, query).await, rows(&plain, query).await);
    let plan = text(&ours, &format!("explain analyze {query}")).await;
    assert!(metric(&plan, "pushdown_rows_pruned") > 0, "{plan}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_stops_the_scan() {
    let folder = Folder::new();
    let path = write(&folder);
    let ours = session(Reader::Herringbone, 1);
    let store = CountingStore::of(&ours);
    create(&ours, "t", &path).await;
    store.take();
    let all = std::fs::metadata(&path).unwrap().len();
    assert_eq!(
        rows(&ours, "select count(*) from (select word from t limit 10)").await,
        "10"
    );
    let (_, bytes) = store.take();
    assert!(bytes < all / 20, "{bytes} of {all}");
    let pruned = |expected: &str| format!("limit_pruned_row_groups={expected} matched");
    for (query, expected) in [
        ("select word from t limit 10", "100 total → 1"),
        ("select word from t limit 1001", "100 total → 2"),
        ("select word from t", "0 total → 0"),
    ] {
        let plan = text(&ours, &format!("explain analyze {query}")).await;
        assert!(plan.contains(&pruned(expected)), "{plan}");
    }
    store.take();
    assert_eq!(
        rows(
            &ours,
            "select count(*) from (select word from t where v >= 5000 limit 700)"
        )
        .await,
        "700"
    );
    assert!(store.take().1 < all / 10);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn parts_of_a_file_have_all_rows_once() {
    let folder = Folder::new();
    let path = write(&folder);
    // This file has a single row group with page indexes.
    let whole = session(Reader::Herringbone, 1);
    create(&whole, "t", &path).await;
    let one = folder.path("one.parquet");
    let rows_twice = "select * from t union all select v, row + 100000, word from t";
    let copy =
        format!("copy (select * from ({rows_twice}) order by row) to '{one}' stored as parquet");
    run(&whole, &copy).await.unwrap();
    let file = herringbone_datafusion::herringbone::ParquetFile::open(&one).unwrap();
    assert_eq!(file.metadata().num_row_groups(), 1);
    for (path, count) in [(&path, 100_000_u64), (&one, 200_000)] {
        for partitions in [2, 3, 7, 16] {
            let config = SessionConfig::new()
                .with_target_partitions(partitions)
                .set_usize("datafusion.optimizer.repartition_file_min_size", 1);
            let ours = session_with(Reader::Herringbone, config);
            create(&ours, "t", path).await;
            let sum = count * (count - 1) / 2;
            let query = "select count(*), sum(row), count(distinct row) from t where row >= 0";
            assert_eq!(rows(&ours, query).await, format!("{count} {sum} {count}"));
            let plan = text(&ours, &format!("explain {query}")).await;
            let plan = plan + &text(&ours, &format!("explain format indent {query}")).await;
            assert!(plan.contains(&format!("{partitions} groups")), "{plan}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_comes_from_the_pool_of_the_runtime() {
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;

    let folder = Folder::new();
    let path = write(&folder);
    let with_pool = |bytes| {
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(bytes));
        let runtime = RuntimeEnvBuilder::new()
            .with_memory_pool(pool.clone())
            .build_arc()
            .unwrap();
        let config = SessionConfig::new().with_target_partitions(1);
        let session = SessionContext::new_with_config_rt(config, runtime);
        herringbone_datafusion::register(&session).unwrap();
        (session, pool)
    };
    let query = "select word, v from t where row % 3 = 0";
    let (session, pool) = with_pool(100 << 20);
    create(&session, "t", &path).await;
    run(&session, query).await.unwrap();
    assert_eq!(pool.reserved(), 0);
    let (session, _) = with_pool(20 << 10);
    create(&session, "t", &path).await;
    let error = run(&session, query).await.unwrap_err();
    assert!(error.contains("Resources exhausted"), "{error}");
}

#[tokio::test]
async fn options_are_shown_with_their_prefix() {
    let config = SessionConfig::new().with_information_schema(true);
    let ours = session_with(Reader::Herringbone, config);
    let show = "show herringbone.pushdown";
    assert_eq!(rows(&ours, show).await, "herringbone.pushdown true");
    run(&ours, "set herringbone.pushdown = false")
        .await
        .unwrap();
    assert_eq!(rows(&ours, show).await, "herringbone.pushdown false");
}
