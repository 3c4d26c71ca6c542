//! Synthetic footers and page headers.

use bytes::Bytes;

use crate::{
    thrift::{CompactWriter, Wire},
    *,
};

fn chunk(row_group: i64, leaf: i64) -> ColumnChunk {
    ColumnChunk {
        file_path: None,
        file_offset: 0,
        meta_data: Some(ColumnMetaData {
            type_: Type::Int64,
            encodings: vec![
                Encoding::Rle,
                Encoding::RleDictionary,
                Encoding::Unknown(77),
            ],
            path_in_schema: vec![format!("column {leaf}")],
            codec: CompressionCodec::Zstd,
            num_values: 1000 + row_group,
            total_uncompressed_size: 1 << 40,
            total_compressed_size: 1 << 20,
            key_value_metadata: None,
            data_page_offset: 1000 * row_group + leaf,
            index_page_offset: None,
            dictionary_page_offset: Some(0),
            statistics: Some(Statistics {
                min_value: Some(leaf.to_le_bytes().to_vec()),
                max_value: Some(vec![0xff; 200]),
                null_count: Some(-1),
                is_max_value_exact: Some(false),
                nan_count: Some(3),
                ..Statistics::default()
            }),
            encoding_stats: Some(vec![PageEncodingStats {
                page_type: PageType::DataPageV2,
                encoding: Encoding::RleDictionary,
                count: 3,
            }]),
            bloom_filter_offset: Some(77),
            bloom_filter_length: Some(78),
            size_statistics: Some(SizeStatistics {
                unencoded_byte_array_data_bytes: None,
                repetition_level_histogram: None,
                definition_level_histogram: Some(vec![1, 2]),
            }),
            geospatial_statistics: None,
        }),
        offset_index_offset: Some(1 << 33),
        offset_index_length: Some(100),
        column_index_offset: None,
        column_index_length: None,
        crypto_metadata: Some(RawStruct(vec![0x1c, 0x00, 0x00])),
        encrypted_column_metadata: None,
    }
}

pub(crate) fn file() -> FileMetadataParts {
    let row_group = |row_group: i16| RowGroup {
        columns: (0..20).map(|leaf| chunk(row_group.into(), leaf)).collect(),
        total_byte_size: 9,
        num_rows: 1000,
        sorting_columns: Some(vec![SortingColumn {
            column_idx: 3,
            descending: true,
            nulls_first: false,
        }]),
        file_offset: Some(4),
        total_compressed_size: None,
        ordinal: Some(row_group),
    };
    FileMetadataParts {
        version: 2,
        schema: (0..21)
            .map(|leaf| SchemaElement {
                name: format!("column {leaf}"),
                num_children: (leaf == 0).then_some(-20),
                type_: (leaf != 0).then_some(Type::Int64),
                ..SchemaElement::default()
            })
            .collect(),
        num_rows: 3000,
        row_groups: (0..3).map(row_group).collect(),
        key_value_metadata: Some(vec![KeyValue {
            key: "key".into(),
            value: None,
        }]),
        created_by: Some("herringbone".into()),
        column_orders: Some(vec![ColumnOrder::TypeDefined, ColumnOrder::Unknown(9)]),
        encryption_algorithm: Some(RawStruct(vec![0x1c, 0x00, 0x00])),
        footer_signing_key_metadata: Some(b"which key".to_vec()),
    }
}

pub(crate) fn encoded(parts: &FileMetadataParts) -> Vec<u8> {
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    writer.finish()
}

pub(crate) fn decode(bytes: &[u8]) -> Result<FileMetadata> {
    FileMetadata::decode(Bytes::copy_from_slice(bytes), 0x1000, &Limits::default())
}

#[test]
fn a_footer_is_what_was_written() {
    let parts = file();
    let mut bytes = encoded(&parts);
    let length = bytes.len();
    bytes.extend_from_slice(&[0xee; 28]); // a signature
    let read = decode(&bytes).unwrap();
    assert_eq!(read.encoded_len(), length);
    assert_eq!(read.version(), 2);
    assert_eq!(read.schema(), parts.schema);
    assert_eq!(read.num_rows(), 3000);
    assert_eq!(
        Some(read.key_value_metadata()),
        parts.key_value_metadata.as_deref()
    );
    assert_eq!(read.created_by(), Some("herringbone"));
    assert_eq!(read.column_orders(), parts.column_orders.as_deref());
    assert_eq!(read.encryption_algorithm(), Some([0x1c, 0, 0].as_slice()));
    assert_eq!(
        read.footer_signing_key_metadata(),
        Some(b"which key".as_slice())
    );
    assert_eq!(read.num_row_groups(), 3);
    for (ordinal, row_group) in parts.row_groups.iter().enumerate() {
        assert_eq!(read.num_columns(ordinal), 20);
        assert_eq!(&read.row_group(ordinal).unwrap(), row_group);
    }
    assert_eq!(read.column_chunk(2, 19).unwrap(), chunk(2, 19));
}

