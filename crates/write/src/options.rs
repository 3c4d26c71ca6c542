//! The options that select the form of written files.

use std::path::PathBuf;
use std::sync::Arc;

use herringbone_format::modular_encryption::Encryption;
use herringbone_format::{Encoding, KeyValue, Type};
use herringbone_pipeline::Spawn;
use herringbone_schema::{ParquetSchema, WriteSchemaOptions};

use super::column_statistics::ColumnStatisticsFactory;
use super::content_defined::ContentDefinedChunking;
use super::explanation::Explanation;
use super::interrupt::Interrupt;
use super::selector::ColumnSelector;
use herringbone_core::compression::Compression;
use herringbone_core::extension::ExtensionType;

/// The readers for which a file is written. They limit the encodings of a column chunk, among which the writer chooses
/// by a sample of the values.
///
/// | | `Widest` | `Modern` | `Newest` |
/// |---|---|---|---|
/// | data pages | version 1 | version 2, or 1 if that makes levels smaller | like `Modern` |
/// | all but booleans | dictionaries, PLAIN | dictionaries, PLAIN | dictionaries, PLAIN |
/// | integers | | DELTA_BINARY_PACKED | and BYTE_STREAM_SPLIT |
/// | floating point numbers | | BYTE_STREAM_SPLIT | and ALP |
/// | byte arrays | | DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY | like `Modern` |
/// | byte arrays of a fixed length | | | DELTA_BYTE_ARRAY, BYTE_STREAM_SPLIT |
/// | booleans | PLAIN | PLAIN, RLE | like `Modern` |
/// | order of floating point bounds | that of the type | IEEE 754 total order | like `Modern` |
///
/// The following readers are supported. We tested only the versions in the "checked" column:
///
/// | | checked | not checked, according to their projects |
/// |---|---|---|
/// | `Widest` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 3.5.9, 4.0.0 to 4.3 | every reader of the last ten years |
/// | `Modern` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 4.3 | parquet-java 1.12 (1.18 to use bounds of floating point numbers), pyarrow 15, arrow-rs 50, DuckDB 1.2, polars 1.0 |
/// | `Newest` without ALP | pyarrow 26.0, polars 2.1, Spark 4.3 | arrow-rs 53, parquet-java 1.15, DuckDB |
/// | `Newest` with ALP | none of those four | |
///
/// Spark before 4.3 rejects BYTE_STREAM_SPLIT if it reads columns as vectors, which is its default. **Spark 4.0.0 reads
/// wrong values** from pages in DELTA_LENGTH_BYTE_ARRAY, whichever program wrote them. Versions 4.0.5, 4.1.4 and 4.2.1
/// do not.
///
/// Readers that do not support the total order ignore these bounds. A reader that does not support an encoding fails at
/// the first page that uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compatibility {
    /// Every reader of the last ten years.
    #[default]
    Widest,
    /// Smaller files, for readers of the last two years.
    Modern,
    /// Readers known to support all current features of the format, including ALP.
    Newest,
}

/// The weight of a file's bytes against the time that every read of it takes.
///
/// We estimate times with a table of decoding costs, never with a clock, so that equal values always produce equal
/// bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Prefer {
    /// The fewest bytes, whatever the time to read.
    Size,
    /// Few bytes, for storage that delivers some 50 MB/s.
    #[default]
    Balanced,
    /// The least time to read, from storage that delivers some 500 MB/s.
    ReadSpeed,
}

/// The version of data pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataPageVersion {
    /// Levels and values are compressed together.
    V1,
    /// Levels are stored uncompressed, and so are values that compression does not shrink.
    V2,
}

/// The bounds and counts to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StatisticsLevel {
    /// No null counts and no bounds, so that filters cannot skip column chunks.
    None,
    /// Only null counts.
    Counts,
    /// Null counts, and the bounds of column chunks.
    Chunk,
    /// Null counts, the bounds of column chunks, and the bounds of pages in a column index.
    Page,
}

