//! An open file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use herringbone::arrow::array::{Array, ArrayRef, RecordBatch, UInt64Array};
use herringbone::arrow::schema::{DataType, Field, Schema as ArrowSchema};
use herringbone::pruning::ColumnBounds;
use herringbone::source::Source as _;
use herringbone::{MetadataHandle, OpenOptions, ParquetFile, ReadOptions};
use herringbone_inspect::verify;
use herringbone_pipeline::ProcessPool;
use herringbone_remote::{Identity, Object, RemoteFile, RemoteOptions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Result, detached};
use crate::interrupt::{self, Interruptible};
use crate::metadata::FileMetaData;
use crate::read::{arguments, limits};
use crate::reader::{Batches, RecordBatchReader};
use crate::schema::{Schema, byte_pairs};
use crate::table::Table;
use crate::urls::Url;
use crate::{keys, paths, source};

/// An open file, which the Python module `herringbone` wraps.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct File {
    file: ParquetFile,
    /// The file's object for reads of coroutines, if it is at a URL.
    object: Option<(Arc<dyn Object>, Identity)>,
}

#[pymethods]
impl File {
    #[new]
    #[pyo3(signature = (source, *, keys=None, path=None, limits=None, metadata=None))]
    fn new(
        source: &Bound<'_, PyAny>,
        keys: Option<&Bound<'_, PyDict>>,
        path: Option<PathBuf>,
        limits: Option<HashMap<String, u64>>,
        metadata: Option<&Bound<'_, FileMetaData>>,
    ) -> Result<Self> {
        let py = source.py();
        interrupt::start(py)?;
        let mut options = OpenOptions::new().limits(self::limits(&limits.unwrap_or_default())?);
        if let Some(keys) = keys {
            let keys = keys::decryption(keys)?;
            options = options.decryption(Arc::new(keys));
            options.path = path;
        }
        let object = match source.cast::<Url>() {
            Ok(url) => {
                let url = url.get();
                Some(detached(py, || Ok(url.background_object()?))?)
            }
            Err(_) => None,
        };
        let source = Interruptible(source::open(source)?);
        let known = metadata.map(|metadata| metadata.get().handle());
        let file = detached(py, || match known {
            Some(known) => {
                let metadata = known.metadata().clone();
                let handle = MetadataHandle::new(metadata, source.len(), options.limits.clone())?;
                Ok(ParquetFile::with_metadata(source, handle)?)
            }
            None => Ok(ParquetFile::from_source(source, options)?),
        })?;
        Ok(Self { file, object })
    }

    #[getter]
    fn metadata(&self) -> FileMetaData {
        FileMetaData::new(self.file.metadata_handle())
    }

    /// Returns the Arrow schema that a read of all columns has.
    fn schema_arrow(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> Result<Schema> {
        let options = self.options(options)?;
        let schema = detached(py, || Ok(self.file.plan(&options)?.schema().clone()))?;
        Ok(Schema::new(
            schema,
            byte_pairs(&self.file.metadata_handle()),
        ))
    }

    /// Starts a read.
    fn read(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> Result<RecordBatchReader> {
        interrupt::start(py)?;
        let arguments = arguments(options)?;
        let resolve = |name: &str| paths::resolve(self.file.parquet_schema(), name);
        let options = arguments.options(&resolve)?;
        let reader = detached(py, || Ok(self.file.read(options)?))?;
        let order = arguments.order(&resolve, &reader.schema())?;
        let bytes = match arguments.wanted_schema() {
            Some(wanted) => wanted.bytes().clone(),
            None => byte_pairs(&self.file.metadata_handle()),
        };
        RecordBatchReader::new_of(Batches::File(Box::new(reader)), order, bytes)
    }

    /// Starts a read for a coroutine, which does not wait for requests. Returns None if the file is
    /// not at a URL.
    fn stream(
        &self,
        py: Python<'_>,
        options: &Bound<'_, PyDict>,
    ) -> Result<Option<RecordBatchReader>> {
        let Some((object, identity)) = &self.object else {
            return Ok(None);
        };
        let arguments = arguments(options)?;
        let resolve = |name: &str| paths::resolve(self.file.parquet_schema(), name);
        let mut options = arguments.options(&resolve)?;
        if options.threads != 1 {
            options.spawn = Some(Arc::new(ProcessPool::new(options.threads)));
        }
        let handle = self.file.metadata_handle();
        let stream = detached(py, || {
            let options_of_file = RemoteOptions::new();
            let file = RemoteFile::with_metadata(
                object.clone(),
                identity.clone(),
                handle.clone(),
                options_of_file,
            )?;
            Ok(file.read(options)?)
        })?;
        let order = arguments.order(&resolve, &stream.schema())?;
        let bytes = match arguments.wanted_schema() {
            Some(wanted) => wanted.bytes().clone(),
            None => byte_pairs(&handle),
        };
        RecordBatchReader::new_of(Batches::Url(Box::new(stream)), order, bytes).map(Some)
    }

    /// Returns a dict per row group, which has the rows that pruning rules out and the bytes to
    /// fetch.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
    ) -> Result<Bound<'py, PyList>> {
        interrupt::start(py)?;
        let options = self.options(options)?;
        let explained = detached(py, || Ok(self.file.explain(&options)?))?;
        let list = PyList::empty(py);
        for row_group in explained {
            let dict = PyDict::new(py);
            dict.set_item("row_group", row_group.row_group)?;
            dict.set_item("rows", row_group.rows)?;
            let steps = PyList::empty(py);
            for step in &row_group.steps {
                let part = PyDict::new(py);
                part.set_item("step", step_name(step.step))?;
                part.set_item("ruled_out", step.ruled_out)?;
                part.set_item("accepted", step.accepted)?;
                part.set_item("bytes", step.bytes)?;
                steps.append(part)?;
            }
            dict.set_item("steps", steps)?;
            dict.set_item("rows_to_test", row_group.undecided())?;
            dict.set_item("wanted_bytes", row_group.wanted_bytes)?;
            dict.set_item("fetched_bytes", row_group.fetched.bytes)?;
            dict.set_item("requests", row_group.fetched.requests)?;
            list.append(dict)?;
        }
        Ok(list)
    }

