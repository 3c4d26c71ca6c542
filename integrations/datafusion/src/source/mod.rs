//! A scan's source and the parts of a query that are pushed down into it.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion_common::config::{ConfigOptions, TableParquetOptions};
use datafusion_common::tree_node::TreeNodeRecursion;
use datafusion_common::{Result, internal_err};
use datafusion_datasource::file::FileSource;
use datafusion_datasource::file_scan_config::FileScanConfig;
use datafusion_datasource::file_stream::FileOpener;
use datafusion_datasource::morsel::Morselizer;
use datafusion_datasource::{PartitionedFile, TableSchema};
use datafusion_execution::cache::cache_manager::FileMetadataCache;
use datafusion_execution::memory_pool::MemoryPool;
use datafusion_execution::runtime_env::RuntimeEnv;
use datafusion_functions::core::file_row_index::FileRowIndexFunc;
use datafusion_physical_expr::expressions::{DynamicFilterPhysicalExpr, DynamicFilterTracking};
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr::utils::{collect_columns, conjunction, split_conjunction};
use datafusion_physical_expr::{EquivalenceProperties, PhysicalSortExpr};
use datafusion_physical_expr_adapter::DefaultPhysicalExprAdapterFactory;
use datafusion_physical_expr_adapter::rewrite::{
    expr_references_scalar_udf, rewrite_file_row_index_projection,
};
use datafusion_physical_expr_common::physical_expr::{PhysicalExpr, fmt_sql, is_volatile};
use datafusion_physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion_physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion_physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use object_store::ObjectStore;

use crate::encryption::TableKeys;
use crate::footer::FileAccess;
use crate::object::RequestOptions;
use crate::options::pushes_down;
use crate::scan::{FileMorselizer, Scan};

mod row_index;
mod sort;
#[cfg(feature = "proto")]
mod wire;

pub(crate) use row_index::is_row_index;
pub(crate) use sort::ReadOrder;
#[cfg(feature = "proto")]
pub(crate) use wire::Pushed;

/// The source for a scan over Parquet files.
#[derive(Clone)]
pub struct HerringboneSource {
    table_schema: TableSchema,
    /// The output columns, as expressions over the table columns.
    projection: ProjectionExprs,
    /// The conjunction of the pushed filters.
    predicate: Option<Arc<dyn PhysicalExpr>>,
    /// True if the scan evaluates the filters, false if it only prunes with them.
    evaluates: bool,
    /// The order in which row groups are read.
    order: Option<ReadOrder>,
    options: Arc<TableParquetOptions>,
    keys: TableKeys,
    batch_size: Option<usize>,
    metrics: ExecutionPlanMetricsSet,
    cache: Option<Arc<FileMetadataCache>>,
    memory: Option<Arc<dyn MemoryPool>>,
}

impl HerringboneSource {
    /// Creates a source that has all of a table's columns.
    #[must_use]
    pub fn new(table_schema: TableSchema) -> Self {
        let all: Vec<usize> = (0..table_schema.table_schema().fields().len()).collect();
        Self {
            projection: ProjectionExprs::from_indices(&all, table_schema.table_schema()),
            table_schema,
            predicate: None,
            evaluates: true,
            order: None,
            options: Arc::default(),
            keys: TableKeys::default(),
            batch_size: None,
            metrics: ExecutionPlanMetricsSet::new(),
            cache: None,
            memory: None,
        }
    }

    /// Sets the table options and keys.
    pub(crate) fn of_format(self, options: Arc<TableParquetOptions>, keys: TableKeys) -> Self {
        Self {
            options,
            keys,
            ..self
        }
    }

    /// Uses a runtime's metadata cache and memory pool.
    #[must_use]
    pub fn with_runtime(self, runtime: &RuntimeEnv) -> Self {
        Self {
            cache: Some(runtime.cache_manager.get_file_metadata_cache()),
            memory: Some(runtime.memory_pool.clone()),
            ..self
        }
    }

    /// Returns true if the scan can evaluate a filter.
    fn takes(&self, filter: &Arc<dyn PhysicalExpr>) -> bool {
        // We exclude virtual columns, because they are made after the filter was evaluated.
        let schema = self.table_schema.schema_without_virtual_columns();
        !is_volatile(filter) && has_columns(filter, schema) && !has_nested_keys(filter, schema)
    }
}

/// Returns true if an expression is a dynamic filter over keys of a nested type. We do not take
/// such a filter, because a join fails if it must compute the keys' bounds.
fn has_nested_keys(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let is_nested = |key: &&Arc<dyn PhysicalExpr>| {
        let data_type = key.data_type(schema);
        data_type.is_ok_and(|data_type| data_type.is_nested())
    };
    expr.downcast_ref::<DynamicFilterPhysicalExpr>().is_some()
        && expr.children().iter().any(is_nested)
}

