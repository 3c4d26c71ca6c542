//! A command's output file, or standard output in its place.

use std::fs;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::{Path, PathBuf};

use herringbone::FileTarget;

use crate::args::Destination;
use crate::base::failure::{Failure, Result};
use crate::base::url::{as_url, name_of};
use crate::output::progress::BytesWritten;
#[cfg(feature = "remote")]
use crate::remote::{Upload, Uploads};
use crate::save::interrupt::{Unfinished, uninterrupted, watch};

/// The path that stands for standard output.
const STDOUT: &str = "-";

/// The destination of a command's data. Unless it is [committed](Self::commit), no file remains.
pub(crate) struct Target {
    /// The target's name in errors.
    pub(crate) name: String,
    /// The progress of writing, shown by some commands.
    pub(crate) written: BytesWritten,
    file: Option<FileTarget>,
    /// A part's temporary name until all parts are complete.
    staged: Option<PathBuf>,
    #[cfg(feature = "remote")]
    upload: Option<Upload>,
    /// The group of uploads to appear together with this one.
    #[cfg(feature = "remote")]
    uploads: Option<Uploads>,
    stdout: Stdout,
}

impl Target {
    /// Returns true if the path stands for standard output.
    pub(crate) fn is_stdout(path: &Path) -> bool {
        path.as_os_str() == STDOUT
    }

    /// Returns true for the path of a local file.
    pub(crate) fn is_local(path: &Path) -> bool {
        !Self::is_stdout(path) && as_url(path).is_none()
    }

    /// Checks that writing the target is allowed. Call this before any other work, so that a
    /// mistake is reported early.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the file already exists, or if standard output is a
    /// terminal.
    pub(crate) fn check(to: &Destination) -> Result<()> {
        if Self::is_stdout(&to.path) {
            if io::stdout().is_terminal() {
                return Err(Failure::Usage(
                    "binary data cannot be printed on a terminal; send it to a file or a program"
                        .into(),
                ));
            }
            return Ok(());
        }
        if as_url(&to.path).is_some() {
            // The store is only asked when the upload starts.
            return Ok(());
        }
        // A dangling link counts as a file, but devices and pipes do not.
        let is_file = match fs::metadata(&to.path) {
            Ok(metadata) => metadata.is_file(),
            Err(_) => fs::symlink_metadata(&to.path).is_ok(),
        };
        match is_file && !to.force {
            true => Err(exists(&name_of(&to.path))),
            false => Ok(()),
        }
    }

    /// Checks that the target leaves standard output free for printing JSON.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the target is standard output.
    pub(crate) fn leave_stdout(to: &Destination) -> Result<()> {
        match Self::is_stdout(&to.path) {
            true => Err(Failure::Usage(
                "--json prints on standard output, so OUT must be a file".into(),
            )),
            false => Ok(()),
        }
    }

    /// Starts writing the file.
    ///
    /// # Errors
    /// See [`Self::check`]. Also fails with [`Failure::System`] if the file cannot be created.
    pub(crate) fn create(to: &Destination) -> Result<Self> {
        Self::check(to)?;
        let mut target = Self {
            name: name_of(&to.path),
            written: BytesWritten::default(),
            file: None,
            staged: None,
            #[cfg(feature = "remote")]
            upload: None,
            #[cfg(feature = "remote")]
            uploads: None,
            stdout: io::stdout(),
        };
        if Self::is_stdout(&to.path) {
            target.name = crate::output::STDOUT.into();
            return Ok(target);
        }
        watch().map_err(|error| Failure::System(format!("signals: {error}")))?;
        #[cfg(feature = "remote")]
        if as_url(&to.path).is_some() {
            target.upload = Some(Upload::create(&to.path, to.force)?);
            return Ok(target);
        }
        target.open(&to.path, to.force)?;
        Ok(target)
    }

    /// Starts writing a part. [Committing](Self::commit) it leaves the complete part under the
    /// temporary name `staged`.
    ///
    /// # Errors
    /// Fails with [`Failure::System`] if the file cannot be created.
    pub(crate) fn staged(to: &Destination, staged: &Path) -> Result<Self> {
        let mut target = Self {
            name: name_of(&to.path),
            written: BytesWritten::default(),
            file: None,
            staged: Some(staged.to_owned()),
            #[cfg(feature = "remote")]
            upload: None,
            #[cfg(feature = "remote")]
            uploads: None,
            stdout: io::stdout(),
        };
        watch().map_err(|error| Failure::System(format!("signals: {error}")))?;
        target.open(staged, false)?;
        Ok(target)
    }

    /// Starts writing an object. [Committing](Self::commit) it holds it back until the others are
    /// complete.
    ///
    /// # Errors
    /// See [`Self::create`].
    #[cfg(feature = "remote")]
    pub(crate) fn uploaded(to: &Destination, uploads: Uploads) -> Result<Self> {
        let mut target = Self::create(to)?;
        target.uploads = Some(uploads);
        Ok(target)
    }

    fn open(&mut self, path: &Path, replaces: bool) -> Result<()> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder.filter(|folder| !folder.exists()) {
            return Err(Failure::System(format!(
                "{}: there is no folder {}",
                self.name,
                name_of(folder)
            )));
        }
        let open = || match replaces {
            true => FileTarget::create(path),
            false => FileTarget::create_new(path),
        };
        let is_special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let file = match is_special {
            // Opening a pipe blocks until there is a reader and doesn't create a temporary file, so
            // we let signals interrupt it.
            true => open(),
            false => uninterrupted(|record| {
                let file = open()?;
                let temporary = file.temporary_path().map(Path::to_owned);
                record.unfinished = temporary.map(Unfinished::File);
                Ok(file)
            }),
        };
        let file = file.map_err(|error| Failure::System(error.message().into()))?;
        self.file = Some(file);
        Ok(())
    }

    /// Renames the complete file to its final name.
    ///
    /// # Errors
    /// Fails with [`Failure::System`] if the file cannot be completed, and with [`Failure::Usage`]
    /// if another file has taken the name.
    pub(crate) fn commit(mut self) -> Result<()> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.name),
            _ => Failure::output(&self.name, &error),
        };
        #[cfg(feature = "remote")]
        if let Some(upload) = self.upload.take() {
            return match &self.uploads {
                Some(uploads) => uploads.add(upload),
                None => upload.complete(),
            };
        }
        let Some(file) = self.file.take() else {
            return self.stdout.flush().map_err(failed);
        };
        // Syncing can take a while, so we let signals interrupt it. They still remove the temporary
        // file.
        let synced = file.sync().map_err(failed);
        uninterrupted(|record| {
            let done = synced.and_then(|()| file.commit().map_err(failed));
            record.unfinished = None;
            if done.is_ok() {
                record.leftovers.files.extend(self.staged.take());
            }
            done
        })
    }
}

/// Returns the failure for a file that already exists.
pub(crate) fn exists(name: &str) -> Failure {
    Failure::Usage(format!(
        "{name}: the file already exists; --force replaces it"
    ))
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(feature = "remote")]
        if let Some(upload) = &mut self.upload {
            return upload.write(bytes);
        }
        let count = match &mut self.file {
            Some(file) => file.write(bytes)?,
            None => self.stdout.write(bytes)?,
        };
        self.written.add(count);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        #[cfg(feature = "remote")]
        if self.upload.is_some() {
            return Ok(());
        }
        match &mut self.file {
            Some(file) => file.flush(),
            None => self.stdout.flush(),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        uninterrupted(|record| {
            drop(self.file.take());
            record.unfinished = None;
        });
    }
}
