//! A metadata cache, shared by all files that a program reads.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{self, Debug};
use std::mem::size_of;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use herringbone::format::FileMetadata;
use herringbone::pruning::PageIndexCache;
use herringbone::{MetadataHandle, PageIndexCell};
use herringbone_core::fetch::Tail;

use crate::object::Identity;

/// The key of a file in a cache, consisting of the object's name and identity.
///
/// All objects in a cache must have distinct names, such as URLs.
///
/// ```
/// use herringbone_remote::{FileKey, Identity};
///
/// let identity = |tag: &str| Identity::new(1000).e_tag(Some(tag.to_owned()));
/// let name = "s3://bucket/a.parquet";
/// // The length alone does not show that an object was replaced.
/// assert_eq!(FileKey::new(name, &Identity::new(1000)), None);
/// assert_ne!(FileKey::new(name, &identity("\"1\"")), FileKey::new(name, &identity("\"2\"")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileKey {
    name: Arc<str>,
    length: u64,
    tag: Tag,
}

/// The property used to notice that a file was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Tag {
    Version(Arc<str>),
    Entity(Arc<str>),
    Modified(SystemTime),
}

impl FileKey {
    /// Creates a file's key, or returns `None` if the identity only has a length, because that is
    /// not enough to identify a file.
    #[must_use]
    pub fn new(name: &str, identity: &Identity) -> Option<Self> {
        let version = identity
            .version
            .as_deref()
            .map(|version| Tag::Version(version.into()));
        let e_tag = identity
            .strong_e_tag()
            .map(|strong_e_tag| Tag::Entity(strong_e_tag.into()));
        let modified = identity.modified.map(Tag::Modified);
        Some(Self {
            name: name.into(),
            length: identity.length,
            tag: e_tag.or(version).or(modified)?,
        })
    }

    /// Returns the object's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the key's heap size in bytes.
    fn heap_bytes(&self) -> usize {
        let tag = match &self.tag {
            Tag::Version(text) | Tag::Entity(text) => text.len(),
            Tag::Modified(_) => 0,
        };
        self.name.len() + tag
    }
}

/// The most page index bytes to keep with a footer.
const MAX_KEPT: u64 = 256 << 10;

/// A cached footer.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CachedFooter {
    /// The metadata without page indexes. Because it [never gets
    /// any](MetadataHandle::footer_alone), its size is fixed.
    pub metadata: MetadataHandle,
    /// The bytes of all page indexes, if there are few of them and they were read along with the
    /// footer. Empty otherwise.
    pub indexes: Tail,
}

impl CachedFooter {
    /// Creates the entry for a footer read with its file's end.
    pub(crate) fn new(metadata: &MetadataHandle, tail: &Tail) -> Self {
        let range = page_indexes(metadata.metadata());
        let range = range.filter(|range| range.end - range.start <= MAX_KEPT);
        let indexes = range.and_then(|range| {
            // We copy the bytes, because a slice would keep the whole tail in memory.
            let bytes = Bytes::copy_from_slice(&tail.get(&range)?);
            Some(Tail::at(range.start, bytes))
        });
        Self {
            metadata: metadata.footer_alone(),
            indexes: indexes.unwrap_or_default(),
        }
    }

    /// Returns the heap size in bytes, including bytes shared with other handles.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.metadata.heap_bytes() + self.indexes.bytes().len()
    }
}

