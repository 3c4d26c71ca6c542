//! Runs queries with several readers in turns.

use std::path::Path;
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use arrow::util::pretty::pretty_format_batches;
use cpu_time::ProcessTime;
use datafusion::physical_plan;
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::data;

/// A query.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) sql: String,
}

/// The number of partitions and the number of runs per reader.
pub(crate) struct Turns {
    pub(crate) partitions: usize,
    pub(crate) turns: usize,
}

/// A reader's shortest times.
#[derive(Clone, Copy)]
struct Times {
    processor: Duration,
    wall: Duration,
}

impl Times {
    const NONE: Self = Self {
        processor: Duration::MAX,
        wall: Duration::MAX,
    };

    fn add(&mut self, other: Self) {
        self.processor = self.processor.min(other.processor);
        self.wall = self.wall.min(other.wall);
    }
}

/// The reader of a session's tables.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Reader {
    Herringbone,
    /// The engine's own reader, with its default settings.
    Stock,
    /// The engine's own reader, with filters pushed down.
    StockPushedDown,
}

pub(crate) const READERS: [(Reader, &str); 3] = [
    (Reader::Herringbone, "herringbone"),
    (Reader::Stock, "stock"),
    (Reader::StockPushedDown, "stock, pushed down"),
];

/// Returns a session that has the files or folders in `folder` as tables.
pub(crate) fn session(
    reader: Reader,
    partitions: usize,
    folder: &Path,
    runtime: &tokio::runtime::Runtime,
) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(partitions);
    if reader == Reader::StockPushedDown {
        for key in ["pushdown_filters", "reorder_filters"] {
            config = config.set_bool(&format!("datafusion.execution.parquet.{key}"), true);
        }
    }
    let session = SessionContext::new_with_config(config);
    if reader == Reader::Herringbone {
        herringbone_datafusion::register(&session).unwrap();
    }
    for (table, path) in data::tables(folder) {
        let sql = format!("create external table {table} stored as parquet location '{path}'");
        runtime.block_on(collect(&session, &sql));
    }
    session
}

impl Turns {
    /// Runs all queries and prints a table of their times.
    pub(crate) fn run(&self, folder: &Path, cases: &[Case]) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.partitions)
            .enable_all()
            .build()
            .unwrap();
        let sessions: Vec<_> = READERS
            .iter()
            .map(|(reader, _)| session(*reader, self.partitions, folder, &runtime))
            .collect();
        println!(
            "| query | {} | ratio of processor time | of wall time |",
            READERS.map(|(_, name)| name).join(" | ")
        );
        println!("|---|---|---|---|---|---|");
        let mut logarithms = (0.0, 0.0);
        for case in cases {
            let times = self.times(&sessions, case, &runtime);
            let [ours, one, other] = times;
            let ratio = |of: fn(&Times) -> Duration| {
                of(&ours).as_secs_f64() / of(&one).min(of(&other)).as_secs_f64()
            };
            let (processor, wall) = (ratio(|it| it.processor), ratio(|it| it.wall));
            logarithms = (logarithms.0 + processor.ln(), logarithms.1 + wall.ln());
            let cells = times.map(|times| {
                let ms = |time: Duration| time.as_secs_f64() * 1e3;
                format!(
                    "{:.1} ms, {:.1} ms wall",
                    ms(times.processor),
                    ms(times.wall)
                )
            });
            println!(
                "| {} | {} | {processor:.2} | {wall:.2} |",
                case.name,
                cells.join(" | ")
            );
        }
        let mean = |sum: f64| (sum / cases.len() as f64).exp();
        println!(
            "geometric mean: {:.3} of processor time, {:.3} of wall time",
            mean(logarithms.0),
            mean(logarithms.1)
        );
    }

    fn times(
        &self,
        sessions: &[SessionContext],
        case: &Case,
        runtime: &tokio::runtime::Runtime,
    ) -> [Times; 3] {
        let mut times = [Times::NONE; 3];
        let mut rows = vec![None; sessions.len()];
        // We do not count the first turn, because it warms the caches.
        for turn in 0..=self.turns {
            for (reader, session) in sessions.iter().enumerate() {
                let (batches, time) = runtime.block_on(run(session, &case.sql));
                if turn > 0 {
                    times[reader].add(time);
                } else {
                    rows[reader] = Some(batches);
                }
            }
        }
        assert!(
            rows[0] == rows[1],
            "{}: the rows differ:\n{}\n{}",
            case.name,
            rows[0].as_deref().unwrap_or_default(),
            rows[1].as_deref().unwrap_or_default()
        );
        times
    }
}

pub(crate) async fn collect(session: &SessionContext, sql: &str) -> Vec<RecordBatch> {
    session.sql(sql).await.unwrap().collect().await.unwrap()
}

/// Returns a query's rows as text, and its time without planning.
async fn run(session: &SessionContext, sql: &str) -> (String, Times) {
    let frame = session.sql(sql).await.unwrap();
    let context = std::sync::Arc::new(frame.task_ctx());
    let plan = frame.create_physical_plan().await.unwrap();
    let (processor, wall) = (ProcessTime::now(), Instant::now());
    // We run it on one of the runtime's workers, as a server runs its tasks.
    let batches = tokio::spawn(physical_plan::collect(plan, context))
        .await
        .unwrap()
        .unwrap();
    let time = Times {
        processor: processor.elapsed(),
        wall: wall.elapsed(),
    };
    (pretty_format_batches(&batches).unwrap().to_string(), time)
}
