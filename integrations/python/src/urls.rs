//! URLs that the library reads and writes itself: objects, prefixes and patterns of stores, and
//! files on web servers.

use std::collections::{HashMap, VecDeque};
use std::future::ready;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use herringbone::source::{FetchPolicy, Source};
use herringbone::{Error, Result as CoreResult};
use herringbone_dataset::object_store_014::StoreListing;
use herringbone_dataset::{Entry, Listing, NewFile, NewFiles};
use herringbone_remote::blocking::{
    BackgroundObject, RemoteOutput, RemoteSource, background, wait,
};
use herringbone_remote::urls::{Location, SCHEMES, StoreOptions, check_allowed};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, escaped_key, request};
use pyo3::prelude::*;

use crate::error::{Result, detached};
use crate::interrupt;

/// The largest number of a dataset's files whose last requests are in flight.
const MAX_COMPLETING: usize = 32;

/// The number of bytes that we request at a file's end to find its length.
const PROBE_BYTES: u64 = 8;

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
        Ok(Self {
            location: location.fetch_policy(FetchPolicy::remote_scan()),
            source: Mutex::default(),
        })
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
        let root = below(&self.location, directory);
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
        let object = self.location.at(&below(&self.location, path))?;
        detached(py, || Ok(wait(background(object.delete()))?))
    }

    fn __repr__(&self) -> String {
        format!("<herringbone.Url {}>", self.location.name())
    }
}

/// Returns a path below a prefix as a path in the store.
fn below(location: &Location, path: &str) -> String {
    match location.path().as_ref() {
        "" => path.to_owned(),
        prefix => format!("{prefix}/{path}"),
    }
}

impl Url {
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
        create(&self.location)
    }

    /// Returns the place for the files of a new dataset.
    pub(crate) fn new_files(&self) -> Arc<dyn NewFiles> {
        Arc::new(UrlFiles {
            location: self.location.clone(),
            completing: Arc::default(),
        })
    }
}

fn create(location: &Location) -> CoreResult<RemoteOutput> {
    RemoteOutput::new(location.sink(true)?, &location.write_options())
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

/// The files at URLs, whose names are the URLs with decoded keys. Requests run on a thread of their
/// own.
#[derive(Debug, Default)]
pub(crate) struct UrlListing {
    /// The stores, by the beginning of their names, such as `s3://bucket/`.
    stores: HashMap<String, Location>,
    /// The files on web servers, by name.
    objects: HashMap<String, Location>,
}

impl UrlListing {
    /// Creates a listing of URLs and returns their names.
    pub(crate) fn new(urls: &[Py<Url>]) -> (Self, Vec<String>) {
        let mut listing = Self::default();
        let names = urls.iter().map(|url| listing.add(&url.get().location));
        let names = names.collect();
        (listing, names)
    }

    fn add(&mut self, location: &Location) -> String {
        if !location.is_web() {
            let (root, _) = split(location.name());
            let name = format!("{root}{}", location.listed());
            self.stores.entry(root).or_insert_with(|| location.clone());
            return name;
        }
        // Two URLs may only differ in their queries. We number such names, because a name cannot
        // contain the query, whose `?` would make it a pattern.
        let name = location.name().split('?').next();
        let mut name = name.unwrap_or_default().to_owned();
        if self.objects.contains_key(&name) {
            name = format!("{name}#{}", self.objects.len());
        }
        self.objects.insert(name.clone(), location.clone());
        name
    }

    /// Returns a name's store and the path within it, which is empty for a web server.
    fn place<'a>(&self, name: &'a str) -> CoreResult<(&Location, &'a str)> {
        if let Some(location) = self.objects.get(name) {
            return Ok((location, ""));
        }
        let (root, path) = split(name);
        match self.stores.get(&root) {
            Some(location) => Ok((location, path)),
            None => Err(Error::argument(format!("{name}: no such place"))),
        }
    }

    /// Returns a listed file's URL.
    pub(crate) fn url_of(&self, name: &str) -> String {
        match self.place(name) {
            Ok((location, path)) if !location.is_web() => {
                let (root, _) = split(name);
                format!("{root}{}", escaped_key(path))
            }
            _ => name.to_owned(),
        }
    }

    /// Returns a listed file's URL, with which it can be opened alone.
    pub(crate) fn open_url(&self, name: &str) -> CoreResult<Url> {
        let (location, path) = self.place(name)?;
        let location = match location.is_web() {
            true => location.clone(),
            false => location.at(path)?,
        };
        Ok(Url {
            location,
            source: Mutex::default(),
        })
    }

    /// Returns the number of keys that the listings left out, and the first of them.
    pub(crate) fn left_out(&self) -> (u64, Vec<String>) {
        let left_out = self.stores.values().map(Location::left_out);
        left_out.fold((0, Vec::new()), |(count, mut first), keys| {
            first.extend(keys.first());
            (count + keys.count(), first)
        })
    }

    fn opened(&self, name: &str, identity: &Identity) -> CoreResult<Arc<dyn Object>> {
        let (location, path) = self.place(name)?;
        Ok(location.listed_object(path, identity.clone()))
    }
}

