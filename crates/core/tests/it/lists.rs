//! Columns with repetition levels: lists that begin and end anywhere in pages, batches and selected rows.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int64Builder, ListBuilder, StringBuilder};
use herringbone::arrow::array::{Array, ArrayRef, RecordBatch};
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, ParquetFile, ReadOptions, WriteOptions, Writer,
};

const ROWS: i64 = 1_000;

/// Returns the numbers of a row: none to three, and every fifth number is null. Each thirteenth row has no list.
fn numbers(row: i64) -> Option<Vec<Option<i64>>> {
    let number = |number: i64| (number % 5 > 0).then_some(number);
    (row % 13 > 0).then(|| (row..row + row % 4).map(number).collect())
}

/// Returns the words of a row: none to four lists, each with none to two words.
fn words(row: i64) -> Vec<Vec<String>> {
    let list = |list: i64| (0..(row + list) % 3).map(move |word| format!("{row} {list} {word}"));
    (0..row % 5).map(|it| list(it).collect()).collect()
}

/// Returns the table's rows with these numbers.
fn table(rows: Range<i64>) -> RecordBatch {
    let mut number_lists = ListBuilder::new(Int64Builder::new());
    let mut word_lists = ListBuilder::new(ListBuilder::new(StringBuilder::new()));
    for row in rows {
        number_lists.append_option(numbers(row));
        for list in words(row) {
            let list = list.into_iter().map(Some);
            word_lists.values().append_value(list);
        }
        word_lists.append(true);
    }
    let columns: [(&str, ArrayRef); 2] = [
        ("numbers", Arc::new(number_lists.finish())),
        ("words", Arc::new(word_lists.finish())),
    ];
    let columns = columns.map(|(name, array)| (name, array, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Writes the table in pages of 70 rows, so that few batches end with a page.
fn file(version: DataPageVersion, dictionary: bool) -> Bytes {
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .page_rows(70)
        .dictionary(dictionary);
    let options = WriteOptions::new()
        .columns(columns)
        .data_page_version(version)
        .row_group_rows(600);
    let batch = table(0..ROWS);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

#[test]
fn lists_are_whole_wherever_pages_and_batches_end() {
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        for dictionary in [false, true] {
            let file = ParquetFile::from_bytes(file(version, dictionary)).unwrap();
            for batch_size in [1, 64, 8_192] {
                let options = ReadOptions::new().batch_size(batch_size).threads(1);
                let mut first = 0;
                for batch in file.read(options).unwrap() {
                    let batch = batch.unwrap();
                    let rows = first..first + batch.num_rows() as i64;
                    let expected = table(rows.clone());
                    assert_eq!(batch.columns(), expected.columns(), "{version:?} {rows:?}");
                    first = rows.end;
                }
                assert_eq!(first, ROWS);
            }
        }
    }
}

#[test]
fn lists_before_and_between_selected_rows_are_skipped() {
    let file = ParquetFile::from_bytes(file(DataPageVersion::V2, false)).unwrap();
    for ranges in [
        vec![3..4, 69..71, 120..380, 599..602],
        vec![0..1, 2..3, 4..5, 999..1_000],
    ] {
        let options = ReadOptions::new().row_ranges(ranges.clone()).threads(1);
        let batches = file.read(options).unwrap().map(Result::unwrap);
        let batches: Vec<_> = batches.collect();
        for column in 0..2 {
            let columns = batches.iter().map(|batch| batch.column(column));
            let found: Vec<_> = columns.flat_map(slots).collect();
            let expected = ranges.iter().flat_map(|rows| {
                let rows = table(rows.start as i64..rows.end as i64);
                slots(rows.column(column))
            });
            assert!(found.into_iter().eq(expected), "{ranges:?}");
        }
    }
}

/// Returns each slot of an array as a separate array.
fn slots(array: &ArrayRef) -> Vec<ArrayRef> {
    (0..array.len()).map(|slot| array.slice(slot, 1)).collect()
}
