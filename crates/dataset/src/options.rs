//! The options of datasets and of their reads.

use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::Predicate;
use herringbone::{OnError, ReadOptions, SchemaOptions};
use herringbone_remote::{LruMetadataCache, RemoteOptions};

use crate::part::DataPart;
use crate::partition::Partitioning;

/// The options of a dataset: its files, its schema and its rows.
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
    /// The predicate that all rows of the dataset satisfy, or `None` for all rows. It may name partition columns.
    /// Directories without such rows are not listed, and files without them are not opened.
    pub filter: Option<Predicate>,
    /// The origin of the schema.
    pub schema: SchemaFrom,
    /// The choice of Arrow types, if the schema follows from files.
    pub types: SchemaOptions,
    /// The way in which the paths of files contain values.
    pub partitioning: Partitioning,
    /// The limits of footers, and the keys, cache and fetch policy for all files. The cache retains 64 MiB by default.
    pub files: RemoteOptions,
    /// True if footers in the `_metadata` file of a directory may replace those of the files that it lists.
    ///
    /// Files that no row is read from are then not opened: those that its statistics rule out, and all of them if only rows
    /// are counted. Of other files, the own footer is read with the first bytes. If it disagrees, the read fails. Files
    /// that `_metadata` does not list are read by their own footers. False by default, because `_metadata` may be older
    /// than the files.
    pub use_metadata_file: bool,
    /// The largest number of files and directories that may be found.
    pub max_entries: usize,
    /// The largest number of footers fetched at the same time.
    pub footers_at_once: usize,
}

/// The origin of the schema of a dataset. Partition columns that the schema lacks follow its columns.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum SchemaFrom {
    /// The first file, in the order of paths. Its footer alone is read. If there are other files, all columns and fields
    /// are nullable.
    #[default]
    FirstFile,
    /// This schema. No footer is read.
    Given(SchemaRef),
    /// All files: columns are matched by name, and have a type that holds the values of all files. All footers are read.
    Union,
}

impl DatasetOptions {
    /// The default number of bytes of metadata that a dataset retains.
    pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;
    /// The default largest number of files and directories.
    pub const DEFAULT_MAX_ENTRIES: usize = 10_000_000;
    /// The default number of footers fetched at the same time.
    pub const DEFAULT_FOOTERS_AT_ONCE: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone::format::setters! { DatasetOptions {
    /// Selects rows, and with them directories and files.
    filter: Predicate => Some;
    /// Sets the origin of the schema.
    schema: SchemaFrom;
    /// Sets the choice of Arrow types, if the schema follows from files.
    types: SchemaOptions;
    /// Sets the way in which the paths of files contain values.
    partitioning: Partitioning;
    /// Sets the limits, keys, cache and fetch policy for all files.
    files: impl Into<RemoteOptions> => Into::into;
    /// Selects whether the footers in the `_metadata` file of a directory may replace those of files.
    use_metadata_file: bool;
    /// Sets the largest number of files and directories.
    max_entries: usize;
    /// Sets the largest number of footers fetched at the same time.
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

/// The options of a read of a dataset. They can be converted from [`ReadOptions`] alone.
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
    /// The options for the files. Columns, filter, offset, limit and memory are those of the dataset. Options that select
    /// parts of one file are errors.
    ///
    /// If [`on_error`](ReadOptions::on_error) tolerates damage, one file is open at a time. Offset and limit then count the
    /// remaining rows. A file with a damaged footer is an error.
    pub read: ReadOptions,
    /// True if batches have the order of the files, and false if they may be returned as soon as they are decoded.
    pub is_ordered: bool,
    /// The largest number of open files.
    pub max_open_files: usize,
    /// The name of a column with the path of the file of each row. It follows all other columns.
    pub path_column: Option<String>,
    /// The parts to read, in this order, or `None` for all files. A filter still rules out files.
    pub parts: Option<Vec<DataPart>>,
}

impl DatasetReadOptions {
    /// The default largest number of open files.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if files are read beyond damage.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.read.on_error != OnError::Fail
    }

    /// Returns the number of files that may be open. If damage is tolerated, it is one: memory that files ahead take must
    /// not look like damage, and a file is not read again after losses.
    pub(crate) fn most_open(&self) -> usize {
        match self.is_tolerant() {
            true => 1,
            false => self.max_open_files.max(1),
        }
    }
}

herringbone::format::setters! { DatasetReadOptions {
    /// Adds a column with the path of the file of each row.
    path_column: impl Into<String> => |name| Some(Into::into(name));
    /// Selects whether batches have the order of the files.
    is_ordered: bool;
    /// Sets the largest number of open files.
    max_open_files: usize;
    /// Selects parts of the dataset, such as those of [`Dataset::split`](crate::Dataset::split).
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
