//! Files at URLs, by the blocking sources and uploads of `herringbone-remote`: names of the command, its failures and its
//! interrupts.

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

/// The name of every object in the errors of requests, because the command adds the name of the file.
const SERVER: &str = "the server";

/// The number of keys that a note names.
const NAMED: usize = 3;

/// Finds the store of a URL.
fn location(url: &Path) -> Result<Location> {
    let location = Location::of(url.to_str().unwrap_or_default());
    location
        .map(|location| location.named(SERVER))
        .map_err(|error| usage(&error))
}

/// Returns the failure for an error that names the URL already.
fn usage(error: &Error) -> Failure {
    Failure::Usage(error.message().to_owned())
}

/// Reads the end of the object at a URL.
///
/// # Errors
/// Usage if the URL is wrong; System if a request fails.
pub(crate) fn open(url: &Path) -> Result<Arc<RemoteSource>> {
    let object = location(url)?.object().map_err(|error| usage(&error))?;
    let source = RemoteSource::open(object);
    source
        .map(Arc::new)
        .map_err(|error| Failure::parquet(&name_of(url), &error))
}

/// Reads the end of the object at a URL, to read all of it from its first byte on.
///
/// # Errors
/// See [`open`].
pub(crate) fn reader(url: &Path) -> Result<RemoteReader> {
    open(url).map(RemoteReader::new)
}

/// A prefix or pattern in a store.
pub(crate) struct Bucket(Location);

impl Bucket {
    /// Finds the store of a URL. Requests nothing.
    ///
    /// # Errors
    /// Usage if the URL or the configuration of the store is wrong.
    pub(crate) fn of(url: &Path) -> Result<Self> {
        location(url).map(Self)
    }

    /// Lists the objects, and opens them as a dataset. Emits a note about keys left out.
    ///
    /// # Errors
    /// Errors of the store, and of finding a dataset.
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

    /// Returns a file of a dataset. Requests nothing.
    ///
    /// # Errors
    /// System if the thread for requests cannot be started.
    pub(crate) fn object(&self, file: &DataFile) -> herringbone::Result<Arc<RemoteSource>> {
        let object = self.0.listed_object(file.path(), file.identity().clone());
        RemoteSource::open(object).map(Arc::new)
    }
}

/// Returns the path of a `file` URL.
///
/// # Errors
/// Usage if the URL is malformed, or names another host.
pub(crate) fn local_path(path: &Path) -> Result<PathBuf> {
    let path = herringbone_remote::urls::local_path(path.to_str().unwrap_or_default());
    path.map_err(|error| usage(&error))
}