/// The handling of a row group whose rows are not sorted by the [sorting columns](WriteOptions::sorting_columns).
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{ErrorKind, SortingColumnOption, UnsortedRows, WriteOptions, Writer};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 3, 2]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let options = WriteOptions::new()
///     .sorting_columns(vec![SortingColumnOption::new(["id"])])
///     .unsorted_rows(UnsortedRows::Error);
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// let written = writer.write(&batch).and_then(|()| writer.finish());
/// assert_eq!(written.unwrap_err().kind(), ErrorKind::Argument);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UnsortedRows {
    /// Rows are not checked, because the caller guarantees that they are sorted.
    #[default]
    Unchecked,
    /// The writer returns an error that names the first row out of order. The rows of the whole file must be sorted,
    /// and only row groups that the caller ends are checked separately.
    Error,
    /// A row group with unsorted rows does not declare the sorting columns, but the others do.
    OmitSortingColumns,
}

/// The options of a column's bloom filter.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{BloomFilterOptions, ColumnOptions, ParquetFile, WriteOptions, Writer};
///
/// let even: ArrayRef = Arc::new(Int64Array::from_iter_values((0..1000).map(|id| id * 2)));
/// let batch = RecordBatch::try_from_iter([("id", even)])?;
/// let filter = BloomFilterOptions::new(0.0001).max_bytes(64 << 10);
/// let options = WriteOptions::new().column("id", ColumnOptions::new().bloom_filter(filter));
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, batch.schema(), options)?;
/// writer.write(&batch)?;
/// writer.finish()?;
///
/// let file = ParquetFile::from_bytes(file)?;
/// // A filter never rules out a value that the column has. 77 is within the bounds of the column.
/// assert_eq!(file.bloom_filter_may_contain(0, 0, 76)?, Some(true));
/// assert_eq!(file.bloom_filter_may_contain(0, 0, 77)?, Some(false));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BloomFilterOptions {
    /// The share of absent values that the filter fails to rule out, between 0 and 1.
    pub false_positives: f64,
    /// The number of distinct values per row group for which the filter is sized, or `None` to count them.
    pub distinct_values: Option<u64>,
    /// The maximum size of a filter in bytes.
    pub max_bytes: usize,
}

impl BloomFilterOptions {
    /// Creates options for a filter with this share of false positives, whose size follows from the values.
    #[must_use]
    pub fn new(false_positives: f64) -> Self {
        Self {
            false_positives,
            ..Self::default()
        }
    }
}

impl Default for BloomFilterOptions {
    fn default() -> Self {
        Self {
            false_positives: 0.01,
            distinct_values: None,
            max_bytes: 4 << 20,
        }
    }
}

herringbone_format::setters! { BloomFilterOptions {
    /// Sets the number of distinct values per row group for which the filter is sized.
    distinct_values: u64 => Some;
    /// Sets the maximum size of a filter in bytes.
    max_bytes: usize;
}}

