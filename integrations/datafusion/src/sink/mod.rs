//! The sink of `COPY` and `INSERT INTO`.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion_common::config::TableParquetOptions;
use datafusion_common::{DataFusionError, Result};
use datafusion_common_runtime::{JoinSet, SpawnedTask};
use datafusion_datasource::display::FileGroupDisplay;
use datafusion_datasource::file_sink_config::{FileSink, FileSinkConfig};
use datafusion_datasource::sink::DataSink;
use datafusion_datasource::write::demux::DemuxedStreamReceiver;
use datafusion_datasource::write::get_writer_schema;
use datafusion_execution::memory_pool::MemoryLimit;
use datafusion_execution::{SendableRecordBatchStream, TaskContext};
use datafusion_physical_expr::LexRequirement;
use datafusion_physical_expr::expressions::Column;
use datafusion_physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, Time};
use datafusion_physical_plan::{DisplayAs, DisplayFormatType};
use herringbone::format::FileMetadata;
use herringbone::{SortingColumnOption, Spawn, WriteOptions};
use herringbone_remote::object_store_013::StoreSink;
use herringbone_remote::{RemoteWriteOptions, RemoteWriter, SentObject};
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt};
use tokio::runtime::Handle;
use tokio::sync::mpsc::Receiver;

use crate::encryption::TableKeys;
use crate::error::from_library;
use crate::memory::FileMemory;

mod null_partition;
mod options;

/// The divisor for the share of a pool that one part of a local file takes.
const PART_SHARE: u64 = 32;

/// The smallest size of a local file's parts, which is not smaller because each part takes a
/// request.
const SMALLEST_PART: u64 = 256 << 10;

pub(crate) use options::{check, check_session};

/// A sink that writes a query's rows to Parquet files.
///
/// The files become visible when all of them are complete. If the query fails or is dropped, no
/// file is left.
pub struct HerringboneSink {
    config: FileSinkConfig,
    options: Arc<TableParquetOptions>,
    keys: TableKeys,
    sorting_columns: Vec<SortingColumnOption>,
    metrics: ExecutionPlanMetricsSet,
    written: Mutex<HashMap<Path, FileMetadata>>,
}

impl HerringboneSink {
    /// Creates the sink.
    pub(crate) fn new(
        config: FileSinkConfig,
        options: Arc<TableParquetOptions>,
        keys: TableKeys,
    ) -> Self {
        Self {
            config,
            options,
            keys,
            sorting_columns: Vec::new(),
            metrics: ExecutionPlanMetricsSet::new(),
            written: Mutex::default(),
        }
    }

    /// Records the order of the rows in the files, up to the first expression that is not a column.
    pub(crate) fn with_order(self, order: Option<&LexRequirement>) -> Self {
        let schema = get_writer_schema(&self.config);
        let mut sorting_columns = Vec::new();
        for requirement in order.into_iter().flat_map(|order| order.iter()) {
            let Some(column) = requirement.expr.downcast_ref::<Column>() else {
                break;
            };
            if schema.field_with_name(column.name()).is_err() {
                // This is a partition column, in which all rows of a file are equal.
                continue;
            }
            let options = requirement.options.unwrap_or_default();
            let sorting = SortingColumnOption::new([column.name()]);
            sorting_columns.push(
                sorting
                    .descending(options.descending)
                    .nulls_first(options.nulls_first),
            );
        }
        Self {
            sorting_columns,
            ..self
        }
    }

    /// Returns the table options and keys.
    #[cfg(feature = "proto")]
    pub(crate) fn format(&self) -> (&TableParquetOptions, &TableKeys) {
        (&self.options, &self.keys)
    }

    /// Returns the metadata of the files that were written so far.
    #[must_use]
    pub fn written(&self) -> HashMap<Path, FileMetadata> {
        self.written
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    async fn write_options(
        &self,
        path: &Path,
        schema: &SchemaRef,
        context: &TaskContext,
    ) -> Result<WriteOptions> {
        let threads = context.session_config().target_partitions();
        let mut options = options::write_options(&self.options)?
            .sorting_columns(self.sorting_columns.clone())
            .unsorted_rows(herringbone::UnsortedRows::OmitSortingColumns)
            .threads(if self.options.global.allow_single_file_parallelism {
                threads
            } else {
                1
            })
            .tune_allocator(false)
            .spawn(Arc::new(HostTasks(Handle::current())));
        let extensions = &context.session_config().options().extensions;
        options = options::of_session(extensions.get(), options)?;
        if let Some(encryption) = self.keys.encryption(path, schema).await? {
            options = options.encryption(encryption);
        }
        Ok(options)
    }
}

/// The runtime's blocking tasks, which encode columns.
#[derive(Debug)]
struct HostTasks(Handle);

impl Spawn for HostTasks {
    fn spawn(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.spawn_blocking(job);
    }
}

impl fmt::Debug for HerringboneSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HerringboneSink").finish_non_exhaustive()
    }
}

impl DisplayAs for HerringboneSink {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match t {
            DisplayFormatType::TreeRender => f.write_str("writer=herringbone"),
            DisplayFormatType::Default | DisplayFormatType::Verbose => {
                f.write_str("HerringboneSink(file_groups=")?;
                FileGroupDisplay(&self.config.file_group).fmt_as(t, f)?;
                f.write_str(")")
            }
        }
    }
}

#[async_trait]
impl DataSink for HerringboneSink {
    fn schema(&self) -> &SchemaRef {
        self.config.output_schema()
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    async fn write_all(
        &self,
        data: SendableRecordBatchStream,
        context: &Arc<TaskContext>,
    ) -> Result<u64> {
        let data = null_partition::named(data, &self.config.table_partition_cols);
        FileSink::write_all(self, data, context).await
    }
}

#[async_trait]
impl FileSink for HerringboneSink {
    fn config(&self) -> &FileSinkConfig {
        &self.config
    }

