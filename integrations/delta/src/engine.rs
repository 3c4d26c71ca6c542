//! The engine: the default engine of the kernel with another handler for Parquet.

use std::fmt;
use std::sync::Arc;

use delta_kernel::metrics::MeteredParquetHandler;
use delta_kernel::object_store::DynObjectStore;
use delta_kernel::{Engine, EvaluationHandler, JsonHandler, ParquetHandler, StorageHandler};
use delta_kernel_default_engine::executor::TaskExecutor;
use delta_kernel_default_engine::executor::tokio::TokioBackgroundExecutor;
use delta_kernel_default_engine::{DefaultEngine, DefaultEngineBuilder};

use crate::HerringboneParquetHandler;

/// An engine whose Parquet files are read and written by [`HerringboneParquetHandler`]. All other handlers are those of the
/// kernel's default engine.
pub struct HerringboneEngine<E: TaskExecutor = TokioBackgroundExecutor> {
    others: DefaultEngine<E>,
    parquet: Arc<dyn ParquetHandler>,
}

impl HerringboneEngine {
    /// Creates the engine for the tables in a store, with a thread of its own for requests.
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

    /// Returns the default engine, whose other handlers this engine has.
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
