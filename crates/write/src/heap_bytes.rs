//! The approximate memory taken by metadata. It grows with a file's pages and row groups.

use herringbone_format::{
    ColumnChunk, ColumnIndex, ColumnMetaData, OffsetIndex, PageLocation, Statistics,
};

/// Returns the number of bytes reserved by a chunk's metadata until it is written to the footer.
pub(super) fn by_metadata(metadata: &ColumnMetaData) -> usize {
    let path = &metadata.path_in_schema;
    let names: usize = path.iter().map(String::capacity).sum();
    let statistics = metadata.statistics.as_ref().map_or(0, by_statistics);
    let sizes = metadata.size_statistics.as_ref();
    let histograms = sizes.map_or(0, |sizes| {
        by_counts(&sizes.repetition_level_histogram) + by_counts(&sizes.definition_level_histogram)
    });
    let encodings = metadata.encoding_stats.as_ref();
    let geospatial = metadata.geospatial_statistics.as_ref();
    let geospatial_types = geospatial.and_then(|geospatial| geospatial.geospatial_types.as_ref());
    let key_values = metadata.key_value_metadata.iter().flatten();
    let key_values: usize = key_values
        .map(|pair| size_of_val(pair) + pair.key.len() + pair.value.as_ref().map_or(0, Vec::len))
        .sum();
    size_of::<ColumnChunk>()
        + size_of_val(path.as_slice())
        + names
        + statistics
        + histograms
        + size_of_val(metadata.encodings.as_slice())
        + key_values
        + encodings.map_or(0, |all| size_of_val(all.as_slice()))
        + geospatial_types.map_or(0, |types| size_of_val(types.as_slice()))
}

fn by_statistics(statistics: &Statistics) -> usize {
    let bounds = [
        &statistics.min,
        &statistics.max,
        &statistics.min_value,
        &statistics.max_value,
    ];
    bounds.into_iter().flatten().map(Vec::capacity).sum()
}

/// Returns the number of bytes reserved by a chunk's page indexes.
pub(super) fn by_indexes(column: Option<&ColumnIndex>, offset: Option<&OffsetIndex>) -> usize {
    let column = column.map_or(0, |index| {
        index.null_pages.capacity()
            + index.min_values.heap_bytes()
            + index.max_values.heap_bytes()
            + by_counts(&index.null_counts)
            + by_counts(&index.nan_counts)
            + by_counts(&index.repetition_level_histograms)
            + by_counts(&index.definition_level_histograms)
    });
    let offset = offset.map_or(0, |index| {
        size_of::<PageLocation>() * index.page_locations.capacity()
            + by_counts(&index.unencoded_byte_array_data_bytes)
    });
    column + offset
}

fn by_counts(counts: &Option<Vec<i64>>) -> usize {
    counts
        .as_ref()
        .map_or(0, |counts| size_of::<i64>() * counts.capacity())
}
