//! Sinks, which are a path or URL whose file appears when it is complete, or a Python file object.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use herringbone::FileTarget;
use herringbone_dataset::{NewFile, NewFiles};
use herringbone_remote::blocking::RemoteOutput;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::error::{Result, of_io};
use crate::urls::Url;

/// The place that a file is written to.
pub(crate) enum Sink {
    Path(FileTarget),
    Url(Box<RemoteOutput>),
    Object(FileObject),
}

impl Sink {
    /// Opens a path, a URL or a file object.
    pub(crate) fn open(sink: &Bound<'_, PyAny>) -> Result<Self> {
        if let Ok(url) = sink.cast::<Url>() {
            return Ok(Self::Url(Box::new(url.get().create()?)));
        }
        if sink.hasattr("write")? {
            return Ok(Self::Object(FileObject(sink.clone().unbind())));
        }
        let Ok(path) = sink.extract::<PathBuf>() else {
            return Err(PyTypeError::new_err(format!(
                "expected a path or a file object, found {}",
                sink.get_type().name()?
            ))
            .into());
        };
        sink.py().detach(|| match FileTarget::create(&path) {
            Ok(target) => Ok(Self::Path(target)),
            Err(error) => Err(match error.io_error() {
                Some(_) => folder_error(&path).unwrap_or_else(|| error.into()),
                None => error.into(),
            }),
        })
    }

    /// Makes a path's file appear.
    pub(crate) fn commit(self) -> Result<()> {
        match self {
            Self::Path(target) => Ok(target.commit()?),
            Self::Url(output) => Ok(output.complete()?),
            Self::Object(_) => Ok(()),
        }
    }
}

/// Returns the system's error for a new file's folder, with its error number.
fn folder_error(path: &std::path::Path) -> Option<crate::error::Failure> {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())?;
    let error = std::fs::read_dir(folder).err()?;
    Some(of_io(&error, Some(path)).into())
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Path(target) => target.write(bytes),
            Self::Url(output) => output.write(bytes),
            Self::Object(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Path(target) => target.flush(),
            Self::Url(_) | Self::Object(_) => Ok(()),
        }
    }
}

/// A file object that has `write`.
pub(crate) struct FileObject(Py<PyAny>);

impl FileObject {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        attached(|py| {
            let written = self
                .0
                .bind(py)
                .call_method1("write", (PyBytes::new(py, bytes),))?;
            // Some file objects return nothing if they have taken all bytes.
            if written.is_none() {
                return Ok(bytes.len());
            }
            match written.extract::<usize>() {
                Ok(count) if count <= bytes.len() => Ok(count),
                _ => Err(PyValueError::new_err(format!(
                    "`write` returned {written} for {} bytes",
                    bytes.len()
                ))),
            }
        })
    }
}

/// Calls Python and puts an exception that it raises into the error.
fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    match Python::try_attach(call) {
        Some(result) => result.map_err(io::Error::other),
        None => Err(io::Error::other("the Python interpreter has ended")),
    }
}

/// A directory in a Python filesystem, by an object of `_files.py`.
pub(crate) struct PythonDirectory(pub(crate) Py<PyAny>);

impl fmt::Debug for PythonDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PythonDirectory")
    }
}

impl NewFiles for PythonDirectory {
    fn create(&self, path: &str) -> herringbone::Result<Box<dyn NewFile>> {
        let (file, output) = attached(|py| {
            let created = self.0.bind(py).call_method1("create", (path,))?;
            created.extract::<(Py<PyAny>, Py<PyAny>)>()
        })?;
        Ok(Box::new(PythonFile {
            file: FileObject(file),
            output: Some(output),
        }))
    }
}

/// A file in a Python filesystem, with the object that closes or discards it.
struct PythonFile {
    file: FileObject,
    output: Option<Py<PyAny>>,
}

impl Write for PythonFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl NewFile for PythonFile {
    fn complete(mut self: Box<Self>) -> herringbone::Result<()> {
        if let Some(output) = self.output.take() {
            attached(|py| output.call_method0(py, "close"))?;
        }
        Ok(())
    }
}

impl Drop for PythonFile {
    fn drop(&mut self) {
        if let Some(output) = self.output.take() {
            // We ignore this error, because the error that ended the write is the one to raise.
            attached(|py| output.call_method0(py, "discard")).ok();
        }
    }
}
