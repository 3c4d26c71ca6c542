//! Options for datasets and dataset reads.

use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::Predicate;
use herringbone::{OnError, ReadOptions, SchemaOptions};
use herringbone_remote::{LruMetadataCache, RemoteOptions};

use crate::part::DataPart;
use crate::partition::Partitioning;

/// Options for opening a dataset, to select its files, schema and rows.
///
/// ```
/// use herringbone::filter::col;
/// use herringbone_dataset::{DatasetOptions, SchemaFrom};
///
/// let options = DatasetOptions::new()
///     .filter(col("year").eq(2024))
///     .schema(SchemaFrom::Union);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetOptions {
    /// A predicate to select the dataset's rows, or `None` for all rows. It can name partition
    /// columns. Directories that cannot have matching rows are not listed, and such files are not
    /// opened.
    pub filter: Option<Predicate>,
    /// The source of the schema.
    pub schema: SchemaFrom,
    /// The options for Arrow types, if the schema comes from files.
    pub types: SchemaOptions,
    /// The encoding of values in file paths.
    pub partitioning: Partitioning,
    /// Footer limits, keys, cache and fetch policy for all files. By default, the cache retains 64
    /// MiB.
    pub files: RemoteOptions,
    /// True to use the footers in a directory's `_metadata` file, instead of opening each file it
    /// lists.
    ///
    /// Files without any rows to read are then never opened, either because the statistics in
    /// `_metadata` rule them out, or because rows are only counted. For all other files, the file's
    /// own footer is still read along with the first bytes, and the read fails if the two disagree.
    /// Files not listed in `_metadata` are read with their own footers. The default is false,
    /// because `_metadata` might be older than the files.
    pub use_metadata_file: bool,
    /// The most files and directories to find. Exceeding this is an error.
    pub max_entries: usize,
    /// The most footers to fetch concurrently.
    pub footers_at_once: usize,
}

/// The source of a dataset's schema. Any partition columns missing in the schema are added at the
/// end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum SchemaFrom {
    /// The first file in path order. Only this file's footer is read. If there are other files, all
    /// columns and fields are made nullable, because those files might contain nulls.
    #[default]
    FirstFile,
    /// The given schema. No footer is read.
    Given(SchemaRef),
    /// All files. This reads every file's footer. Columns are matched by name, and each column gets
    /// a type that can hold all files' values.
    Union,
}

impl DatasetOptions {
    /// The default number of metadata bytes retained by a dataset.
    pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;
    /// The default limit on files and directories.
    pub const DEFAULT_MAX_ENTRIES: usize = 10_000_000;
    /// The default number of footers to fetch concurrently.
    pub const DEFAULT_FOOTERS_AT_ONCE: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone::format::setters! { DatasetOptions {
    /// Selects rows, and with them the directories and files that might have matching rows.
    filter: Predicate => Some;
    /// Sets the source of the schema.
    schema: SchemaFrom;
    /// Sets the options for Arrow types, if the schema comes from files.
    types: SchemaOptions;
    /// Sets the encoding of values in file paths.
    partitioning: Partitioning;
    /// Sets the limits, keys, cache and fetch policy for all files.
    files: impl Into<RemoteOptions> => Into::into;
    /// Selects whether to use the footers in a directory's `_metadata` file instead of opening each
    /// file it lists.
    use_metadata_file: bool;
    /// Sets the most files and directories to find.
    max_entries: usize;
    /// Sets the most footers to fetch concurrently.
    footers_at_once: usize;
}}

impl Default for DatasetOptions {
    fn default() -> Self {
        let cache = LruMetadataCache::new(Self::DEFAULT_CACHE_BYTES);
        Self {
            filter: None,
            schema: SchemaFrom::default(),
            types: SchemaOptions::default(),
            partitioning: Partitioning::default(),
            files: RemoteOptions::new().cache(cache),
            use_metadata_file: false,
            max_entries: Self::DEFAULT_MAX_ENTRIES,
            footers_at_once: Self::DEFAULT_FOOTERS_AT_ONCE,
        }
    }
}

/// Options for a dataset read. [`ReadOptions`] alone convert into these.
///
/// ```
/// use herringbone::{ReadOptions, SchemaOptions};
/// use herringbone_dataset::DatasetReadOptions;
///
/// let options = DatasetReadOptions::from(ReadOptions::new().columns(["id"]))
///     .path_column("path")
///     .is_ordered(false);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DatasetReadOptions {
    /// The options for the files. Columns, filter, offset, limit and memory apply to the dataset as
    /// a whole. Options that select parts of a single file are errors.
    ///
    /// If [`on_error`](ReadOptions::on_error) tolerates damage, only one file is open at a time,
    /// and offset and limit only count the remaining rows. A damaged footer is still an error.
    pub read: ReadOptions,
    /// True to return batches in file order, or false to return each as soon as it is decoded.
    pub is_ordered: bool,
    /// The most open files.
    pub max_open_files: usize,
    /// The name of an additional column with the path of each row's file. It follows all other
    /// columns.
    pub path_column: Option<String>,
    /// The parts to read, in this order, or `None` for all files. The filter can still rule out
    /// files.
    pub parts: Option<Vec<DataPart>>,
}

impl DatasetReadOptions {
    /// The default limit on open files.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if reads continue after damage.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.read.on_error != OnError::Fail
    }

    /// Returns the most files to keep open. This is one if damage is tolerated, because files ahead
    /// must not use up memory that would then look like damage, and because we don't read a file
    /// again after losses.
    pub(crate) fn most_open(&self) -> usize {
        match self.is_tolerant() {
            true => 1,
            false => self.max_open_files.max(1),
        }
    }
}

herringbone::format::setters! { DatasetReadOptions {
    /// Adds a column with the path of each row's file.
    path_column: impl Into<String> => |name| Some(Into::into(name));
    /// Selects whether batches are returned in file order.
    is_ordered: bool;
    /// Sets the most open files.
    max_open_files: usize;
    /// Selects parts of the dataset, for example from [`Dataset::split`](crate::Dataset::split).
    parts: impl IntoIterator<Item = DataPart> => |parts| Some(Vec::from_iter(parts));
}}

impl Default for DatasetReadOptions {
    fn default() -> Self {
        Self::from(ReadOptions::new())
    }
}

impl From<ReadOptions> for DatasetReadOptions {
    fn from(read: ReadOptions) -> Self {
        Self {
            read,
            is_ordered: true,
            max_open_files: Self::DEFAULT_MAX_OPEN_FILES,
            path_column: None,
            parts: None,
        }
    }
}