/// Returns the range spanning all page indexes. Writers usually put these one after the other.
fn page_indexes(metadata: &FileMetadata) -> Option<Range<u64>> {
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

/// A cache of file metadata, with separate entries for footers and for column chunks' page indexes.
///
/// Reads look up entries and add new ones. A cache is allowed to drop any entry at any time.
///
/// You rarely need your own implementation, because [`LruMetadataCache`] has both kinds of entries
/// and a limit. The cache in this example only has footers, without a limit:
///
/// ```
/// # use std::ops::Range;
/// # use bytes::Bytes;
/// # use herringbone_remote::{Answer, BoxFuture, Identity, Object};
/// # #[derive(Debug)]
/// # struct InMemory(Bytes);
/// # impl InMemory {
/// #     fn answer(&self, range: Range<u64>) -> BoxFuture<herringbone::Result<Answer>> {
/// #         let bytes = self.0.slice(range.start as usize..range.end as usize);
/// #         let identity = Identity::new(self.0.len() as u64).e_tag(Some("\"1\"".to_owned()));
/// #         Box::pin(async move { Ok(Answer { bytes, range, identity }) })
/// #     }
/// # }
/// # impl Object for InMemory {
/// #     fn name(&self) -> &str { "example.parquet" }
/// #     fn tail(&self, bytes: u64) -> BoxFuture<herringbone::Result<Answer>> {
/// #         let length = self.0.len() as u64;
/// #         self.answer(length.saturating_sub(bytes)..length)
/// #     }
/// #     fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<herringbone::Result<Answer>> {
/// #         self.answer(range)
/// #     }
/// # }
/// # futures::executor::block_on(async {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// # let object = std::sync::Arc::new(InMemory(std::fs::read("testdata/example.parquet")?.into()));
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use herringbone::{OpenOptions, PageIndexCell};
/// use herringbone_remote::{CachedFooter, FileKey, MetadataCache, RemoteFile, RemoteOptions};
///
/// #[derive(Debug, Default)]
/// struct Footers(Mutex<HashMap<FileKey, CachedFooter>>);
///
/// impl MetadataCache for Footers {
///     fn footer(&self, file: &FileKey) -> Option<CachedFooter> {
///         self.0.lock().unwrap().get(file).cloned()
///     }
///     fn add_footer(&self, file: &FileKey, footer: CachedFooter) {
///         self.0.lock().unwrap().insert(file.clone(), footer);
///     }
///     fn page_index(&self, _: &FileKey, _: usize, _: usize) -> Option<PageIndexCell> {
///         None
///     }
///     fn add_page_index(&self, _: &FileKey, _: usize, _: usize, _: PageIndexCell) {}
/// }
///
/// let footers = Arc::new(Footers::default());
/// let options = RemoteOptions::from(OpenOptions::new()).cache(footers.clone());
/// let file = RemoteFile::open(object, options.clone()).await?;
/// let footer = options.cached_footer("example.parquet", file.identity()).ok_or("not kept")?;
/// assert_eq!(footer.metadata.metadata().num_rows(), 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait MetadataCache: Debug + Send + Sync {
    /// Returns a file's footer.
    fn footer(&self, file: &FileKey) -> Option<CachedFooter>;

    /// Adds a file's footer.
    fn add_footer(&self, file: &FileKey, footer: CachedFooter);

    /// Returns a column chunk's page indexes. The chunk is named by its row group ordinal and its
    /// leaf ordinal.
    fn page_index(&self, file: &FileKey, row_group: usize, leaf: usize) -> Option<PageIndexCell>;

    /// Adds a column chunk's page indexes.
    fn add_page_index(&self, file: &FileKey, row_group: usize, leaf: usize, cell: PageIndexCell);
}

/// A file's entries in a cache.
#[derive(Debug)]
pub(crate) struct CacheEntry {
    pub(crate) cache: Arc<dyn MetadataCache>,
    pub(crate) file: FileKey,
}

impl PageIndexCache for CacheEntry {
    fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        self.cache.page_index(&self.file, row_group, leaf)
    }

    fn add(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        self.cache.add_page_index(&self.file, row_group, leaf, cell);
    }
}

/// A [`MetadataCache`] of a fixed size in bytes, dropping the least recently used entries.
///
/// ```
/// use herringbone_remote::LruMetadataCache;
///
/// let cache = LruMetadataCache::new(64 << 20);
/// assert_eq!(cache.heap_bytes(), 0);
/// ```
pub struct LruMetadataCache {
    most_bytes: usize,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    by_key: HashMap<EntryKey, Entry>,
    /// The keys by their last use, used to find the oldest entry.
    by_use: BTreeMap<u64, EntryKey>,
    /// The number of uses so far.
    uses: u64,
    bytes: usize,
}

/// The key of a footer, or of a column chunk's page indexes.
type EntryKey = (FileKey, Option<(usize, usize)>);

struct Entry {
    value: Value,
    bytes: usize,
    last_use: u64,
}

#[derive(Clone)]
enum Value {
    Footer(CachedFooter),
    PageIndex(PageIndexCell),
}

