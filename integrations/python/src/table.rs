//! Tables and streams of record batches, with the capsules of the Arrow C interfaces.

use std::collections::HashSet;
use std::sync::Arc;

use herringbone::arrow::array::{
    self, Array, ArrayRef, RecordBatch, RecordBatchReader as _, StructArray,
};
use herringbone::arrow::buffer::Buffer;
use herringbone::arrow::data::ArrayData;
use herringbone::arrow::schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyIterator, PyList, PySlice, PyString, PyTuple};
use pyo3_arrow::ffi::{ArrayReader, to_stream_pycapsule};
use pyo3_arrow::input::AnyArray;

use crate::capsules::{self, check_requested};
use crate::column::{self, ChunkedArray};
use crate::error::{Failure, Result, detached, guarded, package};
use crate::field;
use crate::schema::{BytePairs, Reduced, Schema, without_bytes};
use crate::{ipc, scalar};

type TableState<'py> = (Bound<'py, PyBytes>, Vec<Loss>, BytePairs);

/// A dropped part of a damaged file, as "rows" or "values", their number, and the error.
pub(crate) type Loss = (String, u64, String);

/// Rows in memory, as Arrow arrays.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct Table {
    batches: Vec<RecordBatch>,
    schema: Schema,
    losses: Vec<Loss>,
}

impl Table {
    pub(crate) fn new(batches: Vec<RecordBatch>, schema: Schema) -> Self {
        Self {
            batches,
            schema,
            losses: Vec::new(),
        }
    }

    /// Adds the dropped parts of a damaged file.
    pub(crate) fn with_losses(self, losses: Vec<Loss>) -> Self {
        Self { losses, ..self }
    }

    /// Returns a table that has one column.
    pub(crate) fn of_column(column: &ChunkedArray) -> PyResult<Self> {
        let schema = column::schema_of(&column.field);
        let batch = |chunk: &ArrayRef| {
            RecordBatch::try_new(schema.arrow().clone(), vec![chunk.clone()])
                .map_err(|error| PyValueError::new_err(error.to_string()))
        };
        let batches = column.chunks.iter().map(batch).collect::<PyResult<_>>()?;
        Ok(Self::new(batches, schema))
    }

    pub(crate) fn batches(&self) -> &[RecordBatch] {
        &self.batches
    }

    fn arrays(&self, place: usize) -> Vec<ArrayRef> {
        let columns = self.batches.iter().map(RecordBatch::columns);
        columns
            .filter_map(|column| column.get(place).cloned())
            .collect()
    }

    /// Returns at most `length` rows, starting at `offset`.
    fn part(&self, offset: usize, length: usize) -> Self {
        let lengths = self.batches.iter().map(RecordBatch::num_rows);
        let slice = |(batch, start, rows): (usize, usize, usize)| {
            Some(self.batches.get(batch)?.slice(start, rows))
        };
        Self {
            batches: column::parts(lengths, offset, length)
                .filter_map(slice)
                .collect(),
            schema: self.schema.clone(),
            losses: self.losses(),
        }
    }

    fn has_same_values(&self, other: &Self) -> bool {
        let (left, right) = (self.schema.arrow().fields(), other.schema.arrow().fields());
        left.len() == right.len()
            && self.num_rows() == other.num_rows()
            && left
                .iter()
                .zip(right)
                .all(|(one, other)| column::same_types(one, other))
            && (0..left.len()).all(|i| column::same_values(&self.arrays(i), &other.arrays(i)))
    }

    /// Fails if several columns have the same name.
    fn check_names(&self, method: &str) -> PyResult<()> {
        let mut names = HashSet::new();
        for name in self.column_names() {
            if names.contains(&name) {
                return Err(PyValueError::new_err(format!(
                    "several columns have the name {name:?}, and a dict has one of each; {method}() needs select([numbers]) before \
                     it, or column(number).to_pylist()"
                )));
            }
            names.insert(name);
        }
        Ok(())
    }
}

