//! Bounds and counts as Arrow arrays, for row groups and pages, nested or not.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, Float64Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
    TimestampMicrosecondArray,
};
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone::pruning::ColumnBounds;
use herringbone::{ColumnOptions, ParquetFile, StatisticsLevel, WriteOptions, Writer};

use crate::canonical::lines;
use crate::files;

fn written(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(Bytes::from(file)).unwrap()
}

/// Ten rows: a list that is null, empty or has values, and a struct with text and floats.
fn batch() -> RecordBatch {
    let lists = ListArray::from_iter_primitive::<Int64Type, _, _>((0..10).map(|row| {
        (row != 3).then(|| (0..row % 3).map(move |at| (at != 1).then_some(row * 10 + at)))
    }));
    let text = StringArray::from_iter((0..10).map(|row| (row < 8).then(|| format!("t{row}"))));
    let floats = [
        0.0,
        1.0,
        -2.0,
        f64::NAN,
        4.0,
        -0.0,
        f64::NAN,
        f64::NAN,
        f64::NAN,
        f64::NAN,
    ];
    let fields = Fields::from(vec![
        Field::new("text", DataType::Utf8, true),
        Field::new("float", DataType::Float64, false),
    ]);
    let columns: Vec<ArrayRef> = vec![
        Arc::new(text),
        Arc::new(Float64Array::from(floats.to_vec())),
    ];
    let structs = StructArray::new(fields, columns, None);
    let times = TimestampMicrosecondArray::from_iter_values(0..10).with_timezone("UTC");
    RecordBatch::try_from_iter([
        ("list", Arc::new(lists) as ArrayRef),
        ("struct", Arc::new(structs)),
        ("time", Arc::new(times)),
    ])
    .unwrap()
}

fn check(bounds: &ColumnBounds, min: &[&str], max: &[&str], nulls: &[&str], rows: &[&str]) {
    assert_eq!(lines(&bounds.min), min);
    assert_eq!(lines(&bounds.max), max);
    assert_eq!(lines(&bounds.null_counts), nulls);
    assert_eq!(lines(&bounds.row_counts), rows);
}

#[test]
fn of_row_groups_and_pages_nested_or_not() {
    let mut options = WriteOptions::new().row_group_rows(6);
    options.columns = ColumnOptions::new().page_rows(2).dictionary(false);
    let file = written(&batch(), options);
    // The expected lists: -, [10], [20, null], null, [40], [50, null] | -, [70], [80, null], -
    let list = file.row_group_bounds(0).unwrap();
    check(
        &list,
        &["10", "70"],
        &["50", "80"],
        &["4", "3"],
        &["6", "4"],
    );
    let pages = file.page_bounds(0, 0).unwrap().unwrap();
    check(
        &pages,
        &["10", "20", "40"],
        &["10", "20", "50"],
        &["1", "2", "1"],
        &["2", "2", "2"],
    );

    let text = file.row_group_bounds(1).unwrap();
    check(
        &text,
        &["\"t0\"", "\"t6\""],
        &["\"t5\"", "\"t7\""],
        &["0", "2"],
        &["6", "4"],
    );
    let pages = file.page_bounds(1, 1).unwrap().unwrap();
    check(
        &pages,
        &["\"t6\"", "null"],
        &["\"t7\"", "null"],
        &["0", "2"],
        &["2", "2"],
    );

    // NaNs are counted, but are not part of the bounds. A zero bound stands for both zeros.
    let floats = file.row_group_bounds(2).unwrap();
    assert_eq!(lines(&floats.nan_counts), ["1", "4"]);
    check(
        &floats,
        &["-2e0", "null"],
        &["4e0", "null"],
        &["0", "0"],
        &["6", "4"],
    );
    assert_eq!(
        floats.is_min_exact.iter().collect::<Vec<_>>(),
        [Some(true), None]
    );

    let times = file.row_group_bounds(3).unwrap();
    assert_eq!(times.min.data_type(), batch().column(2).data_type());
    assert_eq!(times.max.to_data().buffer::<i64>(0), &[5, 9]);
}

#[test]
fn zeros_have_the_sign_that_keeps_both_within() {
    let values = Float64Array::from(vec![0.0, -0.0, 0.0]);
    let batch = RecordBatch::try_from_iter([("f", Arc::new(values) as ArrayRef)]).unwrap();
    let bounds = written(&batch, WriteOptions::new())
        .row_group_bounds(0)
        .unwrap();
    let bits = |array: &ArrayRef| array.to_data().buffer::<f64>(0)[0].to_bits();
    assert_eq!(
        (bits(&bounds.min), bits(&bounds.max)),
        ((-0.0_f64).to_bits(), 0.0_f64.to_bits())
    );
}

#[test]
fn what_is_not_said_is_null() {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("a", values)]).unwrap();
    let mut options = WriteOptions::new();
    options.columns = ColumnOptions::new().statistics(StatisticsLevel::Counts);
    let file = written(&batch, options);
    let bounds = file.row_group_bounds(0).unwrap();
    check(&bounds, &["null"], &["null"], &["0"], &["3"]);
    assert!(file.page_bounds(0, 0).unwrap().is_none());
    let error = file.row_group_bounds(1).unwrap_err();
    assert_eq!(error.kind(), herringbone::ErrorKind::Argument);
}

/// Files of other writers with some unusable bounds.
#[test]
fn of_official_files() {
    let Some(official) = files::official() else {
        return;
    };
    let bounds = |name: &str, leaf| {
        let file = ParquetFile::open(official.join("data").join(name)).unwrap();
        file.row_group_bounds(leaf).unwrap()
    };
    // Its upper bound is NaN. The values are 1 and NaN.
    let nan = bounds("nan_in_stats.parquet", 0);
    check(&nan, &["1e0"], &["null"], &["0"], &["2"]);
    // The bounds of 96-bit timestamps follow no order that was defined then.
    let int96 = bounds("alltypes_plain.parquet", 10);
    assert_eq!((int96.min.null_count(), int96.max.null_count()), (1, 1));
    // The older bounds of BYTE_ARRAY columns were compared as signed bytes.
    let strings = bounds("alltypes_tiny_pages.parquet", 8);
    assert_eq!((strings.min.len(), strings.row_counts.value(0)), (1, 7300));
}