    /// Checks everything that the file claims about itself, and returns a dict per finding.
    #[pyo3(signature = (threads=0))]
    fn verify<'py>(&self, py: Python<'py>, threads: usize) -> Result<Bound<'py, PyList>> {
        interrupt::start(py)?;
        let findings = detached(py, || {
            let mut verify = herringbone_inspect::verify(&self.file).threads(threads);
            let mut findings = Vec::new();
            while let Some(part) = verify.next_part()? {
                findings.extend(part);
            }
            Ok(findings)
        })?;
        let list = PyList::empty(py);
        for finding in findings {
            list.append(finding_dict(py, &finding)?)?;
        }
        Ok(list)
    }

    /// Returns a column's bounds and counts, as a table with one row per row group.
    fn row_group_bounds(&self, py: Python<'_>, column: &str) -> Result<Table> {
        let leaf = self.leaf(column)?;
        bounds_table(&detached(py, || Ok(self.file.row_group_bounds(leaf)?))?)
    }

    /// Returns a column's bounds and counts, as a table with one row per page, or None if there is
    /// no page index.
    fn page_bounds(&self, py: Python<'_>, row_group: usize, column: &str) -> Result<Option<Table>> {
        interrupt::start(py)?;
        let leaf = self.leaf(column)?;
        let bounds = detached(py, || Ok(self.file.page_bounds(row_group, leaf)?))?;
        bounds.map(|bounds| bounds_table(&bounds)).transpose()
    }
}

impl File {
    /// Returns the open file.
    pub(crate) fn parquet(&self) -> &ParquetFile {
        &self.file
    }

    fn options(&self, options: &Bound<'_, PyDict>) -> Result<ReadOptions> {
        let resolve = |name: &str| paths::resolve(self.file.parquet_schema(), name);
        arguments(options)?.options(&resolve)
    }

    fn leaf(&self, column: &str) -> Result<usize> {
        let schema = self.file.parquet_schema();
        Ok(schema.leaf_at(paths::resolve(schema, column))?)
    }
}

/// Returns the Arrow schema for metadata without its file.
pub(crate) fn schema_of(handle: &MetadataHandle) -> Result<Schema> {
    let options = ReadOptions::new()
        .extension(herringbone::geospatial::Geospatial::new())
        .extension(herringbone::variant::extension::VariantExtension::new());
    let schema = handle.plan(&options)?.schema().clone();
    Ok(Schema::new(schema, byte_pairs(handle)))
}

fn step_name(step: herringbone::filter::PruningStep) -> String {
    format!("{step:?}")
}

fn finding_dict<'py>(py: Python<'py>, finding: &verify::Finding) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("severity", finding.severity.to_string())?;
    dict.set_item("kind", finding.kind.to_string())?;
    dict.set_item("message", &finding.message)?;
    dict.set_item("row_group", finding.location.row_group)?;
    dict.set_item("column", finding.location.column.as_deref())?;
    dict.set_item("page", finding.location.page)?;
    dict.set_item("offset", finding.location.offset)?;
    Ok(dict)
}

fn bounds_table(bounds: &ColumnBounds) -> Result<Table> {
    let counts = |counts: &UInt64Array| Arc::new(counts.clone()) as ArrayRef;
    let flags =
        |flags: &herringbone::arrow::array::BooleanArray| Arc::new(flags.clone()) as ArrayRef;
    let columns = [
        ("min", bounds.min.clone()),
        ("max", bounds.max.clone()),
        ("is_min_exact", flags(&bounds.is_min_exact)),
        ("is_max_exact", flags(&bounds.is_max_exact)),
        ("null_count", counts(&bounds.null_counts)),
        ("nan_count", counts(&bounds.nan_counts)),
        ("distinct_count", counts(&bounds.distinct_counts)),
        ("row_count", counts(&bounds.row_counts)),
    ];
    let field = |name: &str, kind: &DataType| Field::new(name, kind.clone(), true);
    let fields: Vec<_> = columns
        .iter()
        .map(|(name, array)| field(name, array.data_type()))
        .collect();
    let schema = Arc::new(ArrowSchema::new(fields));
    let arrays = columns.into_iter().map(|(_, array)| array).collect();
    Ok(Table::new(
        vec![RecordBatch::try_new(schema.clone(), arrays)?],
        schema.into(),
    ))
}
