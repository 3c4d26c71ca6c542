//! Objects in the store in memory of `object_store`.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::{ErrorKind, Limits, ReadOptions};
use herringbone_remote::{LruMetadataCache, RemoteFile, RemoteOptions};

use crate::files::{blocking, file};
use crate::memory::read;

macro_rules! tests_of {
    ($module:ident) => {
        mod $module {
            use ::$module::memory::InMemory;
            use ::$module::path::Path;
            use ::$module::{ObjectStore, PutOptions, PutPayload};
            use futures::executor::block_on;
            use herringbone_remote::$module::StoreObject;

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
                // A store without the file.
                let empty: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
                let file = open(empty).unwrap();
                assert_eq!(file.metadata().num_rows(), 15_000);
                let mut stream = file.read(ReadOptions::new()).unwrap();
                let error = block_on(stream.next_batch()).unwrap_err();
                let kind = error.io_error().unwrap().kind();
                assert_eq!(kind, std::io::ErrorKind::NotFound, "{error}");
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
