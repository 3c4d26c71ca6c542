//! Writes one file.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use delta_kernel::arrow::array::RecordBatch;
use delta_kernel::engine::arrow_data::ArrowEngineData;
use delta_kernel::object_store::{DynObjectStore, path::Path};
use delta_kernel::{EngineData, KernelError, KernelResult};
use delta_kernel_default_engine::executor::TaskExecutor;
use herringbone::schema::HintPolicy;
use herringbone::{Result, WriteOptions};
use herringbone_remote::object_store_013::StoreSink;
use herringbone_remote::{BoxFuture, ObjectSink, RemoteWriter, Upload};
use url::Url;

use crate::error::in_file;

/// Writes all batches to the file at a URL and returns its byte count. The file appears at the end,
/// or not at all.
pub(crate) fn write_file<E: TaskExecutor>(
    executor: &E,
    store: &Arc<DynObjectStore>,
    url: &Url,
    mut data: impl Iterator<Item = KernelResult<Box<dyn EngineData>>>,
) -> KernelResult<u64> {
    let first = data.next().ok_or_else(|| {
        KernelError::generic(format!(
            "{url}: there are no batches to write, so the columns of the file are not known"
        ))
    })?;
    let first = record_batch(first)?;
    let path = Path::from_url_path(url.path())?;
    let bytes = Arc::new(AtomicU64::new(0));
    let sink = CountedSink {
        sink: StoreSink::new(store.clone(), path).name(url.as_str()),
        bytes: bytes.clone(),
    };
    let mut options = WriteOptions::new();
    // We leave the Arrow schema out, because readers without Arrow only look at the Parquet schema,
    // and so do kernels.
    options.schema.arrow_schema_hint = HintPolicy::None;
    let writer = RemoteWriter::new(Arc::new(sink), first.schema(), options);
    let mut writer = writer.map_err(|error| in_file(url.as_str(), error))?;
    // We take the batches on this thread, because they may need the executor themselves.
    for batch in std::iter::once(Ok(first)).chain(data.map(record_batch)) {
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => {
                // We ignore this error, because the first error is the one to report. If it fails,
                // parts may stay in the store.
                drop(executor.block_on(writer.abort()));
                return Err(error);
            }
        };
        let (returned, result) = executor.block_on(async move {
            let result = writer.write(&batch).await;
            (writer, result)
        });
        writer = returned;
        // If this fails, the writer has already aborted the upload.
        result.map_err(|error| in_file(url.as_str(), error))?;
    }
    let finished = executor.block_on(writer.finish());
    finished.map_err(|error| in_file(url.as_str(), error))?;
    Ok(bytes.load(Ordering::Acquire))
}

fn record_batch(data: KernelResult<Box<dyn EngineData>>) -> KernelResult<RecordBatch> {
    Ok((*ArrowEngineData::try_from_engine_data(data?)?).into())
}

/// A sink that counts the file's bytes.
#[derive(Debug)]
struct CountedSink {
    sink: StoreSink,
    bytes: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountedUpload {
    upload: Box<dyn Upload>,
    bytes: Arc<AtomicU64>,
}

impl ObjectSink for CountedSink {
    fn name(&self) -> &str {
        ObjectSink::name(&self.sink)
    }

    fn put(&self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        self.sink.put(bytes)
    }

    fn start(&self) -> BoxFuture<Result<Box<dyn Upload>>> {
        let (start, bytes) = (self.sink.start(), self.bytes.clone());
        Box::pin(async move {
            let upload = start.await?;
            Ok(Box::new(CountedUpload { upload, bytes }) as Box<dyn Upload>)
        })
    }

    fn run_detached(&self, abort: BoxFuture<()>) {
        self.sink.run_detached(abort);
    }
}

impl Upload for CountedUpload {
    fn put_part(&mut self, bytes: Bytes) -> BoxFuture<Result<()>> {
        self.bytes.fetch_add(bytes.len() as u64, Ordering::AcqRel);
        self.upload.put_part(bytes)
    }

    fn complete(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.upload.complete()
    }

    fn abort(&mut self) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
        self.upload.abort()
    }
}
