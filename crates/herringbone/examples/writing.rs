//! Writes a batch with options for all columns and for one, and writes pages that end by their content.
//!
//! cargo run --example writing

use std::error::Error;

use herringbone::arrow::array::RecordBatch;

fn write_with_options() -> Result<RecordBatch, Box<dyn Error>> {
    // docs: options
    use std::sync::Arc;

    use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use herringbone::{ColumnOptions, Compression, WriteOptions, Writer};

    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("herring"), None, Some("bone")]));
    let batch = RecordBatch::try_from_iter([("id", ids), ("name", names)])?;

    let options = WriteOptions::new()
        .compression(Compression::Snappy)
        .column("id", ColumnOptions::new().dictionary(false))
        .row_group_rows(100_000);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options)?;
    writer.write(&batch)?;
    assert_eq!(writer.finish()?.num_rows(), 3);
    // docs: end
    Ok(batch)
}

fn write_chunks(batch: &RecordBatch) -> Result<(), Box<dyn Error>> {
    // docs: chunking
    use herringbone::{ContentDefinedChunking, WriteOptions};

    let chunking = ContentDefinedChunking::new()
        .min_chunk_bytes(128 << 10)
        .max_chunk_bytes(512 << 10);
    let options = WriteOptions::new().content_defined_chunking(chunking);
    // docs: end
    let mut writer = herringbone::Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(batch)?;
    let (_, file) = writer.finish_into()?;
    let file = herringbone::ParquetFile::from_bytes(file)?;
    let read = file.read(Default::default())?.next_batch()?;
    assert_eq!(read.as_ref(), Some(batch));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    write_chunks(&write_with_options()?)
}
