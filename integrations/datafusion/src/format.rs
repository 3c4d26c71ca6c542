//! The file format, which provides the schemas, statistics and orderings of tables, and the plans
//! of scans and sinks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion_common::config::TableParquetOptions;
use datafusion_common::parsers::CompressionTypeVariant;
use datafusion_common::{
    GetExt, Result, Statistics, internal_datafusion_err, internal_err, not_impl_err,
};
use datafusion_datasource::TableSchema;
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_compression_type::FileCompressionType;
use datafusion_datasource::file_format::{FileFormat, FileFormatFactory, FileMeta};
use datafusion_datasource::file_scan_config::{FileScanConfig, FileScanConfigBuilder};
use datafusion_datasource::file_sink_config::FileSinkConfig;
use datafusion_datasource::sink::DataSinkExec;
use datafusion_datasource::source::DataSourceExec;
use datafusion_expr::dml::InsertOp;
use datafusion_physical_expr::{LexOrdering, LexRequirement};
use datafusion_physical_plan::ExecutionPlan;
use datafusion_session::Session;
use futures::{StreamExt, TryStreamExt};
use herringbone_remote::RemoteFile;
use object_store::{ObjectMeta, ObjectStore};

use crate::encryption::{KeyFactory, TableKeys};
use crate::error::in_file;
use crate::file_schema::{inferred_schema, table_schema};
use crate::footer::FileAccess;
use crate::object::RequestOptions;
use crate::ordering::ordering;
use crate::sink::HerringboneSink;
use crate::source::HerringboneSource;
use crate::statistics::{TableColumns, statistics};
use crate::{options, partitions, sink};

/// The file extension of Parquet files.
const EXTENSION: &str = "parquet";

/// A factory that creates [`HerringboneFormat`]s for tables `STORED AS PARQUET`.
#[derive(Clone)]
pub struct HerringboneFormatFactory {
    options: HashMap<String, String>,
    keys: Option<Arc<dyn KeyFactory>>,
}

impl HerringboneFormatFactory {
    /// Creates a factory whose tables have the session options, changed by each table's own.
    #[must_use]
    pub fn new() -> Self {
        Self {
            options: HashMap::new(),
            keys: None,
        }
    }

    /// Sets options for all tables, unless a table has its own options, which win.
    #[must_use]
    pub fn with_options(self, options: HashMap<String, String>) -> Self {
        Self { options, ..self }
    }

    /// Sets the source of keys for encrypted files.
    #[must_use]
    pub fn with_key_factory(self, keys: Arc<dyn KeyFactory>) -> Self {
        let keys = Some(keys);
        Self { keys, ..self }
    }
}

#[cfg(feature = "proto")]
impl HerringboneFormatFactory {
    pub(crate) fn parts(&self) -> (&HashMap<String, String>, Option<&Arc<dyn KeyFactory>>) {
        (&self.options, self.keys.as_ref())
    }
}

impl Default for HerringboneFormatFactory {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for HerringboneFormatFactory {
    /// Formats the factory. `EXPLAIN COPY` shows this as the file's type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("parquet (herringbone)")
    }
}

impl GetExt for HerringboneFormatFactory {
    fn get_ext(&self) -> String {
        EXTENSION.to_owned()
    }
}

impl FileFormatFactory for HerringboneFormatFactory {
    fn create(
        &self,
        state: &dyn Session,
        format_options: &HashMap<String, String>,
    ) -> Result<Arc<dyn FileFormat>> {
        let mut all = self.options.clone();
        all.extend(format_options.clone());
        let options = options::table_options(state, &all)?;
        let keys = TableKeys::new(&options, self.keys.clone())?;
        Ok(Arc::new(HerringboneFormat {
            options: Arc::new(options),
            keys,
        }))
    }

    fn default(&self) -> Arc<dyn FileFormat> {
        Arc::new(HerringboneFormat::default())
    }
}

/// The Parquet format, which Herringbone reads and writes.
#[derive(Debug, Default, Clone)]
pub struct HerringboneFormat {
    options: Arc<TableParquetOptions>,
    keys: TableKeys,
}

impl HerringboneFormat {
    /// Creates a format with these options.
    ///
    /// # Errors
    /// Fails with Configuration if an option is not supported, or if a key is not valid.
    pub fn new(options: TableParquetOptions) -> Result<Self> {
        options::check(&options)?;
        let keys = TableKeys::new(&options, None)?;
        Ok(Self {
            options: Arc::new(options),
            keys,
        })
    }

    /// Returns the options.
    #[must_use]
    pub fn options(&self) -> &TableParquetOptions {
        &self.options
    }

    /// Returns the options and keys.
    #[cfg(feature = "proto")]
    pub(crate) fn parts(&self) -> (&TableParquetOptions, &TableKeys) {
        (&self.options, &self.keys)
    }

