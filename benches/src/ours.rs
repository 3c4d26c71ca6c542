//! What Herringbone does in each case.

use crate::{BATCH_SIZE, Result};
use bytes::Bytes;
use herringbone::{ParquetFile, Projection, ReadOptions, SchemaOptions};
use std::hint::black_box;
use std::path::Path;

/// Reads everything, or some leaf columns, and drops the batches as they come; the number of rows.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read(bytes: &Bytes, leaves: Option<&[usize]>) -> Result<u64> {
    stream(ParquetFile::from_bytes(bytes.clone())?, leaves)
}

/// [`read`] from a file on disk.
///
/// # Errors
///
/// Whatever reading meets.
pub fn read_path(path: &Path) -> Result<u64> {
    stream(ParquetFile::open(path)?, None)
}

fn stream(file: ParquetFile, leaves: Option<&[usize]>) -> Result<u64> {
    let mut options = ReadOptions::default().batch_size(BATCH_SIZE).threads(1);
    if let Some(leaves) = leaves {
        options = options.projection(Projection::Leaves(leaves.to_vec()));
    }
    let mut reader = file.read(options)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += black_box(batch).num_rows() as u64;
    }
    Ok(rows)
}

/// Opens a file: its metadata, before any question about it; the number of row groups.
///
/// # Errors
///
/// Whatever opening meets.
pub fn open(bytes: &Bytes) -> Result<u64> {
    let file = black_box(ParquetFile::from_bytes(bytes.clone())?);
    Ok(file.metadata().num_row_groups() as u64)
}

/// Opens a file and derives its Arrow schema; the number of columns.
///
/// # Errors
///
/// Whatever opening meets.
pub fn schema(bytes: &Bytes) -> Result<u64> {
    let file = ParquetFile::from_bytes(bytes.clone())?;
    let schema = black_box(file.arrow_schema(&SchemaOptions::default())?);
    Ok(schema.fields().len() as u64)
}