/// The options of columns. If an option is `None`, we take it from more general options, and finally from
/// [`WriteOptions::compatibility`].
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::format::Encoding;
/// use herringbone::{BloomFilterOptions, ColumnOptions, WriteOptions, Writer};
///
/// let ids = ColumnOptions::new()
///     .encoding(Encoding::DeltaBinaryPacked)
///     .bloom_filter(BloomFilterOptions::new(0.01));
/// let options = WriteOptions::new().column("id", ids);
/// # let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let chunk = writer.finish()?.column_chunk(0, 0)?.meta_data.ok_or("no metadata")?;
/// assert!(chunk.encodings.contains(&Encoding::DeltaBinaryPacked));
/// assert!(chunk.bloom_filter_offset.is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ColumnOptions {
    /// The compression of pages. The default is ZSTD at level 1, or SNAPPY without the feature `zstd`. With the
    /// default, pages are not compressed if that saves too little, as [`Prefer`] describes.
    pub compression: Option<Compression>,
    /// The encoding of values outside a dictionary. By default, a sample of the values decides. It is an error if the
    /// encoding does not support the column's type. RLE_DICTIONARY is equivalent to `dictionary(true)`.
    pub encoding: Option<Encoding>,
    /// True if values use a dictionary for as long as its indices take fewer bytes than PLAIN values. By default, a
    /// sample decides, unless an encoding is set.
    pub dictionary: Option<bool>,
    /// The maximum size of a dictionary in bytes, 1 MiB by default. An Arrow dictionary that fits is written completely
    /// and in its order, including values that no slot uses. An ordered Arrow dictionary is always written completely,
    /// because its order has a meaning.
    pub dictionary_bytes: Option<usize>,
    /// The bounds to write, which are those of pages by default.
    pub statistics: Option<StatisticsLevel>,
    /// True if we write the number of distinct values for column chunks whose values are all in a dictionary, which is
    /// the default.
    pub distinct_counts: Option<bool>,
    /// The maximum length in bytes of strings and binary values in bounds, 64 by default.
    pub truncate_bounds: Option<usize>,
    /// The bloom filter to write, none by default. The format has no bloom filters for BOOLEAN columns. An option for
    /// all columns therefore leaves these out, but an option for such a column is an error.
    pub bloom_filter: Option<BloomFilterOptions>,
    /// The approximate number of bytes that the values of a page take, 1 MiB by default. With [content-defined
    /// chunking](WriteOptions::content_defined_chunking), the default is at least twice the size of the largest chunk.
    pub page_bytes: Option<usize>,
    /// The maximum number of rows per page, 32 768 by default. With [content-defined
    /// chunking](WriteOptions::content_defined_chunking), there is no limit by default.
    pub page_rows: Option<usize>,
}

herringbone_format::setters! { ColumnOptions {
    /// Sets the compression of pages.
    compression: Compression => Some;
    /// Sets the encoding of values outside a dictionary.
    encoding: Encoding => Some;
    /// Switches dictionaries on or off, instead of letting a sample decide.
    dictionary: bool => Some;
    /// Limits the size of a dictionary in bytes.
    dictionary_bytes: usize => Some;
    /// Sets the bounds to write.
    statistics: StatisticsLevel => Some;
    /// Switches the counts of distinct values on or off.
    distinct_counts: bool => Some;
    /// Limits the length of bounds in bytes.
    truncate_bounds: usize => Some;
    /// Writes a bloom filter with these options.
    bloom_filter: BloomFilterOptions => Some;
    /// Sets the approximate size of a page in bytes.
    page_bytes: usize => Some;
    /// Sets the maximum number of rows in a page.
    page_rows: usize => Some;
}}

impl ColumnOptions {
    /// Creates options in which nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the options of `other`, completed by the options of `self` that `other` does not set.
    pub(crate) fn overridden_by(&self, other: &Self) -> Self {
        Self {
            compression: other.compression.or(self.compression),
            encoding: other.encoding.or(self.encoding),
            dictionary: other.dictionary.or(match other.encoding {
                // An encoding set here overrides a dictionary that more general options request.
                Some(_) => None,
                None => self.dictionary,
            }),
            dictionary_bytes: other.dictionary_bytes.or(self.dictionary_bytes),
            statistics: other.statistics.or(self.statistics),
            distinct_counts: other.distinct_counts.or(self.distinct_counts),
            truncate_bounds: other.truncate_bounds.or(self.truncate_bounds),
            bloom_filter: other.bloom_filter.or(self.bloom_filter),
            page_bytes: other.page_bytes.or(self.page_bytes),
            page_rows: other.page_rows.or(self.page_rows),
        }
    }
}

