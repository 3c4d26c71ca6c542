//! Causes faults of a store that end by themselves. The scheduler and the executor run in this
//! process, so that the test can reach the executor's store.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use ballista_core::JobId;
use ballista_executor::execution_engine::{
    DefaultExecutionEngine, ExecutionEngine, QueryStageExecutor,
};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use herringbone_ballista::{connect, executor_config, scheduler_config};
use herringbone_datafusion::{HerringboneCodec, HerringboneFormatFactory};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error as StoreError, GetOptions, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions, PutPayload,
    PutResult, Result,
};
use tokio::net::TcpListener;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};
use url::Url;

use crate::cluster::{LIMIT, free_ports, is_ready};
use crate::support::{Folder, rows, run, session};
use crate::tpch;

/// The ways in which a request may fail.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// There is no answer.
    Refused,
    /// The connection breaks after half of the bytes.
    Broken,
}

/// A store of local files in which the first request for a byte with a fault fails, while later
/// requests succeed.
#[derive(Debug, Default)]
struct FaultyStore {
    files: LocalFileSystem,
    /// The faults that are still to come, by the byte's offset.
    faults: Mutex<Vec<(u64, Fault)>>,
}

impl FaultyStore {
    fn take_fault(&self, result: &GetResult) -> Option<Fault> {
        let mut faults = self.faults.lock().unwrap();
        let place = faults
            .iter()
            .position(|(offset, _)| result.range.contains(offset))?;
        Some(faults.remove(place).1)
    }
}

/// Returns an error like the one of a broken connection.
fn reset() -> StoreError {
    StoreError::Generic {
        store: "a store with faults",
        source: std::io::Error::from(std::io::ErrorKind::ConnectionReset).into(),
    }
}

impl fmt::Display for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a store with faults")
    }
}

#[async_trait]
impl ObjectStore for FaultyStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.files.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.files.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let has_bytes = !options.head;
        let mut result = self.files.get_opts(path, options).await?;
        match self.take_fault(&result).filter(|_| has_bytes) {
            None => Ok(result),
            Some(Fault::Refused) => Err(reset()),
            Some(Fault::Broken) => {
                let (meta, range) = (result.meta.clone(), result.range.clone());
                let attributes = std::mem::take(&mut result.attributes);
                let mut bytes = result.bytes().await?;
                bytes.truncate(bytes.len() / 2);
                let stream = stream::iter([Ok(bytes), Err(reset())]);
                Ok(GetResult {
                    payload: GetResultPayload::Stream(stream.boxed()),
                    meta,
                    range,
                    attributes,
                })
            }
        }
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.files.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }
}

/// The usual engine, which also counts the tasks of each stage, because each try is a task.
#[derive(Default)]
struct CountingEngine {
    engine: DefaultExecutionEngine,
    tasks: Mutex<BTreeMap<usize, usize>>,
}

impl ExecutionEngine for CountingEngine {
    fn create_query_stage_exec(
        &self,
        job: JobId,
        stage: usize,
        task: usize,
        partitions: Vec<usize>,
        plan: Arc<dyn ExecutionPlan>,
        folder: &str,
        config: &SessionConfig,
    ) -> datafusion::error::Result<Arc<dyn QueryStageExecutor>> {
        *self.tasks.lock().unwrap().entry(stage).or_default() += 1;
        self.engine
            .create_query_stage_exec(job, stage, task, partitions, plan, folder, config)
    }
}

/// A scheduler and an executor, which end when this is dropped.
struct Servers {
    tasks: JoinSet<String>,
    scheduler_port: u16,
    work: Folder,
    store: Arc<FaultyStore>,
    engine: Arc<CountingEngine>,
}

impl Servers {
    /// Starts them and waits until they are ready. Another program may take a port that the system
    /// gave before the executor has it, so we try three times.
    async fn start() -> Self {
        let mut errors = Vec::new();
        for _ in 0..3 {
            let mut servers = Self {
                tasks: JoinSet::new(),
                scheduler_port: 0,
                work: Folder::new(),
                store: Arc::default(),
                engine: Arc::default(),
            };
            servers.start_scheduler().await;
            servers.start_executor();
            match servers.wait().await {
                Ok(()) => return servers,
                Err(error) => errors.push(error),
            }
        }
        panic!("the servers do not start: {errors:?}");
    }

