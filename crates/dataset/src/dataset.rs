//! Datasets, consisting of files and a schema for their rows.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use herringbone::arrow::array::RecordBatch;
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::Predicate;
use herringbone::source::Source;
use herringbone::{Error, ParquetFile, Result};

use crate::explain::{DatasetExplanation, explain};
use crate::files::Files;
use crate::listing::Listing;
use crate::local::LocalFiles;
use crate::options::{DatasetOptions, DatasetReadOptions};
use crate::partition::PartitionTypes;
use crate::pattern::is_pattern;
use crate::plan::DatasetPlan;
use crate::reader::DatasetReader;
use crate::schema::schema;
use crate::side_by_side::block_on;
use crate::stream::DatasetStream;
use crate::walk::{DataFile, Root, walk};

/// Several Parquet files, read as one table.
///
/// The files and the schema are determined when you open a dataset, so files added to the directory
/// later do not belong to it. A dataset is cheap to clone.
///
/// ```
/// use herringbone::filter::col;
/// use herringbone_dataset::{Dataset, DatasetOptions};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let dataset = Dataset::open("testdata/example.parquet", DatasetOptions::new())?;
/// assert_eq!(dataset.files().len(), 1);
/// let options = herringbone::ReadOptions::new().filter(col("id").ge(20)).columns(["id"]);
/// let rows: usize = dataset.read(options)?.map(|batch| batch.unwrap().num_rows()).sum();
/// assert_eq!(rows, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Dataset(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) files: Files,
    pub(crate) found: Vec<DataFile>,
    pub(crate) types: PartitionTypes,
    pub(crate) schema: SchemaRef,
    pub(crate) options: DatasetOptions,
    pub(crate) directories_listed: usize,
}

impl fmt::Debug for Dataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dataset")
            .field("files", &self.0.found.len())
            .field("schema", &self.0.schema)
            .finish_non_exhaustive()
    }
}

impl Dataset {
    /// Opens the files at a path on this machine. The path can be a directory, a file, or a pattern
    /// such as `data/**/*.parquet`.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::open_async`].
    pub fn open(path: impl AsRef<Path>, options: DatasetOptions) -> Result<Self> {
        Self::open_all([path], options)
    }

