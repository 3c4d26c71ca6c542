//! Footers, and the session cache for them.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use datafusion_common::{HashMap, Result};
use datafusion_execution::cache::cache_manager::{
    CachedFileMetadataEntry, FileMetadata, FileMetadataCache,
};
use herringbone::PageIndexCell;
use herringbone::modular_encryption::Decryption;
use herringbone_remote::{CachedFooter, FileKey, MetadataCache, Object, RemoteFile, RemoteOptions};
use object_store::{ObjectMeta, ObjectStore};

use crate::error::{from_library, in_file};
use crate::object::{RequestOptions, TableFile};

/// The means to open a table's files.
#[derive(Debug, Clone)]
pub(crate) struct FileAccess {
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The session cache, for tables without keys, because we do not put footers of encrypted files
    /// there.
    pub(crate) cache: Option<Arc<FileMetadataCache>>,
    pub(crate) requests: RequestOptions,
}

impl FileAccess {
    /// Returns the file if its footer is in the cache, without sending a request.
    ///
    /// # Errors
    /// Fails with Argument if the cached footer belongs to a file of another length.
    pub(crate) fn open_cached(&self, meta: &ObjectMeta) -> Result<Option<RemoteFile>> {
        let file = RemoteFile::open_cached(self.object(meta), self.options(meta));
        file.map_err(|error| in_file(&meta.location, from_library(error)))
    }

    /// Returns the file, and reads its footer and puts it into the cache unless it is there.
    ///
    /// # Errors
    /// Fails for the same reasons as [`RemoteFile::open`].
    pub(crate) async fn open(
        &self,
        meta: &ObjectMeta,
        decryption: Option<Arc<dyn Decryption>>,
    ) -> Result<RemoteFile> {
        let mut options = self.options(meta);
        options.open.decryption = decryption;
        let file = RemoteFile::open(self.object(meta), options).await;
        file.map_err(|error| in_file(&meta.location, from_library(error)))
    }

    fn object(&self, meta: &ObjectMeta) -> Arc<dyn Object> {
        TableFile::new(&self.store, meta, self.requests)
    }

    fn options(&self, meta: &ObjectMeta) -> RemoteOptions {
        let options = RemoteOptions::new();
        match &self.cache {
            Some(cache) => options.cache(Arc::new(SessionCache {
                cache: cache.clone(),
                meta: meta.clone(),
            })),
            None => options,
        }
    }
}

/// One file's entry in the session cache.
///
/// When the session cache drops an entry, it subtracts the entry's size, so that size must not
/// grow. If an entry gets more page indexes, we put it there again.
#[derive(Debug)]
struct SessionCache {
    cache: Arc<FileMetadataCache>,
    meta: ObjectMeta,
}

impl SessionCache {
    fn entry(&self) -> Option<Entry> {
        let entry = self.cache.get(&self.meta.location)?;
        // The cache compares the size and the time, but an ETag is more precise.
        let tags = entry.meta.e_tag.as_ref().zip(self.meta.e_tag.as_ref());
        let is_same = tags.is_none_or(|(cached, listed)| cached == listed);
        let entry = Some(entry).filter(|it| is_same && it.is_valid_for(&self.meta))?;
        entry.file_metadata.as_any().downcast_ref().cloned()
    }

    fn put(&self, entry: Entry) {
        let entry = CachedFileMetadataEntry::new(self.meta.clone(), Arc::new(entry));
        self.cache.put(&self.meta.location, entry);
    }
}

impl MetadataCache for SessionCache {
    fn footer(&self, _: &FileKey) -> Option<CachedFooter> {
        self.entry().map(|entry| entry.footer)
    }

    fn add_footer(&self, _: &FileKey, footer: CachedFooter) {
        self.put(Entry {
            footer,
            indexes: Arc::default(),
            index_bytes: 0,
        });
    }

    fn page_index(&self, _: &FileKey, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        let entry = self.entry()?;
        let cells = entry.indexes.lock();
        cells.by_chunk.get(&(row_group, leaf)).cloned()
    }

    fn add_page_index(&self, _: &FileKey, row_group: usize, leaf: usize, cell: PageIndexCell) {
        if let Some(entry) = self.entry() {
            let index_bytes = entry.indexes.add((row_group, leaf), cell);
            self.put(Entry {
                index_bytes,
                ..entry
            });
        }
    }
}

/// A footer in the session cache.
#[derive(Clone)]
struct Entry {
    footer: CachedFooter,
    indexes: Arc<PageIndexes>,
    /// The size that the page indexes had when the entry was put into the cache, in bytes.
    index_bytes: usize,
}

/// A file's decoded page indexes.
#[derive(Debug, Default)]
struct PageIndexes(Mutex<Cells>);

#[derive(Debug, Default)]
struct Cells {
    by_chunk: HashMap<(usize, usize), PageIndexCell>,
    bytes: usize,
}

impl PageIndexes {
    fn lock(&self) -> MutexGuard<'_, Cells> {
        // We may ignore poisoning, because a panic cannot leave the cells half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a column chunk's page indexes and returns the byte count of all page indexes.
    fn add(&self, chunk: (usize, usize), cell: PageIndexCell) -> usize {
        let mut cells = self.lock();
        let added = cell.heap_bytes();
        let replaced = cells.by_chunk.insert(chunk, cell);
        let replaced = replaced.map_or(0, |cell| cell.heap_bytes());
        cells.bytes = cells.bytes.saturating_sub(replaced) + added;
        cells.bytes
    }
}

impl FileMetadata for Entry {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.footer.heap_bytes() + self.index_bytes
    }

    fn extra_info(&self) -> HashMap<String, String> {
        let rows = self.footer.metadata.metadata().num_rows().to_string();
        let pairs = [("reader", "herringbone".to_owned()), ("num_rows", rows)];
        pairs
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}
