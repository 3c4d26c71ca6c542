//! Columns in which a level is a row: rows that are selected one by one, in ranges, or all.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone::{
    ColumnOptions, Compression, DataPageVersion, ParquetFile, ReadOptions, WriteOptions, Writer,
};

const ROWS: i32 = 1_000;

/// Returns the table's rows with these numbers. Every fifth number and every seventh word is null.
fn table(rows: impl Iterator<Item = i32> + Clone) -> RecordBatch {
    let thirds = rows.clone().map(|row| row % 3);
    let number = |row: i32| (row % 5 > 0).then_some(i64::from(row));
    let word = |row: i32| (row % 7 > 0).then(|| format!("{row}{}", "x".repeat(row as usize % 11)));
    let numbers: Int64Array = rows.clone().map(number).collect();
    let words: StringArray = rows.clone().map(word).collect();
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("row", Arc::new(Int32Array::from_iter_values(rows)), false),
        (
            "third",
            Arc::new(Int32Array::from_iter_values(thirds)),
            false,
        ),
        ("number", Arc::new(numbers), true),
        ("word", Arc::new(words), true),
    ];
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
fn rows_are_whole_however_they_are_selected() {
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        for dictionary in [false, true] {
            let file = ParquetFile::from_bytes(file(version, dictionary)).unwrap();
            let thirds = ReadOptions::new().filter(col("third").eq(1));
            let selected: [(ReadOptions, Vec<i32>); 3] = [
                (ReadOptions::new(), (0..ROWS).collect()),
                (
                    ReadOptions::new().row_ranges([3..4, 69..71, 120..380, 599..602]),
                    [3..4, 69..71, 120..380, 599..602]
                        .into_iter()
                        .flatten()
                        .collect(),
                ),
                (thirds, (0..ROWS).filter(|row| row % 3 == 1).collect()),
            ];
            for (options, rows) in selected {
                for batch_size in [1, 64, 8_192] {
                    let options = options.clone().batch_size(batch_size).threads(1);
                    let mut read = 0;
                    for batch in file.read(options).unwrap() {
                        let batch = batch.unwrap();
                        let part = &rows[read..read + batch.num_rows()];
                        let expected = table(part.iter().copied());
                        assert_eq!(batch.columns(), expected.columns(), "{version:?} {part:?}");
                        read += part.len();
                    }
                    assert_eq!(read, rows.len());
                }
            }
        }
    }
}
