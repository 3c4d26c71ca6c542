//! What a read comes to: which rows of which column chunks.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use herringbone_arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use herringbone_arrow::schema::{ArrowError, FieldRef, Fields, Schema, SchemaRef};
use herringbone_format::modular_encryption::{KeyRequest, KeyStep};
use herringbone_format::{AlikeChunks, Error, FileMetadata, ReadableChunk, Result};
use herringbone_schema::{ArrowMapping, Leaf, ParquetSchema, to_arrow_extended};

use super::array_node::{ArrayNode, ArrayTree};
use super::extensions::{KeptColumn, requests};
use super::filter_plan::FilterPlan;
use super::pruner::RowGroupPruner;
use super::push::Needs;
use super::row_group::{Chunk, OpenRowGroup};
use super::siblings::SharedList;
use super::wanted_rows::{RowGroupPlan, plan_row_groups, repeats};
use super::wanted_schema::{ResolvedLeaf, resolve, unwanted_null, with_fields_behind};
use super::{ReadOptions, VirtualColumn, WantedSchema};
use crate::budget::{Budget, ColumnRole};
use crate::column::{ColumnPlan, WantedRows};
use crate::created_by::CreatedBy;
use crate::page::PageReaderOptions;

/// Columns from which on it pays to look whether their chunks are alike.
const MANY_COLUMNS: usize = 64;

/// What a read comes to; shared by everything that decodes a part of it.
#[derive(Debug)]
pub struct ReadPlan {
    pub(super) metadata: Arc<FileMetadata>,
    schema: SchemaRef,
    /// The leaves under their wanted paths, where there is a wanted schema.
    resolved: Option<Vec<ResolvedLeaf>>,
    warnings: Vec<String>,
    tree: Arc<ArrayTree>,
    row_groups: Vec<RowGroupPlan>,
    /// How often the same row group is read, at most.
    repeats: u64,
    pub(super) options: ReadOptions,
    pages: Arc<PageReaderOptions>,
    pub(super) role: ColumnRole,
    filter: Option<Arc<FilterPlan>>,
}

impl ReadPlan {
    /// Plans a read of the file that `metadata` and `schema` describe.
    ///
    /// # Errors
    /// Argument where the options name columns or row groups that the file does not have; Corrupt
    /// where row counts make no sense.
    pub fn new(
        metadata: Arc<FileMetadata>,
        schema: &ParquetSchema,
        file_length: u64,
        options: &ReadOptions,
    ) -> Result<Self> {
        Self::of_columns(metadata, schema, file_length, (options, ColumnRole::All))
    }

