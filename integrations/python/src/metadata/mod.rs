//! A file's metadata, with pyarrow's names.

mod column_chunk;
mod file;
mod logical_type;
mod schema;
mod statistics;

pub(crate) use column_chunk::ColumnChunkMetaData;
pub(crate) use file::{FileMetaData, RowGroupMetaData};
pub(crate) use logical_type::ParquetLogicalType;
pub(crate) use schema::{ColumnSchema, ParquetSchema};
pub(crate) use statistics::Statistics;

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::PyClass;
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;

/// Returns the ordinal for a Python index, or an IndexError.
fn index(what: &str, index: isize, len: usize) -> PyResult<usize> {
    match usize::try_from(index) {
        Ok(index) if index < len => Ok(index),
        _ => Err(PyIndexError::new_err(format!(
            "{what} index {index} is out of range: there are {len}"
        ))),
    }
}

/// Returns an object to compare with, or a TypeError with pyarrow's text.
fn same<'a, T>(other: &'a Bound<'_, PyAny>) -> PyResult<&'a T>
where
    T: PyClass<Frozen = pyo3::pyclass::boolean_struct::True> + Sync,
{
    match other.cast::<T>() {
        Ok(other) => Ok(other.get()),
        Err(_) => Err(PyTypeError::new_err(format!(
            "Argument 'other' has incorrect type (expected {}, got {})",
            T::type_object(other.py()).fully_qualified_name()?,
            other.get_type().fully_qualified_name()?
        ))),
    }
}

/// Returns a hash for Python.
fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns lines of names and values, in the form of pyarrow's reprs.
fn lines(head: &str, pairs: &[(&str, String)]) -> String {
    let mut text = head.to_owned();
    for (name, value) in pairs {
        let value = value.replace('\n', "\n    ");
        text.push_str(&format!("\n  {name}: {value}"));
    }
    text
}
