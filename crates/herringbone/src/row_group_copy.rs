//! Copying row groups from another file without decoding them.

use std::ops::Range;

use herringbone_core::page::byte_range;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{Error, Result};
use herringbone_schema::SchemaOptions;
use herringbone_write::{CopiedChunk, CopySource, WritePlan};

use crate::file::ParquetFile;

/// A row group to copy.
pub(crate) struct RowGroupCopy {
    /// The column chunks, each with its pages' byte range in the other file.
    pub(crate) chunks: Vec<(CopiedChunk, Range<u64>)>,
    pub(crate) num_rows: u64,
    /// True if the copy is allowed to declare the new file's sorting columns.
    pub(crate) is_sorted: bool,
}

impl RowGroupCopy {
    /// Plans copying a row group to the file described by `plan`.
    ///
    /// # Errors
    /// Fails with Argument if the row group does not exist or cannot be copied, and with Corrupt if
    /// its metadata is not valid.
    pub(crate) fn new(file: &ParquetFile, row_group: usize, plan: &WritePlan) -> Result<Self> {
        let leaves = check_copy(file, plan)?;
        let num_rows = file.metadata().row_group_header(row_group)?.num_rows;
        // The row count is never negative, because the metadata has been checked.
        let num_rows = u64::try_from(num_rows).unwrap_or_default();
        let chunks = leaves.iter().enumerate().map(|(column, leaf)| {
            let chunk = chunk(file, (row_group, *leaf), (plan, column), num_rows);
            let path = || file.parquet_schema().column_path(*leaf);
            chunk.map_err(|error| error.in_column(path()).in_row_group(row_group))
        });
        Ok(Self {
            chunks: chunks.collect::<Result<_>>()?,
            num_rows,
            is_sorted: plan.is_copy_sorted(file.metadata(), row_group, &leaves)?,
        })
    }
}

/// Returns, for each of the plan's columns, the corresponding leaf in the file.
///
/// # Errors
/// Fails with Argument if the file's column chunks cannot be copied.
pub(crate) fn check_copy(file: &ParquetFile, plan: &WritePlan) -> Result<Vec<usize>> {
    let arrow_schema = file.arrow_schema(&SchemaOptions::default())?;
    plan.check_copy(CopySource {
        metadata: file.metadata(),
        schema: file.parquet_schema(),
        arrow_schema: &arrow_schema,
    })
}

fn chunk(
    file: &ParquetFile,
    (row_group, leaf): (usize, usize),
    (plan, column): (&WritePlan, usize),
    num_rows: u64,
) -> Result<(CopiedChunk, Range<u64>)> {
    let metadata = file.metadata();
    let readable = metadata
        .readable_chunk(row_group, leaf)
        .and_then(KeyStep::ready)?;
    let range = byte_range(&readable.layout, file.source().len())?;
    check_pages(file, row_group, leaf, &range)?;
    let chunk = metadata.column_chunk(row_group, leaf)?.meta_data;
    let chunk = chunk.ok_or_else(|| Error::corrupt("the column chunk has no metadata"))?;
    let indexes = (
        file.column_index(row_group, leaf)?,
        file.offset_index(row_group, leaf)?,
    );
    let order = metadata
        .column_orders()
        .and_then(|column_orders| column_orders.get(leaf))
        .copied();
    let shape = (order, num_rows);
    let copied = plan.copied_chunk(column, (chunk, range.start), indexes, shape)?;
    Ok((
        copied.bloom_filter(bloom_filter(file, row_group, leaf)?),
        range,
    ))
}

/// Checks that the pages stay within the chunk's range and add up to its value count.
fn check_pages(
    file: &ParquetFile,
    row_group: usize,
    leaf: usize,
    range: &Range<u64>,
) -> Result<()> {
    let expected = file.metadata().readable_chunk(row_group, leaf)?;
    let expected = expected.ready()?.layout.num_values;
    let (mut values, mut end) = (0_i64, range.start);
    for page in file.pages(row_group, leaf)? {
        let page = page?;
        let header = &page.header;
        let v1_values = header
            .data_page_header
            .as_ref()
            .map(|data_page_header| data_page_header.num_values);
        let v2_values = header
            .data_page_header_v2
            .as_ref()
            .map(|data_page_header_v2| data_page_header_v2.num_values);
        values = values.saturating_add(i64::from(v1_values.or(v2_values).unwrap_or_default()));
        end = page.start.offset + page.header_bytes as u64 + page.body_bytes;
    }
    if values != expected || end > range.end {
        return Err(Error::corrupt(format!(
            "the pages have {values} values and end at {end}; by the metadata, the column chunk has \
             {expected} values and ends at {}",
            range.end
        )));
    }
    Ok(())
}

/// Returns a chunk's bloom filter header and bits, if it has a filter.
fn bloom_filter(file: &ParquetFile, row_group: usize, leaf: usize) -> Result<Option<Vec<u8>>> {
    let Some((header, bits)) = file.bloom_filter_bits(row_group, leaf)? else {
        return Ok(None);
    };
    let mut writer = CompactWriter::new();
    header.encode(&mut writer);
    let mut encoded = writer.finish();
    encoded.extend_from_slice(&bits);
    Ok(Some(encoded))
}
