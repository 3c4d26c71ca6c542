//! Tests bloom filters as the `parquet` crate reads them. Written values are found, and most others are not.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{BloomFilterOptions, ColumnOptions, ParquetFile, WriteOptions};
use herringbone_arrow::array::*;
use herringbone_arrow::schema::Schema;
use herringbone_core::bloom_filter::hash;
use parquet::bloom_filter::Sbbf;
use parquet::data_type::AsBytes;
use parquet::file::properties::ReaderProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};

use crate::write::compare::written;

const DISTINCT: i32 = 3000;

/// Returns columns of 3000 distinct values, which occur twice each, with nulls.
fn batch() -> RecordBatch {
    let ints = || (0..DISTINCT).chain(0..DISTINCT).map(|i| i * 7);
    let texts = || ints().map(|i| Some(format!("text {i}")));
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "int32",
            Arc::new(Int32Array::from_iter(ints().map(Some).chain([None; 9]))),
        ),
        (
            "int64",
            Arc::new(Int64Array::from_iter(
                ints().map(|i| Some(i.into())).chain([None; 9]),
            )),
        ),
        (
            "double",
            Arc::new(Float64Array::from_iter(
                ints().map(|i| Some(f64::from(i))).chain([None; 9]),
            )),
        ),
        (
            "text",
            Arc::new(StringArray::from_iter(texts().chain((0..9).map(|_| None)))),
        ),
        (
            "view",
            Arc::new(StringViewArray::from_iter(
                texts().chain((0..9).map(|_| None)),
            )),
        ),
    ];
    let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
}

/// Returns the PLAIN bytes of value `i` in a column, without a length.
fn bytes(column: usize, i: i32) -> Vec<u8> {
    match column {
        0 => i.as_bytes().to_vec(),
        1 => i64::from(i).as_bytes().to_vec(),
        2 => f64::from(i).as_bytes().to_vec(),
        _ => format!("text {i}").into_bytes(),
    }
}

fn filters(file: &[u8]) -> Vec<Option<Sbbf>> {
    let properties = ReaderProperties::builder()
        .set_read_bloom_filter(true)
        .build();
    let options = ReadOptionsBuilder::new()
        .with_reader_properties(properties)
        .build();
    let reader =
        SerializedFileReader::new_with_options(Bytes::from(file.to_vec()), options).unwrap();
    let group = reader.get_row_group(0).unwrap();
    (0..group.num_columns())
        .map(|column| group.get_column_bloom_filter(column).cloned())
        .collect()
}

fn options(filter: BloomFilterOptions, dictionary: bool) -> WriteOptions {
    let columns = ColumnOptions::new()
        .bloom_filter(filter)
        .dictionary(dictionary);
    WriteOptions::new().columns(columns)
}

/// Returns the share of absent values that a filter reports as present.
fn false_positives(filter: &Sbbf, column: usize) -> f64 {
    let absent = (0..20_000).map(|i| i * 7 + 1 + i % 6);
    let taken = absent
        .filter(|i| filter.check(bytes(column, *i).as_slice()))
        .count();
    taken as f64 / 20_000.0
}

#[test]
fn what_is_there_is_found_and_little_else() {
    let batch = batch();
    for fpp in [0.1, 0.01, 0.001] {
        for dictionary in [false, true] {
            let options = options(BloomFilterOptions::new(fpp), dictionary);
            let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
            for (column, filter) in filters(&file).into_iter().enumerate() {
                let filter = filter.unwrap();
                for i in 0..DISTINCT {
                    let bytes = bytes(column, i * 7);
                    assert!(filter.check(bytes.as_slice()), "{i} in column {column}");
                }
                let share = false_positives(&filter, column);
                assert!(share <= 1.5 * fpp, "{share} for {fpp} in column {column}");
                // Half the size would be too small, so this filter is not too large.
                assert!(share >= fpp / 40.0, "{share} for {fpp} in column {column}");
            }
        }
    }
}

