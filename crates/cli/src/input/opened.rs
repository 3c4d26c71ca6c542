//! Keeps track of a command's open local files and cached footers.

use std::collections::VecDeque;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::SystemTime;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::{FileSource, Source};
use herringbone::{Error, ErrorKind, MetadataHandle, ParquetFile, Result};
use herringbone_dataset::DatasetReadOptions;

/// The maximum number of local files to keep open at once.
const MAX_OPEN_FILES: usize = DatasetReadOptions::DEFAULT_MAX_OPEN_FILES;

/// The memory limit for cached footers in bytes, including bytes read along with them. Beyond this,
/// the command reads a file's footer each time it opens the file.
const MAX_FOOTER_BYTES: usize = 256 << 20;

/// The open files and kept footers of a command.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// The open files, oldest first.
    open: Mutex<VecDeque<Weak<LocalFile>>>,
    footer_bytes: AtomicUsize,
}

impl OpenFiles {
    /// Caches a file's footer and the bytes read along with it, if there is room.
    pub(crate) fn keep(&self, file: &ParquetFile) -> Option<Footer> {
        let (handle, source) = (file.metadata_handle(), file.source().clone());
        let suffix = source.fetch_policy().suffix_bytes.min(source.len());
        let bytes = 2 * handle.heap_bytes() + usize::try_from(suffix).unwrap_or(usize::MAX / 2);
        let before = self.footer_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > MAX_FOOTER_BYTES {
            self.footer_bytes.fetch_sub(bytes, Ordering::Relaxed);
            return None;
        }
        Some(Footer { source, handle })
    }

    /// Records an opened file, closing the oldest if too many are open.
    fn add(&self, file: Weak<LocalFile>, most: usize) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.push_back(file);
        while open.len() > most {
            let first = open.pop_front();
            if let Some(first) = first.and_then(|first| first.upgrade()) {
                first.lock().take();
            }
        }
    }
}

/// A cached footer and its file.
pub(crate) struct Footer {
    source: Arc<dyn Source>,
    handle: MetadataHandle,
}

impl Footer {
    /// Opens the file again without reading its footer. Page indexes belong to the returned file
    /// and are not cached, so that memory stays bounded.
    pub(crate) fn open(&self) -> Result<ParquetFile> {
        let handle = self.handle.without_page_indexes();
        ParquetFile::with_metadata(self.source.clone(), handle)
    }
}

/// A local file. We close it if too many others are open and reopen it on the next read.
#[derive(Debug)]
pub(crate) struct LocalFile {
    path: PathBuf,
    identity: Identity,
    open: Mutex<Option<Arc<FileSource>>>,
    files: Arc<OpenFiles>,
    myself: Weak<Self>,
}

/// A file's identity, for noticing that it was changed or replaced by another file at the same
/// path.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The device and the inode, except on Windows.
    place: Option<(u64, u64)>,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        #[cfg(unix)]
        let place = {
            use std::os::unix::fs::MetadataExt as _;
            Some((metadata.dev(), metadata.ino()))
        };
        #[cfg(not(unix))]
        let place = None;
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            place,
        }
    }
}

/// Opens a file. Errors do not contain its name.
fn open(path: &Path) -> io::Result<(File, Identity)> {
    let file = File::open(path)?;
    let identity = Identity::of(&file.metadata()?);
    Ok((file, identity))
}

impl LocalFile {
    /// Opens the file at a path.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the file cannot be opened or is not a regular file. The
    /// caller adds its name.
    pub(crate) fn open(path: &Path, files: &Arc<OpenFiles>) -> Result<Arc<Self>> {
        let (file, identity) = open(path)?;
        let source = Arc::new(FileSource::new(file)?);
        let file = Arc::new_cyclic(|myself| Self {
            path: path.to_owned(),
            identity,
            open: Mutex::new(Some(source)),
            files: files.clone(),
            myself: myself.clone(),
        });
        files.add(Arc::downgrade(&file), MAX_OPEN_FILES);
        Ok(file)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Arc<FileSource>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the open file, reopening it if necessary.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`] if the file cannot be opened, and with [`ErrorKind::Replaced`]
    /// if it was changed or if another file is at its path now.
    fn source(&self) -> Result<Arc<FileSource>> {
        let mut slot = self.lock();
        if let Some(source) = &*slot {
            return Ok(source.clone());
        }
        let (file, identity) = open(&self.path)?;
        if identity != self.identity {
            let (before, now) = (self.identity.bytes, identity.bytes);
            return Err(Error::new(
                ErrorKind::Replaced,
                format!(
                    "the file was changed or replaced since the command began to read it: it had {before} bytes, and \
                     now it has {now}"
                ),
            ));
        }
        let source = Arc::new(FileSource::new(file)?);
        *slot = Some(source.clone());
        drop(slot);
        self.files.add(self.myself.clone(), MAX_OPEN_FILES);
        Ok(source)
    }
}

impl Source for LocalFile {
    fn len(&self) -> u64 {
        self.identity.bytes
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.source()?.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::local()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_closed_is_opened_again_unless_it_was_changed() {
        let folder =
            std::env::temp_dir().join(format!("herringbone-opened-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("file");
        fs::write(&path, "before").unwrap();
        let files = Arc::new(OpenFiles::default());
        let file = LocalFile::open(&path, &files).unwrap();
        assert_eq!(file.read(0..6).unwrap(), "before");
        let close = || files.add(Weak::new(), 0);
        // While the file is open, we don't notice a replacement.
        fs::remove_file(&path).unwrap();
        assert_eq!(file.read(0..6).unwrap(), "before");
        close();
        assert_eq!(file.read(0..6).unwrap_err().kind(), ErrorKind::Io);
        // The new file has the same length, so the length alone wouldn't reveal the change.
        fs::write(&path, "behold").unwrap();
        assert_eq!(file.read(0..6).unwrap_err().kind(), ErrorKind::Replaced);
        let file = LocalFile::open(&path, &files).unwrap();
        close();
        assert_eq!(file.read(0..6).unwrap(), "behold");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn few_files_are_open() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let files = Arc::new(OpenFiles::default());
        let many: Vec<_> = (0..MAX_OPEN_FILES + 3)
            .map(|_| LocalFile::open(&path, &files).unwrap())
            .collect();
        let is_open = |file: &Arc<LocalFile>| file.lock().is_some();
        let open: Vec<bool> = many.iter().map(is_open).collect();
        assert!(open.iter().enumerate().all(|(at, is)| *is == (at >= 3)));
        many[0].read(0..1).unwrap();
        assert!(is_open(&many[0]) && !is_open(&many[3]) && is_open(&many[4]));
    }
}
