//! Kills executors, causes transient faults, and reads damaged files.

use std::time::{Duration, Instant};

use datafusion::prelude::{SessionConfig, SessionContext};

use herringbone_ballista::plain_error;

use crate::cluster::{Cluster, LIMIT};
use crate::support::{Folder, rows, run, session};
use crate::tpch;

/// The settings by which each batch of `lineitem` takes 50 ms, so that its 60,000 rows take 12
/// seconds on one executor. The seed chooses the operator.
const SLOW: [(&str, &str); 5] = [
    ("datafusion.execution.batch_size", "250"),
    ("ballista.testing.chaos_execution.enabled", "true"),
    ("ballista.testing.chaos_execution.probability", "1.0"),
    ("ballista.testing.chaos_execution.fault_type", "delay:50"),
    ("ballista.testing.chaos_execution.seed", "7"),
];

/// The settings by which tasks fail as if their connection broke.
const FAULTY: [(&str, &str); 4] = [
    ("ballista.testing.chaos_execution.enabled", "true"),
    ("ballista.testing.chaos_execution.probability", "1.0"),
    ("ballista.testing.chaos_execution.fault_type", "transient"),
    ("ballista.testing.chaos_execution.seed", "1"),
];

const QUERY: &str = "select l_orderkey % 7 as week, count(*) as n, sum(l_quantity) as quantity
    from lineitem join orders on l_orderkey = o_orderkey group by l_orderkey % 7 order by week";

async fn with_tables(session: SessionContext, folder: &Folder) -> SessionContext {
    tpch::create_tables(&session, folder).await;
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_outlive_an_executor_but_not_all() {
    let folder = Folder::new();
    tpch::generate(&folder, tpch::SMALL);
    let one = with_tables(session(SessionConfig::new()), &folder).await;
    let expected = rows(&one, QUERY).await;
    let mut cluster = Cluster::start();
    let two = with_tables(cluster.session(&SLOW).await, &folder).await;

    let started = Instant::now();
    let found = tokio::spawn(async move { (rows(&two, QUERY).await, two) });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        !found.is_finished(),
        "the query is too fast to be disturbed"
    );
    cluster.kill(1);
    let found = tokio::time::timeout(LIMIT, found).await;
    let (found, two) = found.expect("the query hangs").unwrap();
    println!(
        "an executor killed: {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    assert_eq!(found, expected);

    let running = tokio::spawn(async move { run(&two, QUERY).await });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        !running.is_finished(),
        "the query is too fast to be disturbed"
    );
    cluster.kill(0);
    let killed = Instant::now();
    // It takes five seconds until the executor counts as lost, then five of grace, and some more on
    // a machine that has other work.
    let result = tokio::time::timeout(Duration::from_secs(60), running).await;
    let error = result
        .expect("the query hangs")
        .unwrap()
        .unwrap_err()
        .to_string();
    println!(
        "all executors killed: {:.1} seconds",
        killed.elapsed().as_secs_f64()
    );
    assert!(error.contains("all executors were lost"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_transient_faults_are_retried() {
    let folder = Folder::new();
    tpch::generate(&folder, tpch::SMALL);
    let cluster = Cluster::start();

    let faulty = with_tables(cluster.session(&FAULTY).await, &folder).await;
    let query = "select count(*) from nation where n_name > 'A'";
    let result = tokio::time::timeout(LIMIT, run(&faulty, query))
        .await
        .unwrap();
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("failed 4 times") && error.contains("IO error"),
        "{error}"
    );

    // The first page of this file is damaged.
    let mut bytes = std::fs::read(folder.path("nation.parquet")).unwrap();
    bytes[4..40].fill(0xff);
    let damaged = folder.path("damaged.parquet");
    std::fs::write(&damaged, bytes).unwrap();
    let two = cluster.session(&[]).await;
    let query = format!("select n_nationkey from '{damaged}'");
    let result = tokio::time::timeout(LIMIT, run(&two, &query))
        .await
        .unwrap();
    let error = result.unwrap_err();
    // Expect the text of one machine, without the text of the engine's own error variant.
    let table = "create external table damaged stored as parquet location";
    let one = session(SessionConfig::new());
    run(&one, &format!("{table} '{damaged}'")).await.unwrap();
    let here = run(&one, "select n_nationkey from damaged")
        .await
        .unwrap_err();
    let here = here.to_string();
    assert_eq!(
        plain_error(&error),
        here.strip_prefix("External error: ").unwrap()
    );
    let error = error.to_string();
    let place = "column n_nationkey, row group 0, page 0, offset 0x4";
    assert!(error.contains(place), "{error}");
    let logs = ["executor-a", "executor-b"]
        .map(|name| cluster.log(name))
        .concat();
    let tries = logs.lines().filter(|line| line.contains(place)).count();
    assert_eq!(tries, 1, "{logs}");

    std::fs::remove_file(&damaged).unwrap();
    let result = tokio::time::timeout(LIMIT, run(&two, &query))
        .await
        .unwrap();
    assert!(result.unwrap_err().to_string().contains("damaged.parquet"));
}
