//! A file that appears when it is complete.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use herringbone_format::{Error, Result};

/// A file under construction. It is written under a temporary name beside its own, and removed when
/// it is dropped before it is complete. Devices and pipes are written to directly.
///
/// [`create`](crate::create) makes one for a Parquet file; anything else can be written to one as well:
///
/// ```
/// use std::io::Write;
/// use herringbone::FileTarget;
///
/// # let folder = std::env::temp_dir();
/// # let path = folder.join(format!("herringbone-target-{}", std::process::id()));
/// let mut target = FileTarget::create(&path)?;
/// target.write_all(b"all or nothing")?;
/// assert!(!path.exists());
/// target.commit()?;
/// assert_eq!(std::fs::read(&path)?, b"all or nothing");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileTarget {
    file: File,
    /// Temporary and final name; none where the target is no regular file.
    names: Option<(PathBuf, PathBuf)>,
}

impl FileTarget {
    /// Starts a file at `path`; a file that is there stays until the [commit](Self::commit).
    ///
    /// # Errors
    /// Io where the file cannot be made.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        Self::open(path).map_err(|error| {
            Error::from(io::Error::new(
                error.kind(),
                format!("{}: {error}", path.display()),
            ))
        })
    }

    fn open(path: &Path) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file())
        {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { file, names: None });
        }
        // A link stays a link: the file behind it is replaced.
        let path = match &existing {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let temporary = temporary_name(&path)?;
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)?;
        let target = Self {
            file,
            names: Some((temporary, path)),
        };
        if let Some(metadata) = existing {
            target.file.set_permissions(metadata.permissions())?;
        }
        Ok(target)
    }

    /// The name that the file has until it is complete; none where the target is no regular file.
    #[must_use]
    pub fn temporary_path(&self) -> Option<&Path> {
        self.names
            .as_ref()
            .map(|(temporary, _)| temporary.as_path())
    }

    /// Gives the file its name, once all of it is on the disk.
    ///
    /// # Errors
    /// Of the system. The file is gone then.
    pub fn commit(mut self) -> io::Result<()> {
        let Some((temporary, path)) = &self.names else {
            return self.file.flush();
        };
        self.file.sync_all()?;
        fs::rename(temporary, path)?;
        self.names = None;
        Ok(())
    }
}

/// A name beside `path` that no other writer uses.
fn temporary_name(path: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidInput, "the path does not name a file")
    })?;
    let mut temporary = OsString::from(".");
    temporary.push(name);
    let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
    temporary.push(format!(".{}.{ordinal}.tmp", process::id()));
    Ok(path.with_file_name(temporary))
}

impl Write for FileTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for FileTarget {
    fn drop(&mut self) {
        if let Some((temporary, _)) = &self.names {
            // Nobody is left to tell; the name says that the file is a temporary one.
            drop(fs::remove_file(temporary));
        }
    }
}
