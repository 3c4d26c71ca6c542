//! Options for opening an object.

use std::sync::Arc;

use herringbone::push::FetchPolicy;
use herringbone::{Limits, OpenOptions};

use crate::cache::{CacheEntry, CachedFooter, FileKey, MetadataCache};
use crate::keys::KeyService;
use crate::object::Identity;

/// Options for opening an object. [`OpenOptions`] or [`Limits`] alone convert into these.
///
/// ```
/// use herringbone::Limits;
/// use herringbone_remote::{LruMetadataCache, RemoteOptions};
///
/// let cache = LruMetadataCache::new(64 << 20);
/// let options = RemoteOptions::from(Limits::default()).cache(cache);
/// assert!(options.cache.is_some());
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// The file's limits, keys and path.
    pub open: OpenOptions,
    /// The service for fetching keys that are not available immediately.
    pub key_service: Option<Arc<dyn KeyService>>,
    /// The metadata cache. Many files can share one cache.
    pub cache: Option<Arc<dyn MetadataCache>>,
    /// The fetch policy, to override the object's own.
    pub fetch_policy: Option<FetchPolicy>,
}

impl RemoteOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the service for fetching keys that are not available immediately.
    #[must_use]
    pub fn key_service(self, service: Arc<dyn KeyService>) -> Self {
        Self {
            key_service: Some(service),
            ..self
        }
    }

    /// Sets the metadata cache.
    ///
    /// Files opened with decryption do not use it, because other users of the cache might lack
    /// their keys.
    #[must_use]
    pub fn cache(self, cache: Arc<dyn MetadataCache>) -> Self {
        Self {
            cache: Some(cache),
            ..self
        }
    }

    /// Sets the fetch policy, overriding the object's own.
    #[must_use]
    pub fn fetch_policy(self, policy: FetchPolicy) -> Self {
        Self {
            fetch_policy: Some(policy),
            ..self
        }
    }

    /// Returns a file's footer from the cache, unless it was decoded with other limits. `name` is
    /// the object's name.
    #[must_use]
    pub fn cached_footer(&self, name: &str, identity: &Identity) -> Option<CachedFooter> {
        let entry = self.cache_entry(name, identity)?;
        let footer = entry.cache.footer(&entry.file)?;
        (*footer.metadata.limits() == self.open.limits).then_some(footer)
    }

    /// Returns a file's place in the cache, if it is allowed to have one.
    pub(crate) fn cache_entry(&self, name: &str, identity: &Identity) -> Option<CacheEntry> {
        // An encrypted file has no place, because other users of the cache might not have its keys.
        let cache = self.cache.clone();
        let cache = cache.filter(|_| self.open.decryption.is_none())?;
        let file = FileKey::new(name, identity)?;
        Some(CacheEntry { cache, file })
    }
}

impl From<OpenOptions> for RemoteOptions {
    fn from(open: OpenOptions) -> Self {
        Self {
            open,
            ..Self::default()
        }
    }
}

impl From<Limits> for RemoteOptions {
    fn from(limits: Limits) -> Self {
        Self::from(OpenOptions::from(limits))
    }
}
