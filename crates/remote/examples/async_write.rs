//! Writes an object in parts, with several in flight, and without a runtime. The object appears
//! when the last part has arrived.
//!
//! cargo run -p herringbone-remote --example async_write

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::{ParquetFile, Result, WriteOptions};
use herringbone_remote::{BoxFuture, ObjectSink, RemoteWriteOptions, RemoteWriter, Upload};

/// The parts of objects in memory. A store's sink would send requests in its futures.
#[derive(Debug, Clone, Default)]
struct InMemory {
    parts: Arc<Mutex<Vec<Bytes>>>,
    is_complete: Arc<Mutex<bool>>,
}

impl InMemory {
    fn add(&self, bytes: Bytes) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.push(bytes);
    }

    fn end(&self) {
        *self
            .is_complete
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
    }
}

impl ObjectSink for InMemory {
    fn name(&self) -> &str {
        "an object in memory"
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.add(bytes);
        self.end();
        Box::pin(async { Ok(()) })
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let upload = self.clone();
        Box::pin(async { Ok(Box::new(upload) as Box<dyn Upload>) })
    }
}

impl Upload for InMemory {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.add(bytes);
        Box::pin(async { Ok(()) })
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.end();
        Box::pin(async { Ok(()) })
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.parts
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
        Box::pin(async { Ok(()) })
    }
}

async fn write(sink: InMemory, batch: &RecordBatch) -> Result<()> {
    // S3 needs parts of 5 MiB and more. These are smaller, to keep the example small.
    let options = RemoteWriteOptions::from(WriteOptions::new().row_group_rows(10_000));
    let options = options.part_bytes(64 << 10);
    let mut writer = RemoteWriter::new(Arc::new(sink), batch.schema(), options)?;
    writer.write(batch).await?;
    writer.finish().await?;
    Ok(())
}

fn main() -> Result<()> {
    // Neither encodings nor codecs can make these 100,000 values of 8 bytes smaller.
    let values = (0..100_000_u64).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64);
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(values));
    let batch = RecordBatch::try_from_iter([("value", values)])?;
    let sink = InMemory::default();
    block_on(write(sink.clone(), &batch))?;
    assert!(
        *sink
            .is_complete
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    );

    let parts = sink.parts.lock().unwrap_or_else(PoisonError::into_inner);
    println!("{} parts", parts.len());
    assert!(parts.len() >= 10);
    let file = ParquetFile::from_bytes(parts.concat())?;
    assert_eq!(file.metadata().num_rows(), 100_000);
    Ok(())
}