/// A column by which rows are sorted.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{SortingColumnOption, WriteOptions, Writer};
///
/// let by_id = SortingColumnOption::new(["id"]).descending(true);
/// let options = WriteOptions::new().sort_by(vec![by_id]);
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![2, 3, 1]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, batch.schema(), options)?;
/// writer.write(&batch)?;
/// writer.finish()?;
/// let sorted = herringbone::ParquetFile::from_bytes(file)?.read(Default::default())?.next_batch()?;
/// let expected: ArrayRef = Arc::new(Int64Array::from(vec![3, 2, 1]));
/// assert_eq!(sorted.ok_or("no rows")?.column(0), &expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SortingColumnOption {
    /// The column's path, in parts.
    pub path: Vec<String>,
    /// True if the values descend.
    pub descending: bool,
    /// True if nulls precede all values.
    pub nulls_first: bool,
}

impl SortingColumnOption {
    /// Sorts by the column with this path, with ascending values and with the nulls last.
    #[must_use]
    pub fn new<S: Into<String>>(path: impl IntoIterator<Item = S>) -> Self {
        Self {
            path: path.into_iter().map(Into::into).collect(),
            descending: false,
            nulls_first: false,
        }
    }

    /// Chooses whether the values descend.
    #[must_use]
    pub fn descending(self, descending: bool) -> Self {
        Self { descending, ..self }
    }

    /// Chooses whether nulls precede all values.
    #[must_use]
    pub fn nulls_first(self, nulls_first: bool) -> Self {
        Self {
            nulls_first,
            ..self
        }
    }
}

