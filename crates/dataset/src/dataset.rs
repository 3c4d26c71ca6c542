//! A dataset: files, and the schema of their rows.

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

/// Parquet files, read as one table.
///
/// Opening a dataset finds its files and its schema. Files added later do not belong to it. Cheap to clone.
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
    /// Opens the files at a path of this machine: that of a directory or file, or a pattern such as `data/**/*.parquet`.
    ///
    /// # Errors
    /// See [`Self::open_async`].
    pub fn open(path: impl AsRef<Path>, options: DatasetOptions) -> Result<Self> {
        Self::open_all([path], options)
    }

    /// Opens the files at several paths of this machine, in their order. A path that exists is not a pattern.
    ///
    /// # Errors
    /// See [`Self::open_async`].
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

    /// Opens the files at paths of a listing: files, directories, or patterns. A path of a file is not a pattern, even if
    /// it has the signs of one.
    ///
    /// Directories are listed level by level, those of a level side by side. In a directory, names that begin with `.` or
    /// `_` are ignored. Files are sorted by the components of their paths.
    ///
    /// In patterns, `*`, `?` and `[a-c]` match within a component, and `**` matches any number of components. A directory
    /// that matches contributes all files below it. Partition columns are those of the directories below a path, and for
    /// paths of files, all directories of the path.
    ///
    /// If the path is that of a `_metadata` file, nothing is listed: the files are those that it lists. Paths that lead
    /// elsewhere are errors. The `_metadata` file of a directory is only read if the
    /// [options](DatasetOptions::use_metadata_file) ask for it.
    ///
    /// # Errors
    /// [Io](herringbone::ErrorKind::Io) if a path does not exist or cannot be listed;
    /// [Argument](herringbone::ErrorKind::Argument) if a literal of the filter cannot be compared with partition
    /// columns; [Limit](herringbone::ErrorKind::Limit) if there are too many files or levels, or too many paths to one
    /// directory; errors of the footers that the schema needs.
    pub async fn open_async(
        listing: Arc<dyn Listing>,
        paths: &[String],
        options: DatasetOptions,
    ) -> Result<Self> {
        let mut roots = Vec::with_capacity(paths.len());
        for path in paths {
            // If this fails, so does the listing.
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

    /// Returns the schema: the columns of files, then the partition columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    /// Returns the files, in their order.
    #[must_use]
    pub fn files(&self) -> &[DataFile] {
        &self.0.found
    }

    /// Returns the values in the path of this file of the dataset: a single row of the partition columns that the path has.
    ///
    /// # Errors
    /// [Argument](herringbone::ErrorKind::Argument) if a value is not of the given type;
    /// [Unsupported](herringbone::ErrorKind::Unsupported) if that type is not a type of partitions.
    pub fn partition_values(&self, file: &DataFile) -> Result<RecordBatch> {
        self.0.types.batch(&[&file.partition])
    }

    /// Returns the filter for this file's rows, if you read the file yourself. Where you compare a partition column's texts, such
    /// as `03`, with whole numbers, the filter compares them by value, as the dataset's own reads do.
    #[must_use]
    pub fn filter_of(&self, file: &DataFile, filter: &Predicate) -> Predicate {
        self.0.types.by_value(filter, &[&file.partition])
    }

    /// Opens a file of the dataset for blocking reads. Its footer is taken from the cache, if it is there.
    ///
    /// # Errors
    /// Errors of the file, with its path.
    pub fn open_file(&self, file: &DataFile) -> Result<ParquetFile> {
        self.0.files.open_blocking(file)
    }

    /// Opens a file of the dataset by the footer that a `_metadata` file has for it, for readers of your own. `source` has
    /// the bytes of the file. Returns `None` if there is no such footer.
    ///
    /// Reads nothing yet. The first read of bytes also reads the file's own footer, and fails if the two disagree. Errors do
    /// not name the file.
    ///
    /// # Errors
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if `_metadata` lists a column chunk twice;
    /// [Replaced](herringbone::ErrorKind::Replaced) if one is outside the file, or if the file has another length than
    /// when it was listed; [Unsupported](herringbone::ErrorKind::Unsupported) if the column chunks of a row group are
    /// in several files.
    pub fn known_file(
        &self,
        file: &DataFile,
        source: Arc<dyn Source>,
    ) -> Result<Option<ParquetFile>> {
        self.0.files.known_file(file, source)
    }

    /// Returns the number of listed directories.
    #[must_use]
    pub fn directories_listed(&self) -> usize {
        self.0.directories_listed
    }

    /// Starts a read on this thread and those of the pool. The options may be
    /// [`ReadOptions`](herringbone::ReadOptions) alone.
    ///
    /// Files whose partition columns do not satisfy the filter are not opened.
    ///
    /// # Errors
    /// [Argument](herringbone::ErrorKind::Argument) if the options name columns that the dataset does not have, or
    /// parts of one file.
    pub fn read(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetReader> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetReader::new)
    }

    /// Starts an async read. The task that polls the stream sends the requests.
    ///
    /// # Errors
    /// See [`Self::read`].
    pub fn stream(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetStream> {
        DatasetPlan::new(self.0.clone(), options.into()).map(DatasetStream::new)
    }

    /// Prunes the files and row groups of a read, and returns sums over all files. Reads footers and indexes, but no
    /// values.
    ///
    /// # Errors
    /// See [`Self::read`]; errors of the files.
    pub fn explain(&self, options: impl Into<DatasetReadOptions>) -> Result<DatasetExplanation> {
        explain(&DatasetPlan::new(self.0.clone(), options.into())?)
    }
}
