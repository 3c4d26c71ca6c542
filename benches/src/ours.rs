//! What Herringbone does in each case.

use crate::{BATCH_SIZE, Result};
use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::{
    Compression, ParquetFile, Projection, ReadOptions, SchemaOptions, WriteOptions, Writer,
};
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

/// All batches of a file, as plain arrays: as most programs hand them over.
///
/// # Errors
///
/// Whatever reading meets.
pub fn batches(path: &Path) -> Result<Vec<RecordBatch>> {
    let mut schema = SchemaOptions::default();
    schema.use_arrow_schema = false;
    let reader = ParquetFile::open(path)?.read(ReadOptions::default().schema(schema))?;
    Ok(reader.collect::<Result<_, _>>()?)
}

/// The codec that the name of a case ends in, if it does.
///
/// # Errors
///
/// None: all of them are known.
pub fn codec(name: &str) -> Result<Compression> {
    let codec = ["snappy", "gzip", "brotli", "zstd", "lz4"]
        .into_iter()
        .find(|codec| name.ends_with(codec));
    Ok(match codec {
        Some("lz4") => "lz4_raw".parse()?,
        // The level that the peer takes.
        Some("brotli") => "brotli:1".parse()?,
        Some(codec) => codec.parse()?,
        None => Compression::Uncompressed,
    })
}

/// Writes batches to memory.
///
/// # Errors
///
/// Whatever writing meets.
pub fn write(batches: &[RecordBatch], compression: Compression, threads: usize) -> Result<Vec<u8>> {
    let options = WriteOptions::default()
        .compression(compression)
        .threads(threads);
    let schema = batches.first().ok_or("no batches")?.schema();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, schema, options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(file)
}
