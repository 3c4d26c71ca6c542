//! The options for the read of one file.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{FieldRef, Fields, Schema, SchemaRef};
use datafusion_common::{Result, ScalarValue, not_impl_err};
use datafusion_datasource::PartitionedFile;
use datafusion_physical_expr::projection::ProjectionExprs;
use datafusion_physical_expr_adapter::replace_columns_with_literals;
use datafusion_physical_expr_adapter::rewrite::rewrite_input_file_name_in_projection;
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use herringbone::{MetadataHandle, ReadOptions, RowSelection, SchemaOptions, VirtualColumn};

use super::Scan;
use super::closure::ClosureContext;
use super::filter::{FileFilter, translate};
use super::metrics::FileMetrics;
use super::narrow::narrow;
use super::splits::part;
use crate::bounds::FileBounds;
use crate::file_schema::{read_schema, stored_schema, wanted_schema};
use crate::memory::FileMemory;
use crate::options::{pruning_steps, schema_options};
use crate::source::is_row_index;

/// The read of one file or a part of it.
pub(crate) struct FileRead {
    pub(crate) options: ReadOptions,
    /// The output, as expressions over the decoded columns.
    pub(crate) projection: ProjectionExprs,
}

/// A scan's expressions, over the columns of one file.
struct FileExprs {
    /// The columns that the table and the file both have.
    schema: SchemaRef,
    /// The file's columns as they are stored.
    stored: SchemaRef,
    projection: ProjectionExprs,
    predicate: Option<Arc<dyn PhysicalExpr>>,
}

impl FileRead {
    /// Plans the read, or returns `None` if no row is selected.
    ///
    /// # Errors
    /// Fails with Corrupt or Unsupported if the file cannot be read as the table.
    pub(crate) fn new(
        scan: &Scan,
        file: &PartitionedFile,
        handle: &MetadataHandle,
        metrics: &FileMetrics,
    ) -> Result<Option<Self>> {
        let mut schema_options = schema_options(&scan.options)?;
        schema_options.arrow_schema = file.arrow_schema.clone();
        let exprs = FileExprs::new(scan, file, handle, &schema_options)?;
        let conjuncts = match &exprs.predicate {
            None => Vec::new(),
            Some(predicate) => match FileFilter::new(predicate, &exprs.schema)? {
                FileFilter::Nothing => return Ok(None),
                FileFilter::Everything => Vec::new(),
                FileFilter::Of(conjuncts) => conjuncts,
            },
        };
        let Some(mut options) = rows(file, handle)? else {
            return Ok(None);
        };
        let projected = || exprs.projection.iter().map(|projection| &projection.expr);
        let schema = narrow(&exprs.schema, projected().chain(&conjuncts));
        let emitted = narrow(&exprs.schema, projected());
        let needs_bounds = !conjuncts.is_empty() || scan.order.is_some();
        let bounds = needs_bounds.then(|| FileBounds::new(handle, &schema_options, &exprs.schema));
        let bounds = bounds.transpose()?;
        if let (Some(order), Some(bounds)) = (&scan.order, &bounds) {
            let all = (0..handle.metadata().num_row_groups()).collect();
            let mut row_groups = options.row_groups.take().unwrap_or(all);
            order.row_groups(&mut row_groups, bounds);
            options.row_groups = Some(row_groups);
        }
        let context = ClosureContext {
            schema: &schema,
            stored: &exprs.stored,
            bounds: bounds.as_ref().filter(|_| scan.options.global.pruning),
            evaluates: scan.evaluates,
            max_in_list_size: scan.options.global.max_in_list_size,
            metrics,
        };
        options.filter = translate(&conjuncts, &context)?;
        options = options
            .schema(schema_options)
            .columns(emitted.fields().iter().map(|field| field.name().clone()))
            .wanted_schema(wanted_schema(schema))
            .pruning(pruning_steps(&scan.options))
            .threads(1)
            .tune_allocator(false);
        options.virtual_columns = virtual_columns(scan, &exprs.projection)?;
        options.limit = scan.limit.map(|limit| limit as u64);
        if let Some(batch_size) = scan.batch_size {
            // `batch_bytes` keeps its default. It cuts 8192 rows only if a row has more than 16
            // KiB, and without it larger batches may exceed the read's memory, which would be an
            // error.
            options.batch_size = batch_size;
        }
        if let Some(pool) = &scan.memory {
            let consumer = format!("HerringboneScan[{}]", scan.partition);
            let memory = FileMemory::of_scan(pool, consumer, scan.partitions);
            options = options.memory_pool(Arc::new(memory));
        }
        Ok(Some(Self {
            options,
            projection: exprs.projection,
        }))
    }
}

impl FileExprs {
    fn new(
        scan: &Scan,
        file: &PartitionedFile,
        handle: &MetadataHandle,
        options: &SchemaOptions,
    ) -> Result<Self> {
        let table = &scan.table_schema;
        let stored = stored_schema(handle, options)?;
        let schema = read_schema(handle, options, table.file_schema(), &stored);
        let partitions = table
            .table_partition_cols()
            .iter()
            .map(|field| field.name().as_str());
        let literals: HashMap<&str, &ScalarValue> =
            partitions.zip(&file.partition_values).collect();
        let with_virtual = |schema: &Schema| {
            let fields = schema.fields().iter().chain(table.virtual_columns());
            Arc::new(Schema::new(fields.cloned().collect::<Fields>()))
        };
        let adapter = scan
            .adapter
            .create(with_virtual(table.file_schema()), with_virtual(&schema))?;
        let rewrite = |expr: Arc<dyn PhysicalExpr>| {
            adapter.rewrite(replace_columns_with_literals(expr, &literals)?)
        };
        let name = file.object_meta.location.as_ref();
        let projection = rewrite_input_file_name_in_projection(scan.projection.clone(), name)?;
        Ok(Self {
            projection: projection.try_map_exprs(rewrite)?,
            predicate: scan.predicate.clone().map(rewrite).transpose()?,
            schema,
            stored,
        })
    }
}

/// Returns options that select the rows of a part of a file, or `None` if the part has no rows.
fn rows(file: &PartitionedFile, handle: &MetadataHandle) -> Result<Option<ReadOptions>> {
    let mut options = ReadOptions::new();
    if let Some(range) = &file.range {
        let part = part(handle, range)?;
        if part.row_groups.is_empty() {
            return Ok(None);
        }
        options.row_groups = Some(part.row_groups);
        options.row_ranges = part.row_ranges;
    }
    if let Some(selection) = file.extension::<RowSelection>() {
        options = options.row_selection(selection.clone());
    }
    Ok(Some(options))
}

/// Returns the virtual columns that the projection looks at.
fn virtual_columns(scan: &Scan, projection: &ProjectionExprs) -> Result<Vec<VirtualColumn>> {
    let fields = scan.table_schema.virtual_columns();
    if fields.is_empty() {
        return Ok(Vec::new());
    }
    let projected = projection.iter().map(|projection| &projection.expr);
    let used = narrow(&Schema::new(fields.clone()), projected);
    let column = |field: &FieldRef| match is_row_index(field) {
        true => Ok(VirtualColumn::row_number(field.name()).metadata(field.metadata().clone())),
        false => not_impl_err!("the virtual column {}", field.name()),
    };
    used.fields().iter().map(column).collect()
}
