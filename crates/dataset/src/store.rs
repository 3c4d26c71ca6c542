//! Listings for stores from the crate `object_store`, with one module per version of that crate.

macro_rules! adapter {
    ($module:ident, $version:literal) => {
        #[doc = concat!("Listings of the stores of `object_store` ", $version, ".")]
        pub mod $module {
            use std::fmt;
            use std::sync::Arc;

            use ::$module::path::Path;
            use ::$module::{Error as StoreError, GetOptions, ListResult, ObjectStore};
            use herringbone::push::FetchPolicy;
            use herringbone::{Error, Result};
            use herringbone_remote::$module::{StoreObject, StoreSink, error, identity};
            use herringbone_remote::{BoxFuture, Identity, Object, ObjectSink};

            use crate::listing::{Entry, Listing};

            #[doc = concat!("The objects in a store of `object_store` ", $version, ".")]
            /// A directory is a prefix ending with `/`, and each directory takes one listing with a
            /// delimiter. Paths are the store's own, without its URL, and percent escapes in names
            /// are not decoded.
            ///
            /// ```
            /// # futures::executor::block_on(async {
            /// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
            /// # let column = || -> ArrayRef { Arc::new(Int64Array::from(vec![2023, 2024, 2024])) };
            /// # let batch = RecordBatch::try_from_iter([("id", column()), ("year", column())])?;
            /// use std::sync::Arc;
            ///
            /// use herringbone::filter::col;
            /// use herringbone_dataset::{AsyncDatasetWriter, Dataset, DatasetOptions, DatasetWriteOptions};
            #[doc = concat!("use herringbone_dataset::", stringify!($module), "::StoreListing;")]
            #[doc = concat!("use ", stringify!($module), "::memory::InMemory;")]
            ///
            /// let listing = Arc::new(StoreListing::new(Arc::new(InMemory::new())));
            /// // `batch` has one row of 2023 and two rows of 2024.
            /// let options = DatasetWriteOptions::new().partition_by(["year"]);
            /// let mut writer = AsyncDatasetWriter::create(listing.clone(), "ids", batch.schema(), options)?;
            /// writer.write(&batch).await?;
            /// assert_eq!(writer.finish().await?.len(), 2);
            ///
            /// let options = DatasetOptions::new().filter(col("year").eq(2024));
            /// let dataset = Dataset::open_async(listing, &["ids".to_owned()], options).await?;
            /// let files: Vec<_> = dataset.files().iter().map(|file| file.path()).collect();
            /// assert_eq!(files.len(), 1);
            /// assert!(files[0].starts_with("ids/year=2024/"));
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// # })?;
            /// # Ok::<(), Box<dyn std::error::Error>>(())
            /// ```
            #[derive(Debug, Clone)]
            pub struct StoreListing {
                store: Arc<dyn ObjectStore>,
                policy: FetchPolicy,
                runtime: Option<Runtime>,
            }

            /// A function for running a future on a runtime.
            #[derive(Clone)]
            struct Runtime(Arc<dyn Fn(BoxFuture<()>) + Send + Sync>);

            impl fmt::Debug for Runtime {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("Runtime")
                }
            }

            impl StoreListing {
                /// Creates a store's listing.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>) -> Self {
                    Self {
                        store,
                        policy: FetchPolicy::remote(),
                        runtime: None,
                    }
                }

                /// Sets the fetch policy. The default is [`FetchPolicy::remote`].
                #[must_use]
                pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
                    Self { policy, ..self }
                }

                /// Sets a function for running a future on a runtime. If a writer is dropped, its
                /// uploads are aborted there. See [`StoreSink::runtime`].
                #[must_use]
                pub fn runtime(
                    self,
                    spawn: impl Fn(BoxFuture<()>) + Send + Sync + 'static,
                ) -> Self {
                    let runtime = Some(Runtime(Arc::new(spawn)));
                    Self { runtime, ..self }
                }
            }

            impl Listing for StoreListing {
                fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>> {
                    let (store, directory) = (self.store.clone(), directory.to_owned());
                    Box::pin(async move {
                        let prefix = parsed(&directory)?;
                        let listed = store.list_with_delimiter(Some(&prefix)).await;
                        let listed = listed.map_err(|failed| error(failed).in_file(&directory))?;
                        Ok(entries(listed, &prefix))
                    })
                }

                fn file(&self, path: &str) -> BoxFuture<Result<Option<Identity>>> {
                    let (store, path) = (self.store.clone(), path.to_owned());
                    Box::pin(async move {
                        if path.is_empty() || path.ends_with('/') {
                            return Ok(None);
                        }
                        let head = GetOptions {
                            head: true,
                            ..Default::default()
                        };
                        match store.get_opts(&parsed(&path)?, head).await {
                            Ok(found) => Ok(Some(identity(&found.meta))),
                            Err(StoreError::NotFound { .. }) => Ok(None),
                            Err(other) => Err(error(other).in_file(&path)),
                        }
                    })
                }

                fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object> {
                    // An unparsable path can't have been listed, so the store won't find it.
                    let path = Path::parse(path).unwrap_or_else(|_| Path::from(path));
                    let object = StoreObject::new(self.store.clone(), path);
                    let object = object.fetch_policy(self.policy.clone());
                    Arc::new(object.known_identity(identity.clone()))
                }

                fn sink(&self, path: &str) -> Result<Arc<dyn ObjectSink>> {
                    let sink = StoreSink::new(self.store.clone(), parsed(path)?);
                    Ok(match self.runtime.clone() {
                        Some(Runtime(spawn)) => Arc::new(sink.runtime(move |abort| spawn(abort))),
                        None => Arc::new(sink),
                    })
                }
            }

            fn parsed(path: &str) -> Result<Path> {
                Path::parse(path).map_err(|error| Error::argument(format!("{path}: {error}")))
            }

            /// Returns a listing's entries without the prefix itself. Some programs put an empty
            /// object there, with a key ending with `/`.
            fn entries(listed: ListResult, prefix: &Path) -> Vec<Entry> {
                let directories = listed.common_prefixes.into_iter();
                let directories =
                    directories.filter_map(|prefix| prefix.filename().map(Entry::directory));
                let below = listed.objects.into_iter();
                let below = below.filter(|meta| meta.location != *prefix);
                let files = below.filter_map(|meta| {
                    let name = meta.location.filename()?;
                    Some(Entry::file(name, identity(&meta)))
                });
                directories.chain(files).collect()
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
adapter!(object_store_013, "0.13");
#[cfg(feature = "object-store-014")]
adapter!(object_store_014, "0.14");