#[pymethods]
impl Table {
    /// Takes the rows of any object that has `__arrow_c_stream__` or `__arrow_c_array__`.
    #[new]
    fn py_new(py: Python<'_>, data: &Bound<'_, PyAny>) -> Result<Self> {
        let (reader, schema) = import(data)?;
        detached(py, || {
            let batches = reader.collect::<Result<_, ArrowError>>()?;
            Ok(Self::new(batches, schema))
        })
    }

    /// The Arrow schema.
    #[getter]
    fn schema(&self) -> Schema {
        self.schema.clone()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// The number of columns.
    #[getter]
    fn num_columns(&self) -> usize {
        self.schema.arrow().fields().len()
    }

    /// The column names.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.names()
    }

    /// The size of all buffers in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        let columns = self.batches.iter().flat_map(RecordBatch::columns);
        columns.map(|column| bytes_of(&column.to_data())).sum()
    }

    /// The dropped parts of a damaged file, as "rows" or "values", their number, and the error.
    #[getter]
    fn losses(&self) -> Vec<Loss> {
        self.losses.clone()
    }

    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.num_rows(), self.num_columns())
    }

    /// The columns.
    #[getter]
    fn columns(&self) -> Vec<ChunkedArray> {
        let fields = self.schema.arrow().fields().iter().cloned();
        let column = |(place, field)| ChunkedArray {
            chunks: self.arrays(place),
            field,
        };
        fields.enumerate().map(column).collect()
    }

    /// Returns the column with this name or number.
    fn column(&self, i: &Bound<'_, PyAny>) -> PyResult<ChunkedArray> {
        let (place, field) = field::find(self.schema.arrow().fields(), i)?;
        Ok(ChunkedArray {
            chunks: self.arrays(place),
            field,
        })
    }

    /// Returns a table with the columns of these names or numbers, in this order.
    fn select(&self, columns: &Bound<'_, PyAny>) -> Result<Self> {
        if columns.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(format!(
                "select takes a list of columns; write [{}]",
                columns.repr()?
            ))
            .into());
        }
        let fields = self.schema.arrow().fields();
        let mut places = Vec::new();
        for column in columns.try_iter()? {
            places.push(field::find(fields, &column?)?.0);
        }
        let batches = self.batches.iter().map(|batch| batch.project(&places));
        let schema = Arc::new(self.schema.arrow().project(&places)?);
        Ok(Self {
            batches: batches.collect::<Result<_, ArrowError>>()?,
            schema: self.schema.with_arrow(schema),
            losses: self.losses(),
        })
    }

    /// Returns the rows from `offset` on, all of them or at most `length`, which share this table's
    /// memory.
    #[pyo3(signature = (offset=0, length=None))]
    fn slice(&self, offset: i64, length: Option<i64>) -> PyResult<Self> {
        let (offset, length) = column::range(offset, length)?;
        Ok(self.part(offset, length))
    }

    /// Returns the first rows.
    #[pyo3(signature = (n=5))]
    fn head(&self, n: i64) -> PyResult<Self> {
        match usize::try_from(n) {
            Ok(rows) => Ok(self.part(0, rows)),
            Err(_) => Err(PyValueError::new_err(format!("n={n} is negative"))),
        }
    }

    /// Returns true if another table has the same columns, types and values, even if their batches
    /// differ.
    ///
    /// NaN equals itself, and 0.0 is not -0.0. Metadata is only compared with `check_metadata`,
    /// except for the metadata of nested fields, which is a part of their types.
    #[pyo3(signature = (other, check_metadata=false))]
    fn equals(&self, other: &Bound<'_, PyAny>, check_metadata: bool) -> Result<bool> {
        let py = other.py();
        let imported;
        let other = match other.cast::<Self>() {
            Ok(other) => other.get(),
            Err(_) => {
                imported = Self::py_new(py, other)?;
                &imported
            }
        };
        if check_metadata && self.schema != other.schema {
            return Ok(false);
        }
        detached(py, || Ok(self.has_same_values(other)))
    }

    fn __eq__<'py>(&self, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        match other.is_instance_of::<Self>() {
            true => column::truth(other.py(), self.equals(other, false)?),
            false => Ok(other.py().NotImplemented().into_bound(other.py())),
        }
    }

    /// Returns a dict of lists. If columns share a name, this is an error, because a dict can only
    /// have one of them.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.check_names("to_pydict")?;
        let columns = PyDict::new(py);
        for column in self.columns() {
            columns.set_item(column.field.name(), column.to_pylist(py)?)?;
        }
        Ok(columns)
    }

    /// Returns a list with one dict per row. If columns share a name, this is an error, because a
    /// dict can only have one of them.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.check_names("to_pylist")?;
        let rows = PyList::empty(py);
        for batch in &self.batches {
            for slot in 0..batch.num_rows() {
                let row = PyDict::new(py);
                let fields = self.schema.arrow().fields().iter();
                for (field, array) in fields.zip(batch.columns()) {
                    row.set_item(field.name(), scalar::of_field(py, field, array, slot)?)?;
                }
                rows.append(row)?;
            }
        }
        Ok(rows)
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    /// Returns a column by its name or number, the rows of a slice, or the columns in a list.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> Result<Bound<'py, PyAny>> {
        let (py, table) = (slf.py(), slf.get());
        if let Ok(slice) = key.cast::<PySlice>() {
            let (offset, length) = column::steps(slice, table.num_rows())?;
            return Ok(Bound::new(py, table.part(offset, length))?.into_any());
        }
        if key.is_instance_of::<PyList>() || key.is_instance_of::<PyTuple>() {
            return Ok(Bound::new(py, table.select(key)?)?.into_any());
        }
        Ok(Bound::new(py, table.column(key)?)?.into_any())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.columns())?.try_iter()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Reduced<'py, TableState<'py>>> {
        let py = slf.py();
        let restore = slf.get_type().getattr("_from_ipc")?;
        let table = slf.get();
        let stream = detached(py, || ipc::encode(table.schema.arrow(), &table.batches))?;
        let bytes = table.schema.bytes().clone();
        Ok((restore, (PyBytes::new(py, &stream), table.losses(), bytes)))
    }

    #[staticmethod]
    #[pyo3(signature = (stream, losses, bytes=BytePairs::new()))]
    fn _from_ipc(
        py: Python<'_>,
        stream: PyBackedBytes,
        losses: Vec<Loss>,
        bytes: BytePairs,
    ) -> Result<Self> {
        let (schema, batches) = detached(py, || ipc::decode(stream))?;
        Ok(Self {
            batches,
            schema: Schema::new(schema, bytes),
            losses,
        })
    }

    /// Returns this table, because tables do not change.
    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("herringbone._show")?;
        module.call_method1("table_text", (slf,))
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("herringbone._show")?;
        module.call_method1("table_html", (slf,))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        self.schema.__arrow_c_schema__(py)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Result<Bound<'py, PyCapsule>> {
        let batches = self.batches.clone().into_iter();
        let arrays = batches.map(|batch| Ok(Arc::new(StructArray::from(batch)) as ArrayRef));
        export(py, self.schema.arrow(), Box::new(arrays), requested_schema)
    }

    /// Returns a `pyarrow.Table` that shares this table's memory.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let table = package(slf.py(), "pyarrow", "to_pyarrow()")?.call_method1("table", (slf,))?;
        slf.get()
            .schema
            .give_metadata(table, "replace_schema_metadata")
    }

    /// Returns a `polars.DataFrame`, which shares this table's memory for types that polars has,
    /// too.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        package(slf.py(), "polars", "to_polars()")?.call_method1("DataFrame", (slf,))
    }

    /// Returns a `pandas.DataFrame`, for which pyarrow must be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        Self::to_pyarrow(slf)?.call_method0("to_pandas")
    }
}

