//! Footers, and the cache of the session for them.

use std::any::Any;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use datafusion_common::{HashMap, Result};
use datafusion_execution::cache::cache_manager::{
    CachedFileMetadataEntry, FileMetadata, FileMetadataCache,
};
use herringbone::format::FileMetadata as FormatMetadata;
use herringbone::modular_encryption::Decryption;
use herringbone::pruning::PageIndexCache;
use herringbone::{MetadataHandle, OpenOptions, PageIndexCell};
use herringbone_remote::{Object, RemoteFile, RemoteOptions, Tail};
use object_store::{ObjectMeta, ObjectStore};

use crate::error::{from_library, in_file};
use crate::object::{RequestOptions, TableFile, identity};

/// The largest size of page indexes kept as bytes with a footer.
const MOST_KEPT: u64 = 256 << 10;

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
        let entry = self.entry(meta);
        let Some(footer) = entry.as_ref().and_then(footer) else {
            return Ok(None);
        };
        let object = TableFile::new(&self.store, meta, self.requests, footer.kept.clone());
        let (identity, handle) = (identity(meta), footer.handle.clone());
        let file = RemoteFile::with_metadata(object, identity, handle, RemoteOptions::new());
        file.map(Some)
            .map_err(|error| in_file(&meta.location, from_library(error)))
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
        let object = TableFile::new(&self.store, meta, self.requests, Tail::default());
        let first_request = object.fetch_policy().suffix_bytes;
        let open = OpenOptions::new().decryption(decryption, None);
        let named = |error| in_file(&meta.location, from_library(error));
        let file = RemoteFile::open(object, open).await.map_err(named)?;
        let tail_start = meta.size.saturating_sub(first_request);
        let kept = match page_indexes(file.metadata()) {
            Some(range) if tail_start <= range.start && range.end - range.start <= MOST_KEPT => {
                let bytes = file.fetch(range.clone()).await.map_err(named)?;
                // A copy, because a slice would retain all bytes of the first request.
                Tail::at(range.start, Bytes::copy_from_slice(&bytes))
            }
            _ => Tail::default(),
        };
        self.add(meta, file.metadata_handle(), kept);
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

    fn entry(&self, meta: &ObjectMeta) -> Option<CachedFileMetadataEntry> {
        let entry = self.cache.as_ref()?.get(&meta.location)?;
        // The cache compares the size and the time. An ETag is finer.
        let tags = entry.meta.e_tag.as_ref().zip(meta.e_tag.as_ref());
        let is_same = tags.is_none_or(|(cached, listed)| cached == listed);
        (is_same && entry.is_valid_for(meta)).then_some(entry)
    }

    /// Puts a footer into the cache.
    fn add(&self, meta: &ObjectMeta, handle: &MetadataHandle, kept: Tail) {
        let Some(cache) = &self.cache else {
            return;
        };
        if handle.metadata().decryption().is_some() {
            return;
        }
        let indexes = Arc::new(PageIndexes::default());
        let footer = CachedFooter {
            handle: handle.with_page_index_cache(indexes.clone()),
            bytes: handle.heap_bytes() + kept.bytes().len(),
            kept,
            index_bytes: 0,
            indexes,
        };
        let entry = CachedFileMetadataEntry::new(meta.clone(), Arc::new(footer));
        cache.put(&meta.location, entry);
    }

    /// Updates the size of a footer in the cache, after reads added page indexes.
    pub(crate) fn update(&self, meta: &ObjectMeta) {
        let (Some(cache), Some(entry)) = (&self.cache, self.entry(meta)) else {
            return;
        };
        let Some(footer) = footer(&entry) else {
            return;
        };
        let index_bytes = footer.indexes.lock().bytes;
        if footer.index_bytes < index_bytes {
            let footer = CachedFooter {
                index_bytes,
                ..footer.clone()
            };
            let entry = CachedFileMetadataEntry::new(entry.meta.clone(), Arc::new(footer));
            cache.put(&meta.location, entry);
        }
    }
}

/// Returns the range of the page indexes: writers put them one after the other.
fn page_indexes(metadata: &FormatMetadata) -> Option<Range<u64>> {
    let first = metadata.column_chunk(0, 0).ok()?;
    let starts = [first.column_index_offset, first.offset_index_offset];
    let last = metadata.num_row_groups().checked_sub(1)?;
    let column = metadata.num_columns(last).checked_sub(1)?;
    let last = metadata.column_chunk(last, column).ok()?;
    let end = last
        .offset_index_offset?
        .checked_add(last.offset_index_length?.into())?;
    let start = u64::try_from(starts.into_iter().flatten().min()?).ok()?;
    let end = u64::try_from(end).ok()?;
    (start < end).then_some(start..end)
}

fn footer(entry: &CachedFileMetadataEntry) -> Option<&CachedFooter> {
    entry.file_metadata.as_any().downcast_ref()
}

/// A footer in the cache of the session.
#[derive(Clone)]
struct CachedFooter {
    /// The footer. Reads look up page indexes in `indexes`, and add those that they decode.
    handle: MetadataHandle,
    /// The page indexes of the file, if they are small and were read with the footer.
    kept: Tail,
    bytes: usize,
    indexes: Arc<PageIndexes>,
    /// The size of the page indexes when the footer was put into the cache. The cache subtracts the size of an entry
    /// that it drops, so the size of an entry must not grow.
    index_bytes: usize,
}

/// The page indexes of a file.
#[derive(Debug, Default)]
struct PageIndexes(Mutex<Cells>);

#[derive(Debug, Default)]
struct Cells {
    by_chunk: HashMap<(usize, usize), PageIndexCell>,
    bytes: usize,
}

impl PageIndexes {
    fn lock(&self) -> MutexGuard<'_, Cells> {
        // A panic cannot leave the cells half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageIndexCache for PageIndexes {
    fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        self.lock().by_chunk.get(&(row_group, leaf)).cloned()
    }

    fn add(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        let mut cells = self.lock();
        let added = cell.heap_bytes();
        let replaced = cells.by_chunk.insert((row_group, leaf), cell);
        let replaced = replaced.map_or(0, |cell| cell.heap_bytes());
        cells.bytes = cells.bytes.saturating_sub(replaced) + added;
    }
}

impl FileMetadata for CachedFooter {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn memory_size(&self) -> usize {
        self.bytes + self.index_bytes
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