#[test]
fn sizes_are_bounded_and_told() {
    let batch = batch();
    let mut small = BloomFilterOptions::new(0.001);
    small.max_bytes = 512;
    let mut roomy = BloomFilterOptions::new(0.01);
    roomy.distinct_values = Some(100_000);
    for (filter, bytes) in [(small, 32..=512), (roomy, 1024..=1 << 18)] {
        let options = options(filter, true);
        let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
        for filter in filters(&file).into_iter().flatten() {
            assert!(
                bytes.contains(&(filter.num_blocks() * 32)),
                "{}",
                filter.num_blocks()
            );
        }
        let ours = ParquetFile::from_bytes(file.clone()).unwrap();
        for column in 0..batch.num_columns() {
            let header = ours.bloom_filter_header(0, column).unwrap().unwrap();
            let chunk = ours.metadata().column_chunk(0, column).unwrap();
            let metadata = chunk.meta_data.unwrap();
            let length = metadata.bloom_filter_length.unwrap();
            let start = metadata.bloom_filter_offset.unwrap() as usize;
            // The filter has a header of a few bytes, and then the bits.
            let bits = header.num_bytes;
            assert!(
                (bits + 4..bits + 32).contains(&length),
                "{length} bytes for {bits}"
            );
            assert!(start + length as usize <= file.len());
        }
    }
}

/// If a dictionary is abandoned midway, its values are in the filter, too.
#[test]
fn of_columns_that_leave_their_dictionary() {
    let batch = batch();
    let mut options = options(BloomFilterOptions::new(0.01), true);
    options.columns = options.columns.dictionary_bytes(5000).page_rows(400);
    let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
    for (column, filter) in filters(&file).into_iter().enumerate() {
        let filter = filter.unwrap();
        let missing = (0..DISTINCT).filter(|i| !filter.check(bytes(column, i * 7).as_slice()));
        assert_eq!(missing.count(), 0, "column {column}");
    }
}

#[test]
fn hashes_are_those_of_the_specification() {
    // These are XXH64 hashes with the seed 0, as its authors published them.
    assert_eq!(hash(b""), 0xef46_db37_51d8_e999);
    assert_eq!(hash(b"abc"), 0x44bc_2cf5_ad77_0999);
}

#[test]
fn columns_without_values() {
    let nothing: ArrayRef = Arc::new(Int32Array::new_null(10));
    let schema = Schema::new(vec![herringbone_arrow::schema::Field::new(
        "a",
        nothing.data_type().clone(),
        true,
    )]);
    let batch = RecordBatch::try_new(Arc::new(schema), vec![nothing]).unwrap();
    let options = options(BloomFilterOptions::new(0.01), true);
    let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
    if let Some(filter) = filters(&file).remove(0) {
        assert!((0..1000).all(|i| !filter.check(&i)));
    }
}

/// The peer computes the hashes of values by itself.
#[test]
fn values_are_looked_up_by_literals() {
    use herringbone::filter::Literal;
    let batch = batch();
    let options = options(BloomFilterOptions::new(0.01), true);
    let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
    let peers = filters(&file);
    let file = herringbone::ParquetFile::from_bytes(file).unwrap();
    for (column, peer) in peers.into_iter().enumerate() {
        let (peer, ours) = (
            peer.unwrap(),
            file.load_bloom_filter(0, column).unwrap().unwrap(),
        );
        for i in 0..2000 {
            let literal = match column {
                0 | 1 => Literal::from(i),
                2 => Literal::from(f64::from(i)),
                _ => Literal::from(format!("text {i}").as_str()),
            };
            // Zero is stored with either sign.
            let expected = peer.check(bytes(column, i).as_slice())
                || (column == 2 && i == 0 && peer.check((-0.0_f64).as_bytes()));
            assert_eq!(
                ours.may_contain(&literal).unwrap(),
                expected,
                "{literal} in {column}"
            );
            let probed = file.bloom_filter_may_contain(0, column, literal);
            assert_eq!(probed.unwrap(), Some(expected));
        }
        assert!(ours.heap_bytes() >= 32);
    }
    // No INT32 has this value. A null is in no filter, and text is not a number.
    assert_eq!(
        file.bloom_filter_may_contain(0, 0, 1_i64 << 40).unwrap(),
        Some(false)
    );
    assert_eq!(
        file.bloom_filter_may_contain(0, 0, Literal::Null).unwrap(),
        Some(true)
    );
    let error = file.bloom_filter_may_contain(0, 0, "one").unwrap_err();
    assert_eq!(error.kind(), herringbone::ErrorKind::Argument);
}
