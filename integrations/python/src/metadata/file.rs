//! `FileMetaData` and `RowGroupMetaData`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use herringbone::format::thrift::CompactWriter;
use herringbone::format::{FileMetadata, FileMetadataParts, RowGroup};
use herringbone::{Limits, MetadataHandle};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::{ColumnChunkMetaData, ParquetSchema, hash_of, index, lines, same};
use crate::error::{Failure, Result, argument, detached};
use crate::sink::Sink;

/// The metadata in a file's footer.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct FileMetaData {
    handle: Mutex<MetadataHandle>,
    /// True if the metadata has been changed since it was read from its file.
    is_changed: AtomicBool,
    /// The writer's notes on values that could not be written exactly.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// True if schemas and sorting columns are returned as pyarrow's objects.
    is_for_pyarrow: bool,
}

impl FileMetaData {
    pub(crate) fn new(handle: MetadataHandle) -> Self {
        Self {
            handle: Mutex::new(handle),
            is_changed: AtomicBool::new(false),
            warnings: Vec::new(),
            is_for_pyarrow: false,
        }
    }

    /// Creates the metadata for a new file.
    pub(crate) fn of_written(metadata: FileMetadata, warnings: Vec<String>) -> Result<Self> {
        let handle = MetadataHandle::new(metadata, u64::MAX, Limits::default())?;
        Ok(Self {
            warnings,
            ..Self::new(handle)
        })
    }

