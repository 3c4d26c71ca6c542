//! Tests small memory pools, and that pools are empty after the end of a query.

use std::sync::Arc;

use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;
use parquet::file::properties::WriterProperties;

use crate::support::{Folder, Reader, create, rows, run, session};
use crate::tpch_tables::write_tables;

/// Writes the tables of TPC-H at scale 0.1, in row groups as `tpchgen-cli` writes them, and returns
/// the path of `lineitem`.
fn lineitem(folder: &Folder) -> String {
    let properties = WriterProperties::builder().set_max_row_group_bytes(Some(7 << 20));
    write_tables(folder.path("").as_ref(), 0.1, &properties);
    folder.path("lineitem.parquet")
}

/// Returns a session with two partitions, whose table `lineitem` is at `path`.
async fn with_pool(pool: &Arc<dyn MemoryPool>, path: &str) -> SessionContext {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(pool.clone())
        .build_arc()
        .unwrap();
    let config = SessionConfig::new().with_target_partitions(2);
    let session = SessionContext::new_with_config_rt(config, runtime);
    herringbone_datafusion::register(&session).unwrap();
    create(&session, "lineitem", path).await;
    session
}

fn greedy(bytes: usize) -> Arc<dyn MemoryPool> {
    Arc::new(GreedyMemoryPool::new(bytes))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scans_and_sinks_run_in_small_pools() {
    let folder = Folder::new();
    let path = lineitem(&folder);
    let stock = session(Reader::Stock, 2);
    create(&stock, "lineitem", &path).await;
    for (query, bytes) in [
        (
            "select count(*) from lineitem where l_comment like '%fox%'",
            7_000_000,
        ),
        (
            "select count(*), sum(l_quantity) from lineitem where l_orderkey % 100 = 1",
            12_000_000,
        ),
    ] {
        let pool = greedy(bytes);
        let ours = with_pool(&pool, &path).await;
        let found = run(&ours, query).await;
        assert!(found.is_ok(), "{query} in {bytes}: {}", found.unwrap_err());
        assert_eq!(rows(&ours, query).await, rows(&stock, query).await);
        assert_eq!(pool.reserved(), 0, "{query}");
    }
    let pool: Arc<dyn MemoryPool> = Arc::new(FairSpillPool::new(30_000_000));
    let ours = with_pool(&pool, &path).await;
    let copy = folder.path("copy.parquet");
    let copied = run(
        &ours,
        &format!("copy lineitem to '{copy}' stored as parquet"),
    )
    .await;
    assert!(copied.is_ok(), "{}", copied.unwrap_err());
    assert_eq!(pool.reserved(), 0);
    let check = "count(*), sum(l_orderkey), sum(l_quantity), min(l_comment), max(l_comment)";
    create(&stock, "copied", &copy).await;
    let of = |table| format!("select {check} from {table}");
    assert_eq!(
        rows(&stock, &of("copied")).await,
        rows(&stock, &of("lineitem")).await
    );
}

/// A stream gives its memory back in the poll that returns its end, and also when it is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_ended_stream_holds_nothing() {
    let folder = Folder::new();
    let path = lineitem(&folder);
    let pool = greedy(100_000_000);
    let session = with_pool(&pool, &path).await;
    for query in [
        "select * from lineitem",
        "select l_comment from lineitem where l_comment like '%fox%'",
        "select * from lineitem limit 10000",
    ] {
        let frame = session.sql(query).await.unwrap();
        let mut stream = frame.execute_stream().await.unwrap();
        let mut most = 0;
        while let Some(batch) = stream.next().await {
            batch.unwrap();
            most = most.max(pool.reserved());
        }
        if !query.contains("limit") {
            assert_eq!(pool.reserved(), 0, "{query}");
        }
        assert!(most > 0, "{query}");
        drop(stream);
        assert_soon_empty(&pool, query);
        let frame = session.sql(query).await.unwrap();
        let mut stream = frame.execute_stream().await.unwrap();
        stream.next().await.unwrap().unwrap();
        drop(stream);
        assert_soon_empty(&pool, query);
    }
}

/// We wait a little, because the tasks of other partitions only end when they are next polled.
fn assert_soon_empty(pool: &Arc<dyn MemoryPool>, query: &str) {
    for _ in 0..200 {
        if pool.reserved() == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{query}: {} bytes are reserved", pool.reserved());
}
