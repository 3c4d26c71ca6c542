//! The file that a command writes, or standard output in its place.

use std::fs;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::{Path, PathBuf};

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
    path: PathBuf,
    force: bool,
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
        if is_file && !to.force {
            let name = to.path.display();
            return Err(Failure::Usage(format!(
                "{name}: the file exists; --force replaces it"
            )));
        }
        Ok(())
    }

    /// Starts the file.
    ///
    /// # Errors
    /// As [`Self::check`], and System.
    pub(crate) fn create(to: &Destination) -> Result<Self> {
        Self::check(to)?;
        let mut target = Self {
            name: to.path.display().to_string(),
            path: to.path.clone(),
            force: to.force,
            file: None,
            stdout: io::stdout(),
        };
        if Self::is_stdout(&to.path) {
            target.name = crate::output::STDOUT.into();
            return Ok(target);
        }
        watch().map_err(|error| Failure::System(format!("signals: {error}")))?;
        target.file = uninterrupted(|temporary| {
            let file = FileTarget::create(&to.path)?;
            *temporary = file.temporary_path().map(Path::to_owned);
            Ok(Some(file))
        })
        .map_err(|error: herringbone::Error| Failure::System(error.to_string()))?;
        Ok(target)
    }

    /// The data is complete: the file gets its name.
    ///
    /// # Errors
    /// System, and usage where there is a file by now.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.flush()
            .map_err(|error| Failure::output(&self.name, &error))?;
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        uninterrupted(|temporary| {
            Self::check(&Destination {
                path: self.path.clone(),
                force: self.force,
            })?;
            let done = file
                .commit()
                .map_err(|error| Failure::output(&self.name, &error));
            *temporary = None;
            done
        })
    }
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
