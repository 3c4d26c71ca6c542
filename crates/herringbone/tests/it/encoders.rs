//! Columns that callers encode on their own threads.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Decimal128Array, RecordBatch};
use herringbone::{
    ColumnEncoder, EncodedChunk, Error, ErrorKind, ParquetFile, ReadOptions, Writer,
};

use crate::common::{numbers, plain, rest};

const ROWS: i64 = 10_000;

fn writer() -> Writer<Vec<u8>> {
    // A page has 8,000 bytes, so most values are in finished pages, and some in the open one.
    let mut options = plain();
    options.columns.page_rows = Some(1_000);
    Writer::new(Vec::new(), numbers(0, 0).schema(), options).unwrap()
}

fn encoded(encoders: Vec<ColumnEncoder>, first: i64, rows: i64) -> Vec<EncodedChunk> {
    let encode = |mut encoder: ColumnEncoder| {
        encoder.write(&numbers(first, rows)).unwrap();
        encoder.finish().unwrap()
    };
    encoders.into_iter().map(encode).collect()
}

#[test]
fn sizes_follow_the_values() {
    let mut writer = writer();
    let mut encoders = writer.column_encoders(0).unwrap();
    let leaves: Vec<usize> = encoders.iter().map(ColumnEncoder::leaf).collect();
    assert_eq!(leaves, [0, 1]);
    for encoder in &mut encoders {
        assert_eq!(encoder.estimated_bytes(), 0);
        for first in [0, 4_500] {
            encoder.write(&numbers(first, 4_500)).unwrap();
            let values = usize::try_from(8 * (first + 4_500)).unwrap();
            let estimate = encoder.estimated_bytes();
            // Each page header takes at most 100 bytes with its statistics.
            let (least, most) = (values, values + 10 * 100);
            assert!((least..=most).contains(&estimate), "{estimate}");
            let memory = encoder.memory_size();
            assert!((values..4 * values).contains(&memory), "{memory}");
            let shown = format!("{encoder:?}");
            assert!(shown.contains(&memory.to_string()), "{shown}");
        }
    }
    let chunks = encoders.into_iter().map(|it| it.finish().unwrap());
    let chunks: Vec<EncodedChunk> = chunks.collect();
    for chunk in &chunks {
        assert_eq!(chunk.num_rows(), 9_000);
        let memory = chunk.memory_size();
        assert!((72_000..144_000).contains(&memory), "{memory}");
        assert!(format!("{chunk:?}").contains("num_rows: 9000"));
    }
}

#[test]
fn row_groups_are_appended_in_any_order_of_encoding() {
    let mut writer = writer();
    let first = writer.column_encoders(0).unwrap();
    let second = writer.column_encoders(1).unwrap();
    let second = encoded(second, ROWS, 77);
    let first = encoded(first, 0, ROWS);
    writer.append_row_group(first).unwrap();
    writer.append_row_group(second).unwrap();
    assert_eq!(writer.num_rows(), 10_077);
    let bytes = writer.finish_into().unwrap().1;
    let file = ParquetFile::from_bytes(bytes).unwrap();
    assert_eq!(file.metadata().num_row_groups(), 2);
    let mut reader = file.read(ReadOptions::new()).unwrap();
    assert_eq!(rest(&mut reader), (0..10_077).collect::<Vec<_>>());
}

/// The chunks do not form a row group if one is missing, if one occurs twice, or if some are from
/// another writer or have other rows.
#[test]
fn chunks_that_are_no_row_group_are_refused() {
    let refused = |change: fn(&mut Vec<EncodedChunk>), about: &str| {
        let mut writer = writer();
        let mut chunks = encoded(writer.column_encoders(0).unwrap(), 0, 10);
        change(&mut chunks);
        let error: Error = writer.append_row_group(chunks).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(about), "{error}");
    };
    refused(
        |chunks| drop(chunks.pop()),
        "has 1 column chunks, and the schema 2 leaves",
    );
    refused(|chunks| chunks.swap(0, 1), "another writer or another leaf");
    refused(
        |chunks| {
            let others = encoded(writer().column_encoders(0).unwrap(), 0, 10);
            *chunks = others;
        },
        "another writer or another leaf",
    );
    let mut writer = writer();
    let mut encoders = writer.column_encoders(0).unwrap();
    encoders[0].write(&numbers(0, 3)).unwrap();
    encoders[1].write(&numbers(0, 4)).unwrap();
    let chunks = encoders.into_iter().map(|it| it.finish().unwrap());
    let error = writer.append_row_group(chunks.collect()).unwrap_err();
    let wanted = "column chunk 1 has 4 rows, and the first one has 3";
    assert!(error.message().contains(wanted), "{error}");
}

#[test]
fn an_encoder_that_failed_stays_failed() {
    let decimals = |value: i128| {
        let array = Decimal128Array::from(vec![value]);
        let array: ArrayRef = Arc::new(array.with_precision_and_scale(3, 0).unwrap());
        RecordBatch::try_from_iter([("d", array)]).unwrap()
    };
    let mut writer = Writer::new(Vec::new(), decimals(1).schema(), plain()).unwrap();
    let mut encoder = writer.column_encoders(0).unwrap().remove(0);
    // A batch of another schema is refused before it changes anything.
    assert!(encoder.write(&numbers(0, 1)).is_err());
    encoder.write(&decimals(999)).unwrap();
    assert_eq!(encoder.finish().unwrap().num_rows(), 1);
    let mut encoder = writer.column_encoders(0).unwrap().remove(0);
    assert!(encoder.write(&decimals(1_000)).is_err());
    encoder.write(&decimals(1)).unwrap();
    let error = encoder.finish().unwrap_err();
    assert!(error.message().contains("failed before"), "{error}");
}