    /// The same, of columns that are read for this.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub(super) fn of_columns(
        metadata: Arc<FileMetadata>,
        schema: &ParquetSchema,
        file_length: u64,
        (options, role): (&ReadOptions, ColumnRole),
    ) -> Result<Self> {
        let key_values = metadata.key_value_metadata();
        let row_groups = plan_row_groups(&metadata, options)?;
        let requests = requests(options, &metadata, &row_groups);
        let wanted = options.wanted_schema.as_ref();
        let wanted = wanted.map(|it| it.projected(&options.projection));
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
        let tree = ArrayTree::new(&mapping, roots.as_ref().map(|it| &*it.1), schema, options)?;
        let arrow_schema = batch_schema(&mapping, roots.as_ref().map(|it| it.0), options)?;
        let limits = options.limits.clone();
        let pages = PageReaderOptions {
            file_length,
            verify_crc: options.verify_crc,
            limits,
            created_by: CreatedBy::new(metadata.created_by()),
        };
        let mut plan = Self {
            metadata,
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
        };
        if let Some(predicate) = &options.filter {
            let filter = FilterPlan::new(predicate, &plan, schema, file_length)?;
            plan.filter = Some(Arc::new(filter));
        }
        Ok(plan)
    }

    /// The metadata of the file.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        &self.metadata
    }

    /// The schema of the batches.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The leaves of the file under their wanted paths, where there is a wanted schema.
    pub(super) fn resolved(&self) -> Option<&[ResolvedLeaf]> {
        self.resolved.as_deref()
    }

    /// What of the Arrow schema in the file had to be ignored.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// How the rows are found, where a filter chooses them. The [row groups](Self::row_groups) then count those
    /// that it chooses from.
    pub(super) fn filter(&self) -> Option<&Arc<FilterPlan>> {
        self.filter.as_ref()
    }

    /// The same read of these row groups alone.
    pub(super) fn of_row_groups(&self, row_groups: Vec<RowGroupPlan>) -> Arc<Self> {
        Arc::new(Self {
            metadata: self.metadata.clone(),
            schema: self.schema.clone(),
            resolved: None,
            warnings: Vec::new(),
            tree: self.tree.clone(),
            row_groups,
            repeats: self.repeats,
            options: self.options.clone(),
            pages: self.pages.clone(),
            role: self.role,
            filter: None,
        })
    }

    /// Whether a read by this plan may go on by another one.
    ///
    /// # Errors
    /// Argument where that reads another file, other columns or other row groups, or one of both has no filter.
    #[doc(hidden)] // For drivers.
    pub fn check_goes_on_by(&self, next: &Self) -> Result<()> {
        let row_groups = self.row_groups.iter().zip(&next.row_groups);
        let mut row_groups =
            row_groups.map(|(a, b)| (a.ordinal(), &a.ranges, b.ordinal(), &b.ranges));
        let is_same = Arc::ptr_eq(&self.metadata, &next.metadata)
            && self.schema == next.schema
            && self.row_groups.len() == next.row_groups.len()
            && row_groups.all(|(a, of_a, b, of_b)| a == b && of_a == of_b);
        let message = match (is_same, self.is_filtered() && next.is_filtered()) {
            (true, true) => return Ok(()),
            (true, false) => "a read goes on by another filter only where it has one",
            (false, _) => "a read goes on by a plan of the same file, columns and row groups alone",
        };
        Err(Error::argument(message))
    }

    /// The leaves whose pages are looked for where rows are passed over.
    pub(super) fn leaves_to_map(&self) -> Vec<usize> {
        let mut leaves: Vec<_> = match &self.filter {
            Some(filter) => filter.leaves().collect(),
            None => self.leaves().collect(),
        };
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Returns the leaf of the file with this ordinal; `None` if the read has no columns.
    pub(super) fn leaf(&self, leaf: usize) -> Option<&Leaf> {
        let filter = self.filter.as_ref();
        let plans = filter.map(|filter| [filter.tested(), filter.others()]);
        let of_filter = plans.into_iter().flatten().flat_map(|plan| plan.columns());
        // Each column has the schema of the whole file.
        let mut columns = self.columns().iter().chain(of_filter);
        columns.next()?.schema.leaves().get(leaf)
    }

    /// Bytes of the file.
    pub(super) fn file_length(&self) -> u64 {
        self.pages.file_length
    }

    /// Whether a filter chooses rows.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.filter.is_some()
    }

    /// Whether a filter has several row groups to test, and no more rows are wanted without a test, as far as statistics tell.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn tests_row_groups(&self) -> bool {
        super::pruner::tests_row_groups(self)
    }

    /// The row groups with wanted rows, in the order in which they are read.
    #[must_use]
    pub fn row_groups(&self) -> &[RowGroupPlan] {
        &self.row_groups
    }

    /// The options of the read.
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

    /// What extension columns are made from and the batch does not have.
    pub(crate) fn storages(&self) -> &[ArrayNode] {
        &self.tree.storages
    }

    /// The columns behind those of the [tree](Self::tree).
    pub(crate) fn extension_columns(&self) -> &[KeptColumn] {
        &self.tree.extension_columns
    }

    /// The columns that say where rows come from.
    pub(crate) fn virtual_columns(&self) -> &[VirtualColumn] {
        &self.options.virtual_columns
    }

    /// The lists with several columns below them.
    pub(crate) fn shared_lists(&self) -> &[SharedList] {
        &self.tree.shared_lists
    }

    /// How many columns the read decodes: the projected leaves of the schema.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn num_columns(&self) -> usize {
        self.tree.columns.len()
    }

    /// Bytes of a column chunk of its row groups, decompressed, in the mean; 0 where the file does not say. Nobody has checked
    /// what it says.
    #[doc(hidden)] // For drivers.
    #[must_use]
    pub fn chunk_bytes(&self) -> u64 {
        let (mut bytes, mut chunks) = (0_u64, 0_u64);
        for row_group in &self.row_groups {
            let header = self.metadata.row_group_header(row_group.ordinal());
            let of_row_group = header.map_or(0, |header| header.total_byte_size);
            bytes = bytes.saturating_add(u64::try_from(of_row_group).unwrap_or_default());
            chunks += self.metadata.num_columns(row_group.ordinal()) as u64;
        }
        bytes / chunks.max(1)
    }

    /// The columns that the read decodes, by their ordinals among the leaves of the Parquet schema.
    #[doc(hidden)] // For drivers.
    pub fn leaves(&self) -> impl Iterator<Item = usize> {
        self.columns().iter().map(|column| column.leaf)
    }

    /// The column chunks of the `index`-th of [`Self::row_groups`], whose columns share `budget`
    /// with all other columns of the read that are under way.
    ///
    /// # Errors
    /// Corrupt or Unsupported where the metadata of a column chunk makes no sense or cannot be
    /// followed, as where the chunk lies in another file.
    #[doc(hidden)] // For drivers.
    pub fn open(&self, index: usize, budget: &Arc<Budget>) -> Result<OpenRowGroup> {
        let row_group = self.row_groups.get(index);
        let row_group = row_group
            .ok_or_else(|| Error::argument(format!("the read has no row group {index}")))?;
        self.open_row_group(row_group, budget)
    }

    /// As [`Self::open`], with bytes that `read` gives: where few of its rows are wanted, pages are found by what the file's
    /// indexes say.
    ///
    /// # Errors
    /// As [`Self::open`], and what `read` says.
    #[doc(hidden)] // For drivers.
    pub fn open_mapped(
        self: &Arc<Self>,
        index: usize,
        budget: &Arc<Budget>,
        mut read: impl FnMut(Range<u64>) -> Result<Bytes>,
    ) -> Result<OpenRowGroup> {
        let row_group = self.row_groups.get(index);
        let is_selective = |it: &&RowGroupPlan| {
            it.num_wanted() < it.num_rows && it.maps.is_empty() && self.role == ColumnRole::All
        };
        let Some(row_group) = row_group.filter(is_selective) else {
            return self.open(index, budget);
        };
        let mut pruner = RowGroupPruner::new(self.clone(), row_group.clone(), budget.clone())?;
        let mut needs = Needs::default();
        let pruned = loop {
            if let Some(pruned) = pruner.poll(&mut needs)? {
                break pruned;
            }
            for need in std::mem::take(&mut needs.now) {
                let bytes = read(need.clone())?;
                pruner.supply(need.start, &bytes);
            }
        };
        let row_group = row_group.restricted(row_group.ranges.clone(), pruned.maps);
        let mut opened = self.open_row_group(&row_group, budget)?;
        opened.maps_memory = Some(pruned.memory);
        Ok(opened)
    }

    /// The same for a row group of the read that may be restricted.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub(super) fn open_row_group(
        &self,
        row_group: &RowGroupPlan,
        budget: &Arc<Budget>,
    ) -> Result<OpenRowGroup> {
        let locate = |error: Error, plan: &ColumnPlan| {
            error
                .in_column(plan.path())
                .in_row_group(row_group.ordinal())
        };
        let chunks_present = self.metadata.num_columns(row_group.ordinal());
        let mut chunks = Vec::with_capacity(self.columns().len());
        let mut others = (self.columns().len() >= MANY_COLUMNS).then(AlikeChunks::default);
        let (mut bytes, mut bytes_of_file) = (0u64, 0u64);
        for plan in self.columns() {
            if plan.leaf >= chunks_present {
                let error = Error::corrupt(format!(
                    "the row group has {chunks_present} column chunks and none for this column"
                ));
                return Err(locate(error, plan));
            }
            let chunk = self
                .readable_chunk(row_group.ordinal(), plan, others.as_mut())
                .and_then(KeyStep::ready)
                .and_then(|chunk| Chunk::new(chunk, plan, self.pages.file_length))
                .map_err(|error| locate(error, plan))?;
            let map = row_group.maps.iter().find(|(leaf, _)| *leaf == plan.leaf);
            let chunk = chunk.mapped(map.map(|(_, map)| map.clone()));
            bytes = bytes.saturating_add(chunk.uncompressed_size);
            bytes_of_file = bytes_of_file.saturating_add(chunk.range.end - chunk.range.start);
            chunks.push(chunk);
        }
        self.check_overlap(budget.open_row_group((self.role, row_group.index), bytes_of_file))
            .map_err(|error| error.in_row_group(row_group.ordinal()))?;
        let rows = WantedRows {
            row_group: row_group.ordinal(),
            num_rows: row_group.num_rows,
            ranges: row_group.ranges.clone(),
            found: row_group.found(),
            batch_rows: self.batch_rows(row_group, bytes),
        };
        Ok(OpenRowGroup {
            rows,
            tree: self.tree.clone(),
            chunks,
            pages: self.pages.clone(),
            budget: budget.clone(),
            maps_memory: None,
            batch_starts: OnceLock::new(),
        })
    }

    /// The key that must be [supplied](herringbone_format::modular_encryption::FileDecryption::supply_key)
    /// before the `index`-th of [`Self::row_groups`] is opened, if one is missing.
    #[must_use]
    pub fn needs_key(&self, index: usize) -> Option<KeyRequest> {
        let row_group = self.row_groups.get(index);
        let row_group = row_group.filter(|_| self.metadata.decryption().is_some())?;
        let tested = self.filter.as_ref().map(|it| it.tested());
        let tested_first = tested.and_then(|it| it.filter()).map(|it| it.tested());
        let tested = tested.into_iter().chain(tested_first);
        let tested = tested.flat_map(|it| it.columns());
        let mut columns = self.columns().iter().chain(tested);
        columns.find_map(|plan| {
            // What is wrong otherwise, opening says.
            match self.readable_chunk(row_group.ordinal(), plan, None) {
                Ok(KeyStep::NeedKey(request)) => Some(request),
                _ => None,
            }
        })
    }

    /// A column chunk of the read, once it is known that it may be read. It may be like others that were decoded.
    fn readable_chunk(
        &self,
        row_group: usize,
        plan: &ColumnPlan,
        others: Option<&mut AlikeChunks>,
    ) -> Result<KeyStep<ReadableChunk>> {
        let metadata = &self.metadata;
        let step = match others {
            Some(others) => metadata.readable_chunk_like(row_group, plan.leaf, others)?,
            None => metadata.readable_chunk(row_group, plan.leaf)?,
        };
        if let (KeyStep::Ready(chunk), Some(decryption)) = (&step, self.metadata.decryption())
            && chunk.cipher.is_none()
        {
            decryption.check_plaintext_column(&plan.path_parts())?;
        }
        Ok(step)
    }

    /// Fails where the column chunks of the read so far have so many bytes that the file must be gone
    /// over too often.
    fn check_overlap(&self, bytes: u64) -> Result<()> {
        let file_length = self.pages.file_length.max(1);
        let limit = self.pages.limits.overlap_ratio as u64;
        let most = file_length
            .saturating_mul(limit)
            .saturating_mul(self.repeats);
        if bytes > most {
            let ratio = bytes.div_ceil(file_length.saturating_mul(self.repeats));
            return Err(Error::limit("overlap_ratio", ratio, limit));
        }
        Ok(())
    }

    /// A batch of these columns; `invalid` says what is wrong with what the file holds.
    pub(super) fn record_batch(
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

    /// Rows of a batch: fewer than asked for where rows are so wide that the bytes matter.
    fn batch_rows(&self, row_group: &RowGroupPlan, bytes: u64) -> usize {
        let row_bytes = (bytes / row_group.num_rows.max(1)).max(1);
        let rows = self.options.batch_bytes as u64 / row_bytes;
        usize::try_from(rows)
            .unwrap_or(usize::MAX)
            .clamp(1, self.options.batch_size.max(1))
    }
}

/// The schema of the batches: of what is read, and of the columns behind it.
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
