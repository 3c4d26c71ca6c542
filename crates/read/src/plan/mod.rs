//! The plan of a read: its rows, columns, filter and limits. A plan is plain data, so making one neither opens columns
//! nor reads bytes.

mod array_tree;
mod bounds;
mod extensions;
mod filter;
mod options;
mod row_groups;
mod row_selection;
mod virtual_columns;

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{ArrowError, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::{Error, FileMetadata, Limits, Result};
use herringbone_schema::{ArrowMapping, Leaf, ParquetSchema, to_arrow_extended};

use extensions::requests;
use row_groups::{plan_row_groups, repeats};

use super::WantedSchema;
use super::row_group::RowGroupPruner;
use super::wanted_schema::{resolve, unwanted_null, with_fields_behind};
use super::wrappers::StorageColumn;
use herringbone_core::budget::{Budget, ColumnRole};
use herringbone_core::column::ColumnPlan;
use herringbone_core::created_by::CreatedBy;
use herringbone_core::page::PageReaderOptions;
use herringbone_filter::pruning::PageIndexCells;
use herringbone_filter::{LeafSource, Predicate, ResolvedLeaf};

pub(crate) use array_tree::{ArrayNode, ArrayTree, Record, SharedList};
pub(crate) use filter::{ColumnSource, FilterPlan};
pub use options::ReadOptions;
pub use row_groups::RowGroupPlan;
pub(crate) use row_groups::{OffsetLimit, count};
pub use row_selection::RowSelection;
pub use virtual_columns::VirtualColumn;
pub(crate) use virtual_columns::VirtualValues;

/// An open file, along with everything a plan needs to know about it.
#[derive(Debug)]
#[doc(hidden)] // For `MetadataHandle`.
pub struct OpenedFile<'a> {
    pub metadata: Arc<FileMetadata>,
    /// The page indexes decoded so far. Reads add to them, so that later reads need not decode the same indexes again.
    pub page_indexes: Arc<PageIndexCells>,
    pub schema: &'a Arc<ParquetSchema>,
    /// The file's length in bytes.
    pub file_length: u64,
    /// The limits for reads without limits of their own.
    pub limits: &'a Limits,
}

/// The plan of a read, shared by everything that decodes a part of it. You rarely need this for a simple read, because
/// a reader makes its own.
///
/// `ParquetFile::plan` and `MetadataHandle::plan` create a plan from [`ReadOptions`]. A plan has the batch schema
/// before any row is read, so you can check columns and types first. Pass it to a [`PushDecoder`](crate::PushDecoder)
/// to decode the rows.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let plan = file.plan(&ReadOptions::new().columns(["price"]).row_ranges(vec![60..70]))?;
/// assert_eq!(plan.schema().field(0).name(), "price");
/// let row_groups = plan.row_groups();
/// assert_eq!((row_groups.len(), row_groups[0].ordinal()), (1, 1));
/// assert_eq!(row_groups[0].num_wanted(), 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct ReadPlan {
    pub(crate) metadata: Arc<FileMetadata>,
    page_indexes: Arc<PageIndexCells>,
    parquet_schema: Arc<ParquetSchema>,
    schema: SchemaRef,
    /// The leaves under their wanted paths, if there is a wanted schema.
    resolved: Option<Vec<ResolvedLeaf>>,
    warnings: Vec<String>,
    pub(crate) tree: Arc<ArrayTree>,
    row_groups: Arc<[RowGroupPlan]>,
    /// The most times that any row group is read.
    pub(crate) repeats: u64,
    pub(crate) options: ReadOptions,
    pub(crate) pages: Arc<PageReaderOptions>,
    pub(crate) role: ColumnRole,
    filter: Option<Arc<FilterPlan>>,
}

