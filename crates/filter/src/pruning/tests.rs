//! Tests of bounds worked out by hand from the specification, and of bloom filters probed in a file.

use bytes::Bytes;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Decimal128Type, Float16Type, Int32Type, UInt8Type};
use herringbone_arrow::array::{Array, ArrayRef};
use std::sync::Arc;

use herringbone_format::{
    BoundaryOrder, ColumnChunk, ColumnIndex, ColumnMetaData, CompressionCodec, ErrorKind, Limits,
    LogicalType, OffsetIndex, PageLocation, Repetition, SchemaElement, Type,
};
use herringbone_schema::{ParquetSchema, SchemaOptions};

use super::*;
use herringbone_core::Step;
use herringbone_core::bloom_filter::{BloomFilter, hash};

fn decode(
    type_: Type,
    type_length: Option<i32>,
    logical_type: Option<LogicalType>,
    bounds: &[Option<&[u8]>],
) -> ArrayRef {
    let root = SchemaElement::new("schema".into()).num_children(1);
    let leaf = SchemaElement::new("a".into())
        .type_(type_)
        .type_length(type_length)
        .repetition_type(Repetition::Required)
        .logical_type(logical_type);
    let schema = ParquetSchema::new(&[root, leaf], &Limits::default()).unwrap();
    let decoder = BoundsDecoder::new(&schema, 0, &SchemaOptions::default()).unwrap();
    let values = decoder.decode(bounds).unwrap();
    assert_eq!(values.data_type(), decoder.field().data_type());
    values
}

#[test]
fn numbers_have_null_where_there_is_no_bound() {
    let one = 1_i32.to_le_bytes();
    let least = i32::MIN.to_le_bytes();
    let bounds = [Some(&one[..]), None, Some(&least[..])];
    let values = decode(Type::Int32, None, None, &bounds);
    let values: Vec<_> = values.as_primitive::<Int32Type>().iter().collect();
    assert_eq!(values, [Some(1), None, Some(i32::MIN)]);
}

#[test]
fn each_boolean_is_a_byte() {
    let bounds = [Some(&[1_u8][..]), Some(&[0]), None, Some(&[1])];
    let values = decode(Type::Boolean, None, None, &bounds);
    let values: Vec<_> = values.as_boolean().iter().collect();
    assert_eq!(values, [Some(true), Some(false), None, Some(true)]);
}

#[test]
fn annotations_make_the_type() {
    let unsigned = LogicalType::Integer {
        bit_width: 8,
        is_signed: false,
    };
    let values = decode(Type::Int32, None, Some(unsigned), &[Some(&[200, 0, 0, 0])]);
    assert_eq!(values.as_primitive::<UInt8Type>().value(0), 200);

    let half = Some(LogicalType::Float16);
    let values = decode(Type::FixedLenByteArray, Some(2), half, &[Some(&[0, 0x3c])]);
    assert_eq!(values.as_primitive::<Float16Type>().value(0).to_f32(), 1.0);

    let decimal = LogicalType::Decimal {
        scale: 2,
        precision: 5,
    };
    let values = decode(
        Type::ByteArray,
        None,
        Some(decimal),
        &[Some(&[0xff, 0x38]), None],
    );
    let values = values.as_primitive::<Decimal128Type>();
    assert_eq!((values.value(0), values.is_null(1)), (-200, true));
}

#[test]
fn bytes_that_are_no_value_are_null_and_others_stay() {
    let bounds = [Some(&b"a"[..]), Some(b"\xff"), Some(b""), Some(b"\xc3\xa4")];
    let values = decode(Type::ByteArray, None, Some(LogicalType::String), &bounds);
    let values: Vec<_> = values.as_string::<i32>().iter().collect();
    assert_eq!(values, [Some("a"), None, Some(""), Some("ä")]);
    let values = decode(Type::Int64, None, None, &[Some(&[0; 4]), Some(&[0; 8])]);
    assert_eq!((values.is_null(0), values.is_null(1)), (true, false));
}

fn index_at(offset: i64, length: i32) -> ColumnChunk {
    ColumnChunk::default()
        .offset_index_offset(offset)
        .offset_index_length(length)
}

