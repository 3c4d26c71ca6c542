//! Opens and writes files at URLs. `herringbone-remote` has the blocking sources and uploads. This
//! room adds the command's file names, failures and interrupts.

mod upload;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone::Error;
use herringbone_dataset::object_store_014::StoreListing;
use herringbone_dataset::{DataFile, Dataset, DatasetOptions};
use herringbone_remote::blocking::{RemoteReader, RemoteSource, wait};
use herringbone_remote::urls::Location;

use crate::base::failure::{Failure, Result};
use crate::base::url::name_of;
use crate::input::context::Context;

pub(crate) use upload::{Upload, Uploads};

/// The placeholder for objects in request errors. The command adds the file's own name.
const SERVER: &str = "the server";

/// The maximum number of keys to name in a note.
const NAMED: usize = 3;

/// Finds the store that a URL belongs to.
fn location(url: &Path) -> Result<Location> {
    let location = Location::of(url.to_str().unwrap_or_default());
    location
        .map(|location| location.named(SERVER))
        .map_err(|error| usage(&error))
}

/// Returns the failure for an error that already names the URL.
fn usage(error: &Error) -> Failure {
    Failure::Usage(error.message().to_owned())
}

/// Opens the object at a URL, reading its end.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the URL is wrong, and with [`Failure::System`] if a request
/// fails.
pub(crate) fn open(url: &Path) -> Result<Arc<RemoteSource>> {
    let object = location(url)?.object().map_err(|error| usage(&error))?;
    let source = RemoteSource::open(object);
    source
        .map(Arc::new)
        .map_err(|error| Failure::parquet(&name_of(url), &error))
}

/// Opens the object at a URL for sequential reading.
///
/// # Errors
/// See [`open`].
pub(crate) fn reader(url: &Path) -> Result<RemoteReader> {
    open(url).map(RemoteReader::new)
}

/// A prefix or pattern in a store.
pub(crate) struct Bucket(Location);

impl Bucket {
    /// Finds the store that a URL belongs to, without any requests.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if the URL or the store's configuration is wrong.
    pub(crate) fn of(url: &Path) -> Result<Self> {
        location(url).map(Self)
    }

    /// Lists the objects and opens them as a dataset, noting any skipped keys.
    ///
    /// # Errors
    /// Fails if the store does, or if the objects are not a dataset.
    pub(crate) fn find(
        &self,
        options: DatasetOptions,
        context: &Context,
    ) -> herringbone::Result<Dataset> {
        let listing = Arc::new(StoreListing::new(self.0.store().clone()));
        let path = [self.0.listed()];
        let found = wait(async move { Dataset::open_async(listing, &path, options).await });
        let left_out = self.0.left_out();
        if left_out.count() > 0 {
            let first = left_out.first();
            let keys = first
                .iter()
                .take(NAMED)
                .map(|key| format!("`{}`", key.escape_debug()));
            context.loud_note(&format!(
                "{}: {} left out of the listing, because keys with empty parts, `.`, `..` or control characters cannot \
                 be read: {}",
                self.0.name(),
                match left_out.count() {
                    1 => "a key was".to_owned(),
                    count => format!("{count} keys were"),
                },
                keys.collect::<Vec<_>>().join(", ")
            ));
        }
        found.map_err(|error| self.0.explained(error))
    }

    /// Returns a file of the dataset, without any requests.
    ///
    /// # Errors
    /// Fails with [`Failure::System`] if the thread for requests cannot be started.
    pub(crate) fn object(&self, file: &DataFile) -> herringbone::Result<Arc<RemoteSource>> {
        let object = self.0.listed_object(file.path(), file.identity().clone());
        RemoteSource::open(object).map(Arc::new)
    }
}

/// Returns the path that a `file` URL names.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the URL is malformed or names another host.
pub(crate) fn local_path(path: &Path) -> Result<PathBuf> {
    let path = herringbone_remote::urls::local_path(path.to_str().unwrap_or_default());
    path.map_err(|error| usage(&error))
}
