//! Tests many small row groups, one per thread, and many columns of few rows. The batches and errors must be those that
//! one thread returns.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::{Limits, ParquetFile, ReadOptions, WriteOptions};

use crate::push::read;
use crate::push::written;

const ROWS: i64 = 90_000;
/// The number of rows in a row group. No row group ends with a batch.
const ROW_GROUP_ROWS: usize = 1999;

fn small_row_groups() -> (RecordBatch, Bytes) {
    let numbers = |of: &dyn Fn(i64) -> Option<i64>| -> ArrayRef {
        Arc::new((0..ROWS).map(of).collect::<Int64Array>())
    };
    let texts: StringArray = (0..ROWS)
        .map(|row| Some(format!("{}", row % 300)))
        .collect();
    let columns = [
        ("row", numbers(&|row| Some(row))),
        ("sparse", numbers(&|row| (row % 7 > 0).then_some(row))),
        ("text", Arc::new(texts)),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions::new().row_group_rows(ROW_GROUP_ROWS);
    let bytes = written(&batch, options);
    (batch, bytes)
}

/// Reads on a single thread, and checks that several threads return the same result.
fn on_any_threads(file: &Bytes, options: &ReadOptions) -> Result<Vec<RecordBatch>, String> {
    let expected = read(file, &options.clone().threads(1));
    for threads in [2, 3, 8] {
        let got = read(file, &options.clone().threads(threads));
        assert!(got == expected, "{threads} threads: {:?}", got.err());
    }
    expected
}

#[test]
fn all_rows_come_once_and_in_order() {
    let (written, file) = small_row_groups();
    for batch_size in [700, 8192] {
        let batches = on_any_threads(&file, &ReadOptions::new().batch_size(batch_size)).unwrap();
        let mut row = 0;
        for batch in &batches {
            assert_eq!(*batch, written.slice(row, batch.num_rows()));
            row += batch.num_rows();
        }
        assert_eq!(row, written.num_rows());
    }
}

#[test]
fn offset_and_limit_count_once() {
    let (written, file) = small_row_groups();
    for (offset, limit) in [(0, 70_001), (12_345, 60_000), (2 * ROW_GROUP_ROWS, 50_000)] {
        let options = ReadOptions::new().offset(offset as u64).limit(limit as u64);
        let batches = on_any_threads(&file, &options).unwrap();
        let mut row = offset;
        for batch in &batches {
            assert_eq!(*batch, written.slice(row, batch.num_rows()));
            row += batch.num_rows();
        }
        assert_eq!(row, offset + limit);
    }
}

#[test]
fn rows_left_are_counted_down() {
    let (_, file) = small_row_groups();
    let file = ParquetFile::from_bytes(file).unwrap();
    for threads in [1, 2] {
        let options = ReadOptions::new().offset(10).limit(80_000).threads(threads);
        let mut reader = file.read(options).unwrap();
        let mut left = 80_000;
        assert_eq!(reader.rows_left(), left);
        while let Some(batch) = reader.next_batch().unwrap() {
            left -= batch.num_rows() as u64;
            assert_eq!(reader.rows_left(), left);
        }
        assert_eq!(left, 0);
    }
}

#[test]
fn little_memory_is_enough_for_as_many_threads() {
    let (written, file) = small_row_groups();
    let limited = |bytes| {
        let mut limits = Limits::default();
        limits.memory_bytes = bytes;
        ReadOptions::new().batch_size(500).limits(limits)
    };
    let is_enough = |bytes: &u64| read(&file, &limited(*bytes).threads(1)).is_ok();
    let least = (1..).map(|n| n << 12).find(is_enough).unwrap();
    for bytes in [least, least + (1 << 16), least + (1 << 18)] {
        let batches = on_any_threads(&file, &limited(bytes)).unwrap();
        let rows = batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert_eq!(rows, written.num_rows());
    }
    read(&file, &limited(least / 2).threads(1)).unwrap_err();
}

#[test]
fn many_columns_of_few_rows() {
    // In the first file, no column is handed to another thread, but in the second file, every column is.
    for rows in [200, 1000] {
        let columns = (0..1000_i64).map(|column| {
            let values = (0..rows).map(|row| (row % 5 > 0).then_some(row * column));
            let array: ArrayRef = Arc::new(values.collect::<Int64Array>());
            (format!("c{column}"), array)
        });
        let written_batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = written(&written_batch, WriteOptions::new());
        let batches = on_any_threads(&file, &ReadOptions::new().batch_size(400)).unwrap();
        let mut row = 0;
        for batch in &batches {
            assert_eq!(*batch, written_batch.slice(row, batch.num_rows()));
            row += batch.num_rows();
        }
        assert_eq!(row as i64, rows);
        // These bytes are in pages of columns in the middle of the file.
        let mut damaged = file.to_vec();
        let place = damaged.len() / 2;
        damaged[place..place + 300].fill(0xff);
        on_any_threads(&damaged.into(), &ReadOptions::new().batch_size(400)).unwrap_err();
    }
}
