//! Files that appear under their name only when they are complete.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use herringbone_format::{Error, Result};

/// The number of temporary names to try for one file. The first few might be taken by other
/// processes.
const MAX_NAMES: usize = 10_000;

/// A file under construction. It is written under a temporary name in its final directory, and
/// removed if you drop it without a commit. Devices and pipes are written to directly.
///
/// If your process forks, the child gets a copy of the target, but the file still belongs to the
/// process that created it. In any other process, writes and commits fail, and a drop leaves the
/// file alone.
///
/// [`create`](crate::create) makes a target for a Parquet file. You can also write any other file
/// to one:
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
///
/// // A new file never replaces an existing one.
/// let second = FileTarget::create_new(&path)?;
/// assert_eq!(second.commit().unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileTarget {
    file: File,
    /// The file's names, or `None` for a device or a pipe.
    names: Option<Names>,
}

#[derive(Debug)]
struct Names {
    temporary: PathBuf,
    path: PathBuf,
    replaces: bool,
    /// The ID of the process that created the file, used to detect a fork.
    process: u32,
}

impl Names {
    /// Checks that this process created the file. Otherwise, two processes' bytes would be
    /// interleaved.
    fn check(&self) -> io::Result<()> {
        let (created, here) = (self.process, process::id());
        match created == here {
            true => Ok(()),
            false => Err(io::Error::other(format!(
                "the file {} belongs to process {created}, which created it, and this is process {here}",
                self.path.display()
            ))),
        }
    }
}

impl FileTarget {
    /// Starts a file at `path`. Its [commit](Self::commit) replaces any existing file there. If
    /// `path` is a named pipe, the call waits for a reader.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path.as_ref(), true)
    }

    /// Starts a file at `path` that never replaces an existing file. If several writers use the
    /// same path, only one [commit](Self::commit) succeeds. If `path` is a named pipe, the call
    /// waits for a reader.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the file cannot be created. If a file already
    /// exists at `path`, only the commit fails.
    pub fn create_new(path: impl AsRef<Path>) -> Result<Self> {
        Self::open(path.as_ref(), false)
    }

    fn open(path: &Path, replaces: bool) -> Result<Self> {
        Self::open_io(path, replaces).map_err(|error| {
            Error::from(io::Error::new(
                error.kind(),
                format!("{}: {error}", path.display()),
            ))
        })
    }

    fn open_io(path: &Path, replaces: bool) -> io::Result<Self> {
        let existing = fs::metadata(path).ok();
        if existing
            .as_ref()
            .is_some_and(|metadata| !metadata.is_file())
        {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Self { file, names: None });
        }
        let existing = existing.filter(|_| replaces);
        // We replace a symbolic link's target, so that the link itself stays a link.
        let path = match &existing {
            Some(_) => fs::canonicalize(path)?,
            None => path.to_owned(),
        };
        let (file, temporary) = temporary_file(&path)?;
        let target = Self {
            file,
            names: Some(Names {
                temporary,
                path,
                replaces,
                process: process::id(),
            }),
        };
        if let Some(metadata) = existing {
            target.file.set_permissions(metadata.permissions())?;
        }
        Ok(target)
    }

    /// Returns the file's temporary path, or `None` for a device or a pipe.
    #[must_use]
    pub fn temporary_path(&self) -> Option<&Path> {
        self.names.as_ref().map(|names| names.temporary.as_path())
    }

    /// Waits until all written bytes are on the disk. A [commit](Self::commit) does this, too.
    ///
    /// # Errors
    /// Returns the system's errors.
    pub fn sync(&self) -> io::Result<()> {
        match &self.names {
            Some(_) => self.file.sync_all(),
            None => Ok(()),
        }
    }

    /// Waits until the file is on the disk, and then gives it its final name.
    ///
    /// # Errors
    /// Fails with `AlreadyExists` if the target was made by [`create_new`](Self::create_new) and
    /// the name is taken. Other errors of the system are returned, too. After any of these, the
    /// temporary file is removed. In a process that did not create the target, this fails with
    /// `Other`.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        self.sync()?;
        let Some(names) = &self.names else {
            return Ok(());
        };
        names.check()?;
        if names.replaces {
            fs::rename(&names.temporary, &names.path)?;
            self.names = None;
            return Ok(());
        }
        match fs::hard_link(&names.temporary, &names.path) {
            // The file now has both names, and the drop removes the temporary one.
            Ok(()) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
            // Some file systems don't support hard links, so we rename instead.
            Err(_) => {
                rename_to_new(&names.temporary, &names.path)?;
                self.names = None;
                Ok(())
            }
        }
    }
}

