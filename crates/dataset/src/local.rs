//! Files on this machine.

use std::fs::{self, Metadata};
use std::future::ready;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::{FileSource, Source};
use herringbone::{Error, Result};
use herringbone_remote::{Answer, BoxFuture, Identity, Object};

use crate::listing::{Entry, Listing};

/// The files on this machine. Note that their requests block the polling thread.
///
/// Symbolic links are followed. A link to a directory above itself is rejected, because it would
/// never end, and so are links that create very many paths to one directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalFiles;

impl Listing for LocalFiles {
    fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>> {
        Box::pin(ready(list(directory)))
    }

    fn file(&self, path: &str) -> BoxFuture<Result<Option<Identity>>> {
        let found = fs::metadata(path).map_err(|error| at_path(path, error));
        let found = found.map(|found| (!found.is_dir()).then(|| identity(&found)));
        Box::pin(ready(found))
    }

    fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object> {
        Arc::new(LocalObject {
            path: path.to_owned(),
            identity: identity.clone(),
        })
    }

    fn directory_identity(&self, directory: &str) -> Option<String> {
        directory_identity(here_if_empty(directory))
    }

    fn local_path(&self, path: &str) -> Option<PathBuf> {
        Some(PathBuf::from(path))
    }
}

/// Returns a directory's device and inode numbers. No other directory has the same.
#[cfg(unix)]
fn directory_identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = fs::metadata(path).ok()?;
    Some(format!("{} {}", metadata.dev(), metadata.ino()))
}

/// Returns a directory's path with all links resolved.
#[cfg(not(unix))]
fn directory_identity(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    Some(path.to_string_lossy().into_owned())
}

/// Returns a directory's path as the system expects it, that is, `.` instead of an empty path.
fn here_if_empty(directory: &str) -> &Path {
    match directory {
        "" => Path::new("."),
        directory => Path::new(directory),
    }
}

/// Returns a file's identity, consisting of its length and modification time.
pub(crate) fn identity(metadata: &Metadata) -> Identity {
    Identity::new(metadata.len()).modified(metadata.modified().ok())
}

fn list(directory: &str) -> Result<Vec<Entry>> {
    let path = here_if_empty(directory);
    let in_directory = |error| at_path(directory, error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(path).map_err(in_directory)? {
        let entry = entry.map_err(in_directory)?;
        let Ok(name) = entry.file_name().into_string() else {
            let name = entry.file_name();
            return Err(Error::unsupported(format!(
                "{directory}: the name {name:?} is not UTF-8"
            )));
        };
        let is_link = entry
            .file_type()
            .is_ok_and(|file_type| file_type.is_symlink());
        let metadata = match is_link {
            true => fs::metadata(entry.path()),
            false => entry.metadata(),
        };
        let metadata = match metadata {
            Ok(metadata) => metadata,
            // We skip this file, because it has been removed meanwhile or is a dangling link.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(at_path(&entry.path().display().to_string(), error)),
        };
        if metadata.is_dir() {
            if is_link {
                check_link(&entry.path())?;
            }
            entries.push(Entry::directory(name));
        } else if metadata.is_file() {
            entries.push(Entry::file(name, identity(&metadata)));
        }
    }
    Ok(entries)
}

/// Rejects a link to a directory containing it, no matter which directory on the link's path leads
/// there.
fn check_link(link: &Path) -> Result<()> {
    let shown = link.display().to_string();
    let target = fs::canonicalize(link).map_err(|error| at_path(&shown, error))?;
    for above in link.ancestors().skip(1) {
        let above = match above.as_os_str().is_empty() {
            true => Path::new("."),
            false => above,
        };
        let real = fs::canonicalize(above).map_err(|error| at_path(&shown, error))?;
        if real.starts_with(&target) {
            return Err(Error::argument(format!(
                "{shown} is a symbolic link to {}, which contains it",
                target.display()
            )));
        }
    }
    Ok(())
}

fn at_path(path: &str, error: io::Error) -> Error {
    io::Error::new(error.kind(), format!("{path}: {error}")).into()
}

/// A file on this machine for async reads. It is only open for the duration of a request.
#[derive(Debug)]
struct LocalObject {
    path: String,
    identity: Identity,
}

impl LocalObject {
    fn answer(&self, range: impl FnOnce(u64) -> Range<u64>) -> Result<Answer> {
        let source = FileSource::open(&self.path)?;
        let metadata = fs::metadata(&self.path).map_err(|error| at_path(&self.path, error))?;
        let range = range(source.len());
        // If the file was truncated, we return fewer bytes, and the caller notices from the
        // identity.
        let end = range.end.min(source.len());
        let range = range.start.min(end)..end;
        let bytes: Bytes = source.read(range.clone())?;
        Ok(Answer {
            bytes,
            range,
            identity: identity(&metadata),
        })
    }
}

impl Object for LocalObject {
    fn name(&self) -> &str {
        &self.path
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let answer = self.answer(|length| length.saturating_sub(bytes)..length);
        Box::pin(ready(answer))
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        Box::pin(ready(self.answer(|_| range)))
    }

    fn identity(&self) -> Option<Identity> {
        Some(self.identity.clone())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::local()
    }
}