    async fn start_scheduler(&mut self) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        self.scheduler_port = listener.local_addr().unwrap().port();
        let config = SchedulerConfig {
            external_host: "127.0.0.1".to_owned(),
            bind_port: self.scheduler_port,
            ..SchedulerConfig::default()
        };
        let config = scheduler_config(config, HerringboneCodec::new());
        let cluster = BallistaCluster::new_from_config(&config).await.unwrap();
        let scheduler =
            create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config))
                .await
                .unwrap();
        self.tasks.spawn(async {
            let result = start_grpc_service_with_listener(listener, scheduler).await;
            format!("the scheduler ended: {result:?}")
        });
    }

    fn start_executor(&mut self) {
        let [port, grpc_port] = free_ports();
        let config = ExecutorProcessConfig {
            external_host: Some("127.0.0.1".to_owned()),
            port,
            grpc_port,
            scheduler_host: "127.0.0.1".to_owned(),
            scheduler_port: self.scheduler_port,
            vcores: 1,
            work_dir: Some(self.work.path("")),
            override_execution_engine: Some(self.engine.clone()),
            ..ExecutorProcessConfig::default()
        };
        let store = self.store.clone();
        let config = ExecutorProcessConfig {
            override_runtime_producer: Some(Arc::new(move |_config| {
                let runtime = RuntimeEnvBuilder::new().build_arc()?;
                runtime.register_object_store(&Url::parse("file://").unwrap(), store.clone());
                Ok(runtime)
            })),
            ..executor_config(config, HerringboneCodec::new())
        };
        self.tasks.spawn(async {
            let result = start_executor_process(Arc::new(config)).await;
            format!("the executor ended: {result:?}")
        });
    }

    /// Waits until the executor has registered.
    async fn wait(&mut self) -> Result<(), String> {
        let started = Instant::now();
        let port = self.scheduler_port;
        while !spawn_blocking(move || is_ready(port)).await.unwrap() {
            if let Some(ended) = self.tasks.try_join_next() {
                return Err(ended.unwrap());
            }
            if started.elapsed() > LIMIT {
                return Err("the executor does not register".to_owned());
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Runs the query in its own session, so that no footer is cached. Returns the rows, and the
    /// number of tasks per stage.
    async fn run(
        &self,
        partitions: usize,
        table: &str,
        query: &str,
    ) -> (Vec<String>, BTreeMap<usize, usize>) {
        let configure = |config: &mut SessionConfig| {
            let options = config.options_mut();
            options.set(
                "datafusion.execution.target_partitions",
                &partitions.to_string(),
            )?;
            options.set("datafusion.optimizer.repartition_file_min_size", "1")
        };
        let (factory, codec) = (HerringboneFormatFactory::new(), HerringboneCodec::new());
        let url = format!("df://127.0.0.1:{}", self.scheduler_port);
        let session = connect(&url, factory, codec, configure).await.unwrap();
        run(&session, table).await.unwrap();
        let found = timeout(LIMIT, rows(&session, query)).await;
        let tasks = std::mem::take(&mut *self.engine.tasks.lock().unwrap());
        (found.expect("the query hangs"), tasks)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_that_end_do_not_end_a_query() {
    let folder = Folder::new();
    tpch::generate(&folder, tpch::SMALL);
    let path = folder.path("lineitem.parquet");
    let table = format!("create external table lineitem stored as parquet location '{path}'");
    let query =
        "select count(*) as n, sum(l_orderkey) as sum, max(l_comment) as last from lineitem";
    let one = session(SessionConfig::new());
    run(&one, &table).await.unwrap();
    let expected = rows(&one, query).await;

    let size = std::fs::metadata(&path).unwrap().len();
    // The last byte is in the footer, and the other one is in a page.
    let faults = [(size - 1, Fault::Refused), (size / 2, Fault::Broken)];
    let servers = Servers::start().await;
    for partitions in [1, 3] {
        let (found, mut tasks) = servers.run(partitions, &table, query).await;
        assert_eq!(found, expected);

        *servers.store.faults.lock().unwrap() = faults.to_vec();
        let (found, tries) = servers.run(partitions, &table, query).await;
        assert_eq!(found, expected);
        assert!(servers.store.faults.lock().unwrap().is_empty());
        // Each fault costs one try of a scan, in stage 0.
        *tasks.get_mut(&0).unwrap() += faults.len();
        assert_eq!(tries, tasks);
    }
}
