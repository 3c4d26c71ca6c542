//! A reader without an operating system. A host fills a buffer with a file, and queries its contents.

#![allow(
    unsafe_code,
    reason = "the names of exports have to be unique, and nothing else checks that"
)]

use std::sync::Mutex;

use bytes::Bytes;
use herringbone::arrow::array::Array as _;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::Int64Type;
use herringbone::{Limits, ParquetFile, ReadOptions};

static FILE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Returns the buffer into which the host copies a file of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn buffer(length: usize) -> *mut u8 {
    FILE.lock().map_or(std::ptr::null_mut(), |mut file| {
        file.resize(length, 0);
        file.as_mut_ptr()
    })
}

/// Returns the number of rows, or -1 if they cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn rows() -> i64 {
    let count = read(ReadOptions::new(), |batch| batch.num_rows() as i64);
    count.unwrap_or(-1)
}

/// Returns the sum of the column `id`, or -1 if it cannot be read.
#[unsafe(no_mangle)]
pub extern "C" fn sum_of_ids() -> i64 {
    let sum = |batch: &herringbone::arrow::array::RecordBatch| {
        let ids = batch.column(0).as_primitive::<Int64Type>();
        let valid = (0..ids.len()).filter(|row| ids.is_valid(*row));
        valid.map(|row| ids.value(row)).sum()
    };
    read(ReadOptions::new().columns(["id"]), sum).unwrap_or(-1)
}

fn read(
    options: ReadOptions,
    batch_sum: impl Fn(&herringbone::arrow::array::RecordBatch) -> i64,
) -> Option<i64> {
    let bytes = Bytes::from(FILE.lock().ok()?.clone());
    let file = ParquetFile::from_source(bytes, Limits::default()).ok()?;
    let mut sum = 0;
    for batch in file.read(options).ok()? {
        sum += batch_sum(&batch.ok()?);
    }
    Some(sum)
}