impl ReadPlan {
    /// Plans a read of a file. The file's limits apply unless the options have their own.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the options name columns or row groups
    /// missing from the file, and with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if row counts are invalid.
    #[doc(hidden)] // `MetadataHandle::plan` is the public way.
    pub fn new(file: &OpenedFile<'_>, options: &ReadOptions) -> Result<Self> {
        let row_groups = plan_row_groups(&file.metadata, options)?.into();
        let mut plan = Self::of_columns(file, options, ColumnRole::All, row_groups)?;
        if let Some(predicate) = &options.filter {
            plan.filter = Some(FilterPlan::new(predicate, &plan, file)?);
        }
        Ok(plan)
    }

    /// Plans a read of the columns with this role in some row groups, without a filter.
    ///
    /// # Errors
    /// Fails for the reasons that [`Self::new`] lists.
    pub(crate) fn of_columns(
        file: &OpenedFile<'_>,
        options: &ReadOptions,
        role: ColumnRole,
        row_groups: Arc<[RowGroupPlan]>,
    ) -> Result<Self> {
        let (metadata, schema) = (file.metadata.clone(), file.schema);
        let mut options = options.clone();
        let limits = options
            .limits
            .get_or_insert_with(|| file.limits.clone())
            .clone();
        let options = &options;
        let key_values = metadata.key_value_metadata();
        let requests = requests(options, &metadata, &row_groups);
        let wanted = options.wanted_schema.as_ref();
        let wanted = wanted.map(|wanted| wanted.projected(&options.projection));
        let wanted = wanted.transpose()?;
        let (mapping, roots) = match &wanted {
            None => {
                let projection = &options.projection;
                let options = &options.schema;
                (
                    to_arrow_extended(schema, key_values, options, projection, &requests)?,
                    None,
                )
            }
            Some(wanted) => {
                let resolution = resolve(wanted, schema, key_values, &options.schema, &requests)?;
                (
                    resolution.mapping,
                    Some((wanted, resolution.roots, resolution.leaves)),
                )
            }
        };
        let tree = ArrayTree::new(
            &mapping,
            roots.as_ref().map(|roots| &*roots.1),
            schema,
            options,
        )?;
        let arrow_schema = batch_schema(&mapping, roots.as_ref().map(|roots| roots.0), options)?;
        let pages = PageReaderOptions {
            file_length: file.file_length,
            verify_crc: options.verify_crc,
            limits,
            created_by: CreatedBy::new(metadata.created_by()),
            metadata: metadata.clone(),
        };
        Ok(Self {
            metadata,
            page_indexes: file.page_indexes.clone(),
            parquet_schema: schema.clone(),
            schema: arrow_schema,
            resolved: roots.map(|(_, _, leaves)| leaves),
            warnings: mapping.warnings,
            tree: Arc::new(tree),
            repeats: repeats(&row_groups),
            row_groups,
            options: options.clone(),
            pages: Arc::new(pages),
            role,
            filter: None,
        })
    }

    /// Returns the row groups with rows that might pass the filter, along with these rows. This only uses metadata in
    /// memory: the footer's statistics, and any page indexes already compared with the pages by an earlier read. The
    /// read itself rules out more, since it also has the bytes of indexes, bloom filters and dictionaries.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if a row group's statistics are invalid, and with
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if the indexes exceed the read's memory. Custom predicate errors
    /// are returned too.
    pub fn prune(&self) -> Result<Vec<RowGroupPlan>> {
        let mut left = Vec::with_capacity(self.row_groups.len());
        let (plan, budget) = (Arc::new(self.clone()), new_budget(self));
        for row_group in self.row_groups.iter() {
            let pruner = RowGroupPruner::new(plan.clone(), row_group.clone(), budget.clone())?;
            let rows = pruner.by_known_indexes()?;
            if !rows.is_empty() {
                left.push(row_group.restricted(rows.into(), row_group.maps.clone()));
            }
        }
        Ok(left)
    }

