//! The options of datasets and of dataset reads.

use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::Predicate;
use herringbone::{OnError, ReadOptions, SchemaOptions};
use herringbone_remote::{LruMetadataCache, RemoteOptions};

use crate::part::DataPart;
use crate::partition::Partitioning;

/// The options to open a dataset with, which select its files, its schema and its rows.
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
    /// The predicate that all of the dataset's rows satisfy, or `None` for all rows. It may name
    /// partition columns. A directory that cannot have such rows is not listed, and such a file is
    /// not opened.
    pub filter: Option<Predicate>,
    /// The source of the schema.
    pub schema: SchemaFrom,
    /// The choice of Arrow types, if the schema comes from files.
    pub types: SchemaOptions,
    /// The way in which paths of files contain values.
    pub partitioning: Partitioning,
    /// The limits of footers, and the keys, cache and fetch policy for all files. By default, the
    /// cache retains 64 MiB.
    pub files: RemoteOptions,
    /// True if we may use the footers in a directory's `_metadata` file instead of the footers of
    /// the files that it lists.
    ///
    /// We then do not open a file if no row of it is read, either because the statistics in
    /// `_metadata` rule it out, or because rows are only counted. For all other files, we read the
    /// file's own footer along with the first bytes, and the read fails if the two disagree. Files
    /// that `_metadata` does not list are read by their own footers. The default is false, because
    /// `_metadata` may be older than the files.
    pub use_metadata_file: bool,
    /// The largest number of files and directories that the search may find.
    pub max_entries: usize,
    /// The largest number of footers that are fetched at the same time.
    pub footers_at_once: usize,
}

/// The source of a dataset's schema. If the schema lacks a partition column, that column follows at
/// the end.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum SchemaFrom {
    /// The first file in the order of paths, whose footer is the only one that we read. If there
    /// are other files, we make all columns and fields nullable, because those files may contain
    /// nulls.
    #[default]
    FirstFile,
    /// This schema, so that no footer is read.
    Given(SchemaRef),
    /// All files, whose footers we all read. Columns are matched by name, and each column has a
    /// type that can hold the values of all files.
    Union,
}

impl DatasetOptions {
    /// The default byte count of the metadata that a dataset retains.
    pub const DEFAULT_CACHE_BYTES: usize = 64 << 20;
    /// The default for the largest number of files and directories.
    pub const DEFAULT_MAX_ENTRIES: usize = 10_000_000;
    /// The default for the number of footers that are fetched at the same time.
    pub const DEFAULT_FOOTERS_AT_ONCE: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone::format::setters! { DatasetOptions {
    /// Selects rows, and thereby the directories and files that may have them.
    filter: Predicate => Some;
    /// Sets the source of the schema.
    schema: SchemaFrom;
    /// Sets the choice of Arrow types, if the schema comes from files.
    types: SchemaOptions;
    /// Sets the way in which paths of files contain values.
    partitioning: Partitioning;
    /// Sets the limits, keys, cache and fetch policy for all files.
    files: impl Into<RemoteOptions> => Into::into;
    /// Selects whether the footers in a directory's `_metadata` file may be used instead of those
    /// in its files.
    use_metadata_file: bool;
    /// Sets the largest number of files and directories.
    max_entries: usize;
    /// Sets the largest number of footers that are fetched at the same time.
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

/// The options of a dataset read, which you can convert from [`ReadOptions`] alone.
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
    /// If [`on_error`](ReadOptions::on_error) tolerates damage, we open one file at a time, and
    /// offset and limit count the rows that remain. A damaged footer is still an error.
    pub read: ReadOptions,
    /// True if batches are returned in the order of the files, false if they may be returned as
    /// soon as they are decoded.
    pub is_ordered: bool,
    /// The largest number of open files.
    pub max_open_files: usize,
    /// The name of a column that has the path of each row's file, and that follows all other
    /// columns.
    pub path_column: Option<String>,
    /// The parts to read, in this order, or `None` for all files. The filter still rules out files.
    pub parts: Option<Vec<DataPart>>,
}

impl DatasetReadOptions {
    /// The default for the largest number of open files.
    pub const DEFAULT_MAX_OPEN_FILES: usize = 16;

    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns true if reads go on after damage.
    pub(crate) fn is_tolerant(&self) -> bool {
        self.read.on_error != OnError::Fail
    }

    /// Returns the number of files that may be open. If damage is tolerated, it is one, because
    /// memory that files ahead take must not look like damage, and because we do not read a file
    /// again after losses.
    pub(crate) fn most_open(&self) -> usize {
        match self.is_tolerant() {
            true => 1,
            false => self.max_open_files.max(1),
        }
    }
}

herringbone::format::setters! { DatasetReadOptions {
    /// Adds a column that has the path of each row's file.
    path_column: impl Into<String> => |name| Some(Into::into(name));
    /// Selects whether batches are returned in the order of the files.
    is_ordered: bool;
    /// Sets the largest number of open files.
    max_open_files: usize;
    /// Selects parts of the dataset, for example the ones that
    /// [`Dataset::split`](crate::Dataset::split) returns.
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
