//! Objects of the stores of the crate `object_store`, one module per version of that crate.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use futures_core::Stream;

/// The largest number of bytes reserved for an answer before they arrive.
const MOST_RESERVED: u64 = 16 << 20;

/// The parts of an answer, joined. Stops after the part in which `most` bytes are exceeded: a store may send more than it
/// was asked for.
async fn collect<E>(
    mut parts: Pin<Box<dyn Stream<Item = Result<Bytes, E>> + Send>>,
    most: u64,
) -> Result<Bytes, E> {
    let mut next = async || poll_fn(|cx| parts.as_mut().poll_next(cx)).await.transpose();
    let first = next().await?.unwrap_or_default();
    let mut joined = BytesMut::new();
    let mut length = first.len() as u64;
    while length <= most
        && let Some(part) = next().await?
    {
        if joined.is_empty() {
            // One allocation holds all requested bytes.
            joined.reserve(most.min(MOST_RESERVED) as usize);
            joined.extend_from_slice(&first);
        }
        joined.extend_from_slice(&part);
        length += part.len() as u64;
    }
    Ok(match joined.is_empty() {
        true => first,
        false => joined.freeze(),
    })
}

macro_rules! adapter {
    ($module:ident, $version:literal) => {
        #[doc = concat!("Objects of the stores of `object_store` ", $version, ".")]
        pub mod $module {
            use std::io;
            use std::ops::Range;
            use std::sync::Arc;
            use std::time::SystemTime;

            use ::$module::path::Path;
            use ::$module::{
                Error as StoreError, GetOptions, GetRange, GetResultPayload, ObjectMeta,
                ObjectStore,
            };
            use herringbone::push::FetchPolicy;
            use herringbone::{Error, ErrorKind, Result};

            use crate::object::{Answer, BoxFuture, Identity, Object};

            #[doc = concat!("An [`Object`] in a store of `object_store` ", $version, ".")]
            ///
            /// Each request is a `get_opts` with one range. After the first, each has the precondition `If-Match`, or
            /// the version, or else `If-Unmodified-Since`. Retries and timeouts are those of the store.
            #[derive(Debug, Clone)]
            pub struct StoreObject {
                store: Arc<dyn ObjectStore>,
                path: Path,
                name: String,
                identity: Option<Identity>,
                policy: FetchPolicy,
            }

            impl StoreObject {
                /// Creates the object at `path`. Its name is the path, after the name of the store.
                #[must_use]
                pub fn new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Self {
                    let path = path.into();
                    Self {
                        name: format!("{store}/{path}"),
                        store,
                        path,
                        identity: None,
                        policy: FetchPolicy::remote(),
                    }
                }

                /// Creates an object from a listing. Its first request has a precondition too, and a footer in a cache
                /// takes no request.
                #[must_use]
                pub fn listed(store: Arc<dyn ObjectStore>, meta: &ObjectMeta) -> Self {
                    Self {
                        identity: Some(identity(meta)),
                        ..Self::new(store, meta.location.clone())
                    }
                }

                /// Sets the identity, known from a listing, as [`Self::listed`] does.
                #[must_use]
                pub fn known_identity(self, identity: Identity) -> Self {
                    Self {
                        identity: Some(identity),
                        ..self
                    }
                }

                /// Sets the name in error messages and caches, such as a URL. It should be unique among all objects that
                /// share a cache, and contain no credentials.
                #[must_use]
                pub fn name(self, name: impl Into<String>) -> Self {
                    Self {
                        name: name.into(),
                        ..self
                    }
                }

                /// Sets the fetch policy, which is [`FetchPolicy::remote`] by default.
                #[must_use]
                pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
                    Self { policy, ..self }
                }

                async fn get(self, options: GetOptions, most: u64) -> Result<Answer, StoreError> {
                    let result = self.store.get_opts(&self.path, options).await?;
                    let (range, identity) = (result.range.clone(), identity(&result.meta));
                    let is_stream = matches!(result.payload, GetResultPayload::Stream(_));
                    let bytes = match is_stream || range.end.saturating_sub(range.start) > most {
                        true => super::collect(result.into_stream(), most).await?,
                        // A range of a local file is read at once, rather than in pieces of 8 KiB.
                        false => result.bytes().await?,
                    };
                    Ok(Answer {
                        bytes,
                        range,
                        identity,
                    })
                }

                async fn tail(self, bytes: u64) -> Result<Answer, StoreError> {
                    let range = Some(GetRange::Suffix(bytes));
                    let options = GetOptions {
                        range,
                        ..Default::default()
                    };
                    match self.clone().get(options, bytes).await {
                        // Azure has no requests for the end of an object.
                        Err(StoreError::NotSupported { .. }) => {}
                        result => return result,
                    }
                    let head = GetOptions {
                        head: true,
                        ..Default::default()
                    };
                    let meta = self.store.get_opts(&self.path, head).await?.meta;
                    let identity = identity(&meta);
                    let range = meta.size.saturating_sub(bytes)..meta.size;
                    if range.is_empty() {
                        let bytes = bytes::Bytes::new();
                        return Ok(Answer {
                            bytes,
                            range,
                            identity,
                        });
                    }
                    self.get(conditional(range, &identity), bytes).await
                }
            }

            impl Object for StoreObject {
                fn name(&self) -> &str {
                    &self.name
                }

                fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
                    let object = self.clone();
                    Box::pin(async move { object.tail(bytes).await.map_err(error) })
                }

                fn range(
                    &self,
                    range: Range<u64>,
                    identity: &Identity,
                ) -> BoxFuture<Result<Answer>> {
                    let most = range.end.saturating_sub(range.start);
                    let options = conditional(range, identity);
                    let object = self.clone();
                    Box::pin(async move { object.get(options, most).await.map_err(error) })
                }

                fn identity(&self) -> Option<Identity> {
                    self.identity.clone()
                }

                fn fetch_policy(&self) -> FetchPolicy {
                    self.policy.clone()
                }
            }

            /// Returns the options of a request for a range of the object with this identity.
            fn conditional(range: Range<u64>, identity: &Identity) -> GetOptions {
                let if_match = identity.strong_e_tag().map(str::to_owned);
                let is_named = if_match.is_some() || identity.version.is_some();
                // The store's times have a smaller range.
                let is_usual = |time: &SystemTime| {
                    let since = time.duration_since(SystemTime::UNIX_EPOCH);
                    since.is_ok_and(|it| it.as_secs() < 1 << 36)
                };
                let modified = identity.modified.filter(|_| !is_named).filter(is_usual);
                GetOptions {
                    range: Some(GetRange::Bounded(range)),
                    if_match,
                    if_unmodified_since: modified.map(Into::into),
                    version: identity.version.clone(),
                    ..Default::default()
                }
            }

            /// Returns the identity of an object from its metadata in the store.
            #[must_use]
            pub fn identity(meta: &ObjectMeta) -> Identity {
                Identity::new(meta.size)
                    .e_tag(meta.e_tag.clone())
                    .version(meta.version.clone())
                    .modified(Some(meta.last_modified.into()))
            }

            /// Converts an error of a store. A failed precondition means that the object was replaced.
            #[must_use]
            pub fn error(error: StoreError) -> Error {
                let kind = match &error {
                    StoreError::Precondition { .. } => {
                        return Error::new(ErrorKind::Replaced, error.to_string());
                    }
                    StoreError::NotFound { .. } => io::ErrorKind::NotFound,
                    StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
                        io::ErrorKind::PermissionDenied
                    }
                    _ => io::ErrorKind::Other,
                };
                io::Error::new(kind, error).into()
            }
        }
    };
}

#[cfg(feature = "object-store-013")]
adapter!(object_store_013, "0.13");
#[cfg(feature = "object-store-014")]
adapter!(object_store_014, "0.14");
