//! A dataset, which consists of files and the schema of their rows.

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

/// Parquet files that are read as one table.
///
/// Opening a dataset finds its files and its schema, so files that are added to the directory later
/// do not belong to it. A dataset is cheap to clone.
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
    /// Opens the files at a path on this machine. The path may be a directory, a file, or a pattern
    /// such as `data/**/*.parquet`.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::open_async`].
    pub fn open(path: impl AsRef<Path>, options: DatasetOptions) -> Result<Self> {
        Self::open_all([path], options)
    }

    /// Opens the files at several paths on this machine, in the order of the paths. A path that
    /// exists is taken as it is, even if it looks like a pattern.
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

    /// Opens the files at paths of a listing. Each path may be a file, a directory or a pattern. If
    /// there is a file at a path, we never take the path as a pattern, even if it contains `*`, `?`
    /// or `[`.
    ///
    /// We list directories level by level, and the directories of one level side by side. Names
    /// that begin with `.` or `_` are ignored, because they belong to other things than data. The
    /// files are sorted by the components of their paths.
    ///
    /// In patterns, `*`, `?` and `[a-c]` match within a component, and `**` matches any number of
    /// components. If a pattern matches a directory, all files below it belong to the dataset. The
    /// partition columns come from the directories below a path; for the path of a file, all of its
    /// directories count.
    ///
    /// If the path leads to a `_metadata` file, we list nothing and take the files that it names. A
    /// name that leads out of its directory is an error. If the path is a directory, its
    /// `_metadata` file is only read if the [options](DatasetOptions::use_metadata_file) ask for
    /// it.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if a path does not exist or cannot be listed,
    /// and with [Argument](herringbone::ErrorKind::Argument) if the filter has a literal that
    /// cannot be compared with partition columns. Fails with [Limit](herringbone::ErrorKind::Limit)
    /// if there are too many files or levels, or too many paths to one directory. Also returns the
    /// errors of footers that the schema needs.
    pub async fn open_async(
        listing: Arc<dyn Listing>,
        paths: &[String],
        options: DatasetOptions,
    ) -> Result<Self> {
        let mut roots = Vec::with_capacity(paths.len());
        for path in paths {
            // If this request fails, we ignore it here, because the listing then fails with the
            // same error.
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

    /// Returns the schema, which has the files' columns, then the partition columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    /// Returns the files in the order in which they are read.
    #[must_use]
    pub fn files(&self) -> &[DataFile] {
        &self.0.found
    }

    /// Returns the values in the path of one of the dataset files, as a single row with the
    /// partition columns that the path has.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if a value does not fit the given
    /// type, and with [Unsupported](herringbone::ErrorKind::Unsupported) if partition columns
    /// cannot have that type.
    pub fn partition_values(&self, file: &DataFile) -> Result<RecordBatch> {
        self.0.types.batch(&[&file.partition])
    }

    /// Returns the filter to use for this file's rows, if you read the file yourself. If you
    /// compare a partition column's texts, such as `03`, with whole numbers, this filter compares
    /// them by value, as the dataset's own reads do.
    #[must_use]
    pub fn filter_of(&self, file: &DataFile, filter: &Predicate) -> Predicate {
        self.0.types.by_value(filter, &[&file.partition])
    }

    /// Opens one of the dataset files for blocking reads. If the footer is in the cache, it is
    /// taken from there.
    ///
    /// # Errors
    /// Returns the file's errors, with its path.
    pub fn open_file(&self, file: &DataFile) -> Result<ParquetFile> {
        self.0.files.open_blocking(file)
    }

    /// Opens one of the dataset files by the footer that a `_metadata` file has for it, so that
    /// your own reader can use that footer. `source` has the file's bytes. Returns `None` if there
    /// is no such footer.
    ///
    /// This reads nothing yet, but the first read of bytes also reads the file's own footer, and
    /// fails if the two disagree. Note that errors do not name the file.
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

    /// Returns the number of directories that were listed to open the dataset.
    #[must_use]
    pub fn directories_listed(&self) -> usize {
        self.0.directories_listed
    }

    /// Starts a read on this thread and the pool's threads. If you need no options of the dataset,
    /// pass [`ReadOptions`](herringbone::ReadOptions) alone.
    ///
    /// If a file's partition columns do not satisfy the filter, the file is not opened.
    ///
    /// # Errors
    /// Fails with [Argument](herringbone::ErrorKind::Argument) if the options name columns that the
    /// dataset does not have, or select parts of a single file.
    pub fn read(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetReader> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetReader::new)
    }

    /// Starts an async read, whose requests are sent by the task that polls the stream.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`].
    pub fn stream(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetStream> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetStream::new)
    }

    /// Prunes the files and row groups as a read would, and returns sums over all files. This reads
    /// footers and indexes, but no values.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::read`], and returns the errors of files.
    pub fn explain(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetExplanation> {
        explain(&DatasetPlan::new(self.0.clone(), options.into())?)
    }
}
