//! Several files as one table, on this machine or in a filesystem of Python.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use herringbone::arrow::schema::Schema as ArrowSchema;
use herringbone::{Interrupt as _, OpenOptions};
use herringbone_dataset::{
    DatasetOptions, DatasetReadOptions, DatasetWriteOptions, DatasetWriter, Partitioning,
    SchemaFrom,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Result, detached};
use crate::interrupt::{self, WriteInterrupt};
use crate::listing::PythonListing;
use crate::metadata::FileMetaData;
use crate::read::{SchemaArguments, arguments, limits};
use crate::schema::{BytePairs, Schema, byte_pairs};
use crate::table::{Batches, RecordBatchReader, import};
use crate::{dictionary, keys, paths, write};

/// The files of directories, patterns and lists.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct Dataset {
    dataset: herringbone_dataset::Dataset,
    /// The filesystem of Python with the files, if they are not on this machine.
    listing: Option<PythonListing>,
    limits: herringbone::Limits,
    /// The binary metadata of the schema.
    bytes: BytePairs,
}

#[pymethods]
impl Dataset {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "these are keywords of Python")]
    #[pyo3(signature = (paths, *, listing=None, schema=None, partitioning=None, union=false, types=None, keys=None, limits=None))]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        listing: Option<Py<PyAny>>,
        schema: Option<Schema>,
        partitioning: Option<PartitioningArguments>,
        union: bool,
        types: Option<SchemaArguments>,
        keys: Option<&Bound<'_, PyDict>>,
        limits: Option<HashMap<String, u64>>,
    ) -> Result<Self> {
        interrupt::start(py)?;
        let split = |name: &str| name.split('.').map(str::to_owned).collect();
        let types = types.unwrap_or_default().options(&split)?;
        let options = DatasetOptions::new()
            .types(types)
            .partitioning(
                partitioning.map_or(Partitioning::None, PartitioningArguments::partitioning),
            )
            .schema(match (&schema, union) {
                (Some(schema), _) => SchemaFrom::Given(schema.arrow().clone()),
                (None, true) => SchemaFrom::Union,
                (None, false) => SchemaFrom::FirstFile,
            });
        let limits = self::limits(&limits.unwrap_or_default())?;
        let mut files = OpenOptions::new().limits(limits.clone());
        if let Some(keys) = keys {
            files = files.decryption(Some(Arc::new(keys::decryption(keys)?)), None);
        }
        let mut of_files = options.files.clone();
        of_files.open = files;
        let options = options.files(of_files);
        let listing = listing.map(PythonListing::new);
        let opened = detached(py, || {
            let mut dataset = open(&paths, listing.as_ref(), options.clone())?;
            if let Some(plain) = dictionary::plain(dataset.schema()) {
                let options = options.schema(SchemaFrom::Given(Arc::new(plain)));
                dataset = open(&paths, listing.as_ref(), options)?;
            }
            let bytes = match &schema {
                Some(schema) => schema.bytes().clone(),
                None => bytes_of_first_file(&dataset)?,
            };
            Ok((dataset, bytes))
        });
        let (dataset, bytes) = opened.map_err(|error| match &listing {
            Some(listing) => listing.cause(error),
            None => error,
        })?;
        Ok(Self {
            dataset,
            listing,
            limits,
            bytes,
        })
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(self.dataset.schema().clone(), self.bytes.clone())
    }

    #[getter]
    fn files(&self) -> Vec<String> {
        self.dataset
            .files()
            .iter()
            .map(|file| file.path().to_owned())
            .collect()
    }

    /// The partition columns of each file: their names, and the texts of their values.
    #[getter]
    fn partitions(&self) -> Vec<Vec<(String, Option<String>)>> {
        let of_file =
            |(name, value): (&str, Option<&str>)| (name.to_owned(), value.map(str::to_owned));
        let files = self.dataset.files().iter();
        files
            .map(|file| file.partition().map(of_file).collect())
            .collect()
    }

    /// Starts a read.
    fn read(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> Result<RecordBatchReader> {
        interrupt::start(py)?;
        let arguments = arguments(options)?;
        arguments.refuse_losses()?;
        let resolve = |name: &str| paths::resolve_in_arrow(self.dataset.schema(), name);
        let options = DatasetReadOptions::from(arguments.options(&resolve, &self.limits)?);
        let reader = detached(py, || Ok(self.dataset.read(options)?))?;
        let order = arguments.order(&resolve, &reader.schema())?;
        RecordBatchReader::new_of(
            Batches::Files(Box::new(reader), self.listing.clone()),
            order,
            self.bytes.clone(),
        )
    }

    /// Returns what pruning rules out, and the bytes to fetch, as sums over all files.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
    ) -> Result<Bound<'py, PyDict>> {
        interrupt::start(py)?;
        let resolve = |name: &str| paths::resolve_in_arrow(self.dataset.schema(), name);
        let options = arguments(options)?.options(&resolve, &self.limits)?;
        let sums = detached(py, || Ok(self.dataset.explain(options)?))?;
        let dict = PyDict::new(py);
        dict.set_item("files", sums.files)?;
        dict.set_item("files_ruled_out", sums.files_ruled_out)?;
        dict.set_item("row_groups", sums.row_groups)?;
        dict.set_item("rows", sums.rows)?;
        dict.set_item("rows_to_test", sums.undecided)?;
        dict.set_item("wanted_bytes", sums.wanted_bytes)?;
        dict.set_item("fetched_bytes", sums.fetched.bytes)?;
        dict.set_item("requests", sums.fetched.requests)?;
        Ok(dict)
    }
}

