//! Servers without requests for ranges, or without those for the end of an object.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::{ErrorKind, Limits, ReadOptions};
use herringbone_remote::{RemoteFile, request};

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
            use futures::stream::BoxStream;
            use herringbone_remote::$module::StoreObject;

            use super::*;

            /// A store that refuses some ranges.
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

            #[async_trait::async_trait]
            impl ObjectStore for Server {
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
                    self.requests.fetch_add(1, Ordering::SeqCst);
                    if let Some(message) = options.range.as_ref().and_then(self.refuse) {
                        let (store, source) = ("HTTP", message.into());
                        return Err(StoreError::Generic { store, source });
                    }
                    self.files.get_opts(path, options).await
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

                async fn copy_opts(
                    &self,
                    from: &Path,
                    to: &Path,
                    options: CopyOptions,
                ) -> Result<()> {
                    self.files.copy_opts(from, to, options).await
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

            /// Checks that a file is read, and returns the number of requests.
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

            #[test]
            fn a_server_without_requests_for_the_end_is_asked_for_the_first_byte() {
                let usual = requests(|_| None);
                let without = requests(|range| match range {
                    GetRange::Suffix(_) => Some(NO_SUFFIX),
                    _ => None,
                });
                assert_eq!(without, usual + 2);
                // The answer to the first byte shows that there are no ranges at all.
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
    let message = "mem://bucket/file.parquet, all bytes: the object has no request for all of it";
    assert!(error.message().starts_with(message), "{error}");
}