/// Returns the byte count of an array's buffers.
pub(crate) fn bytes_of(data: &ArrayData) -> usize {
    let buffers = data.buffers().iter().map(Buffer::len).sum::<usize>();
    let nulls = data.nulls().map_or(0, |nulls| nulls.buffer().len());
    buffers + nulls + data.child_data().iter().map(bytes_of).sum::<usize>()
}

/// The batches of another library, or of one of our readers.
pub(crate) type Stream = Box<dyn array::RecordBatchReader + Send>;

/// Returns the stream of a table in any of its forms, with its schema.
pub(crate) fn import(data: &Bound<'_, PyAny>) -> Result<(Stream, Schema)> {
    let inputs = data.py().import("herringbone._inputs")?;
    let data = inputs.call_method1("as_stream", (data,))?;
    let (data, bytes) = without_bytes(&data)?;
    let is_of_pyarrow = data.get_type().module()?.to_string().starts_with("pyarrow");
    let unsliced = match is_of_pyarrow {
        true => {
            let slices = data.py().import("herringbone._slices")?;
            slices.call_method1("unsliced", (data,))?
        }
        false => data,
    };
    let data = &unsliced;
    let stream = guarded(|| Ok(capsules::batches(data)?.into_reader()?));
    let stream = stream.map_err(|error| column_in_place_of_table(data).unwrap_or(error))?;
    let schema = Schema::new(stream.schema(), bytes);
    Ok((stream, schema))
}

