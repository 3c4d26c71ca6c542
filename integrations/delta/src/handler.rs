//! The kernel's handler for Parquet files.

use std::fmt;
use std::sync::Arc;

use delta_kernel::arrow::datatypes::{DataType, Field, FieldRef, Fields, Schema};
use delta_kernel::engine::arrow_conversion::TryFromArrow as _;
use delta_kernel::object_store::DynObjectStore;
use delta_kernel::schema::{SchemaRef, StructType};
use delta_kernel::{
    CancellationTokenRef, EngineData, FileDataReadResultIterator, FileMeta, FileSize, KernelError,
    KernelResult, KernelResultIteratorStatic, ParquetFooter, ParquetHandler, PredicateRef,
};
use delta_kernel_default_engine::executor::TaskExecutor;
use herringbone::SchemaOptions;
use herringbone::schema::{FIELD_ID_KEY, to_arrow};
use url::Url;

use crate::error::in_file;
use crate::read::{Batches, Scan, open};
use crate::wanted::Wanted;
use crate::write::write_file;

/// The handler for the Parquet files in a store.
///
/// - **Reads** return rows in the order of the files, in batches of up to 8192 rows. The executor
///   works ahead of you: it decodes the next batches and opens the next files. The predicate rules
///   out row groups, pages and rows.
/// - **Values that do not fit** the wanted type are errors, for example milliseconds beyond the
///   range of microseconds. Nanoseconds are truncated toward zero.
/// - **INT96 timestamps** are read as microseconds, so that dates after the year 2262 are right.
/// - **Writes** are atomic. Files do not contain an Arrow schema.
pub struct HerringboneParquetHandler<E: TaskExecutor> {
    store: Arc<DynObjectStore>,
    executor: Arc<E>,
}

impl<E: TaskExecutor> HerringboneParquetHandler<E> {
    /// Creates the handler. The executor sends the requests, and if it is a tokio runtime, its
    /// blocking threads decode.
    #[must_use]
    pub fn new(store: Arc<DynObjectStore>, executor: Arc<E>) -> Self {
        Self { store, executor }
    }
}

impl<E: TaskExecutor> fmt::Debug for HerringboneParquetHandler<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HerringboneParquetHandler")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl<E: TaskExecutor> ParquetHandler for HerringboneParquetHandler<E> {
    fn read_parquet_files(
        &self,
        files: &[FileMeta],
        physical_schema: SchemaRef,
        predicate: Option<PredicateRef>,
    ) -> KernelResult<FileDataReadResultIterator> {
        self.read_parquet_files_with_cancellation(files, physical_schema, predicate, None)
    }

    fn read_parquet_files_with_cancellation(
        &self,
        files: &[FileMeta],
        physical_schema: SchemaRef,
        predicate: Option<PredicateRef>,
        cancellation_token: Option<CancellationTokenRef>,
    ) -> KernelResult<FileDataReadResultIterator> {
        if cancellation_token
            .as_ref()
            .is_some_and(|token| token.is_cancelled())
        {
            return Err(KernelError::Cancelled);
        }
        let scan = Scan {
            store: self.store.clone(),
            wanted: Arc::new(Wanted::new(&physical_schema)?),
            predicate,
        };
        let (executor, files) = (self.executor.clone(), files.to_vec());
        let batches = Batches::start(executor, scan, files, cancellation_token);
        Ok(Box::new(batches))
    }

    fn write_parquet_file(
        &self,
        location: Url,
        data: KernelResultIteratorStatic<Box<dyn EngineData>>,
    ) -> KernelResult<FileSize> {
        write_file(self.executor.as_ref(), &self.store, &location, data)
    }

    fn read_parquet_footer(&self, file: &FileMeta) -> KernelResult<ParquetFooter> {
        let (store, file) = (self.store.clone(), file.clone());
        let declared = self.executor.block_on(async move {
            let opened = open(&store, &file).await?;
            let declared = to_arrow(opened.parquet_schema(), &[], &SchemaOptions::default());
            declared.map_err(|error| in_file(file.location.as_str(), error))
        });
        let schema = Schema::new(with_ids_only(declared?.0.fields()));
        Ok(ParquetFooter {
            schema: Arc::new(StructType::try_from_arrow(&schema)?),
        })
    }
}

/// Returns the fields with field ids as their only metadata, because the kernel would keep all of a
/// column's metadata.
fn with_ids_only(fields: &Fields) -> Fields {
    let field = |field: &FieldRef| {
        let data_type = match field.data_type() {
            DataType::Struct(fields) => DataType::Struct(with_ids_only(fields)),
            DataType::List(element) => DataType::List(only_id(element)),
            DataType::Map(entries, is_sorted) => DataType::Map(only_id(entries), *is_sorted),
            other => other.clone(),
        };
        let id = field.metadata().get_key_value(FIELD_ID_KEY);
        let metadata = id.map(|(key, id)| (key.clone(), id.clone()));
        Field::new(field.name(), data_type, field.is_nullable())
            .with_metadata(metadata.into_iter().collect())
    };
    fields.iter().map(field).collect()
}

/// Returns a field in the way of [`with_ids_only`].
fn only_id(field: &FieldRef) -> FieldRef {
    let fields = with_ids_only(&Fields::from(vec![field.clone()]));
    fields.first().unwrap_or(field).clone()
}
