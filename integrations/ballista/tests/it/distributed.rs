//! Uses the codec in `datafusion-distributed`, which is an engine without a scheduler.

use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionState;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::displayable;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_distributed::{
    DistributedExt, SessionStateBuilderExt, Worker, WorkerQueryContext, WorkerResolver,
};
use herringbone_datafusion::{HerringboneCodec, register};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::Server;
use url::Url;

use crate::support::{Folder, plan, rows, session};
use crate::tpch;

struct Workers(Vec<Url>);

#[async_trait]
impl WorkerResolver for Workers {
    fn get_urls(&self) -> Result<Vec<Url>, DataFusionError> {
        Ok(self.0.clone())
    }
}

async fn worker_session(context: WorkerQueryContext) -> Result<SessionState, DataFusionError> {
    Ok(context
        .builder
        .with_distributed_user_codec(HerringboneCodec::new())
        .build())
}

/// Starts workers on the loopback address and returns a session whose queries run on them.
async fn distributed(workers: usize) -> SessionContext {
    let mut urls = Vec::new();
    for _ in 0..workers {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        urls.push(Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap());
        let worker = Worker::from_session_builder(worker_session).into_worker_server();
        let server = Server::builder().add_service(worker);
        tokio::spawn(server.serve_with_incoming(TcpListenerStream::new(listener)));
    }
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(SessionConfig::new().with_target_partitions(2))
        .with_distributed_planner()
        .with_distributed_worker_resolver(Workers(urls))
        .with_distributed_user_codec(HerringboneCodec::new())
        // The tables are so small that a single task would read them.
        .with_distributed_file_scan_config_bytes_per_partition(1)
        .unwrap()
        .build();
    let session = SessionContext::new_with_state(state);
    register(&session).unwrap();
    session
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_answer_as_one_machine() {
    let folder = Folder::new();
    tpch::generate(&folder, tpch::SMALL);
    let one = session(SessionConfig::new().with_target_partitions(2));
    let several = distributed(2).await;
    tpch::create_tables(&one, &folder).await;
    tpch::create_tables(&several, &folder).await;
    for number in [1, 3, 6, 12, 18] {
        let query = tpch::queries()[number - 1];
        let plan = displayable(plan(&several, query).await.as_ref())
            .indent(true)
            .to_string();
        assert!(
            plan.contains("Distributed") && plan.contains("reader=herringbone"),
            "{plan}"
        );
        assert_eq!(
            rows(&several, query).await,
            rows(&one, query).await,
            "query {number}"
        );
    }
}
