//! Sources of bytes: paths, URLs, buffers, Python file objects, and files in Python filesystems.

use std::fs;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::Error;
use herringbone::arrow::buffer::Buffer;
use herringbone::source::{FetchPolicy, FileSource, Source};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyMemoryView};
use pyo3_arrow::buffer::PyArrowBuffer;

use crate::error::{Failure, Result, detached, of_io};
use crate::exclusive::Exclusive;
use crate::urls::Url;

/// Opens a file's source, which is a path, a URL, bytes, a buffer, a filesystem's file with
/// `read_ranges`, or a file object with `read` and `seek`.
pub(crate) fn open(source: &Bound<'_, PyAny>) -> Result<Arc<dyn Source>> {
    if let Ok(url) = source.cast::<Url>() {
        let url = url.get();
        return Ok(detached(source.py(), || Ok(url.open()?))?);
    }
    if let Ok(bytes) = source.cast::<PyBytes>() {
        let bytes = PyBackedBytes::from(bytes.clone());
        return Ok(Arc::new(Bytes::from_owner(bytes)));
    }
    if source.hasattr("read_ranges")? {
        return Ok(Arc::new(RangedFile {
            file: source.clone().unbind(),
            bytes: source.getattr("size")?.extract()?,
        }));
    }
    if source.hasattr("read")? {
        return Ok(Arc::new(FileObject::new(source)?));
    }
    if let Ok(view) = PyMemoryView::from(source) {
        return Ok(Arc::new(of_buffer(&view)?));
    }
    let py = source.py();
    match source.extract::<PathBuf>() {
        Ok(path) => Ok(Arc::new(py.detach(|| open_path(path))?)),
        Err(_) => Err(PyTypeError::new_err(format!(
            "expected a path, bytes, a buffer or a file object, found {}",
            source.get_type().name()?
        ))
        .into()),
    }
}

/// Opens a path, and fails with the system's error and the path.
fn open_path(path: PathBuf) -> Result<FileSource> {
    let opened = fs::metadata(&path).and_then(|found| match found.is_file() {
        // We only open regular files, because opening a named pipe would wait.
        true => fs::File::open(&path),
        false if found.is_dir() => Err(io::Error::from_raw_os_error(IS_A_DIRECTORY)),
        false => Err(io::ErrorKind::Unsupported.into()),
    });
    match opened {
        Ok(file) => Ok(FileSource::new(file)?),
        Err(error) => Err(of_io(&error, Some(&path)).into()),
    }
}

/// The system's error number for a directory: `EISDIR`, or `ERROR_ACCESS_DENIED` on Windows.
const IS_A_DIRECTORY: i32 = if cfg!(windows) { 5 } else { 21 };

/// Returns a buffer's bytes, copied if Python may change the memory.
fn of_buffer(view: &Bound<'_, PyMemoryView>) -> Result<Bytes> {
    if !view.getattr("c_contiguous")?.extract::<bool>()? {
        return Err(PyValueError::new_err("the buffer is not contiguous").into());
    }
    if !view.getattr("readonly")?.extract::<bool>()? {
        return Ok(Bytes::from(
            view.call_method0("tobytes")?.extract::<Vec<u8>>()?,
        ));
    }
    let bytes = view.call_method1("cast", ("B",))?;
    let buffer: Buffer = bytes.extract::<PyArrowBuffer>()?.into_inner();
    Ok(Bytes::from_owner(Owned(buffer)))
}

struct Owned(Buffer);

