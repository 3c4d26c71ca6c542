//! URLs that the library reads and writes itself: objects, prefixes and patterns of stores, and
//! files on web servers.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone::source::{FetchPolicy, Source as _};
use herringbone::{Error, Result as CoreResult};
use herringbone_dataset::Listing as _;
use herringbone_dataset::object_store_014::StoreListing;
use herringbone_remote::blocking::{
    BackgroundObject, RemoteOutput, RemoteSource, background, wait,
};
use herringbone_remote::urls::{Location, SCHEMES, StoreOptions, check_allowed};
use herringbone_remote::{Identity, Object};
use pyo3::prelude::*;

use crate::error::{Result, detached};
use crate::interrupt;

/// A URL that the library reads and writes itself.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct Url {
    location: Location,
    /// The object, if we read its end to see if it exists. It is kept so that opening it needs no
    /// other request.
    source: Mutex<Option<Arc<RemoteSource>>>,
}

#[pymethods]
impl Url {
    /// Finds a URL's store, with settings that `object_store` knows.
    #[new]
    #[pyo3(signature = (url, settings=Vec::new(), anonymous=false))]
    fn new(
        py: Python<'_>,
        url: &str,
        settings: Vec<(String, String)>,
        anonymous: bool,
    ) -> Result<Self> {
        let mut options = StoreOptions::new()
            .anonymous(anonymous)
            .share_connections(true);
        for (name, value) in settings {
            options = options.setting(name, value);
        }
        let location = detached(py, || Ok(Location::with_options(url, &options)?))?;
        Ok(Self::at(location.fetch_policy(FetchPolicy::remote_scan())))
    }

    /// The URL without secrets.
    #[getter]
    fn name(&self) -> &str {
        self.location.name()
    }

    /// True for a web server.
    #[getter]
    fn is_web(&self) -> bool {
        self.location.is_web()
    }

    /// True if there are credentials, or if requests without a signature are asked for.
    #[getter]
    fn is_signed(&self) -> bool {
        self.location.is_signed()
    }

    /// Returns true for a prefix and for a pattern. If there is no object at a key, the key is a
    /// prefix.
    fn is_many(&self, py: Python<'_>) -> Result<bool> {
        interrupt::start(py)?;
        if self.location.is_prefix() || (self.location.is_pattern() && !self.location.is_web()) {
            return Ok(true);
        }
        detached(py, || match self.open() {
            Ok(source) => {
                *self.opened() = Some(source);
                Ok(false)
            }
            Err(error) if is_missing(&error) && !self.location.is_web() => Ok(true),
            Err(error) => Err(error.into()),
        })
    }

    /// Returns the object's byte count.
    fn size(&self, py: Python<'_>) -> Result<u64> {
        interrupt::start(py)?;
        detached(py, || {
            let source = self.open()?;
            let size = source.len();
            *self.opened() = Some(source);
            Ok(size)
        })
    }

    /// Returns the paths of the objects below one of this prefix's directories, relative to the
    /// directory.
    fn files_below(&self, py: Python<'_>, directory: &str) -> Result<Vec<String>> {
        interrupt::start(py)?;
        let root = self.location.below(directory);
        detached(py, || {
            let listing = StoreListing::new(self.location.store().clone());
            let (mut files, mut directories) = (Vec::new(), vec![String::new()]);
            while let Some(directory) = directories.pop() {
                let place = format!("{}/{directory}", root.trim_end_matches('/'));
                let listed = listing.list(place.trim_matches('/'));
                let location = self.location.clone();
                let listed = async move { listed.await.map_err(|error| location.explained(error)) };
                for entry in wait(background(listed))? {
                    match entry.file {
                        Some(_) => files.push(format!("{directory}{}", entry.name)),
                        None => directories.push(format!("{directory}{}/", entry.name)),
                    }
                }
            }
            Ok(files)
        })
    }

    /// Removes the object at a path below this prefix.
    fn remove(&self, py: Python<'_>, path: &str) -> Result<()> {
        interrupt::start(py)?;
        let object = self.location.at(&self.location.below(path))?;
        detached(py, || Ok(wait(background(object.delete()))?))
    }

    fn __repr__(&self) -> String {
        format!("<herringbone.Url {}>", self.location.name())
    }
}

impl Url {
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Wraps a location, and sends no request.
    pub(crate) fn at(location: Location) -> Self {
        Self {
            location,
            source: Mutex::default(),
        }
    }

    fn opened(&self) -> MutexGuard<'_, Option<Arc<RemoteSource>>> {
        self.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the object for reads.
    pub(crate) fn open(&self) -> CoreResult<Arc<RemoteSource>> {
        let opened = self.opened().take();
        match opened {
            Some(source) => Ok(source),
            None => RemoteSource::open(self.location.object()?).map(Arc::new),
        }
    }

    /// Returns the object, whose futures may be polled on any thread, with its identity.
    pub(crate) fn background_object(&self) -> CoreResult<(Arc<dyn Object>, Identity)> {
        let source = self.open()?;
        let identity = source.identity().clone();
        *self.opened() = Some(source);
        let object = Arc::new(BackgroundObject::new(self.location.object()?));
        Ok((object, identity))
    }

    /// Starts a new object, which replaces an existing one.
    pub(crate) fn create(&self) -> CoreResult<RemoteOutput> {
        RemoteOutput::new(self.location.sink(true)?, &self.location.write_options())
    }
}

fn is_missing(error: &Error) -> bool {
    error.io_error().map(io::Error::kind) == Some(io::ErrorKind::NotFound)
}

/// Returns the URL schemes that the library reads and writes itself.
#[pyfunction]
pub(crate) fn url_schemes() -> Vec<&'static str> {
    SCHEMES.to_vec()
}

/// Returns true if the stores of a scheme have a setting with this name.
#[pyfunction]
pub(crate) fn has_setting(scheme: &str, name: &str) -> bool {
    StoreOptions::has_setting(scheme, name)
}

/// Returns the URL without secrets and fails if the environment forbids URLs.
#[pyfunction]
pub(crate) fn checked_url(url: &str) -> Result<String> {
    check_allowed(url)?;
    Ok(herringbone_remote::without_secrets(url))
}