/// The options for writing a file. The default suits most files.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{ColumnOptions, Compression, WriteOptions, Writer};
///
/// let options = WriteOptions::new()
///     .compression(Compression::Uncompressed)
///     .column("id", ColumnOptions::new().dictionary(false))
///     .row_group_rows(2);
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// assert_eq!(writer.finish()?.num_row_groups(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The readers for which the file is written.
    pub compatibility: Compatibility,
    /// The options that apply to all columns.
    pub columns: ColumnOptions,
    /// The options of some columns. If several of them select the same column, the last one wins.
    pub overrides: Vec<(ColumnSelector, ColumnOptions)>,
    /// The weight of bytes against the time to read. If this is set, pages that hardly shrink are stored without the
    /// codec even if you requested the codec. Otherwise, this happens only with the default codec.
    pub prefer: Option<Prefer>,
    /// The collector that records why columns are stored as they are.
    pub explanation: Option<Explanation>,
    /// The version of data pages, or `None` to let `compatibility` decide.
    pub data_page_version: Option<DataPageVersion>,
    /// The version of the format that the footer declares, 1 or 2. The default is 1, and readers ignore it.
    pub format_version: i32,
    /// The sizes of pages that end by their content. By default, pages end by their numbers of rows and bytes.
    ///
    /// If rows are inserted, changed or deleted, only the pages around them change, and all others contain the same
    /// values as before. Stores that share equal parts of files profit from this. If you set `page_rows` or
    /// `page_bytes`, pages also end at these. They end with their row group, too, and if the dictionary grows too
    /// large. Pages of equal values have equal bytes if they are in PLAIN, but pages of dictionary indices also depend
    /// on the dictionary's order.
    ///
    /// Row groups that you encode column by column do not continue the hash of the row group before them.
    pub content_defined_chunking: Option<ContentDefinedChunking>,
    /// True if offset indexes are written, and column indexes for columns with bounds of pages. A file in which each
    /// column chunk has only one page has neither, because the indexes would repeat the chunks' metadata.
    pub page_index: bool,
    /// True if pages have a checksum.
    pub crc: bool,
    /// The maximum number of rows per row group.
    pub row_group_rows: usize,
    /// The approximate size of a row group in the file in bytes.
    pub row_group_bytes: usize,
    /// The memory limit of the writer in bytes. If the writer has reserved more after some rows, the row group ends
    /// early.
    ///
    /// Columns receive rows in slices of at most a sixteenth of the limit, but of at least 1024 rows, so the memory may
    /// exceed the limit by the bytes that one slice adds. It may also exceed the limit by the footer, which does not
    /// shrink when a row group ends, and by the batches of the last slices. A limit below 16 MiB was exceeded by up to
    /// 40 percent for a few slices, in which columns ended pages.
    pub memory_bytes: usize,
    /// The columns by which the writer sorts rows, most significant first. If empty, the rows keep their order. Equal
    /// rows keep their order in any case. Floats are sorted like their bounds: for [`Modern`](Compatibility::Modern)
    /// readers, this is the total order of IEEE 754. For others, both zeros are equal, and all NaNs are equal and
    /// greater than all numbers. If the caller ends row groups, the rows of each row group are sorted separately. The
    /// file declares its order.
    ///
    /// The writer writes nothing to the file before it has received the last row. Rows that exceed `sort_memory_bytes`
    /// wait in temporary files. These are unnamed if the system supports that, and encrypted if the output is
    /// encrypted.
    pub sort_by: Vec<SortingColumnOption>,
    /// The maximum size in bytes of the rows sorted in memory. Further rows are written to temporary files, and at most
    /// 65 of these are open at once. The Arrow dictionaries of these rows stay in memory, and count towards this limit.
    /// It is an error if they exceed half of it, or 16 MiB if that is more.
    pub sort_memory_bytes: usize,
    /// The folder for the temporary files of a sort. If `None`, it is the output file's folder, or the system's
    /// temporary folder if the output is not a file.
    pub sort_folder: Option<PathBuf>,
    /// The columns by which the caller has sorted the rows, most significant first. If the writer sorts the rows,
    /// `sort_by` takes their place.
    pub sorting_columns: Vec<SortingColumnOption>,
    /// The handling of rows not sorted by `sorting_columns`.
    pub unsorted_rows: UnsortedRows,
    /// Pairs added to the file's metadata unchanged. Keys may repeat. The pairs take precedence over the metadata of
    /// the Arrow schema.
    pub key_value_metadata: Vec<KeyValue>,
    /// True if values outside the range of their type are written unchanged: decimals with more digits than their type
    /// allows, and times of day from 24:00 on or below zero. Arrow arrays and Parquet files may contain such values,
    /// which are an error by default. Values that the physical type cannot hold always remain an error.
    pub allow_out_of_range: bool,
    /// The program that writes the file, by convention in the form `application version x (build y)`.
    pub created_by: String,
    /// The number of encoding threads, including the caller's. 0 means one thread per core.
    pub threads: usize,
    /// The program's own threads. If `None`, all readers and writers of the process share one pool of threads.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// The program's way to end the write early, for example for Ctrl-C. See [`Interrupt`].
    pub interrupt: Option<Arc<dyn Interrupt>>,
    /// True if the writer may configure the C library of GNU/Linux to retain freed memory for the next row group.
    /// Without this setting, each row group may take a page fault for every 4 KiB. The setting applies to the whole
    /// process, and is permanent.
    pub tune_allocator: bool,
    /// The mapping of Arrow types.
    pub schema: WriteSchemaOptions,
    /// The source of the encryption keys. If `None`, nothing is encrypted. With encryption, pages have version 1 unless
    /// you request another one, because writers disagree about the encryption of version 2.
    pub encryption: Option<Arc<dyn Encryption>>,
    /// Extension types that decide how fields are stored, with precedence over the library's own.
    pub extensions: Vec<Arc<dyn ExtensionType>>,
    /// Factories for additional statistics of columns. If several of them support the same column, the first one is
    /// used.
    pub column_statistics: Vec<Arc<dyn ColumnStatisticsFactory>>,
}

