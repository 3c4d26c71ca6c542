//! Single columns of tables.

use std::cmp::min;
use std::collections::HashMap;
use std::sync::Arc;

use arrow_cast::display::{ArrayFormatter, FormatOptions};
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::{Array, ArrayRef};
use herringbone::arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone::arrow::schema::{DataType, FieldRef, Schema as ArrowSchema, TimeUnit};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PySlice};
use pyo3_arrow::ffi::to_schema_pycapsule;

use crate::error::{Result, detached, guarded, package};
use crate::field::{self, Field};
use crate::scalar;
use crate::schema::{Part, Schema};
use crate::table::{Table, bytes_of, export_column};

/// A column of a table, which consists of one or more Arrow arrays.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct ChunkedArray {
    pub(crate) chunks: Vec<ArrayRef>,
    pub(crate) field: FieldRef,
}

impl ChunkedArray {
    /// Returns at most `length` rows, starting at `offset`.
    fn part(&self, offset: usize, length: usize) -> Self {
        let lengths = self.chunks.iter().map(Array::len);
        let parts = parts(lengths, offset, length);
        let slice = |(chunk, start, rows): (usize, usize, usize)| {
            Some(self.chunks.get(chunk)?.slice(start, rows))
        };
        Self {
            chunks: parts.filter_map(slice).collect(),
            field: self.field.clone(),
        }
    }

    /// Returns a row's value as a Python object.
    pub(crate) fn value<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        let mut before = 0;
        for chunk in &self.chunks {
            if row - before < chunk.len() {
                return scalar::of_field(py, &self.field, chunk, row - before);
            }
            before += chunk.len();
        }
        Err(PyIndexError::new_err(format!(
            "there is no row {row}; the number of rows is {before}"
        )))
    }

    fn same(&self, other: &Self) -> bool {
        same_types(&self.field, &other.field) && same_values(&self.chunks, &other.chunks)
    }
}

#[pymethods]
impl ChunkedArray {
    /// The column's field, which has its name, type and metadata.
    #[getter]
    fn field(&self) -> Field {
        Field(self.field.clone())
    }

    /// The column name.
    #[getter]
    fn name(&self) -> &str {
        self.field.name()
    }

    /// The column type, as text.
    #[getter(r#type)]
    fn data_type(&self) -> String {
        self.field.data_type().to_string()
    }

