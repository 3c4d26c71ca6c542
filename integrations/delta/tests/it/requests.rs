use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use delta_kernel::arrow::array::AsArray;
use delta_kernel::arrow::datatypes::Int64Type;
use delta_kernel::cancellation::{CancellationToken, CancelledFuture};
use delta_kernel::expressions::lit;
use delta_kernel::object_store::local::LocalFileSystem;
use delta_kernel::object_store::path::Path;
use delta_kernel::object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use delta_kernel::schema::{DataType, MetadataColumnSpec, StructField};
use delta_kernel::{CancellationTokenRef, KernelError, ParquetHandler};
use futures::stream::BoxStream;

use crate::support::{Handlers, col, data, nullable, read, schema};

/// A store of local files that counts the requested bytes.
#[derive(Debug, Default)]
struct CountingStore {
    files: LocalFileSystem,
    requests: AtomicU64,
    bytes: AtomicU64,
    /// The number of the request in which the store panics.
    panics_at: Option<u64>,
    /// The time between a request and its answer.
    latency: Option<Duration>,
    in_flight: AtomicU64,
    most_in_flight: AtomicU64,
}

impl fmt::Display for CountingStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("counting")
    }
}

impl CountingStore {
    fn take(&self) -> (u64, u64) {
        (
            self.requests.swap(0, Ordering::SeqCst),
            self.bytes.swap(0, Ordering::SeqCst),
        )
    }
}

