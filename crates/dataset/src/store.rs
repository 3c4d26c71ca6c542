//! Listings of the stores of the crate `object_store`, one module per version of that crate.

macro_rules! adapter {
    ($module:ident, $version:literal) => {
        #[doc = concat!("Listings of the stores of `object_store` ", $version, ".")]
        pub mod $module {
            use std::sync::Arc;

            use ::$module::path::Path;
            use ::$module::{Error as StoreError, GetOptions, ListResult, ObjectStore};
            use herringbone::push::FetchPolicy;
            use herringbone::{Error, Result};
            use herringbone_remote::$module::{StoreObject, error, identity};
            use herringbone_remote::{BoxFuture, Identity, Object};

            use crate::files::in_file;
            use crate::listing::{Entry, Listing};

            #[doc = concat!("The objects in a store of `object_store` ", $version, ".")]
            ///
            /// A directory is a prefix that ends with `/`. Paths are those of the store, without its URL. Names with percent
            /// escapes are not decoded. Each level takes one listing with a delimiter.
            #[derive(Debug, Clone)]
            pub struct StoreListing {
                store: Arc<dyn ObjectStore>,
                policy: FetchPolicy,
            }

            impl StoreListing {
                /// Creates the listing of a store.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>) -> Self {
                    Self {
                        store,
                        policy: FetchPolicy::remote(),
                    }
                }

                /// Sets the fetch policy, which is [`FetchPolicy::remote`] by default.
                #[must_use]
                pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
                    Self { policy, ..self }
                }
            }

            impl Listing for StoreListing {
                fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>> {
                    let (store, directory) = (self.store.clone(), directory.to_owned());
                    Box::pin(async move {
                        let prefix = parsed(&directory)?;
                        let listed = store.list_with_delimiter(Some(&prefix)).await;
                        let listed = listed.map_err(|it| in_file(&directory, error(it)))?;
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
                            Err(other) => Err(in_file(&path, error(other))),
                        }
                    })
                }

                fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object> {
                    // A path that cannot be parsed was not listed. The store will not find it.
                    let path = Path::parse(path).unwrap_or_else(|_| Path::from(path));
                    let object = StoreObject::new(self.store.clone(), path);
                    let object = object.fetch_policy(self.policy.clone());
                    Arc::new(object.known_identity(identity.clone()))
                }
            }

            fn parsed(path: &str) -> Result<Path> {
                Path::parse(path).map_err(|error| Error::argument(format!("{path}: {error}")))
            }

            /// Returns the entries of a listing, without the prefix itself. Some programs put an empty object there, whose key
            /// ends with `/`.
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
