//! Counts the bytes that queries fetch.

use std::path::Path;
use std::sync::Arc;

use datafusion::physical_plan::{self, ExecutionPlan};
use datafusion::prelude::SessionContext;
use tokio::runtime::Runtime;

use crate::turns::{Case, READERS, session};

/// Queries over `hits` that return few rows or none.
pub(crate) const FEW_ROWS: [&str; 5] = [
    "select * from hits where user_id = 1",
    "select url, title from hits where counter_id = 62 and user_id = 1",
    "select url from hits where watch_id = 1",
    "select title from hits where counter_id between 3000 and 3001 and width > 100000",
    "select count(*) from hits where event_date = '2013-07-15' and counter_id = 3500",
];

/// Prints the bytes of each query in KiB. The footers are in the cache. Page indexes are read in
/// the first run, so that they may be in the cache in the second one.
pub(crate) fn print(folder: &Path, cases: &[Case], partitions: usize) {
    let runtime = Runtime::new().unwrap();
    let sessions = READERS.map(|(reader, _)| session(reader, partitions, folder, &runtime));
    println!("| query | run | herringbone | default | pushed down | ratio |");
    println!("|---|---:|---:|---:|---:|---:|");
    for case in cases {
        for run in 1..=2 {
            let bytes = [0, 1, 2].map(|it: usize| {
                let session = &sessions[it];
                runtime.block_on(fetched(session, &case.sql)) as f64 / 1024.0
            });
            let [ours, one, other] = bytes;
            println!(
                "| {} | {run} | {ours:.0} | {one:.0} | {other:.0} | {:.2} |",
                case.name,
                ours / one.min(other)
            );
        }
    }
}

/// Returns the sum of `bytes_scanned` over all scans.
async fn fetched(session: &SessionContext, sql: &str) -> usize {
    let frame = session.sql(sql).await.unwrap();
    let context = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await.unwrap();
    physical_plan::collect(plan.clone(), context).await.unwrap();
    scanned(&plan)
}

fn scanned(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let scan_bytes = plan
        .metrics()
        .and_then(|metrics| metrics.sum_by_name("bytes_scanned"));
    let child_bytes: usize = plan.children().into_iter().map(scanned).sum();
    scan_bytes.map_or(0, |it| it.as_usize()) + child_bytes
}
