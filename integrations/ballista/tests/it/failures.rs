//! Killed executors, transient faults, and damaged files.

use std::time::{Duration, Instant};

use datafusion::prelude::{SessionConfig, SessionContext};

use crate::cluster::{Cluster, LIMIT};
use crate::support::{Folder, rows, run, session};
use crate::tpch;

/// Settings by which each batch of one operator takes 50 ms, and batches are small: a query takes seconds.
const SLOW: [(&str, &str); 5] = [
    ("datafusion.execution.batch_size", "500"),
    ("ballista.testing.chaos_execution.enabled", "true"),
    ("ballista.testing.chaos_execution.probability", "1.0"),
    ("ballista.testing.chaos_execution.fault_type", "delay:20"),
    ("ballista.testing.chaos_execution.seed", "1"),
];

/// Two shuffles over all rows.
const QUERY: &str = "select l_orderkey % 7 as week, count(*) as n, sum(l_quantity) as quantity
    from lineitem join orders on l_orderkey = o_orderkey group by l_orderkey % 7 order by week";

async fn tables(session: SessionContext, folder: &Folder) -> SessionContext {
    tpch::create_tables(&session, folder).await;
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_executors_do_not_change_or_stop_queries() {
    let folder = Folder::new();
    tpch::generate(&folder);
    let one = tables(session(SessionConfig::new()), &folder).await;
    let expected = rows(&one, QUERY).await;
    let mut cluster = Cluster::start();
    let two = tables(cluster.session(&SLOW).await, &folder).await;

    let started = Instant::now();
    assert_eq!(
        tokio::time::timeout(LIMIT, rows(&two, QUERY))
            .await
            .unwrap(),
        expected
    );
    println!(
        "undisturbed: {:.1} seconds",
        started.elapsed().as_secs_f64()
    );
    let running = tokio::spawn(async move { (rows(&two, QUERY).await, two) });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        !running.is_finished(),
        "the query is too fast to be disturbed"
    );
    cluster.kill(1);
    let started = Instant::now();
    let done = tokio::time::timeout(LIMIT, running).await;
    println!("{:.1}", started.elapsed().as_secs_f64());
    if done.is_err() {
        println!(
            "{}\n========{}",
            cluster.log("scheduler"),
            cluster.log("executor-a")
        );
    }
    let (found, two) = done.unwrap().unwrap();
    assert_eq!(found, expected);

    let running = tokio::spawn(async move { run(&two, QUERY).await });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(
        !running.is_finished(),
        "the query is too fast to be disturbed"
    );
    cluster.kill(0);
    let killed = Instant::now();
    // Five seconds until the executor counts as lost, five of grace, and some for a machine with other work.
    let result = tokio::time::timeout(Duration::from_secs(60), running).await;
    let error = result.expect("the query hangs").unwrap().unwrap_err();
    println!("{:.1} seconds: {error}", killed.elapsed().as_secs_f64());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_transient_faults_are_retried() {
    let folder = Folder::new();
    tpch::generate(&folder);
    let cluster = Cluster::start();
    let logs = || {
        ["executor-a", "executor-b"]
            .map(|name| cluster.log(name))
            .concat()
    };

    let faults = [
        ("ballista.testing.chaos_execution.enabled", "true"),
        ("ballista.testing.chaos_execution.probability", "1.0"),
        ("ballista.testing.chaos_execution.fault_type", "transient"),
        ("ballista.testing.chaos_execution.seed", "1"),
    ];
    let query = "select count(*) from nation where n_name > 'A'";
    let faulty = tables(cluster.session(&faults).await, &folder).await;
    let error = tokio::time::timeout(LIMIT, run(&faulty, query))
        .await
        .unwrap();
    println!("{}", error.unwrap_err());
    let tries = logs().matches("Injected TRANSIENT FAILURE").count();
    println!("{tries} tries");
    assert!(tries >= 4, "a task has four tries");

    // A file whose first page is damaged.
    let path = folder.path("nation.parquet");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[4..40].fill(0xff);
    let damaged = folder.path("damaged.parquet");
    std::fs::write(&damaged, bytes).unwrap();
    let two = cluster.session(&[]).await;
    let query = format!("select n_nationkey from '{damaged}'");
    let error = tokio::time::timeout(LIMIT, run(&two, &query))
        .await
        .unwrap();
    let error = error.unwrap_err().to_string();
    println!("{error}");
    assert!(
        error.contains("n_nationkey") && error.contains("row group 0"),
        "{error}"
    );
    let logs = logs();
    println!(
        "{}",
        logs.lines()
            .filter(|line| line.contains("n_nationkey"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}
