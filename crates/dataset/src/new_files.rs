//! The place of the files that a writer makes.

use std::fmt::Debug;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use herringbone::{FileTarget, Result};

/// A place for the files of a dataset, such as a directory or a prefix of a store. Its paths have `/` between their
/// components.
pub trait NewFiles: Debug + Send + Sync {
    /// Starts the file at a path below the place.
    ///
    /// # Errors
    /// [Io](herringbone::ErrorKind::Io) if the file cannot be created.
    fn create(&self, path: &str) -> Result<Box<dyn NewFile>>;

    /// Waits until all completed files have appeared. By default, they have.
    ///
    /// # Errors
    /// Errors of files that could not appear.
    fn finish(&self) -> Result<()> {
        Ok(())
    }

    /// Returns the path of a file in the file system of this machine, if it is there. Keys may depend on it, and a sort puts its
    /// temporary files next to it.
    fn local_path(&self, path: &str) -> Option<PathBuf> {
        let _ = path;
        None
    }
}

/// A file under construction. If it is dropped before it is completed, it does not appear.
pub trait NewFile: Write + Send {
    /// Makes the file appear, at the latest when the [place](NewFiles::finish) is finished.
    ///
    /// # Errors
    /// [Io](herringbone::ErrorKind::Io).
    fn complete(self: Box<Self>) -> Result<()>;
}

/// A directory of this machine.
#[derive(Debug)]
pub(crate) struct LocalDirectory(PathBuf);

impl LocalDirectory {
    /// Creates a directory, unless it exists.
    ///
    /// # Errors
    /// Io, with the path.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        create_directory(path)?;
        Ok(Self(path.to_path_buf()))
    }
}

impl NewFiles for LocalDirectory {
    fn create(&self, path: &str) -> Result<Box<dyn NewFile>> {
        let path = self.0.join(path);
        if let Some(above) = path.parent() {
            create_directory(above)?;
        }
        Ok(Box::new(FileTarget::create(path)?))
    }

    fn local_path(&self, path: &str) -> Option<PathBuf> {
        Some(self.0.join(path))
    }
}

impl NewFile for FileTarget {
    fn complete(self: Box<Self>) -> Result<()> {
        Ok(self.commit()?)
    }
}

fn create_directory(path: &Path) -> Result<()> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    Ok(fs::create_dir_all(path).map_err(named)?)
}

/// A file whose bytes are counted.
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
