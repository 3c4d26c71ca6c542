//! The objects below a prefix of a store.

use std::path::Path;
use std::sync::Arc;

use herringbone::Error;
use herringbone_dataset::object_store_014::StoreListing;
use herringbone_dataset::{DataFile, Dataset, DatasetOptions};
use tokio::runtime::Handle;

use super::problem::plain;
use super::store::Place;
use super::{RemoteFile, runtime};
use crate::failure::{Failure, Result};

/// A prefix or pattern in a store.
pub(crate) struct Bucket {
    place: Place,
    runtime: &'static Handle,
    /// True if the URL ends with a slash.
    is_directory: bool,
}

impl Bucket {
    /// Finds the store of a URL. Requests nothing.
    ///
    /// # Errors
    /// Usage if the URL or the configuration of the store is wrong.
    pub(crate) fn of(url: &Path) -> Result<Self> {
        let place = Place::of_prefix(url)?;
        let failed = |error: std::io::Error| Failure::System(format!("{}: {error}", place.name));
        let runtime = runtime().map_err(failed)?;
        let is_directory = url.to_string_lossy().ends_with('/') && !place.path.as_ref().is_empty();
        Ok(Self {
            place,
            runtime,
            is_directory,
        })
    }

    /// Lists the objects, and opens them as a dataset.
    ///
    /// # Errors
    /// Errors of the store, and of finding a dataset.
    pub(crate) fn find(&self, options: DatasetOptions) -> herringbone::Result<Dataset> {
        let listing = Arc::new(StoreListing::new(self.place.store.clone()));
        let mut path = self.place.path.to_string();
        if self.is_directory {
            // A path with a slash is not looked for as an object.
            path.push('/');
        }
        let path = [path];
        let dataset = Dataset::open_async(listing, &path, options);
        let dataset = self.runtime.block_on(dataset);
        dataset.map_err(|error: Error| plain(error, self.place.unsigned))
    }

    /// Returns a file of a dataset. Requests nothing.
    pub(crate) fn object(&self, file: &DataFile) -> Arc<RemoteFile> {
        let identity = file.identity().clone();
        RemoteFile::listed(&self.place, file.path(), identity, self.runtime)
    }
}