#[async_trait]
impl ObjectStore for CountingStore {
    async fn put_opts(
        &self,
        path: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.files.put_opts(path, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.files.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        let in_flight = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_in_flight.fetch_max(in_flight, Ordering::SeqCst);
        if let Some(latency) = self.latency {
            tokio::time::sleep(latency).await;
        }
        self.in_flight.fetch_sub(1, Ordering::SeqCst);
        let result = self.files.get_opts(path, options).await?;
        let number = self.requests.fetch_add(1, Ordering::SeqCst);
        assert!(self.panics_at != Some(number), "the store panics");
        self.bytes
            .fetch_add(result.range.end - result.range.start, Ordering::SeqCst);
        Ok(result)
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut parts = Vec::new();
        for range in ranges {
            parts.push(self.get_range(path, range.clone()).await?);
        }
        Ok(parts)
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.files.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }
}

/// Writes a file that is larger than the first request for its end.
fn large_file(folder: &std::path::Path) -> delta_kernel::FileMeta {
    use delta_kernel::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    let numbers = Int64Array::from_iter_values(0..200_000);
    let texts = (0..200_000u64).map(|i| format!("{:020}", i.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
    let texts = StringArray::from_iter_values(texts);
    let batch = RecordBatch::try_from_iter([
        ("n", Arc::new(numbers) as ArrayRef),
        ("text", Arc::new(texts) as ArrayRef),
    ]);
    let path = folder.join("large.parquet");
    let options = herringbone::WriteOptions::new().row_group_rows(25_000);
    let mut writer = herringbone::Writer::new(
        std::fs::File::create(&path).unwrap(),
        batch.as_ref().unwrap().schema(),
        options,
    )
    .unwrap();
    writer.write(&batch.unwrap()).unwrap();
    writer.finish().unwrap();
    crate::support::file(&path)
}

#[test]
fn a_predicate_saves_bytes_and_keeps_the_row_indexes() {
    let folder = tempfile::tempdir().unwrap();
    let file = [large_file(folder.path())];
    let store = Arc::new(CountingStore::default());
    let handlers = Handlers::over(store.clone());
    let row = StructField::create_metadata_column("row", MetadataColumnSpec::RowIndex);
    let wanted = schema([
        row,
        nullable("n", DataType::LONG),
        nullable("text", DataType::STRING),
    ]);
    let all = read(&handlers.ours, &file, &wanted, None).unwrap();
    assert_eq!(all.num_rows(), 200_000);
    let (_, all_bytes) = store.take();

    let predicate = Some(Arc::new(col("n").ge(lit(160_000i64))));
    let some = read(&handlers.ours, &file, &wanted, predicate.clone()).unwrap();
    let (requests, some_bytes) = store.take();
    assert_eq!(some, all.slice(160_000, 40_000));
    let rows = some.column(0).as_primitive::<Int64Type>();
    assert_eq!((rows.value(0), rows.value(39_999)), (160_000, 199_999));
    assert!(some_bytes < all_bytes / 2, "{some_bytes} of {all_bytes}");

    read(&handlers.default, &file, &wanted, predicate).unwrap();
    let (default_requests, default_bytes) = store.take();
    // The first request asks for the last 256 KiB, which have the footer and the last rows.
    assert!(
        some_bytes <= default_bytes + (256 << 10),
        "{some_bytes} and {default_bytes}"
    );
    assert!(
        requests <= default_requests,
        "{requests} and {default_requests}"
    );
}

#[test]
fn a_small_file_takes_one_request() {
    let store = Arc::new(CountingStore::default());
    let handlers = Handlers::over(store.clone());
    let mut file = data("sorted.parquet");
    for size in [file.size, 0] {
        file.size = size;
        read(
            &handlers.ours,
            &[file.clone()],
            &schema([nullable("n", DataType::LONG)]),
            None,
        )
        .unwrap();
        assert_eq!(store.take().0, 1);
    }
}

#[test]
fn a_panic_of_the_store_is_an_error_of_the_read() {
    let store = CountingStore {
        panics_at: Some(1),
        ..CountingStore::default()
    };
    let handlers = Handlers::over(Arc::new(store));
    let wanted = schema([nullable("n", DataType::LONG)]);
    let files = [data("sorted.parquet"), data("sorted.parquet")];
    let error = read(&handlers.ours, &files, &wanted, None).unwrap_err();
    assert!(error.to_string().contains("rows are missing"), "{error}");
}

#[test]
fn a_few_files_are_opened_ahead() {
    let store = Arc::new(CountingStore {
        latency: Some(Duration::from_millis(20)),
        ..CountingStore::default()
    });
    let handlers = Handlers::over(store.clone());
    let wanted = schema([nullable("n", DataType::LONG)]);
    let files = vec![data("sorted.parquet"); 40];
    let mut rows = handlers
        .ours
        .read_parquet_files(&files, wanted, None)
        .unwrap();
    assert_eq!(rows.next().unwrap().unwrap().len(), 250);
    // While the caller waits, no more files are opened than the limit allows.
    std::thread::sleep(Duration::from_millis(300));
    let (requests, _) = store.take();
    assert!((4..=8).contains(&requests), "{requests}");
    assert_eq!(store.most_in_flight.load(Ordering::SeqCst), 4);
    assert_eq!(rows.count(), 40 * 8 - 1);
    assert_eq!(store.take().0 + requests, 40);
}

/// A token that is cancelled a moment after the request.
struct Soon;

impl CancellationToken for Soon {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled_future(&self) -> CancelledFuture<'_> {
        Box::pin(tokio::time::sleep(Duration::from_millis(50)))
    }
}

#[test]
fn a_request_under_way_can_be_cancelled() {
    let store = CountingStore {
        latency: Some(Duration::from_secs(3600)),
        ..CountingStore::default()
    };
    let handlers = Handlers::over(Arc::new(store));
    let wanted = schema([nullable("n", DataType::LONG)]);
    let file = [data("sorted.parquet")];
    let token: CancellationTokenRef = Arc::new(Soon);
    let rows = handlers
        .ours
        .read_parquet_files_with_cancellation(&file, wanted, None, Some(token));
    let mut rows = rows.unwrap();
    assert!(matches!(rows.next(), Some(Err(KernelError::Cancelled))));
    assert!(rows.next().is_none());
}
