//! Tests the bounds of decimals that polars 0.20 to 1.30 wrote. It merged the bounds of pages as bytes without a sign.

use std::sync::Arc;

use herringbone::arrow::array::{
    Array, ArrayRef, Decimal128Array, RecordBatch, cast::AsArray, types::Decimal128Type,
};
use herringbone::filter::col;
use herringbone::{ColumnOptions, Compression, ParquetFile, ReadOptions, WriteOptions, Writer};

use crate::damage::with_statistics;
use crate::dismantled::Dismantled;

/// The values of two pages, in hundredths.
const VALUES: [i128; 4] = [-500, 300, 100, 200];

/// Writes a file with the bounds that polars 1.0.0 writes for the first column. These are 1.00 and 3.00, because the
/// bytes of -5.00 without a sign look like a great number. The second column's bounds are INT32, and right.
fn file(created_by: &str) -> Vec<u8> {
    let column = |precision: u8| -> ArrayRef {
        let values = Decimal128Array::from_iter_values(VALUES);
        Arc::new(values.with_precision_and_scale(precision, 2).unwrap())
    };
    let batch = RecordBatch::try_from_iter([("wide", column(20)), ("narrow", column(9))]).unwrap();
    let options = WriteOptions::new()
        .compression(Compression::Uncompressed)
        .page_index(false)
        .columns(ColumnOptions::new().page_rows(2).dictionary(false));
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    // Nine bytes are needed for 20 digits.
    let wrong = with_statistics(&bytes, 0, |it| {
        it.min_value = Some(vec![0, 0, 0, 0, 0, 0, 0, 0, 100]);
        it.max_value = Some(vec![0, 0, 0, 0, 0, 0, 0, 1, 44]);
    });
    let mut parts = Dismantled::new(&wrong.into());
    parts.created_by(created_by);
    parts.assemble().to_vec()
}

/// Returns a column's negative values.
fn negative(file: &ParquetFile, column: &str) -> Vec<i128> {
    let options = ReadOptions::new().filter(col(column).lt(0));
    let batches = file.read(options).unwrap().map(|batch| batch.unwrap());
    let values = |batch: RecordBatch| {
        let values = batch.column(0).as_primitive::<Decimal128Type>().clone();
        values.values().to_vec()
    };
    batches.flat_map(values).collect()
}

#[test]
fn wrong_bounds_of_decimals_are_left_out() {
    let polars_file = ParquetFile::from_bytes(file("Polars")).unwrap();
    for column in ["wide", "narrow"] {
        assert_eq!(negative(&polars_file, column), [-500], "{column}");
    }
    let wide = polars_file.row_group_bounds(0).unwrap();
    assert_eq!((wide.min.null_count(), wide.max.null_count()), (1, 1));
    assert_eq!(wide.null_counts.value(0), 0);
    let narrow = polars_file.row_group_bounds(1).unwrap();
    let bounds = [narrow.min, narrow.max];
    let bounds = bounds.map(|bounds| bounds.as_primitive::<Decimal128Type>().value(0));
    assert_eq!(bounds, [-500, 300]);

    // Later versions state their number, so we believe them.
    let later = "Polars (python) version 2.0.0 (build 22a147de3d2bb2e44b97338a2510816c7105c9f2)";
    let later = ParquetFile::from_bytes(file(later)).unwrap();
    assert_eq!(negative(&later, "wide"), []);
    assert_eq!(negative(&later, "narrow"), [-500]);
}

/// A copied row group would have these bounds under another writer's name, so we refuse the copy.
#[test]
fn row_groups_with_wrong_bounds_are_not_copied() {
    let polars_file = ParquetFile::from_bytes(file("Polars")).unwrap();
    let schema = polars_file
        .plan(&ReadOptions::new())
        .unwrap()
        .schema()
        .clone();
    let writer = Writer::new(Vec::new(), schema, WriteOptions::new()).unwrap();
    let error = writer.check_copy(&polars_file).unwrap_err().to_string();
    assert!(error.contains("by its name, `Polars`"), "{error}");
}