    /// The number of nulls.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks
            .iter()
            .map(|chunk| chunk.logical_null_count())
            .sum()
    }

    /// The number of arrays that make up the column.
    #[getter]
    fn num_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// The size of all buffers in memory, in bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        let chunks = self.chunks.iter();
        chunks.map(|chunk| bytes_of(&chunk.to_data())).sum()
    }

    /// Returns the rows from `offset` on, all of them or at most `length`, which share this
    /// column's memory.
    #[pyo3(signature = (offset=0, length=None))]
    fn slice(&self, offset: i64, length: Option<i64>) -> PyResult<Self> {
        let (offset, length) = range(offset, length)?;
        Ok(self.part(offset, length))
    }

    /// Returns the values as a list.
    pub(crate) fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let values = PyList::empty(py);
        for chunk in &self.chunks {
            for slot in 0..chunk.len() {
                values.append(scalar::of_field(py, &self.field, chunk, slot)?)?;
            }
        }
        Ok(values)
    }

    /// Returns the values as a NumPy array.
    ///
    /// A null is NaN in columns of numbers, NaT in columns of moments and durations, and None in
    /// all others. If a column of integers has nulls, its values become floating-point numbers, and
    /// integers that these cannot represent are an error.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("herringbone._values")?;
        module.call_method1("to_numpy", (slf,))
    }

    /// Returns the NumPy type, the bytes of all values, and the bytes of a null mask if there are
    /// nulls. Returns None if the values are objects.
    fn _values<'py>(&self, py: Python<'py>) -> PyResult<Option<Values<'py>>> {
        let Some(name) = numpy_type(self.field.data_type()) else {
            return Ok(None);
        };
        let (values, nulls) = detached(py, || {
            let mut values = Vec::new();
            let mut nulls = Vec::new();
            for chunk in &self.chunks {
                push_values(chunk, &mut values);
                nulls.extend((0..chunk.len()).map(|slot| u8::from(chunk.is_null(slot))));
            }
            Ok((values, nulls))
        })?;
        let nulls = (self.null_count() > 0).then(|| PyBytes::new(py, &nulls));
        Ok(Some((name, PyBytes::new(py, &values), nulls)))
    }

    /// Returns the values for `numpy.asarray`.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "an array of NumPy is a copy of the column",
            ));
        }
        let array = Self::to_numpy(slf)?;
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }

    /// Returns true if another column has the same type and the same values. NaN equals itself, and
    /// 0.0 is not -0.0.
    fn equals(&self, py: Python<'_>, other: &Self) -> Result<bool> {
        detached(py, || Ok(self.same(other)))
    }

    fn __eq__<'py>(&self, py: Python<'py>, other: &Bound<'py, PyAny>) -> Result<Bound<'py, PyAny>> {
        match other.cast::<Self>() {
            Ok(other) => truth(py, self.equals(py, other.get())?),
            Err(_) => Ok(py.NotImplemented().into_bound(py)),
        }
    }

    fn __len__(&self) -> usize {
        self.chunks.iter().map(Array::len).sum()
    }

    /// Returns the value of one row, or the rows of a slice as a column.
    fn __getitem__<'py>(
        slf: &Bound<'py, Self>,
        key: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (py, column) = (slf.py(), slf.get());
        if let Ok(slice) = key.cast::<PySlice>() {
            let (offset, length) = steps(slice, column.__len__())?;
            return Ok(Bound::new(py, column.part(offset, length))?.into_any());
        }
        let number: i64 = key.extract().map_err(|_| {
            PyTypeError::new_err("the rows of a column are given by a number or a slice")
        })?;
        let row = field::index(number, column.__len__()).ok_or_else(|| {
            PyIndexError::new_err(format!(
                "there is no row {number}; the number of rows is {}",
                column.__len__()
            ))
        })?;
        column.value(py, row)
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.to_pylist(py)?.try_iter()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Part<'py>> {
        let py = slf.py();
        let table = Bound::new(py, Table::of_column(slf.get())?)?;
        let restore = table.get_type().getattr("column")?;
        Ok((restore, (table.into_any(), 0)))
    }

    /// Returns the first values as text for people to read.
    fn _texts(&self, py: Python<'_>, rows: usize) -> PyResult<Vec<String>> {
        let options = FormatOptions::new()
            .with_null("null")
            .with_display_error(true);
        let mut texts = Vec::new();
        for chunk in &self.part(0, rows).chunks {
            for slot in 0..chunk.len() {
                let is_uuid = self.field.extension_type_name() == Some("arrow.uuid");
                texts.push(match ArrayFormatter::try_new(chunk, &options) {
                    Ok(formatter) if !is_uuid => guarded(|| Ok(formatter.value(slot).to_string()))?,
                    _ => scalar::of_field(py, &self.field, chunk, slot)?.to_string(),
                });
            }
        }
        Ok(texts)
    }

    fn __repr__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let module = slf.py().import("herringbone._show")?;
        module.call_method1("column_text", (slf,))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyCapsule>> {
        Ok(to_schema_pycapsule(py, self.field.as_ref()).map_err(PyErr::from)?)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyCapsule>>,
    ) -> Result<Bound<'py, PyCapsule>> {
        export_column(py, self, requested_schema)
    }

    /// Returns a `pyarrow.ChunkedArray` that shares this column's memory.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        package(slf.py(), "pyarrow", "to_pyarrow()")?.call_method1("chunked_array", (slf,))
    }

    /// Returns a `polars.Series`, which shares this column's memory if polars has the same type.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let name = slf.get().name().to_owned();
        package(slf.py(), "polars", "to_polars()")?.call_method1("Series", (name, slf))
    }

    /// Returns a `pandas.Series`, for which pyarrow must be installed.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let table = Bound::new(slf.py(), Table::of_column(slf.get())?)?;
        let series = table.call_method0("to_pandas")?;
        series.get_item(slf.get().name())
    }
}

/// The NumPy type, the bytes of all values, and the bytes of a null mask.
type Values<'py> = (String, Bound<'py, PyBytes>, Option<Bound<'py, PyBytes>>);

