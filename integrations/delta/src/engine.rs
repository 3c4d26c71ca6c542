//! The engine, which is the kernel's default engine with another handler for Parquet.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use delta_kernel::engine::arrow_conversion::TryFromArrow as _;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::metrics::MeteredParquetHandler;
use delta_kernel::object_store::DynObjectStore;
use delta_kernel::schema::StructType;
use delta_kernel::transaction::BoundWriteContext;
use delta_kernel::{
    Engine, EngineData, EvaluationHandler, FileMeta, JsonHandler, KernelResult, ParquetHandler,
    StorageHandler,
};
use delta_kernel_default_engine::executor::TaskExecutor;
use delta_kernel_default_engine::executor::tokio::TokioBackgroundExecutor;
use delta_kernel_default_engine::parquet::DataFileMetadata;
use delta_kernel_default_engine::stats::collect_stats;
use delta_kernel_default_engine::{DefaultEngine, DefaultEngineBuilder, build_add_file_metadata};
use uuid::Uuid;

use crate::HerringboneParquetHandler;

/// An engine whose Parquet files are read and written by [`HerringboneParquetHandler`]. It takes
/// all other handlers from the kernel's default engine.
pub struct HerringboneEngine<E: TaskExecutor = TokioBackgroundExecutor> {
    others: DefaultEngine<E>,
    parquet: Arc<dyn ParquetHandler>,
}

impl HerringboneEngine {
    /// Creates the engine for the tables in a store, with a thread of its own on which requests
    /// run.
    #[must_use]
    pub fn new(store: Arc<DynObjectStore>) -> Self {
        Self::with_executor(store, Arc::new(TokioBackgroundExecutor::new()))
    }
}

impl<E: TaskExecutor> HerringboneEngine<E> {
    /// Creates the engine for the tables in a store, with an executor for requests.
    #[must_use]
    pub fn with_executor(store: Arc<DynObjectStore>, executor: Arc<E>) -> Self {
        let parquet = HerringboneParquetHandler::new(store.clone(), executor.clone());
        Self {
            others: DefaultEngineBuilder::new(store)
                .with_task_executor(executor)
                .build(),
            parquet: Arc::new(MeteredParquetHandler::new(Arc::new(parquet))),
        }
    }

    /// Writes rows to a new file of a table, and returns the file metadata with statistics, for
    /// `Transaction::add_files`.
    ///
    /// The rows have the table's logical columns, without the partition columns. Note that this
    /// blocks until the file is written.
    ///
    /// # Errors
    /// Fails if the rows do not fit the table, or if the file cannot be written.
    pub fn write_parquet(
        &self,
        data: &ArrowEngineData,
        context: &BoundWriteContext,
    ) -> KernelResult<Box<dyn EngineData>> {
        let logical = StructType::try_from_arrow(data.record_batch().schema())?;
        let physical = context.physical_data_schema();
        let evaluator = self.evaluation_handler().new_expression_evaluator(
            Arc::new(logical),
            context.logical_to_physical(),
            physical.clone().into(),
        )?;
        let rows = ArrowEngineData::try_from_engine_data(evaluator.evaluate(data)?)?;
        let stats = collect_stats(rows.record_batch(), context.stats_columns(), physical)?;
        let url = context
            .write_dir()
            .join(&format!("{}.parquet", Uuid::new_v4()))?;
        let rows: Box<dyn EngineData> = rows;
        let rows = Box::new(std::iter::once(Ok(rows)));
        let size = self.parquet.write_parquet_file(url.clone(), rows)?;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let millis = since_1970.map_or(0, |since_1970| since_1970.as_millis());
        let file = FileMeta::new(url, i64::try_from(millis).unwrap_or(i64::MAX), size);
        build_add_file_metadata(DataFileMetadata::new(file, stats), context)
    }

    /// Returns the default engine, which supplies this engine's other handlers.
    #[must_use]
    pub fn default_engine(&self) -> &DefaultEngine<E> {
        &self.others
    }
}

impl<E: TaskExecutor> fmt::Debug for HerringboneEngine<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HerringboneEngine").finish_non_exhaustive()
    }
}

impl<E: TaskExecutor> Engine for HerringboneEngine<E> {
    fn evaluation_handler(&self) -> Arc<dyn EvaluationHandler> {
        self.others.evaluation_handler()
    }

    fn storage_handler(&self) -> Arc<dyn StorageHandler> {
        self.others.storage_handler()
    }

    fn json_handler(&self) -> Arc<dyn JsonHandler> {
        self.others.json_handler()
    }

    fn parquet_handler(&self) -> Arc<dyn ParquetHandler> {
        self.parquet.clone()
    }
}
