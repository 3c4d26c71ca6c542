//! Reduces column metadata to its public part (section 5.5).

use herringbone_format::ColumnMetaData;

/// Returns an encrypted column's metadata as readers without keys see it in a plaintext footer: the
/// location and compression of its pages. We remove anything that reveals values, such as bounds,
/// counts, sizes, geometries, page encodings and the writer's additions. We also remove the bloom
/// filter's location, because such readers could not read it.
#[must_use]
pub fn redacted_metadata(metadata: &ColumnMetaData) -> ColumnMetaData {
    ColumnMetaData::new(
        metadata.type_,
        metadata.encodings.clone(),
        metadata.codec,
        metadata.num_values,
        metadata.total_uncompressed_size,
        metadata.total_compressed_size,
        metadata.data_page_offset,
    )
    .path_in_schema(metadata.path_in_schema.clone())
    .index_page_offset(metadata.index_page_offset)
    .dictionary_page_offset(metadata.dictionary_page_offset)
}

#[cfg(test)]
mod tests {
    use herringbone_format::{
        CompressionCodec, Encoding, GeospatialStatistics, KeyValue, PageEncodingStats, PageType,
        SizeStatistics, Statistics, Type,
        thrift::{CompactReader, CompactWriter},
    };

    use super::*;

    #[test]
    fn what_tells_about_values_goes() {
        let metadata = ColumnMetaData::new(
            Type::Int32,
            vec![Encoding::Plain],
            CompressionCodec::Snappy,
            3,
            4,
            5,
            6,
        )
        .path_in_schema(vec!["a".into()])
        .key_value_metadata(vec![KeyValue::without_value("k")])
        .index_page_offset(7)
        .dictionary_page_offset(8)
        .statistics(Statistics::default())
        .encoding_stats(vec![PageEncodingStats::new(
            PageType::DataPage,
            Encoding::Plain,
            1,
        )])
        .bloom_filter_offset(9)
        .bloom_filter_length(10)
        .size_statistics(SizeStatistics::default())
        .geospatial_statistics(GeospatialStatistics::default());
        let ids = |metadata: &ColumnMetaData| {
            let mut writer = CompactWriter::new();
            metadata.encode(&mut writer);
            let bytes = writer.finish();
            let (mut reader, mut last, mut ids) = (CompactReader::new(&bytes, 10), 0, vec![]);
            while let Some(field) = reader.field(&mut last).unwrap() {
                ids.push(field.id);
                reader.skip(field.wire).unwrap();
            }
            ids
        };
        assert_eq!(ids(&metadata), (1..=17).collect::<Vec<_>>());
        assert_eq!(
            ids(&redacted_metadata(&metadata)),
            [1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
        );
    }
}