impl LruMetadataCache {
    /// Creates a cache of at most `bytes` bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Arc<Self> {
        Arc::new(Self {
            most_bytes: bytes,
            entries: Mutex::default(),
        })
    }

    /// Returns the heap size of all entries in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, key: EntryKey, value: Value) {
        let value_bytes = match &value {
            Value::Footer(footer) => footer.heap_bytes(),
            Value::PageIndex(cell) => cell.heap_bytes(),
        };
        // We count the key twice, because both maps have it. A table leaves one of eight places
        // free.
        let entry_bytes = 2 * size_of::<EntryKey>() + size_of::<Entry>() + size_of::<u64>();
        let bytes = value_bytes + key.0.heap_bytes() + entry_bytes + entry_bytes / 7;
        if bytes <= self.most_bytes {
            self.lock().add(key, value, (bytes, self.most_bytes));
        }
    }
}

impl Entries {
    fn get(&mut self, key: &EntryKey) -> Option<Value> {
        let entry = self.by_key.get_mut(key)?;
        self.uses += 1;
        let key = self.by_use.remove(&entry.last_use)?;
        entry.last_use = self.uses;
        self.by_use.insert(self.uses, key);
        Some(entry.value.clone())
    }

    fn add(&mut self, key: EntryKey, value: Value, (bytes, most_bytes): (usize, usize)) {
        self.remove(&key);
        while self.bytes + bytes > most_bytes
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.remove(&oldest);
        }
        self.uses += 1;
        self.bytes += bytes;
        self.by_use.insert(self.uses, key.clone());
        let entry = Entry {
            value,
            bytes,
            last_use: self.uses,
        };
        self.by_key.insert(key, entry);
    }

    fn remove(&mut self, key: &EntryKey) {
        if let Some(entry) = self.by_key.remove(key) {
            self.bytes -= entry.bytes;
            self.by_use.remove(&entry.last_use);
        }
    }
}

impl MetadataCache for LruMetadataCache {
    fn footer(&self, file: &FileKey) -> Option<CachedFooter> {
        match self.lock().get(&(file.clone(), None))? {
            Value::Footer(footer) => Some(footer),
            Value::PageIndex(_) => None,
        }
    }

    fn add_footer(&self, file: &FileKey, footer: CachedFooter) {
        self.add((file.clone(), None), Value::Footer(footer));
    }

    fn page_index(&self, file: &FileKey, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        match self.lock().get(&(file.clone(), Some((row_group, leaf))))? {
            Value::PageIndex(cell) => Some(cell),
            Value::Footer(_) => None,
        }
    }

    fn add_page_index(&self, file: &FileKey, row_group: usize, leaf: usize, cell: PageIndexCell) {
        let key = (file.clone(), Some((row_group, leaf)));
        self.add(key, Value::PageIndex(cell));
    }
}

impl Debug for LruMetadataCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.lock();
        f.debug_struct("LruMetadataCache")
            .field("entries", &entries.by_key.len())
            .field("heap_bytes", &entries.bytes)
            .field("most_bytes", &self.most_bytes)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> FileKey {
        FileKey::new(name, &Identity::new(5).e_tag(Some("\"a\"".into()))).unwrap()
    }

    #[test]
    fn the_least_recently_used_entries_leave() {
        let cell = PageIndexCell::default;
        let cache = LruMetadataCache::new(usize::MAX);
        cache.add_page_index(&key("a"), 0, 0, cell());
        let one = cache.heap_bytes();
        assert!(one > 0);
        let cache = LruMetadataCache::new(3 * one);
        for leaf in 0..3 {
            cache.add_page_index(&key("a"), 0, leaf, cell());
        }
        assert!(cache.page_index(&key("a"), 0, 0).is_some());
        cache.add_page_index(&key("b"), 0, 0, cell());
        assert_eq!(cache.heap_bytes(), 3 * one);
        let has = |leaf| cache.page_index(&key("a"), 0, leaf).is_some();
        assert_eq!([0, 1, 2].map(has), [true, false, true]);
        // An entry added again only counts once.
        cache.add_page_index(&key("b"), 0, 0, cell());
        assert_eq!(cache.heap_bytes(), 3 * one);
        assert!(LruMetadataCache::new(one - 1).lock().by_key.is_empty());
    }

    #[test]
    fn a_replaced_file_has_another_key() {
        let first = Identity::new(5).e_tag(Some("\"a\"".into()));
        assert_ne!(
            FileKey::new("x", &first),
            FileKey::new("x", &first.clone().e_tag(Some("\"b\"".into())))
        );
        assert_ne!(FileKey::new("x", &first), FileKey::new("y", &first));
        assert_eq!(FileKey::new("x", &Identity::new(5)), None);
    }
}
