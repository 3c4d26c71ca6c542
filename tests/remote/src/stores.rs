//! Tests reads and writes that all stores must support.

use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use herringbone::arrow::array::RecordBatch;
use herringbone::{ErrorKind, Result};
use herringbone_remote::object_store_014::{StoreObject, StoreSink};
use herringbone_remote::{RemoteWriteOptions, RemoteWriter};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt};

use crate::data::{assert_rows, file, object, open, options, read, rows};
use crate::doors::{Door, Outcome};
use crate::manners::differing;

/// The size of the smallest part that S3 accepts.
const PART: u64 = 5 << 20;

fn sink(store: &Arc<dyn ObjectStore>, path: &str) -> StoreSink {
    StoreSink::new(store.clone(), Path::parse(path).expect("a path"))
}

fn writer(sink: StoreSink, rows: &RecordBatch) -> RemoteWriter {
    let options = RemoteWriteOptions::from(options()).part_bytes(PART);
    RemoteWriter::new(Arc::new(sink), rows.schema(), options).expect("a writer")
}

async fn write(sink: StoreSink, rows: &RecordBatch) -> Result<()> {
    let mut writer = writer(sink, rows);
    writer.write(rows).await?;
    writer.finish().await.map(drop)
}

async fn exists(store: &Arc<dyn ObjectStore>, path: &str) -> bool {
    store
        .head(&Path::parse(path).expect("a path"))
        .await
        .is_ok()
}

/// Writes and reads files that take one request, and files of several parts.
pub async fn check(store: Arc<dyn ObjectStore>) {
    // The longer file has 16 MB, which are four parts.
    for (path, rows) in [
        ("small.parquet", rows(40_000, 1)),
        ("large.parquet", rows(1_000_000, 1)),
    ] {
        let mut writer = writer(sink(&store, path), &rows);
        writer.write(&rows).await.expect(path);
        writer.flush().await.expect(path);
        assert!(!exists(&store, path).await, "{path} appears too early");
        writer.finish().await.expect(path);
        let get = store.get(&Path::parse(path).expect("a path")).await;
        let bytes = get.expect(path).bytes().await.expect(path);
        assert!(bytes == file(&rows), "{path} has other bytes");
        let opened = open(object(&store, path)).await.expect(path);
        assert_rows(&read(&opened).await.expect(path), &rows);
    }
    let rows = rows(1_000_000, 1);
    let mut aborted = writer(sink(&store, "aborted.parquet"), &rows);
    aborted.write(&rows).await.expect("rows");
    aborted.abort().await.expect("an abort");
    assert!(!exists(&store, "aborted.parquet").await);
    check_new(&store).await;
    check_replaced(&store).await;
}

/// Checks that a new file does not replace another one.
async fn check_new(store: &Arc<dyn ObjectStore>) {
    let rows = rows(1_000, 1);
    let sink = || sink(store, "new.parquet").create_new();
    write(sink(), &rows).await.expect("a new file");
    let error = write(sink(), &rows).await.expect_err("a second one");
    let kind = error.io_error().map(io::Error::kind);
    assert_eq!(kind, Some(io::ErrorKind::AlreadyExists), "{error}");
    assert!(error.message().contains("new.parquet, "), "{error}");
}

/// Lets a file of the same length take the place of another one, between its footer and its data.
async fn check_replaced(store: &Arc<dyn ObjectStore>) {
    let (first, second) = (rows(40_000, 1), rows(40_000, 2));
    assert_eq!(file(&first).len(), file(&second).len());
    let path = "replaced.parquet";
    write(sink(store, path), &first).await.expect(path);
    let opened = open(object(store, path)).await.expect(path);
    write(sink(store, path), &second).await.expect(path);
    let error = read(&opened).await.expect_err("the file was replaced");
    assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
    assert!(
        error.message().contains("/replaced.parquet, bytes "),
        "{error}"
    );
}

/// Checks that no upload is left after aborts, drops and errors.
pub async fn check_s3_uploads(store: Arc<dyn ObjectStore>, endpoint: &str) {
    let uploads = async || {
        let url = format!("{endpoint}/{}?uploads", crate::BUCKET);
        let answer = reqwest::get(url).await.expect("an answer");
        let text = answer.text().await.expect("text");
        assert!(text.contains("ListMultipartUploadsResult"), "{text}");
        text.matches("<UploadId>").count()
    };
    assert_eq!(uploads().await, 0);
    let rows = rows(1_000_000, 1);
    let handle = tokio::runtime::Handle::current();
    let runtime = sink(&store, "dropped.parquet");
    let runtime = runtime.runtime(move |abort| drop(handle.spawn(abort)));
    let mut dropped = writer(runtime, &rows);
    dropped.write(&rows).await.expect("rows");
    assert_eq!(uploads().await, 1);
    drop(dropped);
    for _ in 0..100 {
        if uploads().await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(uploads().await, 0);
    assert!(!exists(&store, "dropped.parquet").await);
    // S3 refuses parts of less than 5 MiB when the upload is completed.
    let options = RemoteWriteOptions::from(options()).part_bytes(1 << 20);
    let refused = Arc::new(sink(&store, "refused.parquet"));
    let mut writer = RemoteWriter::new(refused, rows.schema(), options).expect("a writer");
    writer.write(&rows.slice(0, 200_000)).await.expect("rows");
    let error = writer.finish().await.expect_err("small parts");
    assert!(
        error
            .message()
            .contains("/refused.parquet, the end of the upload"),
        "{error}"
    );
    assert!(!exists(&store, "refused.parquet").await);
    assert_eq!(uploads().await, 0);
}

/// Checks a listing that claims more bytes than there are. The answer is status 416, or fewer bytes than requested.
pub async fn check_416(store: Arc<dyn ObjectStore>) {
    let location = Path::parse("small.parquet").expect("a path");
    let meta = store.head(&location).await.expect("metadata");
    for size in [meta.size + 10, 10 * meta.size] {
        let listed = ObjectMeta {
            size,
            e_tag: None,
            version: None,
            location: location.clone(),
            last_modified: (SystemTime::now() + Duration::from_secs(60)).into(),
        };
        let listed = StoreObject::listed(store.clone(), &listed);
        let error = open(Arc::new(listed)).await.expect_err("a wrong length");
        let range = format!(
            "/small.parquet, bytes {}..{size}: ",
            size.saturating_sub(256 << 10)
        );
        assert!(error.message().contains(&range), "{error}");
    }
}

/// Reads an object in all ways, and also one with an odd key, and a missing one.
pub async fn check_doors(store: &Arc<dyn ObjectStore>, scheme: &str, doors: &mut [Door]) {
    let rows = rows(200_000, 1);
    let bytes = file(&rows);
    let mut wrong = Vec::new();
    for (key, in_url, outcome) in [
        ("file.parquet", "file.parquet", Outcome::Rows),
        (
            "a b+ü/100%.parquet",
            "a%20b+%C3%BC/100%25.parquet",
            Outcome::Rows,
        ),
        ("missing.parquet", "missing.parquet", Outcome::Io),
    ] {
        let path = Path::parse(key).expect("a path");
        if outcome == Outcome::Rows {
            let put = store.put(&path, bytes.clone().into()).await;
            put.expect(key);
        }
        let url = format!("{scheme}://{}/{in_url}", crate::BUCKET);
        wrong.extend(differing(&url, (&bytes, &rows), outcome, doors).await);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
