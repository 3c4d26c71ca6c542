//! Describes row groups and column chunks.

use herringbone::format::{
    ColumnChunk, ColumnMetaData, Encoding, KeyValue, PageType, RowGroupHeader, SortingColumn,
};
use serde_json::Value;

use super::bound::Bounds;
use super::statistics::{geospatial_statistics, size_statistics, statistics};
use super::{Object, base64, list};

/// Describes a row group without its column chunks, which the caller adds one by one.
pub(crate) fn row_group(header: &RowGroupHeader) -> Object {
    let sorting = |column: &SortingColumn| {
        Object::new()
            .with("column_idx", column.column_idx)
            .with("descending", column.descending)
            .with("nulls_first", column.nulls_first)
    };
    Object::new()
        .with("num_rows", header.num_rows)
        .with("total_byte_size", header.total_byte_size)
        .some("total_compressed_size", header.total_compressed_size)
        .some("file_offset", header.file_offset)
        .some("ordinal", header.ordinal)
        .some(
            "sorting_columns",
            header
                .sorting_columns
                .as_ref()
                .map(|sorting_columns| list(sorting_columns, sorting)),
        )
}

/// Describes a column chunk. `bounds` turns its bounds into values.
pub(crate) fn column_chunk(bounds: &Bounds, chunk: &ColumnChunk) -> Object {
    Object::new()
        .some("file_path", chunk.file_path.as_deref())
        .with("file_offset", chunk.file_offset)
        .some(
            "meta_data",
            chunk
                .meta_data
                .as_ref()
                .map(|column| meta_data(bounds, column)),
        )
        .some("offset_index_offset", chunk.offset_index_offset)
        .some("offset_index_length", chunk.offset_index_length)
        .some("column_index_offset", chunk.column_index_offset)
        .some("column_index_length", chunk.column_index_length)
        .bytes(
            "crypto_metadata",
            chunk.crypto_metadata.as_ref().map(|raw| raw.0.as_slice()),
        )
        .bytes(
            "encrypted_column_metadata",
            chunk.encrypted_column_metadata.as_deref(),
        )
}

fn meta_data(bounds: &Bounds, data: &ColumnMetaData) -> Value {
    let page_stats = data.encoding_stats.as_ref().map(|stats| {
        list(stats, |stats| {
            Object::new()
                .name("page_type", stats.page_type)
                .name("encoding", stats.encoding)
                .with("count", stats.count)
        })
    });
    Object::new()
        .name("type", data.type_)
        .with("encodings", list(&data.encodings, ToString::to_string))
        .with("path_in_schema", data.path_in_schema.clone())
        .name("codec", data.codec)
        .with("num_values", data.num_values)
        .with("total_uncompressed_size", data.total_uncompressed_size)
        .with("total_compressed_size", data.total_compressed_size)
        .some(
            "key_value_metadata",
            data.key_value_metadata.as_deref().map(key_values),
        )
        .with("data_page_offset", data.data_page_offset)
        .some("index_page_offset", data.index_page_offset)
        .some("dictionary_page_offset", data.dictionary_page_offset)
        .some(
            "statistics",
            data.statistics
                .as_ref()
                .map(|stored| statistics(bounds, stored)),
        )
        .some("encoding_stats", page_stats)
        .some("bloom_filter_offset", data.bloom_filter_offset)
        .some("bloom_filter_length", data.bloom_filter_length)
        .some(
            "size_statistics",
            data.size_statistics.as_ref().map(size_statistics),
        )
        .some(
            "geospatial_statistics",
            data.geospatial_statistics
                .as_ref()
                .map(geospatial_statistics),
        )
        .into()
}

/// Describes keys and values in their order. This makes a list rather than an object, since a key
/// can occur twice. Values that aren't UTF-8 become base64.
pub(crate) fn key_values(pairs: &[KeyValue]) -> Value {
    list(pairs, |pair| {
        let bytes = pair.value.as_ref().filter(|_| pair.text().is_none());
        Object::new()
            .with("key", pair.key.as_str())
            .some("value", pair.text())
            .some("value_base64", bytes.map(|bytes| base64(bytes)))
    })
}

/// Returns a column chunk's data page counts from the footer, in total and with dictionary keys. If
/// the footer doesn't count pages but no encoding uses a dictionary, returns a single page without
/// keys.
pub(crate) fn dictionary_pages(data: &ColumnMetaData) -> Option<(u64, u64)> {
    let is_keyed = |encoding: Encoding| {
        matches!(
            encoding,
            Encoding::PlainDictionary | Encoding::RleDictionary
        )
    };
    let Some(counts) = &data.encoding_stats else {
        let is_plain = !data.encodings.iter().any(|encoding| is_keyed(*encoding));
        return is_plain.then_some((1, 0));
    };
    let (mut all, mut keyed) = (0_u64, 0_u64);
    for pages in counts {
        let count = u64::try_from(pages.count).ok()?;
        if matches!(pages.page_type, PageType::DataPage | PageType::DataPageV2) {
            all = all.checked_add(count)?;
            keyed = keyed.checked_add(if is_keyed(pages.encoding) { count } else { 0 })?;
        }
    }
    Some((all, keyed))
}
