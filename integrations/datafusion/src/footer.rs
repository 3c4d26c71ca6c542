//! Footers, and the cache of the session for them.

use std::any::Any;
use std::sync::Arc;

use datafusion_common::{HashMap, Result};
use datafusion_execution::cache::cache_manager::{
    CachedFileMetadataEntry, FileMetadata, FileMetadataCache,
};
use herringbone::modular_encryption::Decryption;
use herringbone::{MetadataHandle, OpenOptions};
use herringbone_remote::{RemoteFile, RemoteOptions};
use object_store::{ObjectMeta, ObjectStore};

use crate::error::from_library;
use crate::object::{RequestOptions, TableFile, identity};

/// The way to open the files of a table.
#[derive(Debug, Clone)]
pub(crate) struct FileAccess {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The cache of the session, for tables without keys. Footers of encrypted files are not put there.
    pub(crate) cache: Option<Arc<FileMetadataCache>>,
    pub(crate) requests: RequestOptions,
}

impl FileAccess {
    /// Returns the file if its footer is in the cache.
    ///
    /// # Errors
    /// Argument if the cached footer is of a file with another length.
    pub(crate) fn open_cached(&self, meta: &ObjectMeta) -> Result<Option<RemoteFile>> {
        let Some(handle) = self.cached(meta) else {
            return Ok(None);
        };
        let object = TableFile::new(&self.store, meta, self.requests);
        let file = RemoteFile::with_metadata(object, identity(meta), handle, RemoteOptions::new());
        file.map(Some).map_err(from_library)
    }

    /// Reads the footer of a file and puts it into the cache.
    ///
    /// # Errors
    /// The errors of [`RemoteFile::open`].
    pub(crate) async fn open(
        &self,
        meta: &ObjectMeta,
        decryption: Option<Arc<dyn Decryption>>,
    ) -> Result<RemoteFile> {
        let object = TableFile::new(&self.store, meta, self.requests);
        let open = OpenOptions::new().decryption(decryption, None);
        let file = RemoteFile::open(object, open).await.map_err(from_library)?;
        self.keep(meta, file.metadata_handle());
        Ok(file)
    }

    /// Returns the file, whose footer may be in the cache.
    ///
    /// # Errors
    /// See [`Self::open`].
    pub(crate) async fn open_any(
        &self,
        meta: &ObjectMeta,
        decryption: Option<Arc<dyn Decryption>>,
    ) -> Result<RemoteFile> {
        match self.open_cached(meta)? {
            Some(file) => Ok(file),
            None => self.open(meta, decryption).await,
        }
    }

    fn cached(&self, meta: &ObjectMeta) -> Option<MetadataHandle> {
        let entry = self.entry(meta)?;
        let footer = entry
            .file_metadata
            .as_any()
            .downcast_ref::<CachedFooter>()?;
        Some(footer.handle.clone())
    }

    fn entry(&self, meta: &ObjectMeta) -> Option<CachedFileMetadataEntry> {
        let entry = self.cache.as_ref()?.get(&meta.location)?;
        // The cache compares the size and the time. An ETag is finer.
        let tags = entry.meta.e_tag.as_ref().zip(meta.e_tag.as_ref());
        let is_same = tags.is_none_or(|(cached, listed)| cached == listed);
        (is_same && entry.is_valid_for(meta)).then_some(entry)
    }

    /// Puts a footer into the cache, with the page indexes loaded so far. Does nothing if the cache has them.
    pub(crate) fn keep(&self, meta: &ObjectMeta, handle: &MetadataHandle) {
        let Some(cache) = &self.cache else {
            return;
        };
        if handle.metadata().decryption().is_some() {
            return;
        }
        let bytes = handle.heap_bytes();
        let cached = self.entry(meta);
        let cached = cached
            .as_ref()
            .and_then(|it| it.file_metadata.as_any().downcast_ref());
        if cached.is_some_and(|it: &CachedFooter| it.bytes >= bytes) {
            return;
        }
        let footer = CachedFooter {
            handle: handle.clone(),
            bytes,
        };
        let entry = CachedFileMetadataEntry::new(meta.clone(), Arc::new(footer));
        cache.put(&meta.location, entry);
    }
}

/// A footer in the cache of the session.
struct CachedFooter {
    handle: MetadataHandle,
    /// The size when the footer was put into the cache. The cache subtracts the size of an entry that it drops, so the
    /// size must not grow as page indexes are loaded.
    bytes: usize,
}

impl FileMetadata for CachedFooter {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.bytes
    }

    fn extra_info(&self) -> HashMap<String, String> {
        let rows = self.handle.metadata().num_rows().to_string();
        let pairs = [("reader", "herringbone".to_owned()), ("num_rows", rows)];
        pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}
