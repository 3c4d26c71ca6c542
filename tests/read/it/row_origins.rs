//! Tests reads of rows by position, and virtual columns with each row's origin.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Int64Array, ListArray, RecordBatch, StringArray, cast::AsArray,
};
use herringbone::arrow::buffer::BooleanBuffer;
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::filter::col;
use herringbone::{
    Limits, ParquetFile, ReadOptions, RowSelection, VirtualColumn, WantedSchema, WriteOptions,
    Writer,
};

use crate::push::{SUPPLIES, pushed, read};

const ROWS: i64 = 50_000;
const GROUP: i64 = 17_000;

/// Writes a file in which row `n` has the number `n`, so that we can check virtual columns against it, and a text and a
/// list.
fn file() -> Bytes {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let texts = (0..ROWS).map(|row| (row % 7 != 0).then(|| row.to_string()));
    let texts: ArrayRef = Arc::new(StringArray::from_iter(texts));
    let lists = (0..ROWS).map(|row| (row % 3 != 0).then(|| (0..row % 5).map(Some)));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists));
    let columns = [("number", numbers), ("text", texts), ("list", lists)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::new().row_group_rows(GROUP as usize);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

fn with_origins(options: &ReadOptions) -> ReadOptions {
    let metadata = HashMap::from([("kind".to_owned(), "row_index".to_owned())]);
    options
        .clone()
        .virtual_column(VirtualColumn::row_number("row").metadata(metadata))
        .virtual_column(VirtualColumn::row_group("group"))
        .virtual_column(VirtualColumn::file_name("file", "a.parquet"))
}

fn numbers(batches: &[RecordBatch], column: usize) -> Vec<i64> {
    let columns = batches
        .iter()
        .map(|batch| batch.column(column).as_primitive::<Int64Type>());
    columns
        .flat_map(|column| column.values().to_vec())
        .collect()
}

/// Reads with every driver, and compares the rows with these numbers.
fn check(file: &Bytes, options: &ReadOptions, expected: &[i64]) {
    let options = with_origins(options);
    let batches = read(file, &options.clone().threads(1)).unwrap();
    let behind = batches.first().map_or(3, |batch| batch.num_columns()) - 3;
    assert_eq!(numbers(&batches, behind), expected);
    let groups = expected.iter().map(|row| row / GROUP);
    assert_eq!(numbers(&batches, behind + 1), groups.collect::<Vec<_>>());
    for batch in &batches {
        if behind > 0 && batch.schema().field(0).name() == "number" {
            assert_eq!(batch.column(0).to_data(), batch.column(behind).to_data());
        }
        let files = batch.column(behind + 2).as_string::<i32>();
        assert!(files.iter().all(|file| file == Some("a.parquet")));
        let schema = batch.schema();
        assert_eq!(schema.field(behind).metadata()["kind"], "row_index");
        assert!(
            schema.fields()[behind..]
                .iter()
                .all(|field| !field.is_nullable())
        );
    }
    for threads in [2, 8] {
        let got = read(file, &options.clone().threads(threads)).unwrap();
        assert_eq!(got, batches, "{threads} threads");
    }
    for how in SUPPLIES {
        assert_eq!(pushed(file, &options, how).unwrap(), batches, "{how:?}");
    }
}

#[test]
fn rows_say_where_they_come_from() {
    let file = file();
    let all = ReadOptions::new();
    check(&file, &all, &(0..ROWS).collect::<Vec<_>>());
    let window = all.clone().offset(16_990).limit(20);
    check(&file, &window, &(16_990..17_010).collect::<Vec<_>>());
    let ranges = all
        .clone()
        .row_ranges(vec![40_000..40_003, 5..7, 33_999..34_001]);
    let expected = [5, 6, 33_999, 34_000, 40_000, 40_001, 40_002];
    check(&file, &ranges, &expected);
    check(
        &file,
        &ranges.clone().columns(["list"]).batch_size(2),
        &expected,
    );
    // None of the file's columns is decoded.
    check(&file, &ranges.columns(Vec::<String>::new()), &expected);
    // The row groups come in reversed order, one of them twice.
    let reversed = all.row_groups(vec![2, 1, 0, 1]).limit(51_000);
    let order = (34_000..ROWS)
        .chain(17_000..34_000)
        .chain(0..17_000)
        .chain(17_000..18_000);
    check(&file, &reversed, &order.collect::<Vec<_>>());
}

#[test]
fn rows_of_a_filter_say_where_they_come_from() {
    let file = file();
    let expected: Vec<i64> = (20_000..20_100).filter(|row| row % 7 != 0).collect();
    let wanted = col("number")
        .between(20_000, 20_099)
        .and(col("text").is_not_null());
    for options in [
        ReadOptions::new(),
        ReadOptions::new().columns(["list"]),
        ReadOptions::new().columns(Vec::<String>::new()),
        ReadOptions::new().batch_size(3),
    ] {
        check(&file, &options.filter(wanted.clone()), &expected);
    }
    // Statistics accept all rows of the second row group without testing them.
    let second = ReadOptions::new().filter(col("number").between(17_000, 33_999));
    check(&file, &second, &(17_000..34_000).collect::<Vec<_>>());
    let window = ReadOptions::new().filter(wanted).offset(10).limit(5);
    check(&file, &window, &expected[10..15]);
}

#[test]
fn deleted_rows_are_left_out() {
    let file = file();
    let deleted = [0, 1, 16_999, 17_000, 20_002, 49_999];
    let is_deleted = |row: &i64| deleted.contains(&(*row as u64));
    let vector = RowSelection::delete_rows(deleted);
    let left: Vec<i64> = (0..ROWS).filter(|row| !is_deleted(row)).collect();
    check(
        &file,
        &ReadOptions::new().row_selection(vector.clone()),
        &left,
    );
    let bits = BooleanBuffer::from_iter((0..ROWS).map(|row| is_deleted(&row)));
    let bits = ReadOptions::new().row_selection(RowSelection::delete_bits(&bits));
    check(&file, &bits, &left);
    // These selections apply to single row groups, combined with others, and with a filter.
    let options = ReadOptions::new()
        .row_selection(vector)
        .row_selection(RowSelection::keep([0..3, 2_999..3_005]).of_row_group(1))
        .row_selection(RowSelection::delete([0..u64::MAX]).of_row_group(0))
        .row_selection(RowSelection::keep([0..34_002]));
    let expected = [
        17_001, 17_002, 19_999, 20_000, 20_001, 20_003, 20_004, 34_000, 34_001,
    ];
    check(&file, &options, &expected);
    let filtered = options.clone().filter(col("number").ge(20_000)).limit(3);
    check(&file, &filtered, &[20_000, 20_001, 20_003]);

    let plan = ParquetFile::from_bytes(file)
        .unwrap()
        .plan(&options)
        .unwrap();
    let plans = plan.row_groups().iter();
    let plans: Vec<_> = plans
        .map(|plans| {
            (
                plans.ordinal(),
                plans.first_row(),
                plans.row_ranges().to_vec(),
            )
        })
        .collect();
    assert_eq!(
        plans,
        [
            (1, 17_000, vec![1..3, 2_999..3_002, 3_003..3_005]),
            (2, 34_000, vec![0..2])
        ]
    );
}

#[test]
fn behind_the_columns_of_a_wanted_schema_and_by_their_own_constants() {
    let wanted = Schema::new(vec![
        Field::new("number", DataType::Int64, false),
        Field::new("none", DataType::Utf8, true),
    ]);
    let wanted = WantedSchema::new(Arc::new(wanted));
    let options = ReadOptions::new()
        .wanted_schema(wanted)
        .row_ranges(vec![16_999..17_001]);
    check(&file(), &options, &[16_999, 17_000]);

    let partition: ArrayRef = Arc::new(Int64Array::from(vec![None]));
    let column = VirtualColumn::constant("partition", partition);
    assert!(column.field().is_nullable());
    let batches = read(&file(), &ReadOptions::new().limit(2).virtual_column(column)).unwrap();
    assert_eq!(batches[0].column(3).null_count(), 2);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let file = ParquetFile::from_source(file(), Limits::default()).unwrap();
    let refused = |options: ReadOptions| file.read(options).err().unwrap().to_string();
    let two: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let options = ReadOptions::new().virtual_column(VirtualColumn::constant("two", two));
    let message = "the constant for the column `two` has 2 values instead of one";
    assert!(refused(options).contains(message));
    let selection = RowSelection::keep([0..1]).of_row_group(3);
    let options = ReadOptions::new().row_selection(selection);
    assert!(refused(options).contains("there is no row group 3: the file has 3"));
}
