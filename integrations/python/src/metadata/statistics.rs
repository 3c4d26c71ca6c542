//! `Statistics` of a column chunk.

use herringbone::MetadataHandle;
use herringbone::arrow::array::{Array as _, ArrayRef};
use herringbone::format::{ColumnMetaData, Type};
use herringbone::pruning::ColumnBoundsDecoder;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::{ParquetLogicalType, lines, same, schema};
use crate::error::Result;
use crate::scalar::to_python;

/// A column chunk's bounds and counts, where bounds that cannot be trusted are None.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct Statistics {
    handle: MetadataHandle,
    leaf: usize,
    min: ArrayRef,
    max: ArrayRef,
    raw: herringbone::format::Statistics,
    num_values: i64,
    physical_type: Type,
}

impl Statistics {
    pub(super) fn of_chunk(
        handle: &MetadataHandle,
        meta: &ColumnMetaData,
        row_group: usize,
        leaf: usize,
    ) -> Result<Option<Self>> {
        let Some(raw) = meta.statistics.clone() else {
            return Ok(None);
        };
        let schema = handle.parquet_schema();
        let decoder = ColumnBoundsDecoder::new(handle.metadata(), schema, leaf)?;
        let bounds = decoder.row_groups(handle.metadata(), [row_group])?;
        let num_values = meta.num_values - raw.null_count.unwrap_or_default();
        Ok(Some(Self {
            handle: handle.clone(),
            leaf,
            min: bounds.min,
            max: bounds.max,
            raw,
            num_values,
            physical_type: meta.type_,
        }))
    }

    fn raw<'py>(&self, py: Python<'py>, bound: Option<&Vec<u8>>) -> PyResult<Bound<'py, PyAny>> {
        let Some(bytes) = bound else {
            return Ok(py.None().into_bound(py));
        };
        let value: Option<Bound<'py, PyAny>> = match (self.physical_type, bytes.as_slice()) {
            (Type::Boolean, [byte]) => Some((*byte != 0).into_pyobject(py)?.to_owned().into_any()),
            (Type::Int32, &[a, b, c, d]) => Some(
                i32::from_le_bytes([a, b, c, d])
                    .into_pyobject(py)?
                    .into_any(),
            ),
            (Type::Float, &[a, b, c, d]) => Some(
                f32::from_le_bytes([a, b, c, d])
                    .into_pyobject(py)?
                    .into_any(),
            ),
            (Type::Int64, &[a, b, c, d, e, f, g, h]) => Some(
                i64::from_le_bytes([a, b, c, d, e, f, g, h])
                    .into_pyobject(py)?
                    .into_any(),
            ),
            (Type::Double, &[a, b, c, d, e, f, g, h]) => Some(
                f64::from_le_bytes([a, b, c, d, e, f, g, h])
                    .into_pyobject(py)?
                    .into_any(),
            ),
            _ => None,
        };
        Ok(value.unwrap_or_else(|| PyBytes::new(py, bytes).into_any()))
    }
}

#[pymethods]
impl Statistics {
    /// True if there are bounds.
    #[getter]
    fn has_min_max(&self) -> bool {
        self.min.is_valid(0) && self.max.is_valid(0)
    }

    /// The lower bound, or None.
    #[getter]
    fn min<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.min, 0)
    }

    /// The upper bound, or None.
    #[getter]
    fn max<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.max, 0)
    }

    /// The lower bound as a value of its physical type.
    #[getter]
    fn min_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.raw(py, self.raw.min_value.as_ref().or(self.raw.min.as_ref()))
    }

    /// The upper bound as a value of its physical type.
    #[getter]
    fn max_raw<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.raw(py, self.raw.max_value.as_ref().or(self.raw.max.as_ref()))
    }

    /// True if the number of nulls is known.
    #[getter]
    fn has_null_count(&self) -> bool {
        self.raw.null_count.is_some()
    }

    /// The number of nulls, or None.
    #[getter]
    fn null_count(&self) -> Option<i64> {
        self.raw.null_count
    }

    /// True if the number of distinct values is known.
    #[getter]
    fn has_distinct_count(&self) -> bool {
        self.raw.distinct_count.is_some()
    }

    /// The number of distinct values, or None.
    #[getter]
    fn distinct_count(&self) -> Option<i64> {
        self.raw.distinct_count
    }

    /// The number of non-null values.
    #[getter]
    fn num_values(&self) -> i64 {
        self.num_values
    }

    /// The column's physical type.
    #[getter]
    fn physical_type(&self) -> String {
        self.physical_type.to_string()
    }

    /// The column's logical type.
    #[getter]
    fn logical_type(&self) -> ParquetLogicalType {
        let element = self.handle.parquet_schema().element(self.leaf);
        ParquetLogicalType::of(element)
    }

    /// The column's converted type as in older files, or NONE.
    #[getter]
    fn converted_type(&self) -> String {
        schema::converted_type(self.handle.parquet_schema().element(self.leaf))
    }

    /// Returns the statistics as a dict in pyarrow's form.
    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("has_min_max", self.has_min_max())?;
        dict.set_item("min", self.min(py)?)?;
        dict.set_item("max", self.max(py)?)?;
        dict.set_item("null_count", self.null_count())?;
        dict.set_item("distinct_count", self.distinct_count())?;
        dict.set_item("num_values", self.num_values())?;
        dict.set_item("physical_type", self.physical_type())?;
        Ok(dict)
    }

    /// Returns true if other statistics are equal.
    fn equals(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let other = same::<Self>(other)?;
        Ok(self.raw == other.raw
            && self.physical_type == other.physical_type
            && self.num_values == other.num_values)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let count = |count: Option<i64>| count.map_or("None".to_owned(), |count| count.to_string());
        Ok(lines(
            "<herringbone.Statistics>",
            &[
                (
                    "has_min_max",
                    if self.has_min_max() { "True" } else { "False" }.to_owned(),
                ),
                ("min", self.min(py)?.to_string()),
                ("max", self.max(py)?.to_string()),
                ("null_count", count(self.null_count())),
                ("distinct_count", count(self.distinct_count())),
                ("num_values", self.num_values.to_string()),
                ("physical_type", self.physical_type()),
                ("logical_type", self.logical_type().name()),
                ("converted_type (legacy)", self.converted_type()),
            ],
        ))
    }
}