/// Returns the error for an array or a column that was passed instead of a table.
fn column_in_place_of_table(data: &Bound<'_, PyAny>) -> Option<Failure> {
    let column = capsules::arrays(data).ok()?;
    let kind = match column {
        AnyArray::Array(array) => array.field().data_type().clone(),
        AnyArray::Stream(stream) => stream.field_ref().ok()?.data_type().clone(),
    };
    if matches!(kind, DataType::Struct(_)) {
        return None;
    }
    let class = data.get_type().name().ok()?;
    Some(Failure::Python(PyTypeError::new_err(format!(
        "expected a table, found a {class} of the type {kind}, which is one column; put it into a table, with a name"
    ))))
}

type Arrays = Box<dyn Iterator<Item = Result<ArrayRef, ArrowError>> + Send>;

/// Arrays that are being exported.
struct Exported {
    arrays: Arrays,
    field: FieldRef,
}

impl Iterator for Exported {
    type Item = Result<ArrayRef, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.arrays.next()
    }
}

impl ArrayReader for Exported {
    fn field(&self) -> FieldRef {
        self.field.clone()
    }
}

pub(crate) fn export<'py>(
    py: Python<'py>,
    schema: &SchemaRef,
    arrays: Arrays,
    requested: Option<Bound<'py, PyCapsule>>,
) -> Result<Bound<'py, PyCapsule>> {
    check_requested(requested.as_ref())?;
    let field = Field::new_struct("", schema.fields().clone(), false);
    let field = Arc::new(field.with_metadata(schema.metadata().clone()));
    let exported = Box::new(Exported { arrays, field });
    Ok(to_stream_pycapsule(py, exported, requested).map_err(PyErr::from)?)
}

/// Returns a stream of a column's arrays.
pub(crate) fn export_column<'py>(
    py: Python<'py>,
    column: &ChunkedArray,
    requested: Option<Bound<'py, PyCapsule>>,
) -> Result<Bound<'py, PyCapsule>> {
    check_requested(requested.as_ref())?;
    let exported = Box::new(Exported {
        arrays: Box::new(column.chunks.clone().into_iter().map(Ok)),
        field: column.field.clone(),
    });
    Ok(to_stream_pycapsule(py, exported, requested).map_err(PyErr::from)?)
}
