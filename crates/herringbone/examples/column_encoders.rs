//! Encodes the columns of two row groups on threads of the program, and copies a row group of another file.
//!
//! cargo run --example column_encoders

use std::sync::Arc;
use std::thread;

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::{
    ColumnEncoder, EncodedChunk, Error, ParquetFile, ReadOptions, WriteOptions, Writer,
};

fn batch(ids: std::ops::Range<i64>) -> Result<RecordBatch, Box<dyn std::error::Error>> {
    let names = ids.clone().map(|id| format!("name {}", id % 7));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(names));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(ids));
    Ok(RecordBatch::try_from_iter([("id", ids), ("name", names)])?)
}

fn encode(mut encoder: ColumnEncoder, batch: &RecordBatch) -> herringbone::Result<EncodedChunk> {
    encoder.write(batch)?;
    encoder.finish()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let batches = [batch(0..1000)?, batch(1000..1500)?, batch(1500..1600)?];
    let schema = batches[0].schema();
    let mut other = Writer::new(Vec::new(), schema.clone(), WriteOptions::new())?;
    other.write(&batches[2])?;
    let (_, other) = other.finish_into()?;

    let mut writer = Writer::new(Vec::new(), schema, WriteOptions::new())?;
    // One thread per column of each row group, all at the same time.
    let encoders = [writer.column_encoders(0)?, writer.column_encoders(1)?];
    let row_groups = thread::scope(|scope| {
        let row_groups = encoders.into_iter().zip(&batches);
        let tasks: Vec<Vec<_>> = row_groups
            .map(|(columns, batch)| {
                let columns = columns.into_iter();
                columns
                    .map(|encoder| scope.spawn(move || encode(encoder, batch)))
                    .collect()
            })
            .collect();
        let chunks = tasks.into_iter().map(|row_group| {
            let columns = row_group.into_iter();
            columns
                .map(|task| {
                    task.join()
                        .unwrap_or_else(|_| Err(Error::argument("a thread panicked")))
                })
                .collect::<Result<Vec<_>, _>>()
        });
        chunks.collect::<Result<Vec<_>, _>>()
    })?;
    for chunks in row_groups {
        writer.append_row_group(chunks)?;
    }
    // The pages of another file are copied as they are.
    writer.copy_row_group(&ParquetFile::from_bytes(other)?, 0)?;
    let (metadata, bytes) = writer.finish_into()?;
    assert_eq!(metadata.num_row_groups(), 3);

    let batches_read = ParquetFile::from_bytes(bytes)?.read(ReadOptions::new())?;
    for (read, written) in batches_read.zip(batches) {
        assert_eq!(read?, written);
    }
    println!("{} rows", metadata.num_rows());
    Ok(())
}
