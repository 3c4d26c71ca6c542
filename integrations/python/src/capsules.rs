//! Imports of other libraries' capsules, after the check of their C structs.

use herringbone_c_check::{Refused, Rows, python as check};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use pyo3_arrow::input::{AnyArray, AnyRecordBatch};
use pyo3_arrow::{PyArray, PyArrayReader, PyRecordBatch, PyRecordBatchReader, PySchema};

use crate::error::argument;

type Capsules<'py> = (Bound<'py, PyCapsule>, Bound<'py, PyCapsule>);

/// Returns the stream or the batch of an object.
pub(crate) fn batches(object: &Bound<'_, PyAny>) -> PyResult<AnyRecordBatch> {
    if let Some(stream) = stream(object, Rows::Batches)? {
        let reader = PyRecordBatchReader::from_arrow_pycapsule(&stream)?;
        return Ok(AnyRecordBatch::Stream(reader));
    }
    match pair(object, Rows::Batches)? {
        Some((schema, array)) => Ok(AnyRecordBatch::RecordBatch(
            PyRecordBatch::from_arrow_pycapsule(&schema, &array)?,
        )),
        // The error names the methods that are missing.
        None => object.extract(),
    }
}

/// Returns the stream or the array of an object.
pub(crate) fn arrays(object: &Bound<'_, PyAny>) -> PyResult<AnyArray> {
    if let Some((schema, array)) = pair(object, Rows::Arrays)? {
        let array = PyArray::from_arrow_pycapsule(&schema, &array)?;
        return Ok(AnyArray::Array(array));
    }
    match stream(object, Rows::Arrays)? {
        Some(stream) => Ok(AnyArray::Stream(PyArrayReader::from_arrow_pycapsule(
            &stream,
        )?)),
        None => object.extract(),
    }
}

/// Returns the schema of an object.
pub(crate) fn schema(object: &Bound<'_, PyAny>) -> PyResult<PySchema> {
    if !object.hasattr("__arrow_c_schema__")? {
        return object.extract();
    }
    let capsule = object.call_method0("__arrow_c_schema__")?;
    let capsule = capsule.cast::<PyCapsule>()?;
    checked(check::schema(capsule)?)?;
    PySchema::from_arrow_pycapsule(capsule)
}

/// Checks the schema that another library asks for.
pub(crate) fn check_requested(schema: Option<&Bound<'_, PyCapsule>>) -> PyResult<()> {
    match schema {
        Some(capsule) => checked(check::schema(capsule)?),
        None => Ok(()),
    }
}

/// Returns the checking stream of an object with `__arrow_c_stream__`.
fn stream<'py>(object: &Bound<'py, PyAny>, rows: Rows) -> PyResult<Option<Bound<'py, PyCapsule>>> {
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast_into::<PyCapsule>()?;
    checked(check::stream(&capsule, rows)?)?;
    Ok(Some(capsule))
}

/// Returns the checked schema and array of an object with `__arrow_c_array__`.
fn pair<'py>(object: &Bound<'py, PyAny>, rows: Rows) -> PyResult<Option<Capsules<'py>>> {
    if !object.hasattr("__arrow_c_array__")? {
        return Ok(None);
    }
    let capsules = object.call_method0("__arrow_c_array__")?;
    let (schema, array): Capsules<'py> = capsules.extract()?;
    checked(check::array(&schema, &array, rows)?)?;
    Ok(Some((schema, array)))
}

fn checked(result: Result<(), Refused>) -> PyResult<()> {
    result.map_err(|refused| argument(refused.to_string()).into())
}
