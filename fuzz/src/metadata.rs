//! Decodes the metadata's structs, encodes the values, and compares what they decode to.

use bytes::Bytes;
use herringbone::format::footer::Tail;
use herringbone::format::thrift::{CompactWriter, RawStruct};
use herringbone::format::{
    BloomFilterHeader, ColumnIndex, ColumnOrder, FileMetadata, FileMetadataParts, OffsetIndex,
    PageHeader, Result,
};

use crate::read::{limits, open};

/// Returns a struct's bytes.
macro_rules! encoded {
    ($value:expr) => {{
        let mut writer = CompactWriter::new();
        $value.encode(&mut writer);
        Bytes::from(writer.finish())
    }};
}

/// Returns a file that has nothing but this metadata.
fn file_of(metadata: &[u8]) -> Bytes {
    let tail = Tail {
        metadata_length: metadata.len() as u32,
        encrypted: false,
    };
    [&b"PAR1"[..], metadata, &tail.encode()].concat().into()
}

/// Decodes all of the metadata into a struct that can be written.
pub fn parts(metadata: &FileMetadata) -> Result<FileMetadataParts> {
    Ok(FileMetadataParts::new(
        metadata.version(),
        metadata.schema().to_vec(),
        metadata.num_rows(),
        (0..metadata.num_row_groups())
            .map(|row_group| metadata.row_group(row_group))
            .collect::<Result<_>>()?,
    )
    .key_value_metadata(metadata.key_value_metadata().to_vec())
    .created_by(metadata.created_by().map(String::from))
    .column_orders(metadata.column_orders().map(<[ColumnOrder]>::to_vec))
    .encryption_algorithm(
        metadata
            .encryption_algorithm()
            .map(|raw| RawStruct(raw.to_vec())),
    )
    .footer_signing_key_metadata(metadata.footer_signing_key_metadata().map(Vec::from)))
}

/// Decodes a file's metadata, its schema in Parquet and Arrow, and its column chunks.
pub fn footer(data: &[u8]) {
    let Ok(file) = open(&file_of(data)) else {
        return;
    };
    drop(file.arrow_schema(&herringbone::SchemaOptions::default()));
    for row_group in 0..file.metadata().num_row_groups().min(50) {
        for leaf in 0..file.metadata().num_columns(row_group).min(50) {
            drop(file.metadata().readable_chunk(row_group, leaf));
            drop(file.offset_index(row_group, leaf));
            drop(file.column_index(row_group, leaf));
        }
    }
    let Ok(parts_read) = parts(file.metadata()) else {
        return;
    };
    let again = FileMetadata::decode(encoded!(parts_read), 0, &limits()).expect("what was written");
    // We compare texts, because bounds of geospatial columns may be NaN, which does not equal
    // itself.
    let again = parts(&again).expect("what was written");
    assert_eq!(format!("{again:?}"), format!("{parts_read:?}"));
}

/// Decodes a page header from all of its bytes, and from prefixes of them.
pub fn page_header(data: &[u8]) {
    let limits = limits();
    let Ok((header, length)) = PageHeader::decode(data, &limits) else {
        return;
    };
    assert!(length <= data.len());
    if let Some(statistics) = header.statistics() {
        drop(statistics.decode(&limits));
    }
    let without = PageHeader::decode_prefix_without_statistics(data, &limits);
    let (without, same_length) = without.expect("a header").expect("the whole of it");
    assert_eq!(same_length, length);
    assert_eq!(without.num_values(), header.num_values());
    for cut in [length / 2, length - 1] {
        assert_eq!(
            PageHeader::decode_prefix(&data[..cut], &limits).ok(),
            Some(None)
        );
    }
    let again = PageHeader::decode(&encoded!(header), &limits).expect("what was written");
    assert_eq!(again.0, header);
}

/// Decodes a column index, an offset index or a bloom filter header, where the first byte selects
/// the kind.
pub fn page_index(data: &[u8]) {
    let Some((which, data)) = data.split_first() else {
        return;
    };
    let limits = limits();
    match which % 3 {
        0 => {
            if let Ok(index) = ColumnIndex::decode(data, &limits) {
                let again = ColumnIndex::decode(&encoded!(index), &limits);
                assert_eq!(again.expect("what was written"), index);
            }
        }
        1 => {
            if let Ok(index) = OffsetIndex::decode(data, &limits) {
                let again = OffsetIndex::decode(&encoded!(index), &limits);
                assert_eq!(again.expect("what was written"), index);
            }
        }
        _ => {
            if let Ok(Some((header, length))) = BloomFilterHeader::decode_prefix(data, &limits) {
                assert!(length <= data.len());
                let again = BloomFilterHeader::decode_prefix(&encoded!(header), &limits);
                assert_eq!(
                    again.expect("what was written").map(|(h, _)| h),
                    Some(header)
                );
            }
        }
    }
}