/// Returns true if the schema has all of an expression's columns.
fn has_columns(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> bool {
    let columns = collect_columns(expr);
    columns
        .iter()
        .all(|column| schema.field_with_name(column.name()).is_ok())
}

impl fmt::Debug for HerringboneSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HerringboneSource")
            .field("projection", &self.projection)
            .field("predicate", &self.predicate)
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

impl FileSource for HerringboneSource {
    fn create_file_opener(
        &self,
        _object_store: Arc<dyn ObjectStore>,
        _base_config: &FileScanConfig,
        _partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        internal_err!("files are read in morsels: call create_morselizer")
    }

    fn create_morselizer(
        &self,
        object_store: Arc<dyn ObjectStore>,
        base_config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let adapter = base_config.expr_adapter_factory.clone();
        let is_dynamic =
            |predicate| DynamicFilterTracking::classify(predicate).contains_dynamic_filter();
        let mut requests = RequestOptions::new(&self.options);
        requests.is_local = base_config.object_store_url.as_str().starts_with("file:");
        // We do not look ahead for a `TopK`, because it may rule out the next row group after it
        // has seen this one.
        requests.looks_ahead =
            self.order.is_none() || !self.predicate.as_ref().is_some_and(is_dynamic);
        let scan = Scan {
            access: FileAccess {
                store: object_store,
                cache: self.cache.clone().filter(|_| !self.keys.can_decrypt()),
                requests,
            },
            keys: self.keys.clone(),
            table_schema: self.table_schema.clone(),
            output: Arc::new(
                self.projection
                    .project_schema(self.table_schema.table_schema())?,
            ),
            projection: self.projection.clone(),
            predicate: self.predicate.clone(),
            evaluates: self.evaluates,
            order: self.order.clone(),
            options: self.options.clone(),
            adapter: adapter.unwrap_or_else(|| Arc::new(DefaultPhysicalExprAdapterFactory)),
            limit: base_config.limit,
            batch_size: self.batch_size,
            metrics: self.metrics.clone(),
            partition,
            partitions: base_config.file_groups.len(),
            memory: self.memory.clone(),
        };
        Ok(Box::new(FileMorselizer::new(scan)))
    }

    fn table_schema(&self) -> &TableSchema {
        &self.table_schema
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        Arc::new(Self {
            batch_size: Some(batch_size),
            ..self.clone()
        })
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.predicate.clone()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        Some(&self.projection)
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        &self.metrics
    }

    fn file_type(&self) -> &str {
        "parquet"
    }

    fn fmt_extra(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let DisplayFormatType::TreeRender = t {
            writeln!(f, "reader=herringbone")?;
            return match &self.predicate {
                Some(predicate) => writeln!(f, "predicate={}", fmt_sql(predicate.as_ref())),
                None => Ok(()),
            };
        }
        f.write_str(", reader=herringbone")?;
        if let Some(predicate) = &self.predicate {
            let name = if self.evaluates {
                "predicate"
            } else {
                "pruning_predicate"
            };
            write!(f, ", {name}={predicate}")?;
            if DynamicFilterTracking::classify(predicate).contains_dynamic_filter() {
                f.write_str(", dynamic_rg_pruning=eligible")?;
            }
        }
        match &self.order {
            Some(order) => write!(f, ", {order}"),
            None => Ok(()),
        }
    }

    fn try_pushdown_projection(
        &self,
        projection: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn FileSource>>> {
        let is_row_index = |expr| expr_references_scalar_udf::<FileRowIndexFunc>(expr);
        if !projection
            .iter()
            .any(|projection| is_row_index(&projection.expr))
        {
            let projection = self.projection.try_merge(projection)?;
            return Ok(Some(Arc::new(Self {
                projection,
                ..self.clone()
            })));
        }
        let (table_schema, column) = row_index::with_row_index(&self.table_schema);
        let projection = rewrite_file_row_index_projection(&self.projection, projection, &column)?;
        Ok(Some(Arc::new(Self {
            table_schema,
            projection,
            ..self.clone()
        })))
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let taken: Vec<bool> = filters.iter().map(|filter| self.takes(filter)).collect();
        let evaluates = pushes_down(config);
        let verdict = |taken: &bool| {
            if *taken && evaluates {
                PushedDown::Yes
            } else {
                PushedDown::No
            }
        };
        let verdicts = taken.iter().map(verdict).collect();
        let result = FilterPushdownPropagation::with_parent_pushdown_result(verdicts);
        if !taken.contains(&true) {
            return Ok(result);
        }
        // We add a filter only once, because an optimizer may push it twice. Note that dynamic
        // filters only equal themselves.
        let mut all: Vec<_> = self
            .predicate
            .iter()
            .flat_map(split_conjunction)
            .cloned()
            .collect();
        let taken = filters.iter().zip(taken).filter(|(_, taken)| *taken);
        for filter in taken.flat_map(|(filter, _)| split_conjunction(filter)) {
            if !all.contains(filter) {
                all.push(filter.clone());
            }
        }
        let predicate = Some(conjunction(all));
        Ok(result.with_updated_node(Arc::new(Self {
            predicate,
            evaluates,
            ..self.clone()
        })))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        eq_properties: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        let file_schema = self.table_schema.file_schema();
        let result = sort::push_down(order, eq_properties, file_schema)?;
        Ok(match result {
            sort::SortPushdown::Exact => SortOrderPushdownResult::Exact {
                inner: Arc::new(self.clone()),
            },
            sort::SortPushdown::Inexact(order) => {
                let source = Self {
                    order: Some(order),
                    ..self.clone()
                };
                SortOrderPushdownResult::Inexact {
                    inner: Arc::new(source),
                }
            }
            sort::SortPushdown::Unsupported => SortOrderPushdownResult::Unsupported,
        })
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        match &self.order {
            Some(order) => order.files(files, self.table_schema.table_schema()),
            None => files,
        }
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        let projected = self.projection.iter().map(|projection| &projection.expr);
        datafusion_physical_plan::apply_expression_roots(self.predicate.iter().chain(projected), f)
    }
}
