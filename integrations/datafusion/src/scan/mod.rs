//! A scan, in which files become morsels, and morsels become streams of batches.
//!
//! ```text
//! PartitionedFile ─► planner ─ footer missing ─► request ─► planner ─► read.rs: what to read ─► stream.rs: batches
//!                                                                       └ filter.rs, translate.rs, closure.rs: predicates
//! ```
//!
//! A file becomes a single morsel, because the read looks ahead by itself. Its requests are tasks
//! of the runtime, so the next row group is fetched while this one is decoded.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use datafusion_common::Result;
use datafusion_common::config::TableParquetOptions;
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner, Morselizer};
use datafusion_datasource::{PartitionedFile, TableSchema};
use datafusion_execution::memory_pool::MemoryPool;
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr_adapter::PhysicalExprAdapterFactory;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use datafusion_physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_pruning::FilePruner;
use futures::stream::{BoxStream, StreamExt};
use herringbone_remote::RemoteFile;

use crate::encryption::TableKeys;
use crate::error::in_file;
use crate::footer::FileAccess;
use crate::source::ReadOrder;
use metrics::FileMetrics;
use stream::FileStream;

mod closure;
mod filter;
mod gain;
mod metrics;
mod narrow;
mod read;
mod splits;
mod stream;
mod translate;

/// Everything that a scan's partition knows about its files.
#[derive(Clone)]
pub(crate) struct Scan {
    pub(crate) access: FileAccess,
    pub(crate) keys: TableKeys,
    pub(crate) table_schema: TableSchema,
    /// The schema of the batches.
    pub(crate) output: SchemaRef,
    pub(crate) projection: ProjectionExprs,
    pub(crate) predicate: Option<Arc<dyn PhysicalExpr>>,
    /// True if the scan evaluates the predicate, false if it only prunes with it.
    pub(crate) evaluates: bool,
    pub(crate) order: Option<ReadOrder>,
    pub(crate) options: Arc<TableParquetOptions>,
    pub(crate) adapter: Arc<dyn PhysicalExprAdapterFactory>,
    /// The largest number of rows that the scan has to return.
    pub(crate) limit: Option<usize>,
    pub(crate) batch_size: Option<usize>,
    pub(crate) metrics: ExecutionPlanMetricsSet,
    pub(crate) partition: usize,
    /// The scan's number of partitions.
    pub(crate) partitions: usize,
    pub(crate) memory: Option<Arc<dyn MemoryPool>>,
}

/// A planner for the files of a partition.
pub(crate) struct FileMorselizer(Arc<Scan>);

impl FileMorselizer {
    pub(crate) fn new(scan: Scan) -> Self {
        Self(Arc::new(scan))
    }
}

impl fmt::Debug for FileMorselizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileMorselizer(partition {})", self.0.partition)
    }
}

impl Morselizer for FileMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        let metrics = FileMetrics::new(&self.0.metrics, self.0.partition, &file);
        Ok(Box::new(Planner {
            scan: self.0.clone(),
            file,
            metrics,
            opened: None,
        }))
    }
}

/// A planner for the read of one file or a part of it.
struct Planner {
    scan: Arc<Scan>,
    file: PartitionedFile,
    metrics: FileMetrics,
    opened: Option<RemoteFile>,
}

impl fmt::Debug for Planner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Planner({})", self.file.object_meta.location)
    }
}

impl MorselPlanner for Planner {
    fn plan(mut self: Box<Self>) -> Result<Option<MorselPlan>> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None if self.is_ruled_out()? => return Ok(None),
            None => match self.scan.access.open_cached(&self.file.object_meta)? {
                Some(opened) => opened,
                None => return Ok(Some(self.read_footer())),
            },
        };
        let Self {
            scan,
            file,
            metrics,
            ..
        } = *self;
        let stream = FileStream::open(&scan, &file, opened, metrics)
            .map_err(|error| in_file(&file.object_meta.location, error))?;
        let morsel = |stream| Box::new(FileMorsel(stream)) as Box<dyn Morsel>;
        Ok(stream.map(|stream| MorselPlan::new().with_morsels(vec![morsel(stream)])))
    }
}

impl Planner {
    /// Returns true if the file's statistics show that no row is selected.
    fn is_ruled_out(&self) -> Result<bool> {
        let (schema, errors) = (
            self.scan.table_schema.table_schema(),
            &self.metrics.evaluation_errors,
        );
        let predicate = self.scan.predicate.clone();
        let pruner = predicate.and_then(|predicate| {
            FilePruner::try_new(predicate, schema, &self.file, errors.clone())
        });
        let is_ruled_out = match pruner {
            Some(mut pruner) => pruner.should_prune()?,
            None => false,
        };
        self.metrics.record_file(is_ruled_out);
        Ok(is_ruled_out)
    }

    /// Reads the file's footer.
    fn read_footer(mut self: Box<Self>) -> MorselPlan {
        MorselPlan::new().with_pending_planner(async move {
            let timer = self.metrics.metadata_load_time.timer();
            let meta = &self.file.object_meta;
            let decryption = self.scan.keys.decryption(&meta.location).await?;
            let opened = self.scan.access.open(meta, decryption).await?;
            drop(timer);
            self.opened = Some(opened);
            Ok(self as Box<dyn MorselPlanner>)
        })
    }
}

/// The batches of one file or a part of it.
struct FileMorsel(FileStream);

impl fmt::Debug for FileMorsel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileMorsel")
    }
}

impl Morsel for FileMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<arrow::array::RecordBatch>> {
        self.0.boxed()
    }
}