/// The library's name in the files that it writes.
pub const CREATED_BY: &str = concat!(
    "herringbone version ",
    env!("CARGO_PKG_VERSION"),
    " (build release)"
);

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            compatibility: Compatibility::default(),
            columns: ColumnOptions::default(),
            overrides: Vec::new(),
            prefer: None,
            explanation: None,
            data_page_version: None,
            format_version: 1,
            content_defined_chunking: None,
            page_index: true,
            crc: true,
            row_group_rows: Self::DEFAULT_ROW_GROUP_ROWS,
            row_group_bytes: Self::DEFAULT_ROW_GROUP_BYTES,
            memory_bytes: Self::DEFAULT_MEMORY_BYTES,
            sort_by: Vec::new(),
            sort_memory_bytes: Self::DEFAULT_SORT_MEMORY_BYTES,
            sort_folder: None,
            sorting_columns: Vec::new(),
            unsorted_rows: UnsortedRows::default(),
            key_value_metadata: Vec::new(),
            allow_out_of_range: false,
            created_by: CREATED_BY.to_owned(),
            threads: 0,
            spawn: None,
            interrupt: None,
            tune_allocator: true,
            schema: WriteSchemaOptions::default(),
            encryption: None,
            extensions: Vec::new(),
            column_statistics: Vec::new(),
        }
    }
}

impl WriteOptions {
    /// The default of [`Self::row_group_rows`].
    pub const DEFAULT_ROW_GROUP_ROWS: usize = 1 << 20;
    /// The default of [`Self::row_group_bytes`].
    pub const DEFAULT_ROW_GROUP_BYTES: usize = 128 << 20;
    /// The default of [`Self::memory_bytes`].
    pub const DEFAULT_MEMORY_BYTES: usize = 512 << 20;
    /// The default of [`Self::sort_memory_bytes`].
    pub const DEFAULT_SORT_MEMORY_BYTES: usize = 1 << 30;

    /// Creates the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an extension type, which takes precedence over the library's own.
    #[must_use]
    pub fn extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Adds a factory for additional statistics of columns.
    #[must_use]
    pub fn column_statistics(mut self, factory: impl ColumnStatisticsFactory + 'static) -> Self {
        self.column_statistics.push(Arc::new(factory));
        self
    }

    /// Sets a Parquet schema to follow, for example the schema of the file that contained the columns. See
    /// [`WriteSchemaOptions::parquet_schema`].
    #[must_use]
    pub fn parquet_schema(mut self, schema: ParquetSchema) -> Self {
        self.schema.parquet_schema = Some(schema);
        self
    }

    /// Sets the mapping of Arrow types. If a [Parquet schema](Self::parquet_schema) was set before, it is kept unless
    /// `schema` has one.
    #[must_use]
    pub fn schema(mut self, mut schema: WriteSchemaOptions) -> Self {
        schema.parquet_schema = schema.parquet_schema.or(self.schema.parquet_schema);
        self.schema = schema;
        self
    }

    /// Adds pairs to the file's metadata.
    #[must_use]
    pub fn key_value_metadata(
        mut self,
        pairs: impl IntoIterator<Item = impl Into<KeyValue>>,
    ) -> Self {
        self.key_value_metadata
            .extend(pairs.into_iter().map(Into::into));
        self
    }

    /// Sets options for all columns. Unlike a read, a write has no selection of columns. Options set before are kept,
    /// unless `columns` sets them.
    #[must_use]
    pub fn columns(mut self, columns: ColumnOptions) -> Self {
        self.columns = self.columns.overridden_by(&columns);
        self
    }

    /// Sets the compression of all columns.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.columns.compression = Some(compression);
        self
    }

    /// Sets the options of the columns below a path. The path's parts are separated by dots, and `*` matches any
    /// characters.
    #[must_use]
    pub fn column(self, pattern: &str, options: ColumnOptions) -> Self {
        self.column_override(ColumnSelector::Pattern(pattern.to_owned()), options)
    }

    /// Sets the options of all columns with a physical type.
    #[must_use]
    pub fn physical_type(self, physical_type: Type, options: ColumnOptions) -> Self {
        self.column_override(ColumnSelector::PhysicalType(physical_type), options)
    }

    /// Sets the options of the columns that the selector selects.
    #[must_use]
    pub fn column_override(mut self, selector: ColumnSelector, options: ColumnOptions) -> Self {
        self.overrides.push((selector, options));
        self
    }
}

