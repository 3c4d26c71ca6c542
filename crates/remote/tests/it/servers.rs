//! Tests of servers without support for ranges, or for suffix requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::{ErrorKind, Limits, ReadOptions};
use herringbone_remote::{LruMetadataCache, RemoteFile, RemoteOptions, request};

use crate::files::{blocking, file};
use crate::memory::{Memory, read};

/// The answers of servers, in the words of `object_store`.
const WHOLE: &str = "Received non-partial response when range requested";
const NO_SUFFIX: &str = "Server returned non-2xx status code: 501 Not Implemented: ";
const NO_RANGE: &str = "Server returned non-2xx status code: 416 Range Not Satisfiable: ";

macro_rules! tests_of {
    ($module:ident) => {
        mod $module {
            use ::$module::memory::InMemory;
            use ::$module::path::Path;
            use ::$module::{
                CopyOptions, Error as StoreError, GetOptions, GetRange, GetResult, ListResult,
                MultipartUpload, ObjectMeta, ObjectStore, PutMultipartOptions, PutOptions,
                PutPayload, PutResult, Result,
            };
            use futures::future::{BoxFuture, ready};
            use futures::stream::BoxStream;
            use herringbone_remote::$module::StoreObject;

            use super::*;

            /// A store that refuses some ranges. We write its futures out, because `async-trait`
            /// would build `syn` a second time, with a feature that the command does not need.
            #[derive(Debug)]
            struct Server {
                files: InMemory,
                refuse: fn(&GetRange) -> Option<&'static str>,
                requests: AtomicUsize,
            }

            impl std::fmt::Display for Server {
                fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("server")
                }
            }

            impl ObjectStore for Server {
                fn put_opts<'a, 'b, 'c>(
                    &'a self,
                    path: &'b Path,
                    payload: PutPayload,
                    options: PutOptions,
                ) -> BoxFuture<'c, Result<PutResult>>
                where
                    'a: 'c,
                    'b: 'c,
                {
                    self.files.put_opts(path, payload, options)
                }

                fn put_multipart_opts<'a, 'b, 'c>(
                    &'a self,
                    path: &'b Path,
                    options: PutMultipartOptions,
                ) -> BoxFuture<'c, Result<Box<dyn MultipartUpload>>>
                where
                    'a: 'c,
                    'b: 'c,
                {
                    self.files.put_multipart_opts(path, options)
                }

                fn get_opts<'a, 'b, 'c>(
                    &'a self,
                    path: &'b Path,
                    options: GetOptions,
                ) -> BoxFuture<'c, Result<GetResult>>
                where
                    'a: 'c,
                    'b: 'c,
                {
                    self.requests.fetch_add(1, Ordering::SeqCst);
                    if let Some(message) = options.range.as_ref().and_then(self.refuse) {
                        let (store, source) = ("HTTP", message.into());
                        return Box::pin(ready(Err(StoreError::Generic { store, source })));
                    }
                    self.files.get_opts(path, options)
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

                fn list_with_delimiter<'a, 'b, 'c>(
                    &'a self,
                    prefix: Option<&'b Path>,
                ) -> BoxFuture<'c, Result<ListResult>>
                where
                    'a: 'c,
                    'b: 'c,
                {
                    self.files.list_with_delimiter(prefix)
                }

                fn copy_opts<'a, 'b, 'c, 'd>(
                    &'a self,
                    from: &'b Path,
                    to: &'c Path,
                    options: CopyOptions,
                ) -> BoxFuture<'d, Result<()>>
                where
                    'a: 'd,
                    'b: 'd,
                    'c: 'd,
                {
                    self.files.copy_opts(from, to, options)
                }
            }

            fn server(bytes: &Bytes, refuse: fn(&GetRange) -> Option<&'static str>) -> Arc<Server> {
                let files = InMemory::new();
                let payload = PutPayload::from_bytes(bytes.clone());
                block_on(files.put_opts(&Path::from("a"), payload, PutOptions::default())).unwrap();
                Arc::new(Server {
                    files,
                    refuse,
                    requests: AtomicUsize::new(0),
                })
            }

            /// Checks that a file is read, returning the number of requests.
            fn requests(refuse: fn(&GetRange) -> Option<&'static str>) -> usize {
                let bytes = file(4, 3, 5_000);
                let all = ReadOptions::new();
                let expected = blocking(&bytes, Limits::default(), &all).unwrap();
                let server = server(&bytes, refuse);
                let object = Arc::new(StoreObject::new(server.clone(), "a"));
                assert_eq!(read(object, Limits::default(), &all).unwrap(), expected);
                server.requests.load(Ordering::SeqCst)
            }

            #[test]
            fn a_server_that_answers_with_the_whole_object_is_asked_once_more() {
                assert_eq!(requests(|_| Some(WHOLE)), 2);
            }

            /// Engines list files and keep their footers.
            #[test]
            fn a_cached_footer_needs_no_ranges() {
                let bytes = file(4, 3, 5_000);
                let all = ReadOptions::new();
                let expected = blocking(&bytes, Limits::default(), &all).unwrap();
                let server = server(&bytes, |_| Some(WHOLE));
                let path = Path::from("a");
                let found = server.files.get_opts(&path, GetOptions::default());
                let meta = block_on(found).unwrap().meta;
                let cache = LruMetadataCache::new(10 << 20);
                for _ in 0..2 {
                    let object = Arc::new(StoreObject::listed(server.clone(), &meta));
                    let options = RemoteOptions::new().cache(cache.clone());
                    assert_eq!(read(object, options, &all).unwrap(), expected);
                }
            }

            #[test]
            fn a_server_without_requests_for_the_end_is_asked_for_the_first_byte() {
                let usual = requests(|_| None);
                let without = requests(|range| match range {
                    GetRange::Suffix(_) => Some(NO_SUFFIX),
                    _ => None,
                });
                assert_eq!(without, usual + 2);
                // The answer to the request for the first byte shows that there are no ranges at
                // all.
                assert_eq!(
                    requests(|range| match range {
                        GetRange::Suffix(_) => Some(NO_SUFFIX),
                        _ => Some(WHOLE),
                    }),
                    3
                );
            }

            #[test]
            fn an_empty_object_is_no_parquet_file() {
                let server = server(&Bytes::new(), |_| Some(NO_RANGE));
                let object = Arc::new(StoreObject::new(server, "a"));
                let opened = block_on(request::open(object.clone(), 100)).unwrap();
                assert_eq!(opened.tail, Bytes::new());
                let error = block_on(RemoteFile::open(object, Limits::default())).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
            }

            #[test]
            fn other_errors_are_those_of_the_first_request() {
                let server = server(&file(1, 1, 10), |range| match range {
                    GetRange::Suffix(_) => Some(NO_SUFFIX),
                    _ => Some("the network is down"),
                });
                let object = Arc::new(StoreObject::new(server, "a"));
                let error = block_on(request::open(object, 100)).unwrap_err();
                assert!(error.message().contains("501"), "{error}");
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
tests_of!(object_store_013);
#[cfg(feature = "object-store-014")]
tests_of!(object_store_014);

#[test]
fn an_object_without_a_request_for_all_of_it_is_an_error() {
    let object = Arc::new(Memory::new(file(1, 1, 10)));
    object.break_by(|_, _| Err(std::io::Error::from(std::io::ErrorKind::Unsupported).into()));
    let error = block_on(request::open(object, 100)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let message = "mem://bucket/file.parquet, the last 100 bytes: all bytes were requested instead: \
                   the object has no request for all of it";
    assert!(error.message().starts_with(message), "{error}");
}
