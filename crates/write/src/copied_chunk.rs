//! Column chunks of other files, with pages copied rather than decoded.

use std::collections::HashMap;

use herringbone_arrow::schema::Schema;
use herringbone_format::{
    ColumnIndex, ColumnMetaData, ColumnOrder, Error, FileMetadata, OffsetIndex, Result, Statistics,
    Type,
};
use herringbone_schema::{ColumnOrderKind, ParquetSchema, SchemaNode};

use super::options::UnsortedRows;
use super::plan::WritePlan;
use herringbone_core::created_by::CreatedBy;

/// A column chunk whose pages are copied from another file. Offsets are relative to the chunk's start, and the chunk
/// takes `total_compressed_size` bytes.
#[derive(Debug)]
pub struct CopiedChunk {
    pub(crate) metadata: ColumnMetaData,
    pub(crate) column_index: Option<ColumnIndex>,
    pub(crate) offset_index: Option<OffsetIndex>,
    /// The bloom filter's header and bits.
    pub(crate) bloom_filter: Option<Vec<u8>>,
    pub(crate) num_rows: u64,
}

/// A file to copy column chunks from.
#[derive(Debug, Clone, Copy)]
pub struct CopySource<'a> {
    /// The file's metadata.
    pub metadata: &'a FileMetadata,
    /// The Parquet schema in this metadata.
    pub schema: &'a ParquetSchema,
    /// The schema of the batches returned by a read without options.
    pub arrow_schema: &'a Schema,
}

impl WritePlan {
    /// Returns another file's leaf for each column of this file, if its column chunks can be copied here.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if they cannot be copied, because a file is
    /// encrypted or because a column is missing or has another type.
    pub fn check_copy(&self, source: CopySource<'_>) -> Result<Vec<usize>> {
        let theirs = source.metadata;
        let is_encrypted = theirs.decryption().is_some() || theirs.encryption_algorithm().is_some();
        if self.encryption.is_some() || is_encrypted {
            return Err(refused("one of the files is encrypted"));
        }
        let created_by = source.metadata.created_by();
        let mut writer = CreatedBy::new(created_by);
        let all = 0..source.schema.leaves().len();
        let mut orders = all.map(|leaf| source.schema.order(leaf));
        // This fault only concerns decimals compared as bytes, so the writer's other columns are fine.
        writer.compares_decimals_as_bytes &=
            orders.any(|order| order == ColumnOrderKind::SignedBytes);
        if writer != CreatedBy::default() {
            return Err(refused(format!(
                "readers correct faults of its writer, which they recognize by its name, `{}`",
                created_by.unwrap_or_default()
            )));
        }
        let nodes = source.schema.nodes();
        let theirs = source
            .schema
            .children(0)
            .filter_map(|node| Some((node, nodes.get(node)?)));
        let theirs: HashMap<_, _> = theirs
            .map(|(node, it)| (it.element.name.as_str(), node))
            .collect();
        let fields = source.arrow_schema.fields().iter();
        let types: HashMap<_, _> = fields
            .map(|field| (field.name(), field.data_type()))
            .collect();
        if theirs.len() < source.schema.children(0).count() {
            return Err(refused("the other file has two columns of one name"));
        }
        let mut leaves = Vec::with_capacity(self.num_columns());
        let ours = self.mapping.schema.children(0);
        for (field, ours) in self.schema().fields().iter().zip(ours) {
            let name = field.name();
            let theirs = theirs.get(name.as_str()).copied();
            let theirs =
                theirs.ok_or_else(|| refused(format!("the other file has no column `{name}`")))?;
            let data_type = types.get(name);
            if !data_type.is_some_and(|data_type| data_type.equals_datatype(field.data_type())) {
                return Err(refused(format!(
                    "the column `{name}` has another Arrow type"
                )));
            }
            if !is_stored_alike(&self.mapping.schema, ours, source.schema, theirs) {
                return Err(refused(format!(
                    "the column `{name}` has another Parquet type"
                )));
            }
            let node = nodes.get(theirs);
            leaves.extend(node.map_or(0..0, |node| node.leaves.clone()));
        }
        let orders = leaves.iter().zip(0..);
        let is_ordered_alike = |(theirs, ours): (&usize, usize)| {
            source.schema.order(*theirs) == self.mapping.schema.order(ours)
        };
        if leaves.len() != self.num_columns() || !orders.clone().all(is_ordered_alike) {
            return Err(refused("a column has another order"));
        }
        Ok(leaves)
    }

