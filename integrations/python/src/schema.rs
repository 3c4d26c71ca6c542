//! Arrow schemas for Python, whose metadata may be bytes that are not UTF-8, unlike in Rust's
//! schemas.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::MetadataHandle;
use herringbone::arrow::schema::{Schema as ArrowSchema, SchemaRef};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList};
use pyo3_arrow::ffi::to_schema_pycapsule;

use crate::capsules;
use crate::error::{Result, guarded, package};
use crate::field::{self, Field};
use crate::ipc;

/// A function with its arguments, which `pickle` stores.
pub(crate) type Reduced<'py, T> = (Bound<'py, PyAny>, T);

/// A method that returns a part of a whole, with its arguments: the object that has the whole, and
/// the part's number.
pub(crate) type Part<'py> = Reduced<'py, (Bound<'py, PyAny>, usize)>;

/// The keys and values of those metadata pairs whose values are not UTF-8.
pub(crate) type BytePairs = Vec<(String, Vec<u8>)>;

/// An Arrow schema.
#[pyclass(module = "herringbone", frozen, eq)]
#[derive(Clone, PartialEq)]
pub(crate) struct Schema {
    arrow: SchemaRef,
    bytes: Arc<BytePairs>,
}

impl From<SchemaRef> for Schema {
    fn from(arrow: SchemaRef) -> Self {
        Self::new(arrow, BytePairs::new())
    }
}

impl Schema {
    pub(crate) fn new(arrow: SchemaRef, bytes: BytePairs) -> Self {
        let bytes = Arc::new(bytes);
        Self { arrow, bytes }
    }

    /// Returns the schema without its binary metadata.
    pub(crate) fn arrow(&self) -> &SchemaRef {
        &self.arrow
    }

    pub(crate) fn into_arrow(self) -> SchemaRef {
        self.arrow
    }

    /// Returns the binary metadata.
    pub(crate) fn bytes(&self) -> &BytePairs {
        &self.bytes
    }

    /// Returns another Arrow schema with this one's binary metadata.
    pub(crate) fn with_arrow(&self, arrow: SchemaRef) -> Self {
        let bytes = self.bytes.clone();
        Self { arrow, bytes }
    }

    /// Returns one line per field.
    pub(crate) fn shown(&self) -> String {
        let lines: Vec<_> = self.arrow.fields().iter().map(field::shown).collect();
        lines.join("\n")
    }

    /// Gives a pyarrow object this schema's metadata, if some of it is not text. `replace` is the
    /// object's method for this.
    pub(crate) fn give_metadata<'py>(
        &self,
        object: Bound<'py, PyAny>,
        replace: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        match self.bytes.is_empty() {
            true => Ok(object),
            false => object.call_method1(replace, (self.metadata(),)),
        }
    }
}

/// Returns the binary metadata in a footer.
pub(crate) fn byte_pairs(handle: &MetadataHandle) -> BytePairs {
    let pairs = handle.metadata().key_value_metadata().iter();
    let in_bytes = pairs.filter_map(|pair| {
        let value = pair.value.as_deref()?;
        str::from_utf8(value)
            .is_err()
            .then(|| (pair.key.clone(), value.to_vec()))
    });
    in_bytes.collect()
}

/// Takes a schema from an argument, which may be any object with `__arrow_c_schema__`. Only
/// metadata that is text passes through this interface.
impl<'py> FromPyObject<'_, 'py> for Schema {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(schema) = object.cast::<Self>() {
            return Ok(schema.get().clone());
        }
        let (object, bytes) = without_bytes(&object)?;
        let schema = capsules::schema(&object)?;
        Ok(Self::new(schema.into_inner(), bytes))
    }
}

/// Splits a pyarrow schema, table, batch or stream into itself with only text as its metadata, and
/// the other pairs. Our own classes leave such pairs out of their capsules, and other libraries do
/// not have them.
pub(crate) fn without_bytes<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<(Bound<'py, PyAny>, BytePairs)> {
    if object
        .get_type()
        .module()?
        .to_string()
        .starts_with("pyarrow")
    {
        let module = object.py().import("herringbone._metadata")?;
        return module.call_method1("without_bytes", (object,))?.extract();
    }
    let schema = object.getattr_opt("schema")?;
    let schema = schema
        .as_ref()
        .and_then(|schema| schema.cast::<Schema>().ok());
    let bytes = schema.map_or_else(BytePairs::new, |schema| schema.get().bytes().clone());
    Ok((object.clone(), bytes))
}

#[pymethods]
impl Schema {
    #[new]
    fn py_new(schema: Self) -> Self {
        schema
    }

    /// The column names.
    #[getter]
    pub(crate) fn names(&self) -> Vec<String> {
        let fields = self.arrow.fields().iter();
        fields.map(|field| field.name().clone()).collect()
    }

    /// The column types, as text.
    #[getter]
    fn types(&self) -> Vec<String> {
        let fields = self.arrow.fields().iter();
        fields.map(|field| field.data_type().to_string()).collect()
    }

    /// The schema metadata.
    #[getter]
    fn metadata(&self) -> HashMap<Vec<u8>, Vec<u8>> {
        let text = self.arrow.metadata().iter();
        let text = text.map(|(key, value)| (key.as_bytes(), value.as_bytes()));
        let bytes = self.bytes.iter();
        let bytes = bytes.map(|(key, value)| (key.as_bytes(), value.as_slice()));
        bytes
            .chain(text)
            .map(|(key, value)| (key.to_vec(), value.to_vec()))
            .collect()
    }

    /// Returns the schema for several files, where this is the first one's schema and the later
    /// ones may have nulls.
    fn _nullable(&self) -> Self {
        self.with_arrow(Arc::new(herringbone_rewrite::nullable(&self.arrow)))
    }

    /// Returns the field with this name or number.
    fn field(&self, i: &Bound<'_, PyAny>) -> PyResult<Field> {
        Ok(Field(field::find(self.arrow.fields(), i)?.1))
    }

    fn __getitem__(&self, i: &Bound<'_, PyAny>) -> PyResult<Field> {
        self.field(i)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let fields = self.arrow.fields().iter().cloned();
        PyList::new(py, fields.map(Field).collect::<Vec<_>>())?.try_iter()
    }

    fn __len__(&self) -> usize {
        self.arrow.fields().len()
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> Result<Reduced<'py, (Bound<'py, PyBytes>, BytePairs)>> {
        let restore = slf.get_type().getattr("_from_ipc")?;
        let schema = slf.get();
        let stream = ipc::encode(&schema.arrow, &[])?;
        Ok((
            restore,
            (PyBytes::new(slf.py(), &stream), schema.bytes().clone()),
        ))
    }

    #[staticmethod]
    #[pyo3(signature = (stream, bytes=BytePairs::new()))]
    fn _from_ipc(stream: PyBackedBytes, bytes: BytePairs) -> Result<Self> {
        guarded(|| Ok(Self::new(ipc::decode(stream)?.0, bytes)))
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        self.shown()
    }

    pub(crate) fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        let schema: &ArrowSchema = &self.arrow;
        Ok(to_schema_pycapsule(py, schema).map_err(PyErr::from)?)
    }

    /// Returns a `pyarrow.Schema`.
    pub(crate) fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let schema =
            package(slf.py(), "pyarrow", "to_pyarrow()")?.call_method1("schema", (slf,))?;
        slf.get().give_metadata(schema, "with_metadata")
    }
}
