//! Recreates the metadata of a lost footer.

use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    ColumnChunk, ColumnMetaData, Encoding, FileMetadata, FileMetadataParts, Limits, Result,
    RowGroup,
};
use herringbone_schema::ParquetSchema;

use super::RepairSchema;
use super::assemble::FoundRowGroup;
use super::readings::FoundChunk;
use super::scan::FoundPage;

/// Returns the metadata of a file with these row groups.
///
/// # Errors
/// Fails with [`ErrorKind::Limit`](herringbone::ErrorKind::Limit) if they exceed `limits`.
pub(super) fn of_file(
    schema: RepairSchema,
    row_groups: Vec<RowGroup>,
    limits: &Limits,
) -> Result<FileMetadata> {
    let rows = row_groups.iter().map(|row_group| row_group.num_rows);
    let parts = FileMetadataParts::new(
        2,
        schema.elements,
        rows.fold(0, i64::saturating_add),
        row_groups,
    )
    .key_value_metadata(schema.key_values)
    .created_by(schema.created_by);
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    FileMetadata::decode(writer.finish().into(), 0, limits)
}

/// Returns the metadata of a row group assembled from `pages`.
pub(super) fn row_group(
    found: &FoundRowGroup,
    pages: &[FoundPage],
    schema: &ParquetSchema,
) -> RowGroup {
    let columns: Vec<ColumnChunk> = found
        .chunks
        .iter()
        .enumerate()
        .map(|(leaf, chunk)| column_chunk(leaf, chunk, pages, schema))
        .collect();
    let sizes = columns
        .iter()
        .filter_map(|column| column.meta_data.as_ref());
    let total_byte_size = sizes.map(|size| size.total_uncompressed_size).sum();
    RowGroup::new(columns, total_byte_size, signed(found.rows))
}

#[allow(
    clippy::indexing_slicing,
    reason = "leaves are counted by the same schema"
)]
fn column_chunk(
    leaf: usize,
    found: &FoundChunk,
    pages: &[FoundPage],
    schema: &ParquetSchema,
) -> ColumnChunk {
    let pages = pages.get(found.start..found.end).unwrap_or_default();
    let start = pages.first().map_or(0, |page| page.offset);
    let end = pages.last().map_or(0, |page| page.end);
    let dictionary = pages.first().filter(|page| page.is_dictionary());
    let data = pages.iter().find(|page| !page.is_dictionary());
    let uncompressed = pages.iter().map(|page| {
        page.body - page.offset
            + u64::try_from(page.header.uncompressed_page_size).unwrap_or_default()
    });
    let path = schema.path(leaf).into_iter().map(str::to_owned);
    let metadata = ColumnMetaData::new(
        schema.leaves()[leaf].physical_type,
        vec![Encoding::Plain],
        found.codec,
        signed(found.levels),
        signed(uncompressed.sum()),
        signed(end - start),
        signed(data.map_or(start, |page| page.offset)),
    )
    .path_in_schema(path.collect())
    .dictionary_page_offset(dictionary.map(|page| signed(page.offset)));
    ColumnChunk::default().meta_data(metadata)
}

/// Converts an offset or a count. Both always fit, since they come from a file.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