/// Splits a URL after its authority, so that the first part ends with `/`.
fn split(name: &str) -> (String, &str) {
    match name.match_indices('/').nth(2) {
        Some((at, _)) => {
            let (root, path) = name.split_at(at + 1);
            (root.to_owned(), path)
        }
        None => (format!("{name}/"), ""),
    }
}

impl Listing for UrlListing {
    fn list(&self, directory: &str) -> BoxFuture<CoreResult<Vec<Entry>>> {
        match self.place(directory) {
            Ok((location, path)) => {
                let listed = StoreListing::new(location.store().clone()).list(path);
                let location = location.clone();
                background(async move { listed.await.map_err(|error| location.explained(error)) })
            }
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn file(&self, path: &str) -> BoxFuture<CoreResult<Option<Identity>>> {
        let place = self.place(path);
        let found = place.and_then(|(location, path)| match location.is_web() {
            true => {
                let object = location.object()?;
                Ok(background(async move {
                    let opened = request::open(object, PROBE_BYTES).await?;
                    Ok(Some(opened.identity))
                }))
            }
            false => {
                let found = StoreListing::new(location.store().clone()).file(path);
                let location = location.clone();
                Ok(background(async move {
                    found.await.map_err(|error| location.explained(error))
                }))
            }
        });
        found.unwrap_or_else(|error| Box::pin(ready(Err(error))))
    }

    fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object> {
        match self.opened(path, identity) {
            Ok(object) => Arc::new(BackgroundObject::new(object)),
            Err(_) => Arc::new(Nowhere(path.to_owned())),
        }
    }

    fn source(&self, path: &str, identity: &Identity) -> CoreResult<Option<Arc<dyn Source>>> {
        let source = RemoteSource::open(self.opened(path, identity)?)?;
        Ok(Some(Arc::new(source)))
    }
}

/// New objects below a prefix, where the last requests of several files are in flight at the same
/// time.
#[derive(Debug)]
struct UrlFiles {
    location: Location,
    completing: Completing,
}

/// The last requests of files, in the order in which they were started.
type Completing = Arc<Mutex<Requests>>;

#[derive(Default)]
struct Requests(VecDeque<BoxFuture<CoreResult<()>>>);

impl std::fmt::Debug for Requests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Requests").field(&self.0.len()).finish()
    }
}

impl NewFiles for UrlFiles {
    fn create(&self, path: &str) -> CoreResult<Box<dyn NewFile>> {
        Ok(Box::new(UrlFile {
            output: create(&self.location.at(&below(&self.location, path))?)?,
            completing: self.completing.clone(),
        }))
    }

    fn finish(&self) -> CoreResult<()> {
        wait_until_at_most(&self.completing, 0)
    }
}

/// Waits until at most `most` requests are in flight.
fn wait_until_at_most(completing: &Completing, most: usize) -> CoreResult<()> {
    let mut requests = completing.lock().unwrap_or_else(PoisonError::into_inner);
    while requests.0.len() > most
        && let Some(first) = requests.0.pop_front()
    {
        wait(first)?;
    }
    Ok(())
}

/// A dataset's new object.
struct UrlFile {
    output: RemoteOutput,
    completing: Completing,
}

impl Write for UrlFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

impl NewFile for UrlFile {
    fn complete(self: Box<Self>) -> CoreResult<()> {
        let request = self.output.start_complete()?;
        let mut requests = self
            .completing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        requests.0.push_back(request);
        drop(requests);
        wait_until_at_most(&self.completing, MAX_COMPLETING)
    }
}

/// The object for a name that no listing has.
#[derive(Debug)]
struct Nowhere(String);

impl Nowhere {
    fn fail(&self) -> BoxFuture<CoreResult<Answer>> {
        let error = Error::argument(format!("{}: no such place", self.0));
        Box::pin(ready(Err(error)))
    }
}

impl Object for Nowhere {
    fn name(&self) -> &str {
        &self.0
    }

    fn tail(&self, _: u64) -> BoxFuture<CoreResult<Answer>> {
        self.fail()
    }

    fn range(&self, _: Range<u64>, _: &Identity) -> BoxFuture<CoreResult<Answer>> {
        self.fail()
    }
}