#[test]
fn what_is_not_there_is_the_callers_mistake() {
    let read = decode(&encoded(&file())).unwrap();
    for error in [
        read.column_chunk(0, 20).unwrap_err(),
        read.column_chunk(3, 0).unwrap_err(),
        read.row_group(3).unwrap_err(),
        read.row_group_header(usize::MAX).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
    }
    assert_eq!(read.num_columns(3), 0);
}

#[test]
fn a_bad_chunk_spoils_only_itself() {
    let mut parts = file();
    let meta_data = parts.row_groups[1].columns[5].meta_data.as_mut().unwrap();
    meta_data.num_values = -7;
    let read = decode(&encoded(&parts)).unwrap();
    assert!(read.column_chunk(1, 4).is_ok());
    let error = read.column_chunk(1, 5).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.message(), "ColumnMetaData.num_values is negative: -7");
    assert_eq!(error.location().row_group, Some(1));
    assert!(error.location().offset > Some(0x1000));
}

#[test]
fn missing_fields_are_named() {
    let error = decode(&[0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt file: required field FileMetaData.version is missing (offset 0x1001)"
    );
    // {1: 1, 2: [], 3: 0, 4: [{1: []}]}
    let bytes = [0x15, 2, 0x19, 0x0c, 0x16, 0, 0x19, 0x1c, 0x19, 0x0c, 0, 0];
    let error = decode(&bytes).unwrap_err();
    assert_eq!(
        error.to_string(),
        "corrupt file: required field RowGroup.total_byte_size is missing \
         (row group 0, offset 0x100b)"
    );
}

#[test]
fn limits_are_kept() {
    let bytes = Bytes::from(encoded(&file()));
    let error = |change: fn(&mut Limits)| {
        let mut limits = Limits::default();
        change(&mut limits);
        let error = FileMetadata::decode(bytes.clone(), 0, &limits).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
        error.message().to_owned()
    };
    assert!(error(|limits| limits.footer_bytes = 100).contains("footer_bytes"));
    assert!(error(|limits| limits.schema_nodes = 20).contains("schema_nodes"));
    assert!(error(|limits| limits.row_groups = 2).contains("row_groups"));
    assert!(error(|limits| limits.schema_depth = 2).contains("schema_depth"));
}

#[test]
fn text_for_people_need_not_be_utf8() {
    let mut parts = file();
    parts.created_by = None;
    parts.key_value_metadata = None;
    let mut bytes = encoded(&parts);
    bytes.pop();
    let mut writer = CompactWriter::new();
    writer.begin_struct();
    writer.field(i16::MAX, Wire::Binary); // before the other fields, so that ids decrease
    writer.binary(b"extension");
    writer.field(6, Wire::Binary);
    writer.binary(b"gr\xfc\xdfe");
    writer.field(5, Wire::List);
    writer.list(Wire::Struct, 1);
    writer.begin_struct();
    writer.field(1, Wire::Binary);
    writer.binary(b"k\xff");
    writer.end_struct();
    writer.end_struct();
    bytes.extend_from_slice(&writer.finish());
    let read = decode(&bytes).unwrap();
    assert_eq!(read.created_by(), Some("gr\u{fffd}\u{fffd}e"));
    assert_eq!(read.key_value_metadata()[0].key, "k\u{fffd}");
}

#[test]
fn no_truncation_and_no_byte_panics() {
    let mut parts = file();
    parts.row_groups.truncate(1);
    parts.row_groups[0].columns.truncate(1);
    parts.schema.truncate(2);
    let bytes = encoded(&parts);
    // With Miri, a file takes up to a second, so we take steps of a prime number, which still reach all kinds of
    // fields.
    let (places, values) = if cfg!(miri) { (37, 85) } else { (1, 1) };
    for length in (0..bytes.len()).step_by(places) {
        assert!(decode(&bytes[..length]).is_err());
    }
    for index in (0..bytes.len()).step_by(places) {
        for value in (0..=u8::MAX).step_by(values) {
            let mut changed = bytes.clone();
            changed[index] = value;
            if let Ok(read) = decode(&changed) {
                for row_group in 0..read.num_row_groups() {
                    drop(read.row_group(row_group));
                }
            }
        }
    }
}

fn page_header() -> PageHeader {
    PageHeader {
        type_: PageType::DataPageV2,
        uncompressed_page_size: 1 << 20,
        compressed_page_size: 1000,
        crc: Some(-5),
        data_page_header: None,
        index_page_header: None,
        dictionary_page_header: None,
        data_page_header_v2: Some(DataPageHeaderV2 {
            num_values: 5,
            num_nulls: 1,
            num_rows: 4,
            encoding: Encoding::DeltaByteArray,
            definition_levels_byte_length: 2,
            repetition_levels_byte_length: 0,
            is_compressed: false,
            statistics: Some(PageStatistics::from(&Statistics {
                max: Some(vec![1; 100]),
                ..Statistics::default()
            })),
        }),
    }
}

#[test]
fn statistics_of_a_page_are_decoded_when_they_are_asked_for() {
    let mut writer = CompactWriter::new();
    page_header().encode(&mut writer);
    let bytes = writer.finish();
    let limits = Limits::default();
    let (header, length) = PageHeader::decode(&bytes, &limits).unwrap();
    let statistics = header.statistics().unwrap().decode(&limits).unwrap();
    assert_eq!(statistics.max, Some(vec![1; 100]));
    let without = PageHeader::decode_prefix_without_statistics(&bytes, &limits);
    let (without, same_length) = without.unwrap().unwrap();
    assert_eq!((without.statistics(), same_length), (None, length));
    assert_eq!(without.num_values(), header.num_values());
}

#[test]
fn a_page_header_is_asked_for_until_it_is_there() {
    let header = page_header();
    let mut writer = CompactWriter::new();
    header.encode(&mut writer);
    let mut bytes = writer.finish();
    let length = bytes.len();
    bytes.extend_from_slice(&[0x77; 50]);
    let limits = Limits::default();
    for cut in 0..bytes.len() {
        let read = PageHeader::decode_prefix(&bytes[..cut], &limits).unwrap();
        assert_eq!(read, (cut >= length).then(|| (header.clone(), length)));
        assert_eq!(
            PageHeader::decode(&bytes[..cut], &limits).is_ok(),
            cut >= length
        );
    }
    let limits = Limits {
        page_header_bytes: length - 1,
        ..limits
    };
    for read in [
        PageHeader::decode_prefix(&bytes, &limits).map(drop),
        PageHeader::decode(&bytes, &limits).map(drop),
    ] {
        assert_eq!(read.unwrap_err().kind(), ErrorKind::Limit);
    }
}

#[test]
fn page_headers_with_negative_sizes_are_corrupt() {
    let changes: [fn(&mut PageHeader, &mut DataPageHeaderV2); 7] = [
        |header, _| header.uncompressed_page_size = -1,
        |header, _| header.compressed_page_size = i32::MIN,
        |_, v2| v2.num_values = -1,
        |_, v2| v2.num_nulls = -1,
        |_, v2| v2.num_rows = -1,
        |_, v2| v2.definition_levels_byte_length = -1,
        |_, v2| v2.repetition_levels_byte_length = -1,
    ];
    for change in changes {
        let mut header = page_header();
        let mut v2 = header.data_page_header_v2.take().unwrap();
        change(&mut header, &mut v2);
        header.data_page_header_v2 = Some(v2);
        let mut writer = CompactWriter::new();
        header.encode(&mut writer);
        let error = PageHeader::decode(&writer.finish(), &Limits::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        assert!(error.message().contains("is negative"), "{error}");
    }
}

#[test]
fn a_page_of_version_2_is_compressed_unless_it_says_no() {
    // {1: 3, 2: 0, 3: 0, 8: {1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0}}
    let bytes = [
        0x15, 6, 0x15, 0, 0x15, 0, 0x5c, 0x15, 0, 0x15, 0, 0x15, 0, 0x15, 0, 0x15, 0, 0x15, 0, 0, 0,
    ];
    let (header, length) = PageHeader::decode(&bytes, &Limits::default()).unwrap();
    assert_eq!(length, bytes.len());
    assert!(header.data_page_header_v2.unwrap().is_compressed);
}

/// Caches weigh metadata by these sizes, so each list and each text has to count. The sizes of structs are those of
/// their fields on 64-bit machines: a page location has 8, 4 and 8 bytes, padded to 24.
#[test]
fn heap_bytes_count_each_list_and_each_text() {
    let location = PageLocation {
        offset: 4,
        compressed_page_size: 100,
        first_row_index: 0,
    };
    let mut index = OffsetIndex {
        page_locations: vec![location; 10],
        unencoded_byte_array_data_bytes: None,
    };
    assert_eq!(index.heap_bytes(), 10 * 24);
    index.unencoded_byte_array_data_bytes = Some(vec![7; 10]);
    assert_eq!(index.heap_bytes(), 10 * (24 + 8));

    let mut index = ColumnIndex {
        null_pages: vec![false; 10],
        min_values: ByteArrays::default(),
        max_values: ByteArrays::default(),
        boundary_order: BoundaryOrder::Unordered,
        null_counts: Some(vec![0; 10]),
        repetition_level_histograms: Some(vec![0; 20]),
        definition_level_histograms: Some(vec![0; 30]),
        nan_counts: Some(vec![0; 10]),
    };
    assert_eq!(index.heap_bytes(), 10 + 8 * 70);
    (index.nan_counts, index.null_counts) = (None, None);
    assert_eq!(index.heap_bytes(), 10 + 8 * 50);

    let mut element = SchemaElement {
        name: "twelve bytes".into(),
        ..SchemaElement::default()
    };
    assert_eq!(element.heap_bytes(), 12);
    element.logical_type = Some(LogicalType::Geometry {
        crs: Some("OGC:CRS84".into()),
    });
    assert_eq!(element.heap_bytes(), 12 + 9);
    element.logical_type = Some(LogicalType::Unrecognized {
        field_id: 99,
        parameters: vec![0; 5],
    });
    assert_eq!(element.heap_bytes(), 12 + 5);
}
