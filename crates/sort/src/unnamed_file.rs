//! Nameless temporary files.

#[cfg(not(unix))]
use std::fs;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
#[cfg(not(unix))]
use std::path::PathBuf;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// A nameless temporary file. It is unlinked right after its creation, so that it vanishes with the
/// process. If the system does not allow that, it is removed on drop instead.
///
/// A forked process can safely drop its copy. On systems that fork, there is nothing left to
/// remove.
#[derive(Debug)]
pub struct UnnamedFile(File, #[cfg(not(unix))] PathBuf);

impl UnnamedFile {
    /// Creates an empty file in a folder. `purpose` becomes part of its name, for people who see it
    /// on systems that cannot unlink an open file. You can read the file anywhere, but writes
    /// always go to its end.
    ///
    /// # Errors
    /// Returns any error from creating or unlinking the file, for example if the folder is missing.
    pub fn create(folder: &Path, purpose: &str) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let ordinal = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".herringbone-{purpose}.{}.{ordinal}.tmp", process::id());
        let path = folder.join(name);
        let mut options = OpenOptions::new();
        // We append, since blocks must follow each other wherever a read has left the position.
        options.read(true).append(true).create_new(true);
        for_the_owner(&mut options);
        let file = options.open(&path)?;
        #[cfg(unix)]
        return std::fs::remove_file(&path).map(|()| Self(file));
        #[cfg(not(unix))]
        Ok(Self(file, path))
    }

    /// Returns the open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.0
    }
}

#[cfg(not(unix))]
impl Drop for UnnamedFile {
    fn drop(&mut self) {
        // We can't report an error here. But if the file stays, its name shows that it's temporary.
        drop(fs::remove_file(&self.1));
    }
}

/// Restricts access to the owner while the file has a name.
#[cfg(unix)]
fn for_the_owner(options: &mut OpenOptions) {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
}

#[cfg(not(unix))]
fn for_the_owner(_options: &mut OpenOptions) {}