herringbone_format::setters! { WriteOptions {
    /// Sets the readers for which the file is written.
    compatibility: Compatibility;
    /// Sets the weight of bytes against the time to read.
    prefer: Prefer => Some;
    /// Sets the collector that records why columns are stored as they are.
    explanation: Explanation => Some;
    /// Sets the version of data pages.
    data_page_version: DataPageVersion => Some;
    /// Sets the version of the format that the footer declares.
    format_version: i32;
    /// Lets pages end by their content, with these sizes.
    content_defined_chunking: ContentDefinedChunking => Some;
    /// Switches page indexes on or off.
    page_index: bool;
    /// Switches page checksums on or off.
    crc: bool;
    /// Sets the maximum number of rows in a row group.
    row_group_rows: usize;
    /// Sets the approximate size of a row group in bytes.
    row_group_bytes: usize;
    /// Limits the bytes that the writer reserves.
    memory_bytes: usize;
    /// Sets the columns by which the writer sorts rows.
    sort_by: Vec<SortingColumnOption>;
    /// Limits the size in bytes of the rows sorted in memory.
    sort_memory_bytes: usize;
    /// Sets the folder for the temporary files of a sort.
    sort_folder: PathBuf => Some;
    /// Declares the columns by which the caller has sorted the rows.
    sorting_columns: Vec<SortingColumnOption>;
    /// Sets the handling of unsorted rows.
    unsorted_rows: UnsortedRows;
    /// Sets the name of the program that writes the file.
    created_by: String;
    /// Sets the number of encoding threads. 0 means one thread per core.
    threads: usize;
    /// Encodes on the program's own threads instead of the process's shared pool.
    spawn: Arc<dyn Spawn> => Some;
    /// Sets the way in which the program ends a write early.
    interrupt: Arc<dyn Interrupt> => Some;
    /// Allows or forbids the writer to tune the allocator for the whole process.
    tune_allocator: bool;
    /// Allows or forbids values outside the range of their type.
    allow_out_of_range: bool;
    /// Sets the source of the encryption keys.
    encryption: Arc<dyn Encryption> => Some;
}}

#[cfg(test)]
mod tests {
    use herringbone_schema::Date64;

    use super::*;

    #[test]
    fn choices_for_all_columns_add_up() {
        let options = WriteOptions::new()
            .compression(Compression::Snappy)
            .columns(ColumnOptions::new().dictionary(false).page_rows(5))
            .columns(ColumnOptions::new().page_rows(7));
        let expected = ColumnOptions::new()
            .compression(Compression::Snappy)
            .dictionary(false)
            .page_rows(7);
        assert_eq!(options.columns, expected);
        let columns = ColumnOptions::new().compression(Compression::Uncompressed);
        let options = options.columns(columns);
        assert_eq!(options.columns.compression, Some(Compression::Uncompressed));
    }

    #[test]
    fn schemas_and_pairs_that_were_chosen_before_stay() {
        let limits = herringbone_format::Limits::default();
        let root = herringbone_format::SchemaElement::new("root".to_owned()).num_children(0);
        let parquet_schema = ParquetSchema::new(&[root], &limits).unwrap();
        let pair = |key: &str| KeyValue::without_value(key);
        let mut schema = WriteSchemaOptions::default();
        schema.date64 = Date64::Int64;
        let options = WriteOptions::new()
            .parquet_schema(parquet_schema.clone())
            .schema(schema)
            .key_value_metadata([pair("a")])
            .key_value_metadata([pair("b")]);
        assert_eq!(options.schema.parquet_schema, Some(parquet_schema));
        assert_eq!(options.schema.date64, Date64::Int64);
        assert_eq!(options.key_value_metadata, [pair("a"), pair("b")]);
    }
}