    async fn spawn_writer_tasks_and_join(
        &self,
        context: &Arc<TaskContext>,
        demux_task: SpawnedTask<Result<()>>,
        mut file_stream_rx: DemuxedStreamReceiver,
        object_store: Arc<dyn ObjectStore>,
    ) -> Result<u64> {
        let schema = get_writer_schema(&self.config);
        let execution = &context.session_config().options().execution;
        let mut tasks = JoinSet::new();
        while let Some((path, batches)) = file_stream_rx.recv().await {
            let consumer = format!("HerringboneSink[{path}]");
            let options = self.write_options(&path, &schema, context).await?;
            let options = RemoteWriteOptions::from(options)
                .part_bytes(self.part_bytes(
                    execution.objectstore_writer_buffer_size as u64,
                    context.memory_pool().memory_limit(),
                ))
                .memory_pool(Arc::new(FileMemory::of_sink(
                    context.memory_pool(),
                    consumer,
                )));
            let runtime = Handle::current();
            let sink = StoreSink::new(object_store.clone(), path.clone())
                .runtime(move |abort| drop(runtime.spawn(abort)));
            let writer = RemoteWriter::new(Arc::new(sink), schema.clone(), options);
            let job = FileJob {
                writer: writer.map_err(from_library)?,
                schema: schema.clone(),
                time: MetricBuilder::new(&self.metrics).elapsed_compute(0),
                path,
            };
            tasks.spawn(job.write(batches));
        }
        let mut files = Vec::new();
        let mut failure: Option<DataFusionError> = None;
        while let Some(file) = tasks.join_next().await {
            match file.unwrap_or_else(|error| Err(DataFusionError::ExecutionJoin(Box::new(error))))
            {
                Ok(file) => files.push(file),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        // If a file fails, the task that distributes rows fails as well, so we prefer the file's
        // error.
        let demuxed = demux_task.join_unwind().await;
        let demuxed =
            demuxed.unwrap_or_else(|error| Err(DataFusionError::ExecutionJoin(Box::new(error))));
        match failure.map_or(demuxed, Err) {
            Ok(()) => self.complete(files, object_store.as_ref()).await,
            Err(error) => {
                abort(files).await;
                Err(error)
            }
        }
    }
}

impl HerringboneSink {
    /// Returns the size of a file's parts. For a local file, a part is a small share of a small
    /// pool, but object stores require large parts.
    fn part_bytes(&self, option: u64, limit: MemoryLimit) -> u64 {
        let is_local = self.config.object_store_url.as_str().starts_with("file:");
        match limit {
            MemoryLimit::Finite(limit) if is_local => {
                let share = limit as u64 / PART_SHARE;
                option.min(share.max(SMALLEST_PART))
            }
            _ => option,
        }
    }

    /// Makes all files visible and returns their row count.
    async fn complete(&self, files: Vec<WrittenFile>, store: &dyn ObjectStore) -> Result<u64> {
        let rows_written = MetricBuilder::new(&self.metrics).global_counter("rows_written");
        let bytes_written = MetricBuilder::new(&self.metrics).global_counter("bytes_written");
        let (mut rows, mut complete) = (0, Vec::new());
        let mut files = files.into_iter();
        while let Some(WrittenFile { path, object }) = files.next() {
            let bytes = object.bytes();
            let metadata = match object.complete().await {
                Ok(metadata) => metadata,
                Err(error) => {
                    abort(files).await;
                    for path in complete {
                        // We ignore this error, because the first error is the one to report.
                        drop(store.delete(&path).await);
                    }
                    return Err(from_library(error));
                }
            };
            rows += metadata.num_rows_of_row_groups();
            rows_written.add(usize::try_from(metadata.num_rows()).unwrap_or_default());
            bytes_written.add(usize::try_from(bytes).unwrap_or_default());
            complete.push(path.clone());
            let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
            written.insert(path, metadata);
        }
        Ok(rows)
    }
}

/// Drops files before they become visible.
async fn abort(files: impl IntoIterator<Item = WrittenFile>) {
    for file in files {
        // We ignore the error, because an upload that cannot be aborted is not complete either.
        drop(file.object.abort().await);
    }
}

/// A file that is being written.
struct FileJob {
    path: Path,
    writer: RemoteWriter,
    schema: SchemaRef,
    time: Time,
}

/// A file that is finished, but not yet visible.
struct WrittenFile {
    path: Path,
    object: SentObject,
}

impl FileJob {
    async fn write(mut self, mut batches: Receiver<RecordBatch>) -> Result<WrittenFile> {
        // We send parts while the next batch is being made.
        while let Some(batch) = self
            .writer
            .during(batches.recv())
            .await
            .map_err(from_library)?
        {
            let batch = self.with_schema(&batch)?;
            let timer = self.time.timer();
            let written = self.writer.write(&batch).await;
            drop(timer);
            written.map_err(from_library)?;
        }
        let timer = self.time.timer();
        let object = self.writer.send_all().await.map_err(from_library)?;
        drop(timer);
        Ok(WrittenFile {
            path: self.path,
            object,
        })
    }

    /// Gives a batch the file schema, because the batches of a plan may differ from it in metadata
    /// and nullability.
    fn with_schema(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let columns = batch.columns().iter().zip(self.schema.fields());
        let columns = columns
            .map(|(column, field)| null_partition::restored(column, field))
            .collect();
        Ok(RecordBatch::try_new_with_options(
            self.schema.clone(),
            columns,
            &options,
        )?)
    }
}
