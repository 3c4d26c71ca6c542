//! Several files as one table, which may be on this machine, at URLs or in a Python filesystem.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use herringbone::arrow::schema::Schema as ArrowSchema;
use herringbone::{Interrupt as _, OpenOptions};
use herringbone_dataset::urls::{UrlDirectory, UrlListing};
use herringbone_dataset::{
    DatasetOptions, DatasetReadOptions, DatasetWriteOptions, DatasetWriter, Listing, Partitioning,
    SchemaFrom,
};
use herringbone_pipeline::ProcessPool;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::error::{Failure, Result, detached};
use crate::interrupt::{self, WriteInterrupt};
use crate::listing::PythonListing;
use crate::metadata::FileMetaData;
use crate::read::{SchemaArguments, arguments, limits};
use crate::reader::{Batches, RecordBatchReader};
use crate::schema::{BytePairs, Schema, byte_pairs};
use crate::sink::PythonDirectory;
use crate::table::import;
use crate::urls::Url;
use crate::{dictionary, keys, paths, write};

/// The files that directories, patterns and lists lead to.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct Dataset {
    dataset: herringbone_dataset::Dataset,
    place: Place,
    /// The schema's binary metadata.
    bytes: BytePairs,
}

/// The place that has the files.
#[derive(Clone)]
enum Place {
    Local,
    Python(PythonListing),
    Urls(Arc<UrlListing>),
}

impl Place {
    /// Returns the Python exception that became this error, or the error itself if there was none.
    fn cause(&self, error: Failure) -> Failure {
        match self {
            Self::Python(listing) => listing.cause(error),
            Self::Local | Self::Urls(_) => error,
        }
    }
}

/// The dataset's paths or URLs.
#[derive(FromPyObject)]
enum Roots {
    Urls(Vec<Py<Url>>),
    Paths(Vec<PathBuf>),
}

#[pymethods]
impl Dataset {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "these are keywords of Python")]
    #[pyo3(signature = (paths, *, listing=None, schema=None, partitioning=None, union=false, types=None, keys=None, limits=None))]
    fn new(
        py: Python<'_>,
        paths: Roots,
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
        let mut files = OpenOptions::new().limits(limits);
        if let Some(keys) = keys {
            files = files.decryption(Arc::new(keys::decryption(keys)?));
        }
        let mut files_options = options.files.clone();
        files_options.open = files;
        let options = options.files(files_options);
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let (place, paths) = match (paths, listing) {
            (Roots::Urls(urls), _) => {
                let (listing, names) = UrlListing::new(urls.iter().map(|url| url.get().location()));
                let names = names.into_iter().map(PathBuf::from).collect();
                (Place::Urls(Arc::new(listing)), names)
            }
            (Roots::Paths(paths), Some(listing)) => {
                (Place::Python(PythonListing::new(listing)), paths)
            }
            (Roots::Paths(paths), None) => (Place::Local, paths),
        };
        let listed: Vec<String> = paths.iter().cloned().map(text).collect();
        let opened = detached(py, || {
            let mut dataset = open(&paths, &listed, &place, options.clone())?;
            if let Some(plain) = dictionary::plain(dataset.schema()) {
                let options = options.schema(SchemaFrom::Given(Arc::new(plain)));
                dataset = open(&paths, &listed, &place, options)?;
            }
            let bytes = match &schema {
                Some(schema) => schema.bytes().clone(),
                None => bytes_of_first_file(&dataset)?,
            };
            Ok((dataset, bytes))
        });
        let (dataset, bytes) = opened.map_err(|error| place.cause(error))?;
        Ok(Self {
            dataset,
            place,
            bytes,
        })
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema::new(self.dataset.schema().clone(), self.bytes.clone())
    }

    #[getter]
    fn files(&self) -> Vec<String> {
        let name = |path: &str| match &self.place {
            Place::Urls(listing) => listing.url_of(path),
            Place::Local | Place::Python(_) => path.to_owned(),
        };
        let files = self.dataset.files().iter();
        files.map(|file| name(file.path())).collect()
    }

    /// Returns the first file's URL, if the files are at URLs.
    fn first_url(&self) -> Result<Option<Url>> {
        match (&self.place, self.dataset.files().first()) {
            (Place::Urls(listing), Some(file)) => {
                Ok(Some(Url::at(listing.location_of(file.path())?)))
            }
            _ => Ok(None),
        }
    }

    /// The number of keys that store listings left out because they cannot be read, and the first
    /// of them.
    #[getter]
    fn left_out(&self) -> (u64, Vec<String>) {
        match &self.place {
            Place::Urls(listing) => listing.left_out(),
            Place::Local | Place::Python(_) => (0, Vec::new()),
        }
    }

    /// The partition columns of each file, as their names and the texts of their values.
    #[getter]
    fn partitions(&self) -> Vec<Vec<(String, Option<String>)>> {
        let key = |(name, value): (&str, Option<&str>)| (name.to_owned(), value.map(str::to_owned));
        let files = self.dataset.files().iter();
        files
            .map(|file| file.partition().map(key).collect())
            .collect()
    }

    /// Starts a read.
    fn read(&self, py: Python<'_>, options: &Bound<'_, PyDict>) -> Result<RecordBatchReader> {
        interrupt::start(py)?;
        let arguments = arguments(options)?;
        arguments.refuse_losses()?;
        let resolve = |name: &str| paths::resolve_in_arrow(self.dataset.schema(), name);
        let mut options = DatasetReadOptions::from(arguments.options(&resolve)?);
        if matches!(self.place, Place::Urls(_)) && options.read.threads != 1 {
            options.read.spawn = Some(Arc::new(ProcessPool::new(options.read.threads)));
        }
        let (batches, schema) = detached(py, || {
            Ok(match &self.place {
                Place::Urls(_) => {
                    let stream = self.dataset.stream(options)?;
                    let schema = stream.schema();
                    (Batches::Urls(Box::new(stream)), schema)
                }
                Place::Local | Place::Python(_) => {
                    let reader = self.dataset.read(options)?;
                    let schema = reader.schema();
                    let listing = match &self.place {
                        Place::Python(listing) => Some(listing.clone()),
                        Place::Local | Place::Urls(_) => None,
                    };
                    (Batches::Files(Box::new(reader), listing), schema)
                }
            })
        })?;
        let order = arguments.order(&resolve, &schema)?;
        RecordBatchReader::new_of(batches, order, self.bytes.clone())
    }

    /// Returns the rows that pruning rules out and the bytes to fetch, as sums over all files.
    fn explain<'py>(
        &self,
        py: Python<'py>,
        options: &Bound<'py, PyDict>,
    ) -> Result<Bound<'py, PyDict>> {
        interrupt::start(py)?;
        let resolve = |name: &str| paths::resolve_in_arrow(self.dataset.schema(), name);
        let options = arguments(options)?.options(&resolve)?;
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

