//! Finds the smallest memory pool in which a statement succeeds.

use std::path::Path;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan;
use datafusion::prelude::{SessionConfig, SessionContext};
use tokio::runtime::Runtime;

use crate::data;

/// The sizes of pools, in MB.
const SIZES: [usize; 20] = [
    1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 30, 40, 50, 60, 70, 80, 90, 120,
];

const STATEMENTS: [&str; 6] = [
    "select count(*) from lineitem where l_comment like '%fox%'",
    "select sum(l_extendedprice * l_discount) from lineitem where l_quantity < 24",
    "select l_returnflag, count(*), sum(l_quantity) from lineitem group by l_returnflag",
    "select count(*) from (select * from lineitem where l_comment like '%fox%')",
    "select * from lineitem where l_orderkey % 100 = 1",
    "copy lineitem to 'TARGET' stored as parquet",
];

/// Prints the smallest pool of each statement in MB, for Herringbone and for the engine's own
/// reader.
pub(crate) fn print(folder: &Path, tables: &Path, partitions: usize) {
    let runtime = Runtime::new().unwrap();
    println!("| statement | pool | herringbone | the engine's |");
    println!("|---|---|---:|---:|");
    for statement in STATEMENTS {
        let target = folder.join("pools.parquet");
        let sql = statement.replace("TARGET", &target.to_string_lossy());
        for is_fair in [false, true] {
            let of = |is_ours| {
                let ends = |size: &&usize| {
                    let pool: Arc<dyn MemoryPool> = match is_fair {
                        true => Arc::new(FairSpillPool::new(**size * 1_000_000)),
                        false => Arc::new(GreedyMemoryPool::new(**size * 1_000_000)),
                    };
                    let result = runtime.block_on(run(&sql, tables, (is_ours, partitions), &pool));
                    std::fs::remove_file(&target).ok();
                    result.is_ok()
                };
                let found = SIZES.iter().find(ends);
                found.map_or("more".to_owned(), usize::to_string)
            };
            let pool = if is_fair { "fair" } else { "greedy" };
            println!("| `{statement}` | {pool} | {} | {} |", of(true), of(false));
        }
    }
}

async fn run(
    sql: &str,
    tables: &Path,
    (is_ours, partitions): (bool, usize),
    pool: &Arc<dyn MemoryPool>,
) -> Result<()> {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(pool.clone())
        .build_arc()?;
    let config = SessionConfig::new().with_target_partitions(partitions);
    let session = SessionContext::new_with_config_rt(config, runtime);
    if is_ours {
        herringbone_datafusion::register(&session)?;
    }
    for (table, path) in data::tables(tables) {
        let create = format!("create external table {table} stored as parquet location '{path}'");
        session.sql(&create).await?.collect().await?;
    }
    let frame = session.sql(sql).await?;
    let context = Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await?;
    physical_plan::collect(plan, context).await.map(drop)
}
