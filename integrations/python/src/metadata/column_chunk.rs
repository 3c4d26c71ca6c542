//! `ColumnChunkMetaData`.

use std::sync::Arc;

use herringbone::MetadataHandle;
use herringbone::format::{ColumnChunk, ColumnMetaData, Error, RowGroup};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use super::{Statistics, hash_of, lines, same};
use crate::error::Result;

/// A column chunk's metadata.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct ColumnChunkMetaData {
    handle: MetadataHandle,
    row_group: Arc<RowGroup>,
    ordinal: usize,
    leaf: usize,
}

impl ColumnChunkMetaData {
    pub(super) fn new(
        handle: MetadataHandle,
        row_group: Arc<RowGroup>,
        ordinal: usize,
        leaf: usize,
    ) -> Self {
        Self {
            handle,
            row_group,
            ordinal,
            leaf,
        }
    }

    fn chunk(&self) -> Result<&ColumnChunk> {
        let missing = || Error::corrupt("the row group lacks a column").into();
        self.row_group.columns.get(self.leaf).ok_or_else(missing)
    }

    fn meta(&self) -> Result<&ColumnMetaData> {
        let encrypted = || {
            let error = Error::new(
                herringbone::ErrorKind::Key,
                "the metadata of the column is encrypted",
            );
            error.in_row_group(self.ordinal).into()
        };
        self.chunk()?.meta_data.as_ref().ok_or_else(encrypted)
    }
}

#[pymethods]
impl ColumnChunkMetaData {
    /// The offset of the column chunk metadata.
    #[getter]
    fn file_offset(&self) -> Result<i64> {
        Ok(self.chunk()?.file_offset)
    }

    /// The path of the file that has the pages, or an empty text for this file.
    #[getter]
    fn file_path(&self) -> Result<String> {
        Ok(self.chunk()?.file_path.clone().unwrap_or_default())
    }

    /// The physical type.
    #[getter]
    fn physical_type(&self) -> Result<String> {
        Ok(self.meta()?.type_.to_string())
    }

    /// The number of values, including nulls.
    #[getter]
    fn num_values(&self) -> Result<i64> {
        Ok(self.meta()?.num_values)
    }

    /// The column path, with dots between the names of fields.
    #[getter]
    fn path_in_schema(&self) -> Result<String> {
        Ok(self.meta()?.path_in_schema.join("."))
    }

    /// True if there are statistics.
    #[getter]
    fn is_stats_set(&self) -> Result<bool> {
        Ok(self.meta()?.statistics.is_some())
    }

    /// The bounds and counts, or None.
    #[getter]
    fn statistics(&self) -> Result<Option<Statistics>> {
        Statistics::of_chunk(&self.handle, self.meta()?, self.ordinal, self.leaf)
    }

    /// True if there are bounds for geometries.
    #[getter]
    fn is_geo_stats_set(&self) -> Result<bool> {
        Ok(self.meta()?.geospatial_statistics.is_some())
    }

    /// The bounding box and the geometry types as a dict, or None.
    #[getter]
    fn geo_statistics<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyDict>>> {
        let Some(statistics) = &self.meta()?.geospatial_statistics else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        dict.set_item("geospatial_types", statistics.geospatial_types.clone())?;
        if let Some(bbox) = &statistics.bbox {
            for (name, value) in [
                ("xmin", Some(bbox.xmin)),
                ("xmax", Some(bbox.xmax)),
                ("ymin", Some(bbox.ymin)),
                ("ymax", Some(bbox.ymax)),
                ("zmin", bbox.zmin),
                ("zmax", bbox.zmax),
                ("mmin", bbox.mmin),
                ("mmax", bbox.mmax),
            ] {
                dict.set_item(name, value)?;
            }
        }
        Ok(Some(dict))
    }

    /// The codec's name.
    #[getter]
    fn compression(&self) -> Result<String> {
        let codec = self.meta()?.codec.to_string();
        // pyarrow has this name for the codec.
        Ok(if codec == "LZ4_RAW" {
            "LZ4".to_owned()
        } else {
            codec
        })
    }

    /// The encodings of the pages.
    #[getter]
    fn encodings<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyTuple>> {
        let encodings = self.meta()?.encodings.iter();
        Ok(PyTuple::new(
            py,
            encodings.map(ToString::to_string).collect::<Vec<_>>(),
        )?)
    }

    /// True if there is a dictionary page.
    #[getter]
    fn has_dictionary_page(&self) -> Result<bool> {
        Ok(self.dictionary_page_offset()?.is_some())
    }