/// Returns True or False.
pub(crate) fn truth(py: Python<'_>, is_true: bool) -> Result<Bound<'_, PyAny>> {
    Ok(is_true.into_pyobject(py)?.to_owned().into_any())
}

/// Returns the offset and length of a slice, and fails if one is negative.
pub(crate) fn range(offset: i64, length: Option<i64>) -> PyResult<(usize, usize)> {
    let checked = |name: &str, number: i64| {
        usize::try_from(number)
            .map_err(|_| PyValueError::new_err(format!("{name}={number} is negative")))
    };
    let length = length.map_or(Ok(usize::MAX), |length| checked("length", length))?;
    Ok((checked("offset", offset)?, length))
}

/// Returns the offset and length of a Python slice.
pub(crate) fn steps(slice: &Bound<'_, PySlice>, length: usize) -> PyResult<(usize, usize)> {
    let length = isize::try_from(length).map_err(|_| PyIndexError::new_err("too many rows"))?;
    let found = slice.indices(length)?;
    if found.step != 1 {
        return Err(PyValueError::new_err(format!(
            "a slice has the step {}; only 1 is possible",
            found.step
        )));
    }
    let offset = usize::try_from(found.start).unwrap_or_default();
    Ok((offset, found.slicelength))
}

/// Returns each chunk that has rows of a slice, as the chunk's number, the offset in it and the row
/// count.
pub(crate) fn parts(
    lengths: impl Iterator<Item = usize>,
    offset: usize,
    length: usize,
) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut before = 0_usize;
    let end = offset.saturating_add(length);
    lengths.enumerate().filter_map(move |(chunk, rows)| {
        let start = offset.clamp(before, before + rows) - before;
        let stop = end.clamp(before, before + rows) - before;
        before += rows;
        (stop > start).then(|| (chunk, start, stop - start))
    })
}

/// Returns true if two columns have the same name and the same type. An extension type is a part of
/// the type.
pub(crate) fn same_types(left: &FieldRef, right: &FieldRef) -> bool {
    let extension = |field: &FieldRef| {
        [EXTENSION_TYPE_NAME_KEY, EXTENSION_TYPE_METADATA_KEY]
            .map(|key| field.metadata().get(key).cloned().unwrap_or_default())
    };
    left.name() == right.name()
        && left.data_type() == right.data_type()
        && left.is_nullable() == right.is_nullable()
        && extension(left) == extension(right)
}

/// Returns true if two columns of one type have the same values, even if their chunks differ.
pub(crate) fn same_values(left: &[ArrayRef], right: &[ArrayRef]) -> bool {
    let rows = |chunks: &[ArrayRef]| chunks.iter().map(Array::len).sum::<usize>();
    if rows(left) != rows(right) {
        return false;
    }
    let (mut left, mut right) = (left.iter(), right.iter());
    let (mut one, mut other) = (left.next().cloned(), right.next().cloned());
    while let (Some(first), Some(second)) = (&one, &other) {
        let rows = min(first.len(), second.len());
        if first.slice(0, rows).as_ref() != second.slice(0, rows).as_ref() {
            return false;
        }
        let rest = |array: &ArrayRef| match array.len() - rows {
            0 => None,
            rest => Some(array.slice(rows, rest)),
        };
        (one, other) = (
            rest(first).or_else(|| left.next().cloned()),
            rest(second).or_else(|| right.next().cloned()),
        );
    }
    true
}

/// Returns the NumPy type for an Arrow type's values, or None if the values are objects.
fn numpy_type(data_type: &DataType) -> Option<String> {
    let unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    Some(match data_type {
        DataType::Boolean => "bool".into(),
        DataType::Date32 => "datetime64[D]".into(),
        DataType::Date64 => "datetime64[ms]".into(),
        DataType::Timestamp(of, _) => format!("datetime64[{}]", unit(of)),
        DataType::Duration(of) => format!("timedelta64[{}]", unit(of)),
        _ if data_type.is_integer() || data_type.is_floating() => {
            data_type.to_string().to_lowercase()
        }
        _ => return None,
    })
}

/// Appends the bytes of a chunk's values. We widen days to 8 bytes, because NumPy counts them in
/// that width.
fn push_values(chunk: &ArrayRef, values: &mut Vec<u8>) {
    if let Some(flags) = chunk.as_boolean_opt() {
        values.extend(flags.values().iter().map(u8::from));
        return;
    }
    let data = chunk.to_data();
    let width = data.data_type().primitive_width().unwrap_or_default();
    let bytes = data.buffers().first().map(|buffer| buffer.as_slice());
    let start = data.offset() * width;
    let bytes = bytes.and_then(|bytes| bytes.get(start..start + data.len() * width));
    let bytes = bytes.unwrap_or_default();
    if *data.data_type() != DataType::Date32 {
        values.extend_from_slice(bytes);
        return;
    }
    for day in bytes.as_chunks::<4>().0 {
        values.extend(i64::from(i32::from_ne_bytes(*day)).to_ne_bytes());
    }
}

/// Returns a schema with one field.
pub(crate) fn schema_of(field: &FieldRef) -> Schema {
    let schema = ArrowSchema::new_with_metadata(vec![field.clone()], HashMap::new());
    Schema::from(Arc::new(schema))
}