    /// Returns true if another file's row group can declare this file's sorting columns, because it is sorted as
    /// `metadata` declares. `leaves` are its columns' leaves.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if rows must be sorted, but the row group does
    /// not declare that they are.
    pub fn is_copy_sorted(
        &self,
        metadata: &FileMetadata,
        row_group: usize,
        leaves: &[usize],
    ) -> Result<bool> {
        let Some(ours) = &self.sorting_columns else {
            return Ok(true);
        };
        let theirs = &metadata.row_group_header(row_group)?.sorting_columns;
        let theirs = theirs.as_deref().unwrap_or_default();
        let is_same = theirs.len() >= ours.len()
            && ours.iter().zip(theirs).all(|(ours, theirs)| {
                let leaf = usize::try_from(ours.column_idx).ok();
                let leaf = leaf.and_then(|leaf| leaves.get(leaf)).copied();
                leaf == usize::try_from(theirs.column_idx).ok()
                    && (ours.descending, ours.nulls_first)
                        == (theirs.descending, theirs.nulls_first)
            });
        match self.options.unsorted_rows {
            UnsortedRows::Unchecked => Ok(true),
            UnsortedRows::Error if !is_same => Err(refused(
                "rows must be sorted, and the row group does not declare the sorting columns",
            )),
            _ => Ok(is_same),
        }
    }

    /// Creates a copy of the chunk with this metadata. It starts at `start` in its file and has `num_rows` rows.
    /// `column` is the column's ordinal, and `order` is the bounds' order as declared by the chunk's file.
    ///
    /// Bounds are not copied if this file declares another order for them, or if old writers might have computed them
    /// with a wrong order.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if an offset lies outside the chunk.
    pub fn copied_chunk(
        &self,
        column: usize,
        (mut metadata, start): (ColumnMetaData, u64),
        (column_index, offset_index): (Option<ColumnIndex>, Option<OffsetIndex>),
        (order, num_rows): (Option<ColumnOrder>, u64),
    ) -> Result<CopiedChunk> {
        let bytes = metadata.total_compressed_size;
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let within = |offset: i64| {
            let offset = offset.checked_sub(start);
            offset
                .filter(|offset| (0..=bytes).contains(offset))
                .ok_or_else(|| Error::corrupt("a page lies outside its column chunk"))
        };
        let data = metadata.data_page_offset;
        // Old writers use 0 as a sentinel for "no dictionary page" and "no data page".
        let dictionary = metadata.dictionary_page_offset.filter(|offset| *offset > 0);
        metadata.dictionary_page_offset = dictionary.map(within).transpose()?;
        metadata.data_page_offset = within(if data == 0 { start } else { data })?;
        metadata.index_page_offset = None;
        (metadata.bloom_filter_offset, metadata.bloom_filter_length) = (None, None);
        let leaf = self.mapping.leaves.get(column);
        metadata.path_in_schema = leaf.map(|leaf| leaf.path.clone()).unwrap_or_default();
        let mut offset_index = offset_index;
        for location in offset_index
            .iter_mut()
            .flat_map(|offset_index| &mut offset_index.page_locations)
        {
            location.offset = within(location.offset)?;
        }
        let is_same_order = order.is_some() && order == self.column_orders().get(column).copied();
        let mut column_index = column_index;
        if !is_same_order {
            column_index = None;
        }
        if let Some(statistics) = &mut metadata.statistics {
            keep_sound(statistics, metadata.type_, is_same_order);
        }
        Ok(CopiedChunk {
            metadata,
            column_index,
            offset_index,
            bloom_filter: None,
            num_rows,
        })
    }
}

impl CopiedChunk {
    /// Adds a bloom filter, given as its header followed by its bits.
    #[must_use]
    pub fn bloom_filter(mut self, bloom_filter: Option<Vec<u8>>) -> Self {
        self.bloom_filter = bloom_filter;
        self
    }
}

/// Removes any bounds that another file's readers cannot trust.
fn keep_sound(statistics: &mut Statistics, physical: Type, is_same_order: bool) {
    let is_number = matches!(
        physical,
        Type::Boolean | Type::Int32 | Type::Int64 | Type::Float | Type::Double
    );
    if !is_number {
        // The deprecated byte-type bounds have no defined order.
        (statistics.min, statistics.max) = (None, None);
    }
    if !is_same_order {
        (statistics.min_value, statistics.max_value) = (None, None);
        (statistics.is_min_value_exact, statistics.is_max_value_exact) = (None, None);
    }
}

/// Returns true if two columns have the same levels and physical types.
fn is_stored_alike(a: &ParquetSchema, node_a: usize, b: &ParquetSchema, node_b: usize) -> bool {
    let (a, b) = (subtree(a, node_a), subtree(b, node_b));
    let parts = |it: &SchemaNode| {
        let element = &it.element;
        (
            element.type_,
            element
                .type_length
                .filter(|_| element.type_ == Some(Type::FixedLenByteArray)),
            it.repetition(),
            element.num_children.unwrap_or_default(),
        )
    };
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| parts(a) == parts(b))
}

/// Returns a node, followed by all nodes below it.
fn subtree(schema: &ParquetSchema, node: usize) -> &[SchemaNode] {
    let end = schema.nodes().get(node).map_or(node, |node| node.end);
    schema.nodes().get(node..end).unwrap_or_default()
}

#[cold]
fn refused(why: impl std::fmt::Display) -> Error {
    Error::argument(format!(
        "column chunks cannot be copied: {why}; read the rows and write them instead"
    ))
}
