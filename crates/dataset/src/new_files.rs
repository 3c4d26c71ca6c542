//! Places for a writer's new files.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use herringbone::{FileTarget, Result};

/// A place for a dataset's new files, such as a directory or a store prefix. Implement this trait
/// to write datasets to your own kind of place. Path components are separated by `/`.
pub trait NewFiles: Debug + Send + Sync {
    /// Starts a file at a path below this place.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the file cannot be created.
    fn create(&self, path: &str) -> Result<Box<dyn NewFile>>;

    /// Waits until all completed files have appeared. By default, this does nothing, because in
    /// many places a completed file appears immediately.
    ///
    /// # Errors
    /// Returns the errors of files that failed to appear.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the file's path in the local file system, if it has one. Keys can depend on this
    /// path, and a sort puts its temporary files next to it.
    fn local_path(&self, path: &str) -> Option<PathBuf> {
        let _ = path;
        None
    }
}

/// A file being written. It never appears if you drop it before completing it.
pub trait NewFile: Write + Send {
    /// Makes the file appear, now or at the latest when the [place](NewFiles::finish) is finished.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the file cannot be completed.
    fn complete(self: Box<Self>) -> Result<()>;
}

/// The most files in a directory waiting for the disk at the same time.
const MAX_COMMITTING: usize = 16;

/// A directory on this machine. Each complete file is synced to disk in its own thread, so that
/// other files can be written meanwhile.
#[derive(Debug)]
pub(crate) struct LocalDirectory {
    path: PathBuf,
    committing: Arc<Committing>,
}

impl LocalDirectory {
    /// Creates the directory if it doesn't exist.
    ///
    /// # Errors
    /// Fails with Io, with the path.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        create_directory(path)?;
        Ok(Self {
            path: path.to_path_buf(),
            committing: Arc::default(),
        })
    }
}

impl NewFiles for LocalDirectory {
    fn create(&self, path: &str) -> Result<Box<dyn NewFile>> {
        let path = self.path.join(path);
        if let Some(above) = path.parent() {
            create_directory(above)?;
        }
        Ok(Box::new(LocalFile {
            target: FileTarget::create(path)?,
            committing: self.committing.clone(),
        }))
    }

    fn finish(&self) -> Result<()> {
        Ok(self.committing.wait(0)?)
    }

    fn local_path(&self, path: &str) -> Option<PathBuf> {
        Some(self.path.join(path))
    }
}

/// A new file in a directory.
struct LocalFile {
    target: FileTarget,
    committing: Arc<Committing>,
}

impl Write for LocalFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

impl NewFile for LocalFile {
    fn complete(self: Box<Self>) -> Result<()> {
        self.committing.wait(MAX_COMMITTING - 1)?;
        Ok(self.committing.start(self.target)?)
    }
}

/// The threads of files waiting for the disk, oldest first.
#[derive(Debug, Default)]
struct Committing(Mutex<VecDeque<JoinHandle<io::Result<()>>>>);

impl Committing {
    fn threads(&self) -> MutexGuard<'_, VecDeque<JoinHandle<io::Result<()>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Commits a file in a new thread, or in this one if the system refuses to start a thread.
    fn start(&self, target: FileTarget) -> io::Result<()> {
        let target = Arc::new(Mutex::new(Some(target)));
        let own = target.clone();
        match thread::Builder::new().spawn(move || commit(&own)) {
            Ok(thread) => {
                self.threads().push_back(thread);
                Ok(())
            }
            Err(_) => commit(&target),
        }
    }

    /// Waits until at most `most` files are waiting for the disk, returning the first error.
    fn wait(&self, most: usize) -> io::Result<()> {
        let mut threads = self.threads();
        let mut first = Ok(());
        while threads.len() > most
            && let Some(thread) = threads.pop_front()
        {
            let panicked = |_| Err(io::Error::other("a thread that commits a file panicked"));
            first = first.and(thread.join().unwrap_or_else(panicked));
        }
        first
    }
}

/// Waits for all threads, so that even if the writer is dropped, complete files appear.
impl Drop for Committing {
    fn drop(&mut self) {
        self.wait(0).ok();
    }
}

fn commit(target: &Mutex<Option<FileTarget>>) -> io::Result<()> {
    let target = target.lock().unwrap_or_else(PoisonError::into_inner).take();
    target.map_or(Ok(()), FileTarget::commit)
}

fn create_directory(path: &Path) -> Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Ok(fs::create_dir_all(path).map_err(named)?)
}

/// A file with a byte count.
pub(crate) struct Counted {
    pub(crate) file: Box<dyn NewFile>,
    pub(crate) bytes: u64,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
