//! Tests of objects and sinks in `object_store`'s store in memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::{ErrorKind, Limits, ReadOptions, WriteOptions};
use herringbone_remote::{ChunkObjects, LruMetadataCache, RemoteFile, RemoteOptions};
use herringbone_remote::{RemoteWriteOptions, RemoteWriter};

use crate::files::{batch, blocking, file, written};
use crate::memory::read;

macro_rules! tests_of {
    ($module:ident) => {
        mod $module {
            use ::$module::memory::InMemory;
            use ::$module::path::Path;
            use ::$module::{ObjectStore, PutOptions, PutPayload};
            use futures::executor::block_on;
            use herringbone_remote::$module::{StoreChunks, StoreObject, StoreSink};

            use super::*;

            fn put(store: &Arc<dyn ObjectStore>, bytes: &Bytes) {
                let payload = PutPayload::from_bytes(bytes.clone());
                let path = Path::from("a/b.parquet");
                block_on(store.put_opts(&path, payload, PutOptions::default())).unwrap();
            }

            fn object(store: &Arc<dyn ObjectStore>) -> StoreObject {
                let mut policy = FetchPolicy::remote();
                (policy.suffix_bytes, policy.max_gap_bytes) = (10_000, 0);
                let object = StoreObject::new(store.clone(), "a/b.parquet");
                object.fetch_policy(policy).name("memory:///a/b.parquet")
            }

            #[test]
            fn a_file_is_read() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let bytes = file(4, 3, 5_000);
                put(&store, &bytes);
                let all = ReadOptions::new();
                let expected = blocking(&bytes, Limits::default(), &all).unwrap();
                let object = Arc::new(object(&store));
                assert_eq!(read(object, Limits::default(), &all).unwrap(), expected);
            }

            #[test]
            fn paths_of_column_chunks_lead_to_objects() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let chunks = StoreChunks::new(store, "table/day");
                assert!(!chunks.allows_any_path());
                let chunks = chunks.allow_any_path(true);
                assert!(chunks.allows_any_path());
                for (path, expected) in [
                    ("a.parquet", Some("table/day/a.parquet")),
                    ("x=a%2Fb/c.parquet", Some("table/day/x=a%2Fb/c.parquet")),
                    ("../a.parquet", Some("table/a.parquet")),
                    ("/other/./a.parquet", Some("other/a.parquet")),
                    ("../../../a.parquet", None),
                    ("s3://b/a.parquet", None),
                    ("../..", None),
                    ("", Some("table/day")),
                ] {
                    let object = chunks.object(path);
                    let name = object.as_ref().map(|object| object.name());
                    let expected = expected.map(|path| format!("InMemory/{path}"));
                    assert_eq!(name.ok(), expected.as_deref(), "{path}");
                }
            }

            #[test]
            fn a_file_that_is_replaced_between_two_requests_is_an_error() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let bytes = file(4, 3, 5_000);
                put(&store, &bytes);
                let object = Arc::new(object(&store));
                let file = block_on(RemoteFile::open(object, Limits::default())).unwrap();
                let mut stream = file.read(ReadOptions::new()).unwrap();
                put(&store, &bytes);
                let error = block_on(stream.next_batch()).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Replaced, "{error}");
                let message = error.to_string();
                assert!(message.contains("memory:///a/b.parquet, bytes "), "{error}");
                // The store itself refused the request.
                assert!(message.contains("precondition"), "{error}");
            }

            #[test]
            fn a_listed_file_with_a_known_footer_is_opened_without_a_request() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                put(&store, &file(4, 3, 5_000));
                let path = Path::from("a/b.parquet");
                let head = ::$module::GetOptions {
                    head: true,
                    ..Default::default()
                };
                let meta = block_on(store.get_opts(&path, head)).unwrap().meta;
                let options = RemoteOptions::new().cache(LruMetadataCache::new(1 << 20));
                let open = |store| {
                    let object = StoreObject::listed(store, &meta).name("a file");
                    block_on(RemoteFile::open(Arc::new(object), options.clone()))
                };
                open(store).unwrap();
                // This store does not have the file.
                let empty: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let file = open(empty).unwrap();
                assert_eq!(file.metadata().num_rows(), 15_000);
                let mut stream = file.read(ReadOptions::new()).unwrap();
                let error = block_on(stream.next_batch()).unwrap_err();
                let kind = error.io_error().unwrap().kind();
                assert_eq!(kind, std::io::ErrorKind::NotFound, "{error}");
            }

            /// Writes a file of about 160 kB in parts of `part_bytes` bytes.
            fn write(sink: StoreSink, part_bytes: u64) -> herringbone::Result<()> {
                let rows = batch(2, 10_000);
                let options = RemoteWriteOptions::new().part_bytes(part_bytes);
                let mut writer = RemoteWriter::new(Arc::new(sink), rows.schema(), options)?;
                block_on(async {
                    writer.write(&rows).await?;
                    writer.finish().await.map(drop)
                })
            }

            #[test]
            fn a_file_is_written() {
                let expected = written(&batch(2, 10_000), WriteOptions::new());
                for part_bytes in [10_000, 1 << 20] {
                    let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                    write(StoreSink::new(store.clone(), "a/b.parquet"), part_bytes).unwrap();
                    let path = Path::from("a/b.parquet");
                    let get = block_on(store.get_opts(&path, Default::default())).unwrap();
                    assert_eq!(block_on(get.bytes()).unwrap(), expected);
                }
            }

            #[test]
            fn a_new_file_does_not_replace_another() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let sink = || StoreSink::new(store.clone(), "a/b.parquet").create_new();
                write(sink(), 1 << 20).unwrap();
                let error = write(sink().name("memory:///a/b.parquet"), 1 << 20).unwrap_err();
                let kind = error.io_error().unwrap().kind();
                assert_eq!(kind, std::io::ErrorKind::AlreadyExists, "{error}");
                let message = error.message();
                assert!(message.starts_with("memory:///a/b.parquet, "), "{error}");
                let error = write(sink(), 10_000).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Unsupported);
                assert!(error.message().contains("part_bytes"), "{error}");
            }

            #[test]
            fn a_dropped_upload_is_aborted_by_the_runtime() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let ran = Arc::new(AtomicUsize::new(0));
                let counter = ran.clone();
                let sink = StoreSink::new(store, "a/b.parquet").runtime(move |future| {
                    block_on(future);
                    counter.fetch_add(1, Ordering::SeqCst);
                });
                let rows = batch(2, 10_000);
                let options = RemoteWriteOptions::from(WriteOptions::new().row_group_rows(5_000));
                let options = options.part_bytes(10_000);
                let mut writer = RemoteWriter::new(Arc::new(sink), rows.schema(), options).unwrap();
                block_on(writer.write(&rows)).unwrap();
                drop(writer);
                assert_eq!(ran.load(Ordering::SeqCst), 1);
            }

            #[test]
            fn a_missing_file_is_not_found() {
                let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let object = Arc::new(StoreObject::new(store, "none.parquet"));
                let error = block_on(RemoteFile::open(object, Limits::default())).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Io);
                let message = "InMemory/none.parquet, the last 262144 bytes: ";
                assert!(error.message().starts_with(message), "{error}");
                let kind = error.io_error().unwrap().kind();
                assert_eq!(kind, std::io::ErrorKind::NotFound);
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
tests_of!(object_store_013);
#[cfg(feature = "object-store-014")]
tests_of!(object_store_014);
