//! Datasets at URLs: stores' objects and web servers' files as a listing, and new files below a
//! prefix.

use std::collections::{HashMap, VecDeque};
use std::future::ready;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use herringbone::source::Source;
use herringbone::{Error, Result};
use herringbone_remote::blocking::{
    BackgroundObject, RemoteOutput, RemoteSource, background, wait,
};
use herringbone_remote::urls::Location;
use herringbone_remote::{Answer, BoxFuture, Identity, Object, escaped_key, request};

use crate::object_store_014::StoreListing;
use crate::{Entry, Listing, NewFile, NewFiles};

/// The maximum number of files whose last requests are in flight.
const MAX_COMPLETING: usize = 32;

/// The number of bytes that we request at a file's end to find its length.
const PROBE_BYTES: u64 = 8;

/// A listing of URLs, which may be of several stores and web servers. A file's path in it is its URL
/// with a decoded key. All requests run on the thread of [`blocking`](herringbone_remote::blocking),
/// so that any executor can poll the futures.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use herringbone_dataset::urls::UrlListing;
/// use herringbone_dataset::{Dataset, DatasetOptions};
/// use herringbone_remote::blocking::wait;
/// use herringbone_remote::urls::Location;
///
/// let (listing, paths) = UrlListing::new([&Location::of("s3://lake/rides/")?]);
/// let dataset = Dataset::open_async(Arc::new(listing), &paths, DatasetOptions::new());
/// let dataset = wait(dataset)?;
/// # Ok::<(), herringbone::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct UrlListing {
    /// The stores, by the beginning of their names, such as `s3://bucket/`.
    stores: HashMap<String, Location>,
    /// The files on web servers, by name.
    objects: HashMap<String, Location>,
}

impl UrlListing {
    /// Creates a listing of URLs. Also returns their paths in it, which
    /// [`Dataset::open_async`](crate::Dataset::open_async) takes.
    #[must_use]
    pub fn new<'a>(locations: impl IntoIterator<Item = &'a Location>) -> (Self, Vec<String>) {
        let mut listing = Self::default();
        let paths = locations.into_iter().map(|location| listing.add(location));
        let paths = paths.collect();
        (listing, paths)
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
    fn place<'a>(&self, name: &'a str) -> Result<(&Location, &'a str)> {
        if let Some(location) = self.objects.get(name) {
            return Ok((location, ""));
        }
        let (root, path) = split(name);
        match self.stores.get(&root) {
            Some(location) => Ok((location, path)),
            None => Err(Error::argument(format!("{name}: no such place"))),
        }
    }

    /// Returns the URL of a listed file.
    #[must_use]
    pub fn url_of(&self, name: &str) -> String {
        match self.place(name) {
            Ok((location, path)) if !location.is_web() => {
                let (root, _) = split(name);
                format!("{root}{}", escaped_key(path))
            }
            _ => name.to_owned(),
        }
    }

    /// Returns the location of a listed file, through which it can be opened alone.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the listing has no such place.
    pub fn location_of(&self, name: &str) -> Result<Location> {
        let (location, path) = self.place(name)?;
        match location.is_web() {
            true => Ok(location.clone()),
            false => location.at(path),
        }
    }

    /// Returns the number of keys that the listings left out because they cannot be read, and the
    /// first of them.
    #[must_use]
    pub fn left_out(&self) -> (u64, Vec<String>) {
        let left_out = self.stores.values().map(Location::left_out);
        left_out.fold((0, Vec::new()), |(count, mut first), keys| {
            first.extend(keys.first());
            (count + keys.count(), first)
        })
    }

    fn opened(&self, name: &str, identity: &Identity) -> Result<Arc<dyn Object>> {
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
    fn list(&self, directory: &str) -> BoxFuture<Result<Vec<Entry>>> {
        match self.place(directory) {
            Ok((location, path)) => {
                let listed = StoreListing::new(location.store().clone()).list(path);
                let location = location.clone();
                background(async move { listed.await.map_err(|error| location.explained(error)) })
            }
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn file(&self, path: &str) -> BoxFuture<Result<Option<Identity>>> {
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

    fn source(&self, path: &str, identity: &Identity) -> Result<Option<Arc<dyn Source>>> {
        let source = RemoteSource::open(self.opened(path, identity)?)?;
        Ok(Some(Arc::new(source)))
    }
}

/// New files as objects below a prefix of a store. The last requests of several files are in flight
/// at the same time.
#[derive(Debug)]
pub struct UrlDirectory {
    location: Location,
    completing: Completing,
}

impl UrlDirectory {
    /// Takes the location of the prefix. Sends no request.
    #[must_use]
    pub fn new(location: Location) -> Self {
        Self {
            location,
            completing: Arc::default(),
        }
    }
}

/// The last requests of files, in the order in which they were started.
type Completing = Arc<Mutex<Requests>>;

#[derive(Default)]
struct Requests(VecDeque<BoxFuture<Result<()>>>);

impl std::fmt::Debug for Requests {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Requests").field(&self.0.len()).finish()
    }
}

impl NewFiles for UrlDirectory {
    fn create(&self, path: &str) -> Result<Box<dyn NewFile>> {
        let location = self.location.at(&self.location.below(path))?;
        Ok(Box::new(UrlFile {
            output: RemoteOutput::new(location.sink(true)?, &location.write_options())?,
            completing: self.completing.clone(),
        }))
    }

    fn finish(&self) -> Result<()> {
        wait_until_at_most(&self.completing, 0)
    }
}

/// Waits until at most `most` requests are in flight.
fn wait_until_at_most(completing: &Completing, most: usize) -> Result<()> {
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
    fn complete(self: Box<Self>) -> Result<()> {
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
    fn fail(&self) -> BoxFuture<Result<Answer>> {
        let error = Error::argument(format!("{}: no such place", self.0));
        Box::pin(ready(Err(error)))
    }
}

impl Object for Nowhere {
    fn name(&self) -> &str {
        &self.0
    }

    fn tail(&self, _: u64) -> BoxFuture<Result<Answer>> {
        self.fail()
    }

    fn range(&self, _: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        self.fail()
    }
}
