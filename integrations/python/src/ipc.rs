//! Tables and schemas as bytes for `pickle`, in the form of an Arrow IPC stream.

use bytes::Bytes;
use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::buffer::Buffer;
use herringbone::arrow::ipc::reader::StreamDecoder;
use herringbone::arrow::ipc::writer::StreamWriter;
use herringbone::arrow::schema::SchemaRef;
use pyo3::pybacked::PyBackedBytes;

use crate::error::{Result, argument};

/// Returns a stream of batches with this schema.
pub(crate) fn encode(schema: &SchemaRef, batches: &[RecordBatch]) -> Result<Vec<u8>> {
    let mut writer = StreamWriter::try_new(Vec::new(), schema)?;
    for batch in batches {
        writer.write(batch)?;
    }
    Ok(writer.into_inner()?)
}

/// Returns a stream's schema and batches, which share the stream's memory.
pub(crate) fn decode(stream: PyBackedBytes) -> Result<(SchemaRef, Vec<RecordBatch>)> {
    let mut rest = Buffer::from(Bytes::from_owner(stream));
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    while let Some(batch) = decoder.decode(&mut rest)? {
        batches.push(batch);
    }
    decoder.finish()?;
    match decoder.schema() {
        Some(schema) => Ok((schema, batches)),
        None => Err(argument("the stream of Arrow IPC does not have a schema")),
    }
}
