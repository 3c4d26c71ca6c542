//! Runs a scheduler and two executors, each in a process with its own ports and folder.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use datafusion::prelude::{SessionConfig, SessionContext};
use herringbone_ballista::connect;
use herringbone_datafusion::{HerringboneCodec, HerringboneFormatFactory};

use crate::support::{Folder, rows, run, session};
use crate::tpch;

/// The longest time that a process may take to start, or a query to end.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// A running process, which is killed on drop.
struct Process(Child);

impl Process {
    fn start(program: &str, log: &str, args: &[String]) -> Self {
        let log = std::fs::File::create(log).unwrap();
        let child = Command::new(program)
            .args(args)
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .stdout(log)
            .spawn();
        Self(child.unwrap())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A scheduler and two executors.
pub(crate) struct Cluster {
    folder: Folder,
    port: u16,
    executors: Vec<Option<Process>>,
    _scheduler: Process,
}

impl Cluster {
    /// Starts the processes and waits until they are ready. Another program may take a port that
    /// the system gave before our process has it, so we try three times.
    pub(crate) fn start() -> Self {
        let mut log = String::new();
        for _ in 0..3 {
            match Self::try_start() {
                Ok(cluster) => return cluster,
                Err(of_scheduler) => log = of_scheduler,
            }
        }
        panic!("the cluster does not start: {log}");
    }

    /// Starts the processes once and returns the scheduler's log if they are not ready in time.
    fn try_start() -> Result<Self, String> {
        let folder = Folder::new();
        let [port, ports @ ..] = free_ports::<7>();
        let mut args = words(
            "--bind-host 127.0.0.1 --external-host 127.0.0.1 --task-distribution round-robin",
        );
        args.extend(words(
            "--executor-timeout-seconds 5 --expire-dead-executor-interval-seconds 1",
        ));
        args.extend(words(
            "--no-executors-grace-period-seconds 5 --min-ready-executors 2",
        ));
        args.extend(words(&format!(
            "--executor-termination-grace-period 1 --bind-port {port}"
        )));
        let scheduler = env!("CARGO_BIN_EXE_herringbone-scheduler");
        let scheduler = Process::start(scheduler, &folder.path("scheduler.log"), &args);
        let executors = ["a", "b"].into_iter().zip(ports.chunks(3));
        let executors = executors.map(|(name, ports)| {
            let mut args = words(
                "--bind-host 127.0.0.1 --external-host 127.0.0.1 --scheduler-host 127.0.0.1 -c 1",
            );
            args.extend(words(
                "--scheduler-connect-timeout-seconds 60 --executor-heartbeat-interval-seconds 1",
            ));
            args.extend(words(&format!(
                "--memory-pool-size 1GB --id {name} --scheduler-port {port}"
            )));
            args.extend(words(&format!(
                "-p {} --bind-grpc-port {} --bind-health-port {}",
                ports[0], ports[1], ports[2]
            )));
            let work = folder.path(&format!("work-{name}"));
            std::fs::create_dir(&work).unwrap();
            args.extend(["--work-dir".to_owned(), work]);
            let log = folder.path(&format!("executor-{name}.log"));
            Some(Process::start(
                env!("CARGO_BIN_EXE_herringbone-executor"),
                &log,
                &args,
            ))
        });
        let executors = executors.collect();
        let cluster = Self {
            folder,
            port,
            executors,
            _scheduler: scheduler,
        };
        let started = Instant::now();
        while !is_ready(port) {
            if started.elapsed() > LIMIT {
                return Err(cluster.log("scheduler"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(cluster)
    }

    pub(crate) fn url(&self) -> String {
        format!("df://127.0.0.1:{}", self.port)
    }

    /// Returns a session whose queries run here, with four partitions.
    pub(crate) async fn session(&self, settings: &[(&str, &str)]) -> SessionContext {
        let configure = |config: &mut SessionConfig| {
            let options = config.options_mut();
            options.set("datafusion.execution.target_partitions", "4")?;
            // The tables are so small that a single task would read them.
            options.set("datafusion.optimizer.repartition_file_min_size", "1")?;
            settings
                .iter()
                .try_for_each(|(key, value)| options.set(key, value))
        };
        let (factory, codec) = (HerringboneFormatFactory::new(), HerringboneCodec::new());
        connect(&self.url(), factory, codec, configure)
            .await
            .unwrap()
    }

    /// Kills an executor, which is 0 or 1.
    pub(crate) fn kill(&mut self, executor: usize) {
        drop(self.executors[executor].take());
    }

    /// Returns a process's log, where the process is `scheduler`, `executor-a` or `executor-b`.
    pub(crate) fn log(&self, process: &str) -> String {
        let log = std::fs::read(self.folder.path(&format!("{process}.log"))).unwrap();
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Returns the names of the jobs that have shuffle files in an executor's folder.
    fn jobs(&self, executor: &str) -> Vec<String> {
        let work = PathBuf::from(self.folder.path(&format!("work-{executor}")));
        let folders = std::fs::read_dir(work)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let jobs = folders.filter(|path| has_data(path));
        jobs.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
            .collect()
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// Returns different free ports.
pub(crate) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Asks the scheduler if enough executors have registered.
pub(crate) fn is_ready(port: u16) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream
            .write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// Returns true if any file below the folder has bytes.
fn has_data(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries
        .map(|entries| entries.unwrap().path())
        .any(|path| match path.is_dir() {
            true => has_data(&path),
            false => path.metadata().is_ok_and(|metadata| metadata.len() > 0),
        })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_executors_answer_as_one_machine() {
    let folder = Folder::new();
    let scale = std::env::var("TPCH_SCALE").map_or(tpch::SMALL, |scale| scale.parse().unwrap());
    tpch::generate(&folder, scale);
    let cluster = Cluster::start();
    let one = session(SessionConfig::new().with_target_partitions(2));
    let two = cluster.session(&[]).await;
    tpch::create_tables(&one, &folder).await;
    tpch::create_tables(&two, &folder).await;
    for (number, query) in (1..).zip(tpch::queries()) {
        let started = Instant::now();
        let found = tokio::time::timeout(LIMIT, rows(&two, query))
            .await
            .unwrap();
        println!("q{number}: {:.2} seconds", started.elapsed().as_secs_f64());
        assert_eq!(found, rows(&one, query).await, "query {number}");
    }
    let (a, b) = (cluster.jobs("a"), cluster.jobs("b"));
    let shared = a.iter().filter(|job| b.contains(job)).count();
    println!("jobs with shuffle files in both folders: {shared}");
    assert!(shared > 0, "{a:?} {b:?}");
    tables_are_written(&two, &folder).await;
    every_kind_of_table_is_sent(&two, &folder).await;
    nulls_in_partition_columns_are_sent(&two, &folder).await;
    let own = url::Url::parse("own://store").unwrap();
    let store = std::sync::Arc::new(object_store::local::LocalFileSystem::new());
    assert!(two.register_object_store(&own, store).is_none());
    let command = crate::command::sql(&["--scheduler", &cluster.url(), "--format", "csv"]);
    let query = format!(
        "select count(*) as n from '{}'",
        folder.path("nation.parquet")
    );
    assert_eq!(command.run(&query), "n\n25\n");
    let command =
        crate::command::sql(&["--stock", "--scheduler", &cluster.url(), "--format", "csv"]);
    assert_eq!(command.run(&query), "n\n25\n");
}

/// `COPY` and `INSERT INTO` keep their options.
async fn tables_are_written(two: &SessionContext, folder: &Folder) {
    let path = folder.path("copied/");
    let copy = format!(
        "copy (select n_nationkey as id, n_name as name, n_regionkey as region from nation order by n_name) to '{path}'
         stored as parquet partitioned by (region)
         options ('format.metadata::who' 'us', 'format.compression' 'uncompressed')"
    );
    assert_eq!(
        rows(two, &copy).await,
        rows(
            &session(SessionConfig::new()),
            "select cast(25 as bigint unsigned) as count"
        )
        .await
    );
    let table = "create external table copied (id bigint, name varchar, region bigint) stored as parquet partitioned by (region)";
    run(two, &format!("{table} location '{path}'"))
        .await
        .unwrap();
    run(two, "insert into copied values (77, 'nowhere', 1)")
        .await
        .unwrap();
    let found = rows(
        two,
        "select count(*) as n, max(id) as last from copied where region = 1",
    )
    .await;
    assert_eq!(
        found,
        rows(&session(SessionConfig::new()), "select 6 as n, 77 as last").await
    );

    let file = std::fs::read_dir(folder.path("copied/region=0"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let file = std::fs::File::open(file.path()).unwrap();
    let reader = parquet::file::serialized_reader::SerializedFileReader::new(file).unwrap();
    let metadata = parquet::file::reader::FileReader::metadata(&reader);
    let key_values = metadata.file_metadata().key_value_metadata().unwrap();
    assert!(
        key_values
            .iter()
            .any(|key_value| key_value.key == "who" && key_value.value.as_deref() == Some("us"))
    );
    let compression = metadata.row_group(0).column(0).compression();
    assert_eq!(compression, parquet::basic::Compression::UNCOMPRESSED);
}

/// The tables are views, declared orders and constraints, subqueries, files named in queries and
/// in-memory values.
async fn every_kind_of_table_is_sent(two: &SessionContext, folder: &Folder) {
    let nation = folder.path("nation.parquet");
    run(
        two,
        "create view asia as select * from nation where n_regionkey = 2",
    )
    .await
    .unwrap();
    let table = format!(
        "create external table sorted (n_nationkey bigint, n_name varchar, primary key (n_nationkey)) stored as parquet
         with order (n_nationkey) location '{nation}'"
    );
    run(two, &table).await.unwrap();
    for query in [
        "select count(*) as n from asia".to_owned(),
        format!("select count(*) as n from '{nation}' where n_regionkey = 2"),
        "select count(*) as n from sorted where n_nationkey in (select n_nationkey from asia)"
            .to_owned(),
        "select count(*) as n from (select n_nationkey from sorted order by n_nationkey limit 5)"
            .to_owned(),
        "select count(*) as n from asia join (values (2)) as v(r) on n_regionkey = r".to_owned(),
    ] {
        let found = rows(two, &query).await;
        assert_eq!(
            found,
            rows(&session(SessionConfig::new()), "select 5 as n").await,
            "{query}"
        );
    }
    let plan = rows(
        two,
        "explain select n_name from nation where n_regionkey = 2",
    )
    .await
    .join("\n");
    assert!(
        plan.contains("reader=herringbone, predicate=n_regionkey"),
        "{plan}"
    );
}

/// The expected sums follow from SQL's rules for nulls.
async fn nulls_in_partition_columns_are_sent(two: &SessionContext, folder: &Folder) {
    let path = folder.path("nulls/");
    let copy = format!(
        "copy (select column1 as id, column2 as k from (values (1, 5), (2, null), (4, 7))) to '{path}'
         stored as parquet partitioned by (k)"
    );
    run(two, &copy).await.unwrap();
    let table =
        "create external table nulls (id bigint, k int) stored as parquet partitioned by (k)";
    run(two, &format!("{table} location '{path}'"))
        .await
        .unwrap();
    run(two, "insert into nulls values (8, null), (16, 5)")
        .await
        .unwrap();
    let path_query = format!("(select id, cast(k as int) as k from '{path}')");
    for (filter, sum) in [
        ("k is null", 10),
        ("k is not null", 21),
        ("k <> 5", 4),
        ("k = 5 and id > 1", 16),
        ("k is null or id = 4", 14),
    ] {
        for table in ["nulls", &path_query] {
            let query = format!("select sum(id) as n from {table} where {filter}");
            let expected = format!("select cast({sum} as bigint) as n");
            assert_eq!(
                rows(two, &query).await,
                rows(&session(SessionConfig::new()), &expected).await,
                "{query}"
            );
        }
    }
}
