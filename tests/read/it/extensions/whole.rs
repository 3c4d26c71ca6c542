//! Tests an annotated group that becomes an array of an extension type, and is written back.

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::{Int32Type, Int64Type};
use herringbone::arrow::array::{Array, RecordBatch, StringArray};
use herringbone::arrow::schema::DataType;
use herringbone::format::KeyValue;
use herringbone::{ParquetFile, ReadOptions, WriteOptions};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::cell::{Cell, batch, cell, field, file, written};
use crate::push::{SUPPLIES, pushed, read};

/// The number of rows, which is large enough for several threads.
const ROWS: usize = 60_000;

fn bytes(file: &ParquetFile) -> Bytes {
    let source = file.source();
    source.read(0..source.len()).unwrap()
}

/// Reads a file with all drivers, checks that they return the same batches, and returns these.
pub(crate) fn by_all(file: &ParquetFile, options: impl Fn() -> ReadOptions) -> Vec<RecordBatch> {
    let file = bytes(file);
    let expected = read(&file, &options().threads(1)).unwrap();
    assert_eq!(read(&file, &options().threads(4)), Ok(expected.clone()));
    for how in SUPPLIES {
        assert_eq!(
            pushed(&file, &options(), how),
            Ok(expected.clone()),
            "{how:?}"
        );
    }
    expected
}

fn message(file: &ParquetFile) -> String {
    let text = file.parquet_schema().to_string();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn all_drivers_give_the_array() {
    let file = file(ROWS);
    let batches = by_all(&file, || ReadOptions::new().extension(Cell::default()));
    assert!(batches.len() > 1);
    let mut row = 0;
    for batch in &batches {
        let schema = batch.schema_ref();
        assert_eq!(*schema.field(1), field("c"));
        let cells = batch.column(1).as_string::<i32>();
        let expected: StringArray = (row..row + cells.len()).map(cell).collect();
        assert_eq!(*cells, expected);
        row += cells.len();
    }
    assert_eq!(row, ROWS);
}

#[test]
fn rows_and_groups_of_them() {
    let file = file(ROWS);
    for (options, rows) in [
        (ReadOptions::new().offset(59_990), 59_990..ROWS),
        (ReadOptions::new().limit(3), 0..3),
        (ReadOptions::new().row_ranges(vec![7..9]), 7..9),
        (ReadOptions::new().limit(20).batch_size(7), 0..20),
    ] {
        let mut cells = Vec::new();
        for batch in by_all(&file, || options.clone().extension(Cell::default())) {
            let array = batch.column(1).as_string::<i32>();
            cells.extend(array.iter().map(|cell| cell.map(str::to_owned)));
        }
        assert_eq!(cells, rows.map(cell).collect::<Vec<_>>());
    }
}

#[test]
fn the_subtree_follows_from_the_first_rows() {
    let cells = "optional group c (UNRECOGNIZED(99)) {";
    let text = "optional binary text (STRING); }";
    let lengths = "optional int32 c_length;";
    let schema = message(&file(2000));
    assert!(
        schema.contains(&format!("{cells} optional int64 typed; {text} {lengths}")),
        "{schema}"
    );
    // The first rows are words, because batches without rows are ignored.
    let options = || WriteOptions::new().extension(Cell::default());
    let batches = [batch(0..0), batch(1001..1002), batch(0..1000)];
    let words = written(&batches, options());
    let schema = message(&words);
    assert!(schema.contains(&format!("{cells} {text}")), "{schema}");
    assert!(!schema.contains("c_length"), "{schema}");
    let back = by_all(&words, || ReadOptions::new().extension(Cell::default()));
    let cells = back[0].column(1).as_string::<i32>();
    let expected: StringArray = (1001..1002).chain(0..1000).map(cell).collect();
    assert_eq!(*cells, expected);
    let batches = [batch(0..0), batch(0..9)];
    assert!(message(&written(&batches, options())).contains("int64 typed"));
    // We can write a file even if there are no rows.
    let none = written(&[batch(0..0)], options());
    assert_eq!(none.metadata().num_rows(), 0);
    assert!(message(&none).contains("binary text"));
}

#[test]
fn others_read_the_storage() {
    let file = file(2000);
    let peer = ParquetRecordBatchReaderBuilder::try_new(bytes(&file)).unwrap();
    let mut reader = peer.with_batch_size(2000).build().unwrap();
    let theirs = reader.next().unwrap().unwrap();
    let ours = by_all(&file, ReadOptions::new);
    for batch in [&theirs, &ours[0]] {
        let cells = batch.column(1).as_struct();
        let typed = cells.column_by_name("typed").unwrap();
        let typed = typed.as_primitive::<Int64Type>();
        let text = cells.column_by_name("text").unwrap().as_string::<i32>();
        let lengths = batch.column(2).as_primitive::<Int32Type>();
        for row in 0..2000 {
            let cell = cell(row);
            assert_eq!(cells.is_null(row), cell.is_none());
            let stored = match typed.is_valid(row) {
                true => Some(typed.value(row).to_string()),
                false => text.is_valid(row).then(|| text.value(row).to_owned()),
            };
            assert_eq!(stored, cell);
            let length = lengths.is_valid(row).then(|| lengths.value(row) as usize);
            assert_eq!(length, cell.map(|cell| cell.chars().count()));
        }
    }
    // The extension type's name is in the file's Arrow schema.
    for schema in [theirs.schema(), ours[0].schema()] {
        assert_eq!(schema.field(1).extension_type_name(), Some("test.cell"));
        assert!(matches!(schema.field(1).data_type(), DataType::Struct(_)));
    }
}

#[test]
fn key_values_are_added_at_the_end() {
    let pair = |value: &str| KeyValue::new("cells", value);
    // The pair is outdated, so the writer removes it.
    let options = WriteOptions::new().key_value_metadata(vec![pair("old")]);
    let options = options.extension(Cell::default());
    let file = written(&[batch(0..10), batch(10..17)], options);
    let pairs = file.metadata().key_value_metadata();
    let cell_pairs: Vec<_> = pairs.iter().filter(|pair| pair.key == "cells").collect();
    assert_eq!(cell_pairs, [&pair("17 of c")]);
}

#[test]
fn the_file_is_the_same_on_any_number_of_threads() {
    let written = |threads| {
        let options = WriteOptions::new().threads(threads).row_group_rows(20_000);
        let options = options.extension(Cell::default());
        bytes(&written(&[batch(0..1000), batch(1000..ROWS)], options))
    };
    assert!(written(1) == written(4));
}