/// Renames a file to a name that must not exist yet. An empty file reserves the name meanwhile.
fn rename_to_new(from: &Path, to: &Path) -> io::Result<()> {
    drop(File::create_new(to)?);
    fs::rename(from, to).inspect_err(|_| drop(fs::remove_file(to)))
}

/// Creates a file in the directory of `path`, under a short unused name.
fn temporary_file(path: &Path) -> io::Result<(File, PathBuf)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if path.file_name().is_none() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "the path does not name a file",
        ));
    }
    let mut taken = io::Error::from(ErrorKind::AlreadyExists);
    for _ in 0..MAX_NAMES {
        let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
        // The name might be taken, because process IDs repeat across containers, and a killed
        // process can leave its file behind.
        let temporary =
            path.with_file_name(format!(".herringbone.{}.{ordinal}.tmp", process::id()));
        match File::create_new(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

impl Write for FileTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(names) = &self.names {
            names.check()?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for FileTarget {
    fn drop(&mut self) {
        if let Some(names) = self.names.as_ref().filter(|name| name.check().is_ok()) {
            // A drop cannot report errors. If the file stays, at least its name shows that it is
            // temporary.
            drop(fs::remove_file(&names.temporary));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder in the temporary directory, removed at the end of the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let name = format!("herringbone-target-{}-{name}", process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            names.collect()
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    /// Exactly one of several writers gets the name, by a link or by a rename.
    #[test]
    fn a_new_name_goes_to_one_writer() {
        let folder = Folder::new("race");
        for round in 0..50 {
            let path = folder.0.join(format!("file {round}"));
            let writer = |ordinal: usize| {
                let (path, is_link) = (path.clone(), round % 2 == 0);
                std::thread::spawn(move || {
                    let mut target = FileTarget::create_new(&path).unwrap();
                    write!(target, "{ordinal}").unwrap();
                    match is_link {
                        true => target.commit(),
                        false => rename_to_new(target.temporary_path().unwrap(), &path),
                    }
                })
            };
            let writers: Vec<_> = (0..4).map(writer).collect();
            let outcomes = writers.into_iter().map(|writer| writer.join().unwrap());
            let outcomes: Vec<_> = outcomes.collect();
            let winner = outcomes.iter().position(Result::is_ok).unwrap();
            for (ordinal, outcome) in outcomes.into_iter().enumerate() {
                let kind = outcome.err().map(|error| error.kind());
                let expected = (ordinal != winner).then_some(ErrorKind::AlreadyExists);
                assert_eq!(kind, expected);
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), winner.to_string());
        }
        assert_eq!(folder.names().len(), 50);
    }

    /// The next names can already be taken by killed processes, or by processes in other
    /// containers.
    #[test]
    fn temporary_names_that_are_taken_are_passed_over() {
        let folder = Folder::new("taken");
        let path = folder.0.join("file");
        let ordinal = |name: &Path| -> u64 {
            let name = name.file_name().unwrap().to_str().unwrap();
            name.split('.').nth(3).unwrap().parse().unwrap()
        };
        let (_, first) = temporary_file(&path).unwrap();
        // We take many names, because other tests use up some in the meantime.
        for next in 1..50 {
            let name = format!(
                ".herringbone.{}.{}.tmp",
                process::id(),
                ordinal(&first) + next
            );
            fs::write(folder.0.join(name), "").unwrap();
        }
        let (_, free) = temporary_file(&path).unwrap();
        assert!(ordinal(&free) >= ordinal(&first) + 50);
    }
}
