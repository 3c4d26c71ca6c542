//! The file that a command writes, or standard output in its place.

use std::fs;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::Path;

use herringbone::FileTarget;

use crate::args::Destination;
use crate::failure::{Failure, Result};
use crate::interrupt::{uninterrupted, watch};

/// What stands for standard output.
const STDOUT: &str = "-";

/// Where the data of a command goes. Unless it is [committed](Self::commit), nothing is left of it.
pub(crate) struct Target {
    /// How it is called in errors.
    pub(crate) name: String,
    file: Option<FileTarget>,
    stdout: Stdout,
}

impl Target {
    /// Whether data goes to standard output.
    pub(crate) fn is_stdout(path: &Path) -> bool {
        path.as_os_str() == STDOUT
    }

    /// Whether something may be written there; to be asked before any work is done.
    ///
    /// # Errors
    /// Usage where there is a file already, or standard output is a terminal.
    pub(crate) fn check(to: &Destination) -> Result<()> {
        if Self::is_stdout(&to.path) {
            if io::stdout().is_terminal() {
                return Err(Failure::Usage(
                    "this is not for terminals; send it to a file or a program".into(),
                ));
            }
            return Ok(());
        }
        // A link that leads nowhere is a file as well; devices and pipes are not.
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
    /// As [`Self::check`], and System.
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
            // A pipe waits for its reader, and has no temporary file: signals may come.
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

    /// Gives the file its name: the data is complete.
    ///
    /// # Errors
    /// System, and usage if another file has taken the name.
    pub(crate) fn commit(mut self) -> Result<()> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(&self.name),
            _ => Failure::output(&self.name, &error),
        };
        let Some(file) = self.file.take() else {
            return self.stdout.flush().map_err(failed);
        };
        // This may take long, so signals may come. The file is still the temporary one for them.
        let synced = file.sync().map_err(failed);
        uninterrupted(|temporary| {
            let done = synced.and_then(|()| file.commit().map_err(failed));
            *temporary = None;
            done
        })
    }
}

/// The failure that a file of this name is there.
fn exists(name: &str) -> Failure {
    Failure::Usage(format!("{name}: the file exists; --force replaces it"))
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
