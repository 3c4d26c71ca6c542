//! Column metadata that everybody may see (section 5.5).

use herringbone_format::ColumnMetaData;

/// What readers without keys see of an encrypted column in a plaintext footer: where its pages are and how they are
/// compressed. All that tells about values goes: bounds, counts, sizes, geometries, encodings of pages, what the writer
/// added, and the bloom filter, which nobody could read.
#[must_use]
pub fn redacted_metadata(metadata: &ColumnMetaData) -> ColumnMetaData {
    ColumnMetaData {
        type_: metadata.type_,
        encodings: metadata.encodings.clone(),
        path_in_schema: metadata.path_in_schema.clone(),
        codec: metadata.codec,
        num_values: metadata.num_values,
        total_uncompressed_size: metadata.total_uncompressed_size,
        total_compressed_size: metadata.total_compressed_size,
        key_value_metadata: None,
        data_page_offset: metadata.data_page_offset,
        index_page_offset: metadata.index_page_offset,
        dictionary_page_offset: metadata.dictionary_page_offset,
        statistics: None,
        encoding_stats: None,
        bloom_filter_offset: None,
        bloom_filter_length: None,
        size_statistics: None,
        geospatial_statistics: None,
    }
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
        let metadata = ColumnMetaData {
            type_: Type::Int32,
            encodings: vec![Encoding::Plain],
            path_in_schema: vec!["a".into()],
            codec: CompressionCodec::Snappy,
            num_values: 3,
            total_uncompressed_size: 4,
            total_compressed_size: 5,
            key_value_metadata: Some(vec![KeyValue {
                key: "k".into(),
                value: None,
            }]),
            data_page_offset: 6,
            index_page_offset: Some(7),
            dictionary_page_offset: Some(8),
            statistics: Some(Statistics::default()),
            encoding_stats: Some(vec![PageEncodingStats {
                page_type: PageType::DataPage,
                encoding: Encoding::Plain,
                count: 1,
            }]),
            bloom_filter_offset: Some(9),
            bloom_filter_length: Some(10),
            size_statistics: Some(SizeStatistics::default()),
            geospatial_statistics: Some(GeospatialStatistics::default()),
        };
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