    /// Returns this read's plan with another filter. It must be at least as tight as the old one.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the filter might select rows ruled out by
    /// the old one, or if it does not fit the file. A read without a filter, but with a limit or an offset, also fails
    /// with [`Argument`](herringbone_format::ErrorKind::Argument), because these count other rows once there is a
    /// filter.
    #[doc(hidden)] // For streams, whose decoder may be with a thread.
    pub fn tightened(&self, filter: &Predicate) -> Result<Self> {
        match &self.options.filter {
            Some(old) if !filter.implies(old) => {
                return Err(Error::argument(
                    "the form of the new filter does not show that it selects only rows of the old one, so rows may be \
                     missing: combine both by `Predicate::and`",
                ));
            }
            None if self.options.limit.is_some() || self.options.offset > 0 => {
                return Err(Error::argument(
                    "a read with a limit or an offset has no filter to tighten, because they count the rows of the filter: \
                     start it with a filter",
                ));
            }
            _ => {}
        }
        let mut plan = self.clone();
        (plan.filter, plan.options.filter) = (None, Some(filter.clone()));
        let file = OpenedFile {
            metadata: self.metadata.clone(),
            page_indexes: self.page_indexes.clone(),
            schema: &self.parquet_schema,
            file_length: self.file_length(),
            limits: self.limits(),
        };
        plan.filter = Some(FilterPlan::new(filter, &plan, &file)?);
        Ok(plan)
    }

