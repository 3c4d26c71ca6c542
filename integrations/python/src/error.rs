//! The library's errors as Python exceptions.

use std::convert::Infallible;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use herringbone::arrow::schema::ArrowError;
use herringbone::{Error, ErrorKind, Location, Remedy};
use pyo3::exceptions::{
    PyMemoryError, PyModuleNotFoundError, PyOSError, PyRuntimeError, PyValueError,
};
use pyo3::prelude::*;

pyo3::create_exception!(
    herringbone,
    ParquetError,
    PyValueError,
    "A file, an option or a key that cannot be used.\n\n\
     `kind` is 'corrupt', 'unsupported', 'limit', 'feature', 'argument', 'key' or 'replaced'.\n\
     `offset`, `row_group`, `column` and `page` are the place in the file, or None.\n\
     `option` is the option that helps, or None."
);

/// The result of one of the library's functions, as a Python result.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// An error on its way to Python.
#[derive(Debug)]
pub(crate) enum Failure {
    Parquet(Error),
    Python(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Parquet(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Self {
        Self::Parquet(error.into())
    }
}

impl From<Infallible> for Failure {
    fn from(error: Infallible) -> Self {
        match error {}
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Python(of_io(&error, None))
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Parquet(error) => of_parquet(&error),
            Failure::Python(error) => error,
        }
    }
}

/// Returns an error about an argument.
pub(crate) fn argument(message: impl Into<String>) -> Failure {
    Failure::Parquet(Error::argument(message))
}

/// Converts one of the library's errors, or raises an exception of a Python file object again.
fn of_parquet(error: &Error) -> PyErr {
    if let Some(io) = error.io_error() {
        return of_io(io, None);
    }
    let text = text(error);
    let (kind, location) = (kind_name(error.kind()), error.location().clone());
    let option = error.remedy().map(option_of);
    Python::attach(|py| {
        let raised = ParquetError::new_err(text);
        match set_attributes(raised.value(py), kind, &location, option) {
            Ok(()) => raised,
            Err(error) => error,
        }
    })
}

fn set_attributes(
    value: &Bound<'_, PyAny>,
    kind: &str,
    location: &Location,
    option: Option<String>,
) -> PyResult<()> {
    value.setattr("kind", kind)?;
    value.setattr("offset", location.offset)?;
    value.setattr("row_group", location.row_group)?;
    value.setattr("column", location.column.as_deref())?;
    value.setattr("page", location.page)?;
    value.setattr("option", option)
}

/// Sets the default attributes, for errors that Python modules raise.
pub(crate) fn set_defaults(py: Python<'_>) -> PyResult<()> {
    let class = py.get_type::<ParquetError>();
    class.setattr("kind", "argument")?;
    for name in ["offset", "row_group", "column", "page", "option"] {
        class.setattr(name, py.None())?;
    }
    Ok(())
}

/// Returns the message with the Python name of the option that helps.
pub(crate) fn text(error: &Error) -> String {
    let mut text = format!("{}: {}", error.kind(), in_python(error.message()));
    if let Some(remedy) = error.remedy() {
        text = format!("{text}; try {}", option_of(remedy));
    }
    if *error.location() != Location::default() {
        text = format!("{text} ({})", error.location());
    }
    text
}

/// Returns a message in which options have their Python names.
fn in_python(message: &str) -> String {
    let names = [
        (
            "`Partitioning::Directories`",
            "partitioning= with names of columns",
        ),
        ("`SchemaFrom::Given`", "schema="),
    ];
    names
        .iter()
        .fold(message.to_owned(), |text, (rust, python)| {
            text.replace(rust, python)
        })
}

fn kind_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Corrupt => "corrupt",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::Limit => "limit",
        ErrorKind::Feature => "feature",
        ErrorKind::Argument => "argument",
        ErrorKind::Key => "key",
        ErrorKind::Replaced => "replaced",
        _ => "io",
    }
}

/// Returns the option that helps, as it is written in Python.
fn option_of(remedy: Remedy) -> String {
    let fixed = match remedy {
        Remedy::RaiseLimit(limit) => {
            return format!("limits={{'{limit}': ...}} with a higher number");
        }
        Remedy::IgnoreChecksums => "page_checksum_verification=False",
        Remedy::IgnoreArrowSchema => "arrow_extensions_enabled=False",
        Remedy::IgnoreAnnotations => "ignore_annotations=[path of the column]",
        Remedy::ChooseInt96Unit => "coerce_int96_timestamp_unit='ms'",
        Remedy::ChooseLeaves | Remedy::LeaveOutColumn => "columns= without this column",
        Remedy::GiveSchema => "schema=",
        Remedy::GiveRowGroupRows => "row_group_rows=",
        Remedy::GiveKeys => "keys=",
        Remedy::AllowPlaintext => "keys={'allow_plaintext': True, ...}",
        Remedy::AllowAlgorithm => "keys={'allow_any_algorithm': True, ...}",
        Remedy::SupplyAadPrefix => "keys={'aad_prefix': b'...', ...}",
        Remedy::RaiseSortMemory | Remedy::ChooseSortFolder => {
            "sort_memory_bytes= with a higher number"
        }
        Remedy::AllowOutOfRange => "allow_out_of_range=True",
        Remedy::OpenChunkFiles => "the path of its directory",
        other => return other.to_string(),
    };
    fixed.to_owned()
}

/// Converts an I/O error, whose class Python chooses by the system's error number.
pub(crate) fn of_io(error: &io::Error, path: Option<&Path>) -> PyErr {
    if let Some(inner) = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<PyErr>())
    {
        return Python::attach(|py| inner.clone_ref(py));
    }
    if let Some(inner) = error
        .get_ref()
        .and_then(|cause| cause.downcast_ref::<Error>())
    {
        return of_parquet(inner);
    }
    if error.kind() == io::ErrorKind::OutOfMemory {
        return PyMemoryError::new_err(error.to_string());
    }
    match (error.raw_os_error(), path) {
        (Some(number), Some(path)) => PyOSError::new_err((
            number,
            system_text(error),
            path.to_string_lossy().into_owned(),
        )),
        (Some(number), None) => PyOSError::new_err((number, system_text(error))),
        (None, _) => PyErr::from(io::Error::new(error.kind(), error.to_string())),
    }
}

/// Returns the system's text without the error number that Rust adds.
fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    match text.rfind(" (os error") {
        Some(end) => text.get(..end).unwrap_or(&text).to_owned(),
        None => text,
    }
}

/// Imports another package for one of our methods, with an error that names both if it is not
/// installed.
pub(crate) fn package<'py>(
    py: Python<'py>,
    name: &str,
    method: &str,
) -> PyResult<Bound<'py, PyModule>> {
    py.import(name).map_err(
        |error| match error.is_instance_of::<PyModuleNotFoundError>(py) {
            true => PyModuleNotFoundError::new_err(format!(
                "{method} needs the package {name}, which is not installed"
            )),
            false => error,
        },
    )
}

/// Runs a step without the GIL and turns a panic of the library into an error.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    step: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    py.detach(|| guarded(step))
}

/// Runs a step and turns a panic of the library into an error.
pub(crate) fn guarded<T>(step: impl FnOnce() -> Result<T>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(result) => result,
        Err(panic) => {
            let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
                (Some(text), _) => text,
                (None, Some(text)) => text.as_str(),
                (None, None) => "no message",
            };
            Err(PyRuntimeError::new_err(format!("a bug in herringbone: {text}")).into())
        }
    }
}