    /// Opens the files at several paths on this machine, in path order. An existing path is never
    /// treated as a pattern, even if it looks like one.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::open_async`].
    pub fn open_all<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        options: DatasetOptions,
    ) -> Result<Self> {
        let roots = paths.into_iter().map(|path| match path.as_ref().to_str() {
            Some(text) => Ok(Root {
                path: text.to_owned(),
                is_pattern: is_pattern(text) && !path.as_ref().exists(),
            }),
            None => {
                let path = path.as_ref().display();
                Err(Error::unsupported(format!("the path {path} is not UTF-8")))
            }
        });
        let roots: Vec<Root> = roots.collect::<Result<_>>()?;
        block_on(Self::open_roots(Arc::new(LocalFiles), &roots, options))
    }

    /// Opens the files at paths of a listing. Each path can be a file, a directory or a pattern.
    /// The path of an existing file is never treated as a pattern, even if it contains `*`, `?` or
    /// `[`.
    ///
    /// Directories are listed level by level, and concurrently within a level. Names beginning with
    /// `.` or `_` are ignored, because they usually aren't data. The files are sorted by their
    /// paths' components.
    ///
    /// In patterns, `*`, `?` and `[a-c]` match within a component, and `**` matches any number of
    /// components. If a pattern matches a directory, all files below it belong to the dataset. The
    /// partition columns come from the directories below a path. For the path of a file, all of its
    /// directories count.
    ///
    /// If the path leads to a `_metadata` file, nothing is listed, and the dataset consists of the
    /// files named there. A name leading out of its directory is an error. If the path is a
    /// directory, its `_metadata` file is only read if the
    /// [options](DatasetOptions::use_metadata_file) ask for it.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if a path does not exist or cannot be listed,
    /// and with [Argument](herringbone::ErrorKind::Argument) if the filter has a literal that
    /// cannot be compared with partition columns. Fails with [Limit](herringbone::ErrorKind::Limit)
    /// if there are too many files or levels, or too many paths to one directory. Also returns
    /// errors from any footers needed for the schema.
    pub async fn open_async(
        listing: Arc<dyn Listing>,
        paths: &[String],
        options: DatasetOptions,
    ) -> Result<Self> {
        let mut roots = Vec::with_capacity(paths.len());
        for path in paths {
            // If this request fails, we ignore that here, because the listing will then fail with
            // the same error.
            let is_pattern = is_pattern(path) && !matches!(listing.file(path).await, Ok(Some(_)));
            let path = path.clone();
            roots.push(Root { path, is_pattern });
        }
        Self::open_roots(listing, &roots, options).await
    }

    async fn open_roots(
        listing: Arc<dyn Listing>,
        roots: &[Root],
        options: DatasetOptions,
    ) -> Result<Self> {
        let mut files = Files {
            listing,
            options: options.files.clone(),
            metadata_files: Vec::new(),
        };
        let found = walk(&mut files, roots, &options).await?;
        files.open_metadata_files(&found.metadata_files).await?;
        let schema = schema(&found, &files, &options).await?;
        Ok(Self(Arc::new(Inner {
            files,
            schema,
            found: found.files,
            types: found.types,
            options,
            directories_listed: found.directories_listed,
        })))
    }

    /// Returns the schema: the files' columns, followed by the partition columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    /// Returns the files, in read order.
    #[must_use]
    pub fn files(&self) -> &[DataFile] {
        &self.0.found
    }

    /// Returns the values in the path of one of the dataset's files, as a single row of the
    /// partition columns in the path.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if a value does not fit the given
    /// type, and with [Unsupported](herringbone::ErrorKind::Unsupported) if partition columns
    /// cannot have that type.
    pub fn partition_values(&self, file: &DataFile) -> Result<RecordBatch> {
        self.0.types.batch(&[&file.partition])
    }

    /// Returns the filter for this file's rows. Use this if you read the file yourself and your
    /// filter compares a partition column's texts, such as `03`, with whole numbers. The returned
    /// filter compares these by value, like the dataset's own reads.
    #[must_use]
    pub fn filter_of(&self, file: &DataFile, filter: &Predicate) -> Predicate {
        self.0.types.by_value(filter, &[&file.partition])
    }

    /// Opens one of the dataset's files for blocking reads, with its footer from the cache if
    /// possible.
    ///
    /// # Errors
    /// Returns the file's errors, with its path.
    pub fn open_file(&self, file: &DataFile) -> Result<ParquetFile> {
        self.0.files.open_blocking(file)
    }

    /// Opens one of the dataset's files with its footer from a `_metadata` file, or returns `None`
    /// if there is no such footer. Use this if you have your own reader. `source` has the file's
    /// bytes.
    ///
    /// Nothing is read yet, but the first read of any bytes also reads the file's own footer,
    /// failing if the two disagree. Note that errors do not name the file.
    ///
    /// # Errors
    /// Fails with [Corrupt](herringbone::ErrorKind::Corrupt) if `_metadata` lists a column chunk
    /// twice. Fails with [Replaced](herringbone::ErrorKind::Replaced) if a column chunk lies
    /// outside the file, or if the file length has changed since it was listed. Fails with
    /// [Unsupported](herringbone::ErrorKind::Unsupported) if one row group has its column chunks in
    /// several files.
    pub fn known_file(
        &self,
        file: &DataFile,
        source: Arc<dyn Source>,
    ) -> Result<Option<ParquetFile>> {
        self.0.files.known_file(file, source)
    }

    /// Returns the number of directories listed to open the dataset.
    #[must_use]
    pub fn directories_listed(&self) -> usize {
        self.0.directories_listed
    }

    /// Starts a read on this thread and the pool's threads. If you don't need any dataset options,
    /// pass [`ReadOptions`](herringbone::ReadOptions) alone.
    ///
    /// Files ruled out by their partition columns are never opened.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the options name columns that the
    /// dataset does not have, or select parts of a single file.
    pub fn read(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetReader> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetReader::new)
    }

    /// Starts an async read. Requests are sent by the task polling the stream.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`].
    pub fn stream(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetStream> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetStream::new)
    }

    /// Prunes the files and row groups as a read would, returning sums over all files. This reads
    /// footers and indexes, but no values.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`], and returns the files' errors.
    pub fn explain(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetExplanation> {
        explain(&DatasetPlan::new(self.0.clone(), options.into())?)
    }
}