    /// The offset of the dictionary page, or None.
    #[getter]
    fn dictionary_page_offset(&self) -> Result<Option<i64>> {
        Ok(self
            .meta()?
            .dictionary_page_offset
            .filter(|offset| *offset > 0))
    }

    /// The offset of the first data page.
    #[getter]
    fn data_page_offset(&self) -> Result<i64> {
        Ok(self.meta()?.data_page_offset)
    }

    /// True if there is an index page, which no known writer makes.
    #[getter]
    fn has_index_page(&self) -> Result<bool> {
        Ok(self.meta()?.index_page_offset.is_some())
    }

    /// The offset of the index page, or None.
    #[getter]
    fn index_page_offset(&self) -> Result<Option<i64>> {
        Ok(self.meta()?.index_page_offset)
    }

    /// The byte count of all pages in the file.
    #[getter]
    fn total_compressed_size(&self) -> Result<i64> {
        Ok(self.meta()?.total_compressed_size)
    }

    /// The byte count of all pages before compression.
    #[getter]
    fn total_uncompressed_size(&self) -> Result<i64> {
        Ok(self.meta()?.total_uncompressed_size)
    }

    /// True if there are page offsets.
    #[getter]
    fn has_offset_index(&self) -> Result<bool> {
        Ok(self.chunk()?.offset_index_offset.is_some())
    }

    /// True if there are page bounds.
    #[getter]
    fn has_column_index(&self) -> Result<bool> {
        Ok(self.chunk()?.column_index_offset.is_some())
    }

    /// The bloom filter offset, or None.
    #[getter]
    fn bloom_filter_offset(&self) -> Result<Option<i64>> {
        Ok(self.meta()?.bloom_filter_offset)
    }

    /// The bloom filter byte count, or None.
    #[getter]
    fn bloom_filter_length(&self) -> Result<Option<i32>> {
        Ok(self.meta()?.bloom_filter_length)
    }

    /// The column chunk's key-value pairs, or None.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> Result<Option<Bound<'py, PyDict>>> {
        let Some(pairs) = &self.meta()?.key_value_metadata else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for pair in pairs {
            let value = pair.value.as_deref().unwrap_or_default();
            dict.set_item(
                PyBytes::new(py, pair.key.as_bytes()),
                PyBytes::new(py, value),
            )?;
        }
        Ok(Some(dict))
    }

    /// Returns the metadata as a dict in pyarrow's form.
    pub(super) fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("file_offset", self.file_offset()?)?;
        dict.set_item("file_path", self.file_path()?)?;
        dict.set_item("physical_type", self.physical_type()?)?;
        dict.set_item("num_values", self.num_values()?)?;
        dict.set_item("path_in_schema", self.path_in_schema()?)?;
        dict.set_item("is_stats_set", self.is_stats_set()?)?;
        let statistics = self.statistics()?;
        dict.set_item(
            "statistics",
            statistics
                .map(|statistics| statistics.to_dict(py))
                .transpose()?,
        )?;
        dict.set_item("geo_statistics", self.geo_statistics(py)?)?;
        dict.set_item("compression", self.compression()?)?;
        dict.set_item("encodings", self.encodings(py)?)?;
        dict.set_item("has_dictionary_page", self.has_dictionary_page()?)?;
        dict.set_item("dictionary_page_offset", self.dictionary_page_offset()?)?;
        dict.set_item("data_page_offset", self.data_page_offset()?)?;
        dict.set_item("total_compressed_size", self.total_compressed_size()?)?;
        dict.set_item("total_uncompressed_size", self.total_uncompressed_size()?)?;
        dict.set_item("bloom_filter_offset", self.bloom_filter_offset()?)?;
        dict.set_item("bloom_filter_length", self.bloom_filter_length()?)?;
        Ok(dict)
    }

    /// Returns true if another column chunk has equal metadata.
    fn equals(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        let other = same::<Self>(other)?;
        Ok(self.chunk()? == other.chunk()?)
    }

    fn __hash__(&self) -> Result<u64> {
        Ok(hash_of(&format!("{:?}", self.chunk()?)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    fn __repr__(&self, py: Python<'_>) -> Result<String> {
        let pairs = self.to_dict(py)?;
        let mut text = "<herringbone.ColumnChunkMetaData>".to_owned();
        for (name, value) in pairs {
            text.push_str(&format!("\n  {name}: {value}"));
        }
        Ok(lines(&text, &[]))
    }
}