    /// Creates a format from its options and keys.
    #[cfg(feature = "proto")]
    pub(crate) fn of_parts(options: Arc<TableParquetOptions>, keys: TableKeys) -> Self {
        Self { options, keys }
    }

    async fn open(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        object: &ObjectMeta,
    ) -> Result<RemoteFile> {
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let access = FileAccess {
            store: store.clone(),
            cache: Some(cache).filter(|_| !self.keys.can_decrypt()),
            requests: RequestOptions::new(&self.options),
        };
        let decryption = self.keys.decryption(&object.location).await?;
        access.open(object, decryption).await
    }

    /// Finds a table's columns in a file.
    fn columns<'a>(
        &self,
        file: &'a RemoteFile,
        table_schema: &'a SchemaRef,
        object: &ObjectMeta,
    ) -> Result<TableColumns<'a>> {
        TableColumns::new(file.metadata_handle(), &self.options, table_schema)
            .map_err(|error| in_file(&object.location, error))
    }
}

#[async_trait]
impl FileFormat for HerringboneFormat {
    fn get_ext(&self) -> String {
        EXTENSION.to_owned()
    }

    fn get_ext_with_compression(&self, compression: &FileCompressionType) -> Result<String> {
        match compression.get_variant() {
            CompressionTypeVariant::UNCOMPRESSED => Ok(self.get_ext()),
            other => internal_err!("Parquet files are not compressed as a whole: {other:?}"),
        }
    }

    fn compression_type(&self) -> Option<FileCompressionType> {
        None
    }

    async fn infer_schema(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        objects: &[ObjectMeta],
    ) -> Result<SchemaRef> {
        let at_once = state
            .config_options()
            .execution
            .meta_fetch_concurrency
            .get();
        let schema = |object| async move {
            let file = self.open(state, store, object).await?;
            let schema = inferred_schema(file.metadata_handle(), &self.options)
                .map_err(|error| in_file(&object.location, error))?;
            Ok::<_, datafusion_common::DataFusionError>((object.location.clone(), schema))
        };
        let schemas = futures::stream::iter(objects).map(schema).boxed();
        let mut schemas: Vec<_> = schemas.buffer_unordered(at_once).try_collect().await?;
        // We sort the files by location, because a store may list them in any order, and the
        // columns should have the order in which the files have them.
        schemas.sort_by(|(one, _), (other, _)| one.cmp(other));
        let merged = Schema::try_merge(schemas.into_iter().map(|(_, schema)| schema))?;
        Ok(table_schema(&merged, &self.options))
    }

    async fn infer_stats(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Statistics> {
        let file = self.open(state, store, object).await?;
        let columns = self.columns(&file, &table_schema, object)?;
        Ok(statistics(&columns))
    }

    async fn infer_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<Option<LexOrdering>> {
        let file = self.open(state, store, object).await?;
        let columns = self.columns(&file, &table_schema, object)?;
        Ok(ordering(&columns))
    }

    async fn infer_stats_and_ordering(
        &self,
        state: &dyn Session,
        store: &Arc<dyn ObjectStore>,
        table_schema: SchemaRef,
        object: &ObjectMeta,
    ) -> Result<FileMeta> {
        let file = self.open(state, store, object).await?;
        let columns = self.columns(&file, &table_schema, object)?;
        Ok(FileMeta::new(statistics(&columns)).with_ordering(ordering(&columns)))
    }

    async fn create_physical_plan(
        &self,
        state: &dyn Session,
        conf: FileScanConfig,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let source = conf.file_source().downcast_ref::<HerringboneSource>();
        let source = source
            .ok_or_else(|| internal_datafusion_err!("the scan has the source of another format"))?;
        partitions::check(&conf)?;
        let source = source
            .clone()
            .of_format(self.options.clone(), self.keys.clone());
        let source = source.with_runtime(state.runtime_env());
        let conf = FileScanConfigBuilder::from(conf)
            .with_source(Arc::new(source))
            .build();
        Ok(DataSourceExec::from_data_source(conf))
    }

    async fn create_writer_physical_plan(
        &self,
        input: Arc<dyn ExecutionPlan>,
        _state: &dyn Session,
        conf: FileSinkConfig,
        order_requirements: Option<LexRequirement>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if conf.insert_op != InsertOp::Append {
            return not_impl_err!("Parquet files are only added to a table: use INSERT INTO");
        }
        sink::check(&self.options)?;
        let sink = HerringboneSink::new(conf, self.options.clone(), self.keys.clone())
            .with_order(order_requirements.as_ref());
        Ok(Arc::new(DataSinkExec::new(
            input,
            Arc::new(sink),
            order_requirements,
        )))
    }

    fn file_source(&self, table_schema: TableSchema) -> Arc<dyn FileSource> {
        let source = HerringboneSource::new(table_schema);
        Arc::new(source.of_format(self.options.clone(), self.keys.clone()))
    }
}
