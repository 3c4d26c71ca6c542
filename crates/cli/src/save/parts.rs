//! Writes several files that appear together, so that a failure doesn't leave some of them behind.
//!
//! Each part is completed under a temporary name in its folder and then closed, so that many parts
//! don't need many descriptors. Once all parts are complete, they are renamed to their final names.
//! In a store, a part is uploaded up to the final request that makes it appear. If the command
//! fails or is interrupted before that, neither parts nor new folders remain.

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::fs::{self, File};
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;

use crate::args::Destination;
use crate::base::failure::{Failure, Result};
#[cfg(feature = "remote")]
use crate::base::url::as_url;
use crate::base::url::name_of;
#[cfg(feature = "remote")]
use crate::remote::Uploads;
use crate::save::interrupt::uninterrupted;
use crate::save::target::{Target, exists};

/// The output parts of a command.
pub(crate) struct Parts {
    /// The command's input files. A part must not replace any of them.
    inputs: HashSet<PathBuf>,
    /// The temporary names of complete parts, and their destinations.
    complete: Vec<(PathBuf, Destination)>,
    #[cfg(feature = "remote")]
    uploads: Uploads,
    /// A random number to keep temporary names unique across processes.
    id: u64,
}

/// Temporary files, new folders and uploads to clean up if parts aren't published.
pub(crate) struct Leftovers {
    pub(crate) files: Vec<PathBuf>,
    /// New folders, parents first.
    folders: Vec<PathBuf>,
    /// Calls to abort uploads.
    #[cfg(feature = "remote")]
    pub(crate) uploads: Vec<Box<dyn FnOnce() + Send>>,
}

impl Leftovers {
    pub(crate) const fn new() -> Self {
        Self {
            files: Vec::new(),
            folders: Vec::new(),
            #[cfg(feature = "remote")]
            uploads: Vec::new(),
        }
    }

    /// Removes the files, and then the folders if they are empty. We ignore errors, since the
    /// command is ending anyway.
    pub(crate) fn remove(&mut self) {
        for file in self.files.drain(..) {
            fs::remove_file(file).ok();
        }
        for folder in self.folders.drain(..).rev() {
            fs::remove_dir(folder).ok();
        }
        #[cfg(feature = "remote")]
        self.uploads.drain(..).for_each(|abort| abort());
    }
}

impl Parts {
    /// Creates the parts for a command that reads these local files.
    pub(crate) fn new<'p>(inputs: impl Iterator<Item = &'p Path>) -> Self {
        Self {
            inputs: inputs
                .filter_map(|path| fs::canonicalize(path).ok())
                .collect(),
            complete: Vec::new(),
            #[cfg(feature = "remote")]
            uploads: Uploads::default(),
            id: RandomState::new().build_hasher().finish(),
        }
    }

    /// Starts a part. Once all parts are [committed](Target::commit), [`Self::publish`] gives them
    /// their names. Objects on web servers, devices and pipes are written directly, since they
    /// can't have a temporary name.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the file already exists or is an input, and with
    /// [`Failure::System`] if it cannot be created.
    pub(crate) fn start(&mut self, to: &Destination) -> Result<Target> {
        #[cfg(feature = "remote")]
        if as_url(&to.path).is_some() {
            return Target::uploaded(to, self.uploads.clone());
        }
        if !Target::is_local(&to.path) {
            return Target::create(to);
        }
        let failed = |path: &Path, error| Failure::System(format!("{}: {error}", name_of(path)));
        if let Some(folder) = to.path.parent() {
            create_folders(folder).map_err(|error| failed(folder, error))?;
        }
        match fs::symlink_metadata(&to.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            // For example, the name might be too long.
            Err(error) => return Err(failed(&to.path, error)),
            Ok(_) => Target::check(to)?,
        }
        match fs::metadata(&to.path) {
            Ok(metadata) if metadata.is_dir() => {
                let error = io::Error::from(ErrorKind::IsADirectory);
                return Err(failed(&to.path, error));
            }
            Ok(metadata) if !metadata.is_file() => return Target::create(to),
            _ => {}
        }
        let path = fs::canonicalize(&to.path);
        if path.is_ok_and(|path| self.inputs.contains(&path)) {
            return Err(Failure::Usage(format!(
                "{}: this part would replace an input of the command; write the parts to other files",
                name_of(&to.path)
            )));
        }
        let (pid, ordinal) = (process::id(), self.complete.len());
        let name = format!(".herringbone.{pid}.{:016x}.{ordinal}.part", self.id);
        let staged = to.path.with_file_name(name);
        let target = Target::staged(to, &staged)?;
        self.complete.push((staged, to.clone()));
        Ok(target)
    }

    /// Renames all parts to their final names. Each part must have been committed.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if another file has taken a name, and with [`Failure::System`]
    /// if the system refuses. In that case, we remove the parts already renamed, unless they have
    /// replaced a file.
    pub(crate) fn publish(self) -> Result<()> {
        #[cfg(feature = "remote")]
        self.uploads.complete()?;
        uninterrupted(|record| {
            let mut new: Vec<&Path> = Vec::new();
            for (staged, to) in &self.complete {
                match named(staged, to) {
                    Ok(true) => new.push(&to.path),
                    Ok(false) => {}
                    Err(error) => {
                        for path in new {
                            fs::remove_file(path).ok();
                        }
                        let name = name_of(&to.path);
                        return Err(match error.kind() {
                            ErrorKind::AlreadyExists => exists(&name),
                            _ => Failure::output(&name, &error),
                        });
                    }
                }
            }
            record.leftovers = Leftovers::new();
            Ok(())
        })
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        uninterrupted(|record| record.leftovers.remove());
    }
}

/// Renames a part to its final name. Returns true if the name is new.
fn named(staged: &Path, to: &Destination) -> io::Result<bool> {
    let existing = fs::metadata(&to.path).ok().filter(|_| to.force);
    if let Some(existing) = existing {
        fs::set_permissions(staged, existing.permissions())?;
        // We keep a symbolic link and replace its target instead.
        fs::rename(staged, fs::canonicalize(&to.path)?)?;
        return Ok(false);
    }
    match fs::hard_link(staged, &to.path) {
        Ok(()) => fs::remove_file(staged)?,
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // On file systems without hard links, we reserve the name with an empty file.
        Err(_) => {
            drop(File::create_new(&to.path)?);
            fs::rename(staged, &to.path).inspect_err(|_| drop(fs::remove_file(&to.path)))?;
        }
    }
    Ok(true)
}

/// Creates a folder and its parents, recording any new folders.
fn create_folders(folder: &Path) -> io::Result<()> {
    let missing = folder.ancestors();
    let missing =
        missing.take_while(|missing| !missing.as_os_str().is_empty() && !missing.exists());
    let mut missing: Vec<&Path> = missing.collect();
    missing.reverse();
    uninterrupted(|record| {
        for folder in missing {
            match fs::create_dir(folder) {
                Ok(()) => record.leftovers.folders.push(folder.to_owned()),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    })
}
