//! Files that the tests read.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::{ColumnOptions, Compression, ParquetFile, ReadOptions, Result, WriteOptions};
use herringbone::{OpenOptions, Writer};

/// Returns numbers that do not compress, from a generator with fixed constants.
fn noise(seed: u64, rows: u64) -> impl Iterator<Item = i64> {
    (0..rows).map(move |row| {
        let mut x = (seed << 40 | row).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^= x >> 31;
        x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (x ^ x >> 29) as i64 >> 8
    })
}

/// Returns a batch with a column `id` that counts the rows, and with columns `c1`, `c2`, … of
/// noise.
pub(crate) fn batch(columns: u64, rows: u64) -> RecordBatch {
    let column = |column: u64| -> (String, ArrayRef) {
        match column {
            0 => (
                "id".to_owned(),
                Arc::new(Int64Array::from_iter_values(0..rows as i64)),
            ),
            _ => (
                format!("c{column}"),
                Arc::new(Int64Array::from_iter_values(noise(column, rows))),
            ),
        }
    };
    RecordBatch::try_from_iter((0..columns).map(column)).unwrap()
}

pub(crate) fn written(batch: &RecordBatch, options: WriteOptions) -> Bytes {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Returns a file with pages of 1,000 rows, at 8 bytes per value.
pub(crate) fn file(columns: u64, row_groups: u64, rows: u64) -> Bytes {
    let pages = ColumnOptions::new().page_rows(1000);
    let pages = pages.compression(Compression::Uncompressed);
    let options = WriteOptions::new()
        .columns(pages)
        .row_group_rows(rows as usize);
    written(&batch(columns, row_groups * rows), options)
}

/// Reads a file in memory on this thread.
pub(crate) fn blocking(
    file: &Bytes,
    open: impl Into<OpenOptions>,
    options: &ReadOptions,
) -> Result<Vec<RecordBatch>> {
    let file = ParquetFile::from_source(file.clone(), open)?;
    let mut reader = file.read(options.clone().threads(1))?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}
