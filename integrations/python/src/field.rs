//! Fields of Arrow schemas.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::arrow::schema::{FieldRef, Schema as ArrowSchema};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyInt, PyString};
use pyo3_arrow::ffi::to_schema_pycapsule;

use crate::error::Result;
use crate::schema::{Part, Schema};

/// A field of an Arrow schema, which has a column's name, type and metadata.
#[pyclass(module = "herringbone", frozen, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Field(pub(crate) FieldRef);

#[pymethods]
impl Field {
    /// The column name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The column type, as text.
    #[getter(r#type)]
    fn data_type(&self) -> String {
        self.0.data_type().to_string()
    }

    /// True if the column may have nulls.
    #[getter]
    fn nullable(&self) -> bool {
        self.0.is_nullable()
    }

    /// The field metadata.
    #[getter]
    fn metadata(&self) -> HashMap<Vec<u8>, Vec<u8>> {
        let pairs = self.0.metadata().iter();
        let bytes = |text: &String| text.clone().into_bytes();
        pairs
            .map(|(key, value)| (bytes(key), bytes(value)))
            .collect()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Part<'py>> {
        let schema = ArrowSchema::new(vec![slf.get().0.clone()]);
        let schema = Bound::new(slf.py(), Schema::from(Arc::new(schema)))?;
        let restore = schema.get_type().getattr("field")?;
        Ok((restore, (schema.into_any(), 0)))
    }

    fn __repr__(&self) -> String {
        shown(&self.0)
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.0.as_ref()).map_err(PyErr::from)?)
    }
}

/// Returns a field as one line of text.
pub(crate) fn shown(field: &FieldRef) -> String {
    let null = if field.is_nullable() { "" } else { " not null" };
    format!("{}: {}{null}", field.name(), field.data_type())
}

/// Finds a column by its number or its name, and returns its place and field.
pub(crate) fn find(fields: &[FieldRef], key: &Bound<'_, PyAny>) -> PyResult<(usize, FieldRef)> {
    if let Ok(name) = key.cast::<PyString>() {
        return find_name(fields, &name.to_string());
    }
    if !key.is_instance_of::<PyInt>() {
        return Err(PyTypeError::new_err(format!(
            "a column is given by its name or its number, not by {}",
            key.repr()?
        )));
    }
    let number: i64 = key.extract()?;
    let place = index(number, fields.len());
    let found = place.and_then(|place| Some((place, fields.get(place)?.clone())));
    found.ok_or_else(|| {
        PyIndexError::new_err(format!(
            "there is no column {number}; the number of columns is {}",
            fields.len()
        ))
    })
}

/// Returns an element's place, where negative numbers count from the end.
pub(crate) fn index(number: i64, length: usize) -> Option<usize> {
    let place = match usize::try_from(number) {
        Ok(place) => place,
        Err(_) => length.checked_sub(usize::try_from(number.unsigned_abs()).ok()?)?,
    };
    (place < length).then_some(place)
}

fn find_name(fields: &[FieldRef], name: &str) -> PyResult<(usize, FieldRef)> {
    let mut found = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| field.name() == name);
    match (found.next(), found.count()) {
        (Some((place, field)), 0) => Ok((place, field.clone())),
        (Some((place, _)), others) => Err(PyKeyError::new_err(format!(
            "{} columns have the name {name:?}; give the number of one, such as {place}",
            others + 1
        ))),
        (None, _) => {
            let names: Vec<_> = fields.iter().map(|field| field.name().as_str()).collect();
            Err(PyKeyError::new_err(format!(
                "there is no column {name:?}; the columns are {}",
                names.join(", ")
            )))
        }
    }
}
