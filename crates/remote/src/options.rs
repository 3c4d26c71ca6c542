//! Options for opening an object.

use std::sync::Arc;

use herringbone::push::FetchPolicy;
use herringbone::{Limits, OpenOptions};

use crate::cache::{CacheEntry, CachedFooter, FileKey, MetadataCache};
use crate::keys::KeyService;
use crate::object::Identity;

/// Options for opening an object. You can convert [`OpenOptions`] or [`Limits`] alone into them.
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
    /// The service for keys that take time to fetch.
    pub key_service: Option<Arc<dyn KeyService>>,
    /// The cache of metadata, which many files can share.
    pub cache: Option<Arc<dyn MetadataCache>>,
    /// The best way to request bytes, if the object's own policy does not suit you.
    pub fetch_policy: Option<FetchPolicy>,
}

impl RemoteOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the service for keys that take time to fetch.
    #[must_use]
    pub fn key_service(self, service: Arc<dyn KeyService>) -> Self {
        Self {
            key_service: Some(service),
            ..self
        }
    }

    /// Sets the cache of metadata.
    ///
    /// Files that are opened with decryption do not use it, because other users of the cache may
    /// lack their keys.
    #[must_use]
    pub fn cache(self, cache: Arc<dyn MetadataCache>) -> Self {
        Self {
            cache: Some(cache),
            ..self
        }
    }

    /// Sets the way to request bytes.
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

    /// Returns a file's place in the cache, if it may be there.
    pub(crate) fn cache_entry(&self, name: &str, identity: &Identity) -> Option<CacheEntry> {
        // An encrypted file has no place, because others that share the cache may not have its
        // keys.
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
