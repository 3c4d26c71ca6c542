//! Describes page indexes and bloom filter headers.

use herringbone::format::{BloomFilterHeader, ByteArrays, ColumnIndex, OffsetIndex};
use serde_json::Value;

use super::bound::Bounds;
use super::{Object, list};

/// Describes the pages' bounds and counts. The bounds of an all-null page are `null`, since the
/// file only has empty bytes there.
pub(crate) fn column_index(bounds: &Bounds, index: &ColumnIndex) -> Value {
    let described = |values: &ByteArrays| {
        list(values.iter().zip(&index.null_pages), |(bytes, &is_null)| {
            if is_null {
                Value::Null
            } else {
                bounds.describe(bytes)
            }
        })
    };
    Object::new()
        .with("null_pages", index.null_pages.clone())
        .with("min_values", described(&index.min_values))
        .with("max_values", described(&index.max_values))
        .name("boundary_order", index.boundary_order)
        .some("null_counts", index.null_counts.clone())
        .some(
            "repetition_level_histograms",
            index.repetition_level_histograms.clone(),
        )
        .some(
            "definition_level_histograms",
            index.definition_level_histograms.clone(),
        )
        .some("nan_counts", index.nan_counts.clone())
        .into()
}

/// Describes where pages are.
pub(crate) fn offset_index(index: &OffsetIndex) -> Value {
    let locations = list(&index.page_locations, |page| {
        Object::new()
            .with("offset", page.offset)
            .with("compressed_page_size", page.compressed_page_size)
            .with("first_row_index", page.first_row_index)
    });
    Object::new()
        .with("page_locations", locations)
        .some(
            "unencoded_byte_array_data_bytes",
            index.unencoded_byte_array_data_bytes.clone(),
        )
        .into()
}

/// Describes a bloom filter header.
pub(crate) fn bloom_filter_header(header: &BloomFilterHeader) -> Value {
    // `parquet.thrift` names the variants of these unions BLOCK, XXHASH and UNCOMPRESSED.
    let name = |debug: String| debug.to_uppercase();
    Object::new()
        .with("num_bytes", header.num_bytes)
        .with("algorithm", name(format!("{:?}", header.algorithm)))
        .with("hash", name(format!("{:?}", header.hash)))
        .with("compression", name(format!("{:?}", header.compression)))
        .into()
}