    /// Returns the read's limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.pages.limits
    }

    /// Returns the file's metadata.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        &self.metadata
    }

    /// Returns the file's page indexes decoded so far.
    pub(crate) fn page_indexes(&self) -> &Arc<PageIndexCells> {
        &self.page_indexes
    }

    /// Returns the schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the file's leaves under their wanted paths, if there is a wanted schema.
    pub(crate) fn resolved(&self) -> Option<&[ResolvedLeaf]> {
        self.resolved.as_deref()
    }

    /// Returns the ordinal of the column behind a wanted schema's field. `path` has the names from the top of the
    /// wanted schema down to the field.
    ///
    /// Returns `None` if the field is missing from the file, has fields below it or is within a list, and if there is
    /// no wanted schema.
    pub fn stored_leaf<S: AsRef<str>>(&self, path: &[S]) -> Option<usize> {
        let is_it = |it: &&ResolvedLeaf| {
            let names = it.path.iter().map(String::as_str);
            names.eq(path.iter().map(AsRef::as_ref))
        };
        match self.resolved.as_ref()?.iter().find(is_it)?.source {
            LeafSource::Leaf(leaf) => Some(leaf),
            LeafSource::Constant(_) => None,
        }
    }

    /// Returns a warning for each part of the embedded Arrow schema that was ignored because it did not match the file.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the filter's plan, if there is a filter. In that case, the [row groups](Self::row_groups) count rows
    /// before filtering.
    pub(crate) fn filter(&self) -> Option<&Arc<FilterPlan>> {
        self.filter.as_ref()
    }

    /// Returns the leaves whose pages are located to skip unselected rows, in ascending order.
    pub(crate) fn leaves_to_map(&self) -> Vec<usize> {
        let mut leaves: Vec<_> = match &self.filter {
            Some(filter) => filter.leaves().collect(),
            None => self.leaves().collect(),
        };
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Returns the file's leaf with this ordinal, or `None` if the read has no columns.
    pub(crate) fn leaf(&self, leaf: usize) -> Option<&Leaf> {
        let filter = self.filter.as_ref();
        let plans = filter.map(|filter| [filter.tested(), filter.others()]);
        let filter_columns = plans.into_iter().flatten().flat_map(|plan| plan.columns());
        // Any column will do, since each has the whole file's schema.
        let mut columns = self.columns().iter().chain(filter_columns);
        columns.next()?.schema.leaves().get(leaf)
    }

    /// Returns the file's length in bytes.
    pub(crate) fn file_length(&self) -> u64 {
        self.pages.file_length
    }

    /// Returns true if the read has a filter.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// Returns the row groups with selected rows, in read order.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroupPlan] {
        &self.row_groups
    }

    /// Returns the options of this read.
    #[must_use]
    pub fn options(&self) -> &ReadOptions {
        &self.options
    }

    pub(crate) fn columns(&self) -> &[Arc<ColumnPlan>] {
        &self.tree.columns
    }

    pub(crate) fn tree(&self) -> &[ArrayNode] {
        &self.tree.roots
    }

    /// Returns the source nodes of extension columns that aren't in the batch themselves.
    pub(crate) fn storages(&self) -> &[ArrayNode] {
        &self.tree.storages
    }

    /// Returns the extension columns. They follow the [tree](Self::tree)'s columns.
    pub(crate) fn extension_columns(&self) -> &[StorageColumn] {
        &self.tree.extension_columns
    }

    /// Returns the virtual columns. They hold each row's origin.
    pub(crate) fn virtual_columns(&self) -> &[VirtualColumn] {
        &self.options.virtual_columns
    }

    /// Returns the lists with several columns below them.
    pub(crate) fn shared_lists(&self) -> &[SharedList] {
        &self.tree.shared_lists
    }

    /// Returns the number of Parquet leaves decoded by the read.
    #[must_use]
    pub fn num_columns(&self) -> usize {
        self.tree.columns.len()
    }

    /// Returns the mean decompressed size of a column chunk in bytes. Note that this is an estimate: it trusts the row
    /// group metadata, which might be wrong.
    #[must_use]
    pub fn mean_chunk_bytes(&self) -> u64 {
        let (mut bytes, mut chunks) = (0_u64, 0_u64);
        for row_group in self.row_groups.iter() {
            let header = self.metadata.row_group_header(row_group.ordinal());
            let declared = header.map_or(0, |header| header.total_byte_size);
            bytes = bytes.saturating_add(u64::try_from(declared).unwrap_or_default());
            chunks += self.metadata.num_columns(row_group.ordinal()) as u64;
        }
        bytes / chunks.max(1)
    }

    /// Returns the ordinals of the Parquet leaves decoded by the read.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        self.columns().iter().map(|column| column.leaf)
    }

    /// Creates a batch from these columns. If they do not fit the schema, `invalid` converts the error, unless there is
    /// a wanted schema with its own message.
    pub(crate) fn record_batch(
        &self,
        arrays: Vec<ArrayRef>,
        rows: usize,
        invalid: impl FnOnce(ArrowError) -> Error,
    ) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(self.schema.clone(), arrays, &options);
        batch.map_err(|error| match self.options.wanted_schema {
            Some(_) => unwanted_null(&error),
            None => invalid(error),
        })
    }
}

/// Returns the batch schema: the read fields, then the extension columns, then the virtual columns.
fn batch_schema(
    mapping: &ArrowMapping,
    wanted: Option<&WantedSchema>,
    options: &ReadOptions,
) -> Result<SchemaRef> {
    for column in &options.virtual_columns {
        column.check()?;
    }
    let behind = options
        .virtual_columns
        .iter()
        .map(|column| column.field().clone());
    if let Some(wanted) = wanted {
        let columns = mapping.extension_columns.iter();
        let columns = columns.map(|column| column.field.clone());
        let behind: Vec<FieldRef> = columns.chain(behind).collect();
        return Ok(with_fields_behind(wanted, &behind));
    }
    if options.virtual_columns.is_empty() {
        return Ok(mapping.schema.clone());
    }
    let fields: Fields = mapping
        .schema
        .fields()
        .iter()
        .cloned()
        .chain(behind)
        .collect();
    let metadata = mapping.schema.metadata().clone();
    Ok(Arc::new(Schema::new_with_metadata(fields, metadata)))
}

/// Creates the budget for a read with this plan.
#[must_use]
pub fn new_budget(plan: &ReadPlan) -> Arc<Budget> {
    Budget::with_pool(plan.limits(), plan.options.memory_pool.clone())
}
