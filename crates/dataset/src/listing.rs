//! The interface for listing files, for example in a file system or a store.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use herringbone::source::Source;
use herringbone::{Error, Result};
use herringbone_remote::{BoxFuture, Identity, Object, ObjectSink};

/// A place with files, such as a file system or a bucket. Path components are separated by `/`.
///
/// Implement this trait to read datasets from your own kind of place. Futures are only polled by
/// the task that opens or reads a dataset, and are dropped along with it.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone_dataset::{Dataset, DatasetOptions, Listing, LocalFiles};
/// # futures::executor::block_on(async {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let mut entries = LocalFiles.list("testdata/datasets/codes").await?;
/// entries.sort_by(|a, b| a.name.cmp(&b.name));
/// let names: Vec<_> = entries.iter().map(|entry| entry.name.as_str()).collect();
/// assert_eq!(names, ["year=2023", "year=2024"]);
/// // A dataset lists level by level.
/// let paths = ["testdata/datasets/codes".to_owned()];
/// let dataset = Dataset::open_async(Arc::new(LocalFiles), &paths, DatasetOptions::new()).await?;
/// assert_eq!(dataset.files().len(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Listing: Debug + Send + Sync {
    /// Lists the files and directories directly below a directory, in any order. The path is empty
    /// for the top level.
    fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>>;

    /// Returns the identity of the file at a path, or `None` if there is a directory or nothing.
    fn file(&self, path: &str) -> BoxFuture<Result<Option<Identity>>>;

    /// Returns an object for reading the file at a path, with its listed `identity`. This sends no
    /// request.
    fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object>;

    /// Returns a sink for a new file at a path, without sending a request.
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone::ErrorKind::Unsupported) by default, because a listing
    /// can be read-only. Fails with [Argument](herringbone::ErrorKind::Argument) if a file cannot
    /// have this path.
    fn sink(&self, path: &str) -> Result<Arc<dyn ObjectSink>> {
        let message = format!("{path}: this listing is for reads");
        Err(Error::unsupported(message))
    }

    /// Returns a directory's identity, the same for all paths leading to it, or `None` if there can
    /// only be one such path. This is used to stop at multiplying links, because a dataset is
    /// limited to 1,000 paths per directory.
    fn directory_identity(&self, directory: &str) -> Option<String> {
        let _ = directory;
        None
    }

    /// Returns the file's bytes for blocking reads without futures. By default this is `None`, so
    /// blocking reads wait for the object's futures.
    ///
    /// # Errors
    /// Returns the errors of opening the file.
    fn source(&self, path: &str, identity: &Identity) -> Result<Option<Arc<dyn Source>>> {
        let (_, _) = (path, identity);
        Ok(None)
    }

    /// Returns the file's path in the local file system, if it has one. Blocking reads then need no
    /// futures.
    fn local_path(&self, path: &str) -> Option<PathBuf> {
        let _ = path;
        None
    }
}

/// A file or directory in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, that is, the path's last component.
    pub name: String,
    /// The file's identity, or `None` for a directory.
    pub file: Option<Identity>,
}

impl Entry {
    /// Creates a directory's entry.
    #[must_use]
    pub fn directory(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            file: None,
        }
    }

    /// Creates a file's entry.
    #[must_use]
    pub fn file(name: impl Into<String>, identity: Identity) -> Self {
        Self {
            name: name.into(),
            file: Some(identity),
        }
    }
}
