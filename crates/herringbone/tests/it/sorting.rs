//! Tests of rows declared as sorted.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringArray};
use herringbone::{ErrorKind, Result, SortingColumnOption, UnsortedRows, WriteOptions, Writer};

fn sorting(name: &str, descending: bool, nulls_first: bool) -> SortingColumnOption {
    SortingColumnOption::new(vec![name.to_owned()])
        .descending(descending)
        .nulls_first(nulls_first)
}

fn batch(names: Vec<Option<&str>>, numbers: Vec<i32>) -> RecordBatch {
    let names: ArrayRef = Arc::new(StringArray::from(names));
    let numbers: ArrayRef = Arc::new(Int32Array::from(numbers));
    RecordBatch::try_from_iter_with_nullable([("s", names, true), ("n", numbers, false)]).unwrap()
}

/// Writes batches declared as sorted by `s`, then by `n` descending.
fn write(batches: &[RecordBatch], flush: bool) -> Result<()> {
    let options = WriteOptions::default()
        .sorting_columns(vec![sorting("s", false, true), sorting("n", true, true)])
        .unsorted_rows(UnsortedRows::Error);
    let mut writer = Writer::new(Vec::new(), batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
        if flush {
            writer.flush()?;
        }
    }
    let metadata = writer.finish()?;
    let sorted_by = metadata.row_group(0)?.sorting_columns.unwrap();
    assert_eq!(sorted_by[1].column_idx, 1);
    assert!(sorted_by[1].descending);
    Ok(())
}

#[test]
fn sorted_rows_are_written_and_others_are_not() {
    let sorted = batch(
        vec![None, Some("a"), Some("a"), Some("b")],
        vec![1, 5, 4, 9],
    );
    write(std::slice::from_ref(&sorted), false).unwrap();
    let more = batch(vec![Some("b"), Some("c")], vec![9, 0]);
    write(&[sorted.clone(), more.clone()], false).unwrap();

    let error = write(&[more.clone(), sorted.clone()], false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("row 2"), "{error}");
    // Each row group is sorted separately.
    write(&[more, sorted], true).unwrap();

    let ascending = batch(vec![Some("a"), Some("a")], vec![4, 5]);
    assert!(write(&[ascending], false).is_err());
    let null_last = batch(vec![Some("a"), None], vec![4, 5]);
    assert!(write(&[null_last], false).is_err());
}

#[test]
fn nans_are_the_greatest() {
    let floats: ArrayRef = Arc::new(Float64Array::from(vec![-1.0, 0.0, 2.0, f64::NAN]));
    let batch = RecordBatch::try_from_iter([("f", floats)]).unwrap();
    let write = |descending| -> Result<()> {
        let options = WriteOptions::default()
            .sorting_columns(vec![sorting("f", descending, false)])
            .unsorted_rows(UnsortedRows::Error);
        let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
        writer.write(&batch)
    };
    write(false).unwrap();
    assert!(write(true).is_err());
}

#[test]
fn columns_to_sort_by_have_to_be_there() {
    let batch = batch(vec![Some("a")], vec![1]);
    let options = WriteOptions::default().sorting_columns(vec![sorting("x", false, false)]);
    let error = Writer::new(Vec::new(), batch.schema(), options)
        .err()
        .unwrap();
    assert!(error.message().contains('x'), "{error}");
}

#[test]
fn only_row_groups_that_are_sorted_say_so() {
    let batch = batch(
        vec![Some("a"), Some("b"), Some("c"), Some("b"), Some("a"), None],
        vec![0; 6],
    );
    let options = WriteOptions::default()
        .sorting_columns(vec![sorting("s", false, false)])
        .unsorted_rows(UnsortedRows::OmitSortingColumns)
        .row_group_rows(2);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
    // The writer must also check the boundary between two batches.
    writer.write(&batch.slice(0, 3)).unwrap();
    writer.write(&batch.slice(3, 3)).unwrap();
    let metadata = writer.finish().unwrap();
    let declared = |row_group| metadata.row_group(row_group).unwrap().sorting_columns;
    assert_eq!(declared(0).map(|columns| columns.len()), Some(1));
    assert_eq!(declared(1), None);
    assert_eq!(declared(2).map(|columns| columns.len()), Some(1));
}
