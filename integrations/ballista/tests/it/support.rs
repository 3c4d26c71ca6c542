//! The folders, sessions and plans of the tests.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::error::Result;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::physical_plan::{
    DeduplicatingProtoConverter, PhysicalExtensionCodec, PhysicalPlanNodeExt,
    PhysicalProtoConverterExtension,
};
use datafusion_proto::protobuf::PhysicalPlanNode;
use prost::Message;

/// A temporary folder, which is removed on drop.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("herringbone-ballista-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // We ignore an error, because a process may still write into the folder.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Returns a session of this process that uses Herringbone.
pub(crate) fn session(config: SessionConfig) -> SessionContext {
    let session = SessionContext::new_with_config(config);
    herringbone_datafusion::register(&session).unwrap();
    session
}

pub(crate) async fn run(session: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>> {
    session.sql(sql).await?.collect().await
}

/// Returns the rows sorted as texts, so that they do not depend on the order of the output.
pub(crate) fn sorted(batches: &[RecordBatch]) -> Vec<String> {
    let text = pretty_format_batches(batches).unwrap().to_string();
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines.dedup_by(|one, other| one == other && one.starts_with('+'));
    lines
}

pub(crate) async fn rows(session: &SessionContext, sql: &str) -> Vec<String> {
    let batches = run(session, sql).await;
    sorted(&batches.unwrap_or_else(|error| panic!("{sql}: {error}")))
}

pub(crate) async fn plan(session: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    let frame = session.sql(sql).await.unwrap();
    frame.create_physical_plan().await.unwrap()
}

pub(crate) fn encode(
    plan: &Arc<dyn ExecutionPlan>,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<Vec<u8>> {
    let converter = DeduplicatingProtoConverter {};
    let node = converter.execution_plan_to_proto(plan, codec)?;
    Ok(node.encode_to_vec())
}

pub(crate) fn decode(
    bytes: &[u8],
    session: &SessionContext,
    codec: &dyn PhysicalExtensionCodec,
) -> Result<Arc<dyn ExecutionPlan>> {
    let node = PhysicalPlanNode::decode(bytes).unwrap();
    let converter = DeduplicatingProtoConverter {};
    node.try_into_physical_plan_with_converter(&session.task_ctx(), codec, &converter)
}

/// Runs a plan.
pub(crate) async fn execute(
    plan: Arc<dyn ExecutionPlan>,
    session: &SessionContext,
) -> Vec<RecordBatch> {
    collect(plan, session.task_ctx()).await.unwrap()
}