    pub(crate) fn handle(&self) -> MetadataHandle {
        self.handle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the metadata by a changed copy.
    fn change(&self, change: impl FnOnce(&mut FileMetadataParts) -> Result<()>) -> Result<()> {
        let handle = self.handle();
        let mut parts = parts(handle.metadata())?;
        change(&mut parts)?;
        let bytes = encoded(&parts);
        let metadata = FileMetadata::decode(Bytes::from(bytes), 0, handle.limits())?;
        let changed = MetadataHandle::new(metadata, handle.file_length(), handle.limits().clone())?;
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = changed;
        self.is_changed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

/// Returns all of the metadata's fields.
fn parts(metadata: &FileMetadata) -> Result<FileMetadataParts> {
    let mut row_groups = Vec::with_capacity(metadata.num_row_groups());
    for row_group in 0..metadata.num_row_groups() {
        row_groups.push(metadata.row_group(row_group)?);
    }
    let pairs = metadata.key_value_metadata();
    let schema = metadata.schema().to_vec();
    Ok(
        FileMetadataParts::new(metadata.version(), schema, metadata.num_rows(), row_groups)
            .key_value_metadata((!pairs.is_empty()).then(|| pairs.to_vec()))
            .created_by(metadata.created_by().map(str::to_owned))
            .column_orders(metadata.column_orders().map(<[_]>::to_vec)),
    )
}

/// Returns the error for row groups that have another schema, with pyarrow's class and text.
fn different_schemas(own: &MetadataHandle, other: &MetadataHandle) -> Failure {
    let (own, other) = (own.parquet_schema(), other.parquet_schema());
    let (columns, others) = (own.leaves().len(), other.leaves().len());
    let is_same = |leaf: usize| {
        own.element(leaf) == other.element(leaf) && own.path(leaf) == other.path(leaf)
    };
    let what = match (0..columns.min(others)).find(|leaf| !is_same(*leaf)) {
        _ if columns != others => {
            format!("This schema has {columns} columns, other has {others}")
        }
        Some(leaf) => format!("The two columns with index {leaf} differ."),
        None => "The groups around the columns differ.".to_owned(),
    };
    PyRuntimeError::new_err(format!("AppendRowGroups requires equal schemas.\n{what}")).into()
}

fn encoded(parts: &FileMetadataParts) -> Vec<u8> {
    let mut writer = CompactWriter::new();
    parts.encode(&mut writer);
    writer.finish()
}

#[pymethods]
impl FileMetaData {
    /// The program that wrote the file.
    #[getter]
    fn created_by(&self) -> String {
        self.handle()
            .metadata()
            .created_by()
            .unwrap_or_default()
            .to_owned()
    }

    /// The number of columns, not counting groups.
    #[getter]
    fn num_columns(&self) -> usize {
        self.handle().parquet_schema().leaves().len()
    }

    /// The number of row groups.
    #[getter]
    fn num_row_groups(&self) -> usize {
        self.handle().metadata().num_row_groups()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> i64 {
        self.handle().metadata().num_rows()
    }

    /// The format's version, which is '1.0' or '2.6'.
    #[getter]
    fn format_version(&self) -> &'static str {
        match self.handle().metadata().version() {
            1 => "1.0",
            _ => "2.6",
        }
    }

    /// The metadata's size in the file, in bytes, or 0 if it differs from its file's.
    #[getter]
    fn serialized_size(&self) -> usize {
        match self.is_changed.load(Ordering::Relaxed) {
            true => 0,
            false => self.handle().metadata().encoded_len(),
        }
    }

    /// The Parquet schema.
    #[getter]
    fn schema(&self) -> ParquetSchema {
        ParquetSchema::new(self.handle(), self.is_for_pyarrow)
    }

    /// The key-value pairs in the footer, or None.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let handle = self.handle();
        let pairs = handle.metadata().key_value_metadata();
        if pairs.is_empty() {
            return Ok(None);
        }
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

    /// Returns the metadata of the row group with this number.
    fn row_group(&self, i: isize) -> Result<RowGroupMetaData> {
        let handle = self.handle();
        let ordinal = index("row group", i, handle.metadata().num_row_groups())?;
        let row_group = Arc::new(handle.metadata().row_group(ordinal)?);
        Ok(RowGroupMetaData {
            handle,
            row_group,
            ordinal,
            is_for_pyarrow: self.is_for_pyarrow,
        })
    }

    /// Returns this metadata with schemas and sorting columns as pyarrow's objects.
    fn for_pyarrow(&self) -> Self {
        Self {
            handle: Mutex::new(self.handle()),
            is_changed: AtomicBool::new(self.is_changed.load(Ordering::Relaxed)),
            warnings: self.warnings.clone(),
            is_for_pyarrow: true,
        }
    }

    /// Returns the metadata as a dict in pyarrow's form.
    fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("created_by", self.created_by())?;
        dict.set_item("num_columns", self.num_columns())?;
        dict.set_item("num_rows", self.num_rows())?;
        dict.set_item("num_row_groups", self.num_row_groups())?;
        let row_groups = PyList::empty(py);
        for row_group in 0..self.num_row_groups() {
            row_groups.append(self.row_group(row_group as isize)?.to_dict(py)?)?;
        }
        dict.set_item("row_groups", row_groups)?;
        dict.set_item("format_version", self.format_version())?;
        dict.set_item("serialized_size", self.serialized_size())?;
        Ok(dict)
    }

    /// Returns true if two files have the same metadata.
    fn equals(&self, other: &Bound<'_, PyAny>) -> Result<bool> {
        let other = same::<Self>(other)?.handle();
        Ok(parts(self.handle().metadata())? == parts(other.metadata())?)
    }

    fn __hash__(&self) -> Result<u64> {
        Ok(hash_of(&encoded(&parts(self.handle().metadata())?)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    /// Sets the path of the file that has the column chunks, for a `_metadata` file.
    fn set_file_path(&self, path: &str) -> Result<()> {
        self.change(|parts| {
            for chunk in parts
                .row_groups
                .iter_mut()
                .flat_map(|row_group| &mut row_group.columns)
            {
                chunk.file_path = Some(path.to_owned());
            }
            Ok(())
        })
    }

    /// Appends the row groups of another file with the same schema, for a `_metadata` file.
    fn append_row_groups(&self, other: &Bound<'_, PyAny>) -> Result<()> {
        let other = same::<Self>(other)?.handle();
        let more = parts(other.metadata())?;
        let own = self.handle();
        self.change(|parts| {
            if parts.schema != more.schema {
                return Err(different_schemas(&own, &other));
            }
            parts.num_rows = parts.num_rows.saturating_add(more.num_rows);
            parts.row_groups.extend(more.row_groups);
            Ok(())
        })
    }

    /// Writes a file that has nothing but this metadata.
    fn write_metadata_file(&self, where_: &Bound<'_, PyAny>) -> Result<()> {
        let mut sink = Sink::open(where_)?;
        detached(where_.py(), || {
            use std::io::Write as _;
            let bytes = encoded(&parts(self.handle().metadata())?);
            let length =
                u32::try_from(bytes.len()).map_err(|_| argument("the metadata exceeds 4 GiB"))?;
            sink.write_all(b"PAR1")?;
            sink.write_all(&bytes)?;
            sink.write_all(&length.to_le_bytes())?;
            sink.write_all(b"PAR1")?;
            sink.commit()
        })
    }

    /// Pickles the metadata as its bytes.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> Result<Bound<'py, PyTuple>> {
        let py = slf.py();
        let bytes = encoded(&parts(slf.get().handle().metadata())?);
        let class = py.get_type::<Self>();
        let from = class.getattr("_from_bytes")?;
        Ok(PyTuple::new(
            py,
            [
                from,
                PyTuple::new(py, [PyBytes::new(py, &bytes)])?.into_any(),
            ],
        )?)
    }

    #[staticmethod]
    fn _from_bytes(bytes: &[u8]) -> Result<Self> {
        let metadata = FileMetadata::decode(Bytes::copy_from_slice(bytes), 0, &Limits::default())?;
        Self::of_written(metadata, Vec::new())
    }

    fn __repr__(&self) -> String {
        lines(
            "<herringbone.FileMetaData>",
            &[
                ("created_by", self.created_by()),
                ("num_columns", self.num_columns().to_string()),
                ("num_rows", self.num_rows().to_string()),
                ("num_row_groups", self.num_row_groups().to_string()),
                ("format_version", self.format_version().to_owned()),
                ("serialized_size", self.serialized_size().to_string()),
            ],
        )
    }
}

/// A row group's metadata.
#[pyclass(module = "herringbone", frozen)]
pub(crate) struct RowGroupMetaData {
    handle: MetadataHandle,
    row_group: Arc<RowGroup>,
    ordinal: usize,
    is_for_pyarrow: bool,
}

#[pymethods]
impl RowGroupMetaData {
    /// The number of columns, not counting groups.
    #[getter]
    fn num_columns(&self) -> usize {
        self.row_group.columns.len()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> i64 {
        self.row_group.num_rows
    }

    /// The byte count of all pages before compression.
    #[getter]
    fn total_byte_size(&self) -> i64 {
        self.row_group.total_byte_size
    }

    /// The columns by which the rows are sorted.
    #[getter]
    fn sorting_columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let module = match self.is_for_pyarrow {
            true => "pyarrow.parquet",
            false => "herringbone._sorting",
        };
        let class = py.import(module)?.getattr("SortingColumn")?;
        let columns = self.row_group.sorting_columns.iter().flatten();
        let columns = columns
            .map(|column| class.call1((column.column_idx, column.descending, column.nulls_first)));
        PyTuple::new(py, columns.collect::<PyResult<Vec<_>>>()?)
    }

    /// Returns the metadata of the column chunk with this number.
    fn column(&self, i: isize) -> Result<ColumnChunkMetaData> {
        let leaf = index("column", i, self.row_group.columns.len())?;
        Ok(ColumnChunkMetaData::new(
            self.handle.clone(),
            self.row_group.clone(),
            self.ordinal,
            leaf,
        ))
    }

    /// Returns the metadata as a dict in pyarrow's form.
    fn to_dict<'py>(&self, py: Python<'py>) -> Result<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("num_columns", self.num_columns())?;
        dict.set_item("num_rows", self.num_rows())?;
        dict.set_item("total_byte_size", self.total_byte_size())?;
        let columns = PyList::empty(py);
        for column in 0..self.num_columns() {
            columns.append(self.column(column as isize)?.to_dict(py)?)?;
        }
        dict.set_item("columns", columns)?;
        let sorting = PyList::empty(py);
        for column in self.sorting_columns(py)? {
            sorting.append(column.call_method0("to_dict")?)?;
        }
        dict.set_item("sorting_columns", sorting)?;
        Ok(dict)
    }

    /// Returns true if another row group has equal metadata.
    fn equals(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.row_group == same::<Self>(other)?.row_group)
    }

    fn __hash__(&self) -> Result<u64> {
        Ok(hash_of(&format!("{:?}", self.row_group)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        self.equals(other).unwrap_or(false)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(lines(
            "<herringbone.RowGroupMetaData>",
            &[
                ("num_columns", self.num_columns().to_string()),
                ("num_rows", self.num_rows().to_string()),
                ("total_byte_size", self.total_byte_size().to_string()),
                (
                    "sorting_columns",
                    self.sorting_columns(py)?.repr()?.to_string(),
                ),
            ],
        ))
    }
}