#[test]
fn an_index_lies_within_the_file_and_the_limit() {
    let mut limits = Limits::default();
    limits.page_index_bytes = 50;
    let of = |chunk: &ColumnChunk| IndexDecoder::of_offsets(chunk, 100, &limits);
    assert!(of(&ColumnChunk::default()).unwrap().is_none());
    assert_eq!(of(&index_at(60, 40)).unwrap().unwrap().range(), 60..100);
    for (offset, length) in [(60, 41), (-1, 4), (4, -1), (i64::MAX, 1)] {
        let error = of(&index_at(offset, length)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    let error = of(&index_at(4, 51)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
}

fn metadata(bloom_filter_offset: i64) -> ColumnMetaData {
    ColumnMetaData::new(
        Type::Int32,
        Vec::new(),
        CompressionCodec::Uncompressed,
        0,
        0,
        0,
        0,
    )
    .bloom_filter_offset(bloom_filter_offset)
}

#[test]
fn one_block_answers_as_the_whole_filter_does() {
    let mut filter = BloomFilter::new(4096);
    for value in 0..200_i32 {
        filter.insert_hash(hash(&value.to_le_bytes()));
    }
    let mut file = b"PAR1".to_vec();
    file.extend(filter.encode_header());
    filter.encode_bits(&mut file);
    let file = Bytes::from(file);
    let limits = Limits::default();
    let mut probe = BloomFilterProbe::new(&metadata(4), file.len() as u64)
        .unwrap()
        .unwrap();
    let mut read = 0;
    let mut refused = 0;
    for value in 0..2000_i32 {
        let hash = hash(&value.to_le_bytes());
        let answer = loop {
            match probe.poll(hash, &limits).unwrap() {
                Step::Ready(answer) => break answer,
                Step::Need(range) => {
                    read += range.end - range.start;
                    let bytes = file.slice(range.start as usize..range.end as usize);
                    probe.supply(range.start, bytes);
                }
            }
        };
        assert_eq!(answer, filter.check_hash(hash));
        assert!(answer || value >= 200);
        refused += usize::from(!answer);
    }
    assert_eq!(probe.end(), Some(file.len() as u64));
    // The probe reads the header, plus a 32-byte block per value.
    assert!(read <= 64 + 2000 * 32, "{read}");
    assert!(refused > 1500);
}

#[test]
fn a_filter_that_does_not_end_is_an_error() {
    for (offset, length) in [(-1, 100), (100, 100)] {
        assert!(BloomFilterProbe::new(&metadata(offset), length).is_err());
    }
    let mut probe = BloomFilterProbe::new(&metadata(4), 8).unwrap().unwrap();
    let limits = Limits::default();
    assert_eq!(probe.poll_header(&limits).unwrap(), Step::Need(4..8));
    probe.supply(4, Bytes::from_static(&[0x15, 0x02, 0x1c, 0x1c]));
    assert!(probe.poll_header(&limits).is_err());
}

/// Cells with a column index of two pages, an offset index, both, and neither.
#[test]
fn cells_have_their_indexes_and_count_their_bytes() {
    let index = |bytes: usize| {
        let least = [vec![1_u8; bytes], Vec::new()].into_iter().collect();
        let greatest = ["", ""].into_iter().collect();
        ColumnIndex::new(vec![false, true], least, greatest, BoundaryOrder::Ascending)
    };
    let columns = |bytes| Some(Arc::new(index(bytes)));
    let locations = vec![PageLocation::new(4, 10, 0), PageLocation::new(14, 10, 5)];
    let offsets = || Some(Arc::new(OffsetIndex::new(locations.clone())));
    let bytes = |columns, offsets| PageIndexCell::new(columns, offsets).heap_bytes();
    assert_eq!(bytes(None, None), 0);
    let (one, other) = (bytes(columns(0), None), bytes(None, offsets()));
    // A location has two 8-byte numbers and one 4-byte number.
    assert!(one >= size_of::<ColumnIndex>() && other >= size_of::<OffsetIndex>() + 2 * 20);
    assert_eq!(bytes(columns(0), offsets()), one + other);
    let grown = bytes(columns(1_000), None) - one;
    assert!((1_000..2_100).contains(&grown), "{grown}");

    let cell = PageIndexCell::new(columns(3), offsets());
    assert_eq!(
        (cell.columns.as_deref(), cell.first_page),
        (Some(&index(3)), None)
    );
    let page = FirstPage::new(7, Some(5));
    assert_eq!((page.levels, page.rows), (7, Some(5)));
    let cell = cell.first_page(page);
    assert_eq!(cell.first_page, Some(page));
    assert_eq!(
        cell.offsets.as_deref().map(|it| it.page_locations.len()),
        Some(2)
    );

    let cells = PageIndexCells::default();
    assert_eq!(cells.heap_bytes(), 0);
    cells.insert(1, 2, cell.clone());
    assert!(cells.heap_bytes() > cell.heap_bytes());
    assert!(cells.get(1, 2).is_some() && cells.get(2, 1).is_none());
    let (copied, frozen) = (cells.copied(), cells.frozen());
    let first_page = |cells: &PageIndexCells| cells.get(1, 2).unwrap().first_page;
    for cells in [&cells, &copied, &frozen] {
        cells.insert(0, 0, PageIndexCell::default());
        cells.add_found(1, 2, PageIndexCell::default());
    }
    assert_eq!((first_page(&cells), first_page(&copied)), (None, None));
    assert_eq!(first_page(&frozen), Some(page));
    assert!(cells.get(0, 0).is_some() && frozen.get(0, 0).is_none());
    cells.clear();
    assert_eq!(cells.heap_bytes(), 0);
    assert!(copied.get(1, 2).is_some());
}
