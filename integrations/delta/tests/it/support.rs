//! Both handlers over the local files, and their reads.

use std::path::Path;
use std::sync::Arc;

use delta_kernel::arrow::array::RecordBatch;
use delta_kernel::arrow::compute::concat_batches;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::expressions::Expression;
use delta_kernel::object_store::DynObjectStore;
use delta_kernel::object_store::local::LocalFileSystem;
use delta_kernel::schema::{
    ColumnMetadataKey, DataType, MetadataValue, SchemaRef, StructField, StructType,
};
use delta_kernel::{
    EngineData, FileDataReadResultIterator, FileMeta, KernelResult, ParquetHandler, PredicateRef,
};
use delta_kernel_default_engine::executor::tokio::TokioBackgroundExecutor;
use delta_kernel_default_engine::parquet::DefaultParquetHandler;
use herringbone_delta::HerringboneParquetHandler;
use url::Url;

/// The two handlers over one store.
pub(crate) struct Handlers {
    pub(crate) ours: HerringboneParquetHandler<TokioBackgroundExecutor>,
    pub(crate) default: DefaultParquetHandler<TokioBackgroundExecutor>,
}

impl Handlers {
    pub(crate) fn new() -> Self {
        Self::over(Arc::new(LocalFileSystem::new()))
    }

    pub(crate) fn over(store: Arc<DynObjectStore>) -> Self {
        let executor = Arc::new(TokioBackgroundExecutor::new());
        Self {
            ours: HerringboneParquetHandler::new(store.clone(), executor.clone()),
            default: DefaultParquetHandler::new(store, executor),
        }
    }
}

/// Returns the file with this name in the tests' data.
pub(crate) fn data(name: &str) -> FileMeta {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    file(&Path::new(folder).join(name))
}

pub(crate) fn file(path: &Path) -> FileMeta {
    let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    // We resolve the path, because the default engine opens no path with `..` in it, as
    // `PARQUET_TEST_DATA` may have.
    let path = std::path::absolute(path).unwrap();
    let path = path.canonicalize().unwrap_or(path);
    FileMeta::new(Url::from_file_path(path).unwrap(), 0, size)
}

pub(crate) fn batches(read: FileDataReadResultIterator) -> KernelResult<Vec<RecordBatch>> {
    read.map(|data| record_batch(data?)).collect()
}

pub(crate) fn record_batch(data: Box<dyn EngineData>) -> KernelResult<RecordBatch> {
    Ok((*ArrowEngineData::try_from_engine_data(data)?).into())
}

pub(crate) fn engine_data(batch: RecordBatch) -> Box<dyn EngineData> {
    Box::new(ArrowEngineData::new(batch))
}

/// Reads all rows as one batch. There must be at least one row.
pub(crate) fn read(
    handler: &dyn ParquetHandler,
    files: &[FileMeta],
    schema: &SchemaRef,
    predicate: Option<PredicateRef>,
) -> KernelResult<RecordBatch> {
    let batches = batches(handler.read_parquet_files(files, schema.clone(), predicate)?)?;
    Ok(concat_batches(batches[0].schema_ref(), &batches)?)
}

/// Reads files with both handlers, and returns the rows if both agree, including the schemas.
pub(crate) fn read_as_default(files: &[FileMeta], schema: &SchemaRef) -> RecordBatch {
    let handlers = Handlers::new();
    let ours = read(&handlers.ours, files, schema, None).unwrap();
    let theirs = read(&handlers.default, files, schema, None).unwrap();
    assert_eq!(ours, theirs);
    ours
}

pub(crate) fn schema(fields: impl IntoIterator<Item = StructField>) -> SchemaRef {
    Arc::new(StructType::try_new(fields).unwrap())
}

pub(crate) fn nullable(name: &str, data_type: impl Into<DataType>) -> StructField {
    StructField::nullable(name, data_type)
}

/// Returns the field with this field id.
pub(crate) fn with_id(field: StructField, id: i64) -> StructField {
    let key = ColumnMetadataKey::ParquetFieldId.as_ref().to_owned();
    field.with_metadata([(key, MetadataValue::Number(id))])
}

pub(crate) fn col(name: &str) -> Expression {
    Expression::column([name])
}