/// Opens the files at paths of this machine, or of a listing.
fn open(
    paths: &[PathBuf],
    listing: Option<&PythonListing>,
    options: DatasetOptions,
) -> Result<herringbone_dataset::Dataset> {
    let Some(listing) = listing else {
        return Ok(herringbone_dataset::Dataset::open_all(paths, options)?);
    };
    let paths = paths.iter().map(|path| path.to_string_lossy().into_owned());
    let paths: Vec<String> = paths.collect();
    let listing = Arc::new(listing.clone());
    Ok(herringbone_dataset::Dataset::open_listed(
        listing, &paths, options,
    )?)
}

/// Returns the binary metadata of the first file. The schema of the dataset has the others.
fn bytes_of_first_file(dataset: &herringbone_dataset::Dataset) -> Result<BytePairs> {
    let Some(first) = dataset.files().first() else {
        return Ok(BytePairs::new());
    };
    Ok(byte_pairs(&dataset.open_file(first)?.metadata_handle()))
}

/// The partition columns of a dataset.
#[derive(FromPyObject)]
struct PartitioningArguments {
    /// The names of the columns, if the names of directories are values alone.
    #[pyo3(item)]
    names: Option<Vec<String>>,
    /// The types of columns.
    #[pyo3(item)]
    types: Option<Schema>,
}

impl PartitioningArguments {
    fn partitioning(self) -> Partitioning {
        let types = self.types.map(Schema::into_arrow);
        match (self.names, types) {
            (Some(names), types) => Partitioning::Directories {
                names,
                types: types.unwrap_or_else(|| Arc::new(ArrowSchema::empty())),
            },
            (None, Some(types)) => Partitioning::Typed(types),
            (None, None) => Partitioning::Hive,
        }
    }
}

/// The number of rows to write between two questions for Ctrl-C.
const SLICE_ROWS: usize = 1 << 16;

/// Writes the rows of an object to files in directories by the values of columns. Returns pairs of path and metadata.
#[pyfunction]
pub(crate) fn write_dataset<'py>(
    data: &Bound<'py, PyAny>,
    root: PathBuf,
    partition_by: Vec<String>,
    options: &Bound<'py, PyDict>,
) -> Result<Bound<'py, PyList>> {
    let py = data.py();
    interrupt::start(py)?;
    let (reader, schema) = import(data)?;
    let ending = Arc::<WriteInterrupt>::default();
    let write = write::options(options, &schema)?.interrupt(ending.clone());
    let schema = schema.into_arrow();
    let options = DatasetWriteOptions::new()
        .write(write)
        .partition_by(partition_by);
    let files = detached(py, || {
        let mut writer = DatasetWriter::create(root, schema, options)?;
        for batch in reader {
            let batch = batch?;
            let mut first = 0;
            // A batch without rows is written, too.
            while first == 0 || first < batch.num_rows() {
                let rows = SLICE_ROWS.min(batch.num_rows() - first);
                writer.write(&batch.slice(first, rows))?;
                ending.check()?;
                first += rows.max(1);
            }
        }
        Ok(writer.finish()?)
    });
    let files = files.map_err(|error| ending.cause(error))?;
    let list = PyList::empty(py);
    for file in files {
        list.append((
            file.path,
            FileMetaData::of_written(file.metadata, Vec::new())?,
        ))?;
    }
    Ok(list)
}
