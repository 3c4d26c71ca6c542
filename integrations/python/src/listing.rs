//! The files of a Python filesystem, which an object of `_files.py` lists and opens.

use std::fmt;
use std::future::ready;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::Source;
use herringbone::{Error, ErrorKind};
use herringbone_dataset::{Entry, Listing};
use herringbone_remote::{Answer, BoxFuture, Identity, Object};
use pyo3::prelude::*;

use crate::error::{Failure, Result};
use crate::source;

/// A file's length and the text of its version, or `None` for a directory.
type Found = Option<(u64, Option<String>)>;

/// A Python filesystem, for which the thread that polls a future waits for Python.
#[derive(Debug, Clone)]
pub(crate) struct PythonListing {
    listing: Arc<Py<PyAny>>,
    /// The last exception, which we raise in place of the error that it became.
    raised: Arc<Mutex<Option<PyErr>>>,
}

fn identity((length, version): (u64, Option<String>)) -> Identity {
    Identity::new(length).version(version)
}

impl PythonListing {
    pub(crate) fn new(listing: Py<PyAny>) -> Self {
        Self {
            listing: Arc::new(listing),
            raised: Arc::default(),
        }
    }

    /// Returns the Python exception that became this error, or the error itself if there was none.
    pub(crate) fn cause(&self, failure: Failure) -> Failure {
        let is_io = match &failure {
            Failure::Parquet(error) => error.kind() == ErrorKind::Io,
            Failure::Python(_) => false,
        };
        let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
        match raised.take().filter(|_| is_io) {
            Some(raised) => Failure::Python(raised),
            None => failure,
        }
    }

    /// Notes the exception that a file object raised.
    fn noted<T>(&self, result: herringbone::Result<T>) -> herringbone::Result<T> {
        let inner = result.as_ref().err().and_then(Error::io_error);
        if let Some(error) = inner.and_then(|io| io.get_ref()?.downcast_ref::<PyErr>()) {
            let error = Python::try_attach(|py| error.clone_ref(py));
            *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = error;
        }
        result
    }

    /// Calls a method of the Python listing.
    fn call<T>(
        &self,
        method: &str,
        path: &str,
        convert: impl FnOnce(&Bound<'_, PyAny>) -> Result<T>,
    ) -> herringbone::Result<T> {
        let called = Python::try_attach(|py| {
            let found = self.listing.bind(py).call_method1(method, (path,))?;
            convert(&found)
        });
        match called {
            Some(Ok(value)) => Ok(value),
            Some(Err(Failure::Parquet(error))) => Err(error),
            Some(Err(Failure::Python(error))) => {
                let text = error.to_string();
                let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
                *raised = Some(error);
                Err(io::Error::other(text).into())
            }
            None => Err(io::Error::other("the Python interpreter has ended").into()),
        }
    }

    fn open(&self, path: &str) -> herringbone::Result<Arc<dyn Source>> {
        let source = self.call("open", path, source::open)?;
        Ok(Arc::new(Noted(self.clone(), source)))
    }

    fn entries(&self, directory: &str) -> herringbone::Result<Vec<Entry>> {
        let found: Vec<(String, Found)> =
            self.call("list", directory, |found| Ok(found.extract()?))?;
        let entries = found.into_iter().map(|(name, found)| Entry {
            name,
            file: found.map(identity),
        });
        Ok(entries.collect())
    }

    fn find(&self, path: &str) -> herringbone::Result<Option<Identity>> {
        let found: Found = self.call("file", path, |found| Ok(found.extract()?))?;
        Ok(found.map(identity))
    }
}

impl Listing for PythonListing {
    fn list(&self, directory: &str) -> BoxFuture<herringbone::Result<Vec<Entry>>> {
        Box::pin(ready(self.entries(directory)))
    }

    fn file(&self, path: &str) -> BoxFuture<herringbone::Result<Option<Identity>>> {
        Box::pin(ready(self.find(path)))
    }

    fn object(&self, path: &str, identity: &Identity) -> Arc<dyn Object> {
        Arc::new(PythonObject {
            listing: self.clone(),
            path: path.to_owned(),
            identity: identity.clone(),
            source: OnceLock::new(),
        })
    }

    fn source(&self, path: &str, _: &Identity) -> herringbone::Result<Option<Arc<dyn Source>>> {
        self.open(path).map(Some)
    }
}

/// A file in a Python filesystem, which the first request opens.
struct PythonObject {
    listing: PythonListing,
    path: String,
    identity: Identity,
    source: OnceLock<Arc<dyn Source>>,
}

/// A file in a Python filesystem, whose exceptions we note.
struct Noted(PythonListing, Arc<dyn Source>);

impl Source for Noted {
    fn len(&self) -> u64 {
        self.1.len()
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        self.0.noted(self.1.read(range))
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> herringbone::Result<Vec<Bytes>> {
        self.0.noted(self.1.read_many(ranges))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.1.fetch_policy()
    }
}

impl fmt::Debug for PythonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PythonObject").field(&self.path).finish()
    }
}

impl PythonObject {
    fn source(&self) -> herringbone::Result<Arc<dyn Source>> {
        if let Some(source) = self.source.get() {
            return Ok(source.clone());
        }
        let source = self.listing.open(&self.path)?;
        Ok(self.source.get_or_init(|| source).clone())
    }

    fn answer(&self, range: impl FnOnce(u64) -> Range<u64>) -> herringbone::Result<Answer> {
        let source = self.source()?;
        let range = range(source.len());
        // If the file became shorter, we return fewer bytes, and the caller notices it by the
        // length.
        let end = range.end.min(source.len());
        let range = range.start.min(end)..end;
        let mut identity = self.identity.clone();
        identity.length = source.len();
        Ok(Answer {
            bytes: source.read(range.clone())?,
            range,
            identity,
        })
    }
}

impl Object for PythonObject {
    fn name(&self) -> &str {
        &self.path
    }

    fn tail(&self, bytes: u64) -> BoxFuture<herringbone::Result<Answer>> {
        let answer = self.answer(|length| length.saturating_sub(bytes)..length);
        Box::pin(ready(answer))
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<herringbone::Result<Answer>> {
        Box::pin(ready(self.answer(|_| range)))
    }

    fn identity(&self) -> Option<Identity> {
        Some(self.identity.clone())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::one_at_a_time()
    }
}