impl AsRef<[u8]> for Owned {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// A file in a Python filesystem that can read several ranges at once.
struct RangedFile {
    file: Py<PyAny>,
    bytes: u64,
}

impl RangedFile {
    fn read_attached(&self, py: Python<'_>, ranges: &[Range<u64>]) -> PyResult<Vec<Bytes>> {
        let starts: Vec<u64> = ranges.iter().map(|range| range.start).collect();
        let ends: Vec<u64> = ranges.iter().map(|range| range.end).collect();
        let found = self
            .file
            .bind(py)
            .call_method1("read_ranges", (starts, ends))?;
        let found: Vec<PyBackedBytes> = found.extract()?;
        Ok(found.into_iter().map(Bytes::from_owner).collect())
    }
}

impl Source for RangedFile {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        let found = self.read_many(std::slice::from_ref(&range))?;
        let first = found.into_iter().next();
        first.ok_or_else(|| Error::argument("the filesystem did not answer"))
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> herringbone::Result<Vec<Bytes>> {
        match Python::try_attach(|py| self.read_attached(py, ranges)) {
            Some(read) => read.map_err(|error| io::Error::other(error).into()),
            None => Err(io::Error::other("the Python interpreter has ended").into()),
        }
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::remote()
    }
}

/// A Python file object, on which only one thread at a time seeks and reads.
struct FileObject {
    file: Exclusive<Py<PyAny>>,
    bytes: u64,
}

impl FileObject {
    fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !file.hasattr("seek")? {
            return Err(PyTypeError::new_err(format!(
                "the file object {} has no `seek`; read it into bytes first",
                file.get_type().name()?
            )));
        }
        file.call_method1("seek", (0, 2))?;
        let bytes = file.call_method0("tell")?.extract()?;
        Ok(Self {
            file: Exclusive::new("file object", file.clone().unbind()),
            bytes,
        })
    }

    fn read_attached(&self, file: &Bound<'_, PyAny>, range: &Range<u64>) -> PyResult<Bytes> {
        let length = range.end.saturating_sub(range.start);
        file.call_method1("seek", (range.start,))?;
        let first = read_some(file, length)?;
        if first.len() as u64 == length {
            return Ok(Bytes::from_owner(first));
        }
        // A raw file may return fewer bytes than there are, so we read on.
        let mut all = first.to_vec();
        while (all.len() as u64) < length {
            let more = read_some(file, length - all.len() as u64)?;
            if more.is_empty() {
                return Err(PyErr::from(io::Error::new(
                    io::ErrorKind::UnexpectedEof,
                    format!(
                        "the file object ended at byte {}, but it had {} bytes when it was opened",
                        range.start + all.len() as u64,
                        self.bytes
                    ),
                )));
            }
            all.extend_from_slice(&more);
        }
        Ok(Bytes::from(all))
    }
}

/// Calls `read` once, and fails if it returns more bytes than we asked for, or no bytes object.
fn read_some(file: &Bound<'_, PyAny>, length: u64) -> PyResult<PyBackedBytes> {
    let found = file.call_method1("read", (length,))?;
    let Ok(bytes) = found.extract::<PyBackedBytes>() else {
        return Err(PyTypeError::new_err(format!(
            "`read` returned {}, but bytes are needed; open the file in binary mode",
            found.get_type().name()?
        )));
    };
    match bytes.len() as u64 <= length {
        true => Ok(bytes),
        false => Err(PyValueError::new_err(format!(
            "`read({length})` returned {} bytes",
            bytes.len()
        ))),
    }
}

impl Source for FileObject {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        if range.start > range.end || range.end > self.bytes {
            return Err(Error::corrupt(format!(
                "the bytes {:#x}..{:#x} were requested, but the file has {:#x} bytes",
                range.start, range.end, self.bytes
            )));
        }
        // Reads run without the GIL, so this thread does not keep it from the lock's owner.
        let file = match self.file.lock() {
            Ok(file) => file,
            Err(Failure::Parquet(error)) => return Err(error),
            Err(Failure::Python(error)) => return Err(io::Error::other(error).into()),
        };
        match Python::try_attach(|py| self.read_attached(file.bind(py), &range)) {
            Some(read) => read.map_err(|error| io::Error::other(error).into()),
            None => Err(io::Error::other("the Python interpreter has ended").into()),
        }
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::one_at_a_time()
    }
}