/// Opens the files at paths.
fn open(
    paths: &[PathBuf],
    listed: &[String],
    place: &Place,
    options: DatasetOptions,
) -> Result<herringbone_dataset::Dataset> {
    let listing: Arc<dyn Listing> = match place {
        Place::Local => return Ok(herringbone_dataset::Dataset::open_all(paths, options)?),
        Place::Python(listing) => Arc::new(listing.clone()),
        Place::Urls(listing) => listing.clone(),
    };
    let opened = herringbone_dataset::Dataset::open_async(listing, listed, options);
    Ok(interrupt::block_on(opened)?)
}

/// Returns the first file's binary metadata, because all other metadata is in the dataset schema.
fn bytes_of_first_file(dataset: &herringbone_dataset::Dataset) -> Result<BytePairs> {
    let Some(first) = dataset.files().first() else {
        return Ok(BytePairs::new());
    };
    Ok(byte_pairs(&dataset.open_file(first)?.metadata_handle()))
}

/// The partition columns of a dataset.
#[derive(FromPyObject)]
struct PartitioningArguments {
    /// The column names, if directory names are values alone.
    #[pyo3(item)]
    names: Option<Vec<String>>,
    /// The column types.
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

/// The number of rows that we write between two checks for Ctrl-C.
const SLICE_ROWS: usize = 1 << 16;

/// The directory of a new dataset, as a URL, a path, or an object that creates files.
#[derive(FromPyObject)]
pub(crate) enum Root {
    Url(Py<Url>),
    Path(PathBuf),
    Python(Py<PyAny>),
}

/// The names and sizes of a new dataset's files.
#[derive(FromPyObject)]
pub(crate) struct FilesArguments {
    #[pyo3(item)]
    names: Option<String>,
    #[pyo3(item)]
    max_rows: Option<u64>,
    #[pyo3(item)]
    max_open: Option<usize>,
}

impl FilesArguments {
    fn options(self) -> DatasetWriteOptions {
        let mut options = DatasetWriteOptions::new();
        options.file_names = self.names;
        options.max_rows = self.max_rows.unwrap_or(options.max_rows);
        options.max_open_files = self.max_open.unwrap_or(options.max_open_files);
        options
    }
}

/// Writes an object's rows to files, in directories that the values of columns choose. Returns each
/// file's path, metadata and byte count.
#[pyfunction]
pub(crate) fn write_dataset<'py>(
    data: &Bound<'py, PyAny>,
    root: Root,
    partition_by: Vec<String>,
    options: &Bound<'py, PyDict>,
    files: FilesArguments,
) -> Result<Bound<'py, PyList>> {
    let py = data.py();
    interrupt::start(py)?;
    let (reader, schema) = import(data)?;
    let ending = Arc::<WriteInterrupt>::default();
    let write = write::options(options, &schema)?.interrupt(ending.clone());
    let schema = schema.into_arrow();
    let options = files.options().write(write).partition_by(partition_by);
    let files = detached(py, || {
        let mut writer = match root {
            Root::Url(url) => {
                let directory = UrlDirectory::new(url.get().location().clone());
                DatasetWriter::create_in(Arc::new(directory), schema, options)?
            }
            Root::Path(path) => DatasetWriter::create(path, schema, options)?,
            Root::Python(directory) => {
                DatasetWriter::create_in(Arc::new(PythonDirectory(directory)), schema, options)?
            }
        };
        for batch in reader {
            let batch = batch?;
            let mut first = 0;
            // The loop runs at least once, so that a batch without rows is written, too.
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
            file.bytes,
        ))?;
    }
    Ok(list)
}
