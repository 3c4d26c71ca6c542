//! The file that a command writes, or standard output in its place.

use std::fs;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::Path;

use herringbone::FileTarget;

use crate::args::Destination;
use crate::failure::{Failure, Result};
use crate::interrupt::{uninterrupted, watch};

/// The path that stands for standard output.
const STDOUT: &str = "-";

/// The destination of a command's data. Unless it is [committed](Self::commit), no file remains.
pub(crate) struct Target {
    /// The name of the target in errors.
    pub(crate) name: String,
    file: Option<FileTarget>,
    stdout: Stdout,
}

impl Target {
    /// Returns true if data is written to standard output.
    pub(crate) fn is_stdout(path: &Path) -> bool {
        path.as_os_str() == STDOUT
    }

    /// Checks that the target may be written. Call it before any other work.
    ///
    /// # Errors
    /// Usage if the file already exists, or if standard output is a terminal.
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
        // A dangling link counts as a file; devices and pipes do not.
        let is_file = match fs::metadata(&to.path) {
            Ok(metadata) => metadata.is_file(),
            Err(_) => fs::symlink_metadata(&to.path).is_ok(),
        };
        match is_file && !to.force {
            true => Err(exists(&to.path.display().to_string())),
            false => Ok(()),
        }
    }

    /// Starts the file.
    ///
    /// # Errors
    /// See [`Self::check`]; also System.
    pub(crate) fn create(to: &Destination) -> Result<Self> {
        Self::check(to)?;
        let mut target = Self {
            name: to.path.display().to_string(),
            file: None,
            stdout: io::stdout(),
        };
        if Self::is_stdout(&to.path) {
            target.name = crate::output::STDOUT.into();
            return Ok(target);
        }
        watch().map_err(|error| Failure::System(format!("signals: {error}")))?;
        let open = || match to.force {
            true => FileTarget::create(&to.path),
            false => FileTarget::create_new(&to.path),
        };
        let is_special = fs::metadata(&to.path).is_ok_and(|metadata| !metadata.is_file());
        let file = match is_special {
            // Opening a pipe waits for its reader, and needs no temporary file: signals are allowed.
            true => open(),
            false => uninterrupted(|temporary| {
                let file = open()?;
                *temporary = file.temporary_path().map(Path::to_owned);
                Ok(file)
            }),
        };
        let file = file.map_err(|error| Failure::System(error.message().into()))?;
        target.file = Some(file);
        Ok(target)
    }

    /// Renames the complete file to its final name.
    ///
    /// # Errors
    /// System; Usage if another file has taken the name.
    pub(crate) fn commit(mut self) -> Result<()> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.name),
            _ => Failure::output(&self.name, &error),
        };
        let Some(file) = self.file.take() else {
            return self.stdout.flush().map_err(failed);
        };
        // Syncing may take long, so signals are allowed. They still remove the temporary file.
        let synced = file.sync().map_err(failed);
        uninterrupted(|temporary| {
            let done = synced.and_then(|()| file.commit().map_err(failed));
            *temporary = None;
            done
        })
    }
}

/// Returns the failure for a file that already exists.
fn exists(name: &str) -> Failure {
    Failure::Usage(format!(
        "{name}: the file already exists; --force replaces it"
    ))
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => self.stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.file {
            Some(file) => file.flush(),
            None => self.stdout.flush(),
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        uninterrupted(|temporary| {
            drop(self.file.take());
            *temporary = None;
        });
    }
}
