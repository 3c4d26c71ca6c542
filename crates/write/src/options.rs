//! Writer options.

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

/// The readers a file is written for. They limit a column chunk's encodings. Within the limit, the writer chooses by
/// sampling the values.
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
/// The following readers are supported. We only tested the versions in the "checked" column:
///
/// | | checked | not checked, according to their projects |
/// |---|---|---|
/// | `Widest` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 3.5.9, 4.0.0 to 4.3 | every reader of the last ten years |
/// | `Modern` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 4.3 | parquet-java 1.12 (1.18 to use bounds of floating point numbers), pyarrow 15, arrow-rs 50, DuckDB 1.2, polars 1.0 |
/// | `Newest` without ALP | pyarrow 26.0, polars 2.1, Spark 4.3 | arrow-rs 53, parquet-java 1.15, DuckDB |
/// | `Newest` with ALP | none of those four | |
///
/// Spark before 4.3 rejects BYTE_STREAM_SPLIT if it reads columns as vectors, which is its default. **Spark 4.0.0 reads
/// wrong values** from DELTA_LENGTH_BYTE_ARRAY pages, whichever program wrote them. Versions 4.0.5, 4.1.4 and 4.2.1 do
/// not.
///
/// Readers without total order support ignore these bounds. A reader without support for an encoding fails at the first
/// page using it.
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

/// The trade-off between a file's size and the time of each read. Use this if you know your storage: the slower it is,
/// the more a smaller file helps.
///
/// Times are estimated from a table of decoding costs, never measured by a clock, so that equal values always produce
/// equal bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Prefer {
    /// The fewest bytes, whatever the time to read.
    Size,
    /// Few bytes, for storage that delivers about 50 MB/s.
    #[default]
    Balanced,
    /// The shortest read time, for storage that delivers about 500 MB/s.
    ReadSpeed,
}

/// The data page version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataPageVersion {
    /// Levels and values are compressed together.
    V1,
    /// Levels are stored uncompressed, and so are values that do not compress well.
    V2,
}

/// The bounds and counts to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum StatisticsLevel {
    /// No null counts and no bounds. Note that filters then cannot skip column chunks.
    None,
    /// Only null counts.
    Counts,
    /// Null counts and column chunk bounds.
    Chunk,
    /// Null counts, column chunk bounds, and page bounds in a column index.
    Page,
}

/// The handling of row groups that are not sorted by the [sorting columns](WriteOptions::sorting_columns).
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
    /// Rows are not checked. The caller guarantees that they are sorted.
    #[default]
    Unchecked,
    /// The writer returns an error naming the first row out of order. The rows of the whole file must be sorted, except
    /// that row groups ended by the caller are checked separately.
    Error,
    /// Row groups with unsorted rows do not declare the sorting columns, but the others do.
    OmitSortingColumns,
}

/// The bloom filter options of a column. Use a bloom filter if you often search for single values that bounds cannot
/// rule out, such as random identifiers.
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
    /// The false positive rate, between 0 and 1. That is, the share of absent values that the filter fails to rule out.
    pub false_positives: f64,
    /// The number of distinct values per row group to size the filter for, or `None` to count them.
    pub distinct_values: Option<u64>,
    /// The maximum filter size in bytes.
    pub max_bytes: usize,
}

impl BloomFilterOptions {
    /// Creates options for a filter with this false positive rate. Its size follows from the values.
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
    /// Sets the number of distinct values per row group to size the filter for.
    distinct_values: u64 => Some;
    /// Sets the maximum filter size in bytes.
    max_bytes: usize;
}}

/// Column options. If an option is `None`, it is taken from more general options, and finally from
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
    /// The page compression. The default is ZSTD at level 1, or SNAPPY without the feature `zstd`. With the default,
    /// pages are not compressed if that saves too little, as [`Prefer`] describes.
    pub compression: Option<Compression>,
    /// The encoding of values outside a dictionary. By default, the writer decides by sampling the values. It is an
    /// error if the encoding does not support the column's type. RLE_DICTIONARY is equivalent to `dictionary(true)`.
    pub encoding: Option<Encoding>,
    /// True if values use a dictionary for as long as its indices take fewer bytes than PLAIN values. By default, the
    /// writer decides by sampling, unless an encoding is set.
    pub dictionary: Option<bool>,
    /// The maximum dictionary size in bytes, 1 MiB by default. If an Arrow dictionary fits, it is written completely
    /// and in its own order, including any unused values. An ordered Arrow dictionary is always written completely,
    /// because its order has a meaning.
    pub dictionary_bytes: Option<usize>,
    /// The bounds to write. By default, these are page bounds.
    pub statistics: Option<StatisticsLevel>,
    /// True if the number of distinct values is written for column chunks with all values in a dictionary. This is the
    /// default.
    pub distinct_counts: Option<bool>,
    /// The maximum length of string and binary bounds in bytes, 64 by default. Longer bounds are truncated.
    pub truncate_bounds: Option<usize>,
    /// The bloom filter to write, none by default. The format has no bloom filters for BOOLEAN columns. An option for
    /// all columns therefore skips these, but an option for such a column is an error.
    pub bloom_filter: Option<BloomFilterOptions>,
    /// The approximate size of a page's values in bytes, 1 MiB by default. With [content-defined
    /// chunking](WriteOptions::content_defined_chunking), the default is at least twice the largest chunk size.
    pub page_bytes: Option<usize>,
    /// The maximum number of rows per page, 32 768 by default. With [content-defined
    /// chunking](WriteOptions::content_defined_chunking), there is no limit by default.
    pub page_rows: Option<usize>,
}

herringbone_format::setters! { ColumnOptions {
    /// Sets the page compression.
    compression: Compression => Some;
    /// Sets the encoding of values outside a dictionary.
    encoding: Encoding => Some;
    /// Switches dictionaries on or off, rather than letting the writer decide by sampling.
    dictionary: bool => Some;
    /// Limits the dictionary size in bytes.
    dictionary_bytes: usize => Some;
    /// Sets the bounds to write.
    statistics: StatisticsLevel => Some;
    /// Switches distinct value counts on or off.
    distinct_counts: bool => Some;
    /// Limits the length of bounds in bytes.
    truncate_bounds: usize => Some;
    /// Writes a bloom filter with these options.
    bloom_filter: BloomFilterOptions => Some;
    /// Sets the approximate page size in bytes.
    page_bytes: usize => Some;
    /// Sets the maximum number of rows in a page.
    page_rows: usize => Some;
}}

impl ColumnOptions {
    /// Creates options with nothing set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the options of `other`, falling back to `self` for any that are unset.
    pub(crate) fn overridden_by(&self, other: &Self) -> Self {
        Self {
            compression: other.compression.or(self.compression),
            encoding: other.encoding.or(self.encoding),
            dictionary: other.dictionary.or(match other.encoding {
                // An encoding set here overrides a dictionary requested by more general options.
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

/// A column to sort rows by.
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
    /// The column path.
    pub path: Vec<String>,
    /// True for descending order.
    pub descending: bool,
    /// True if nulls precede all values.
    pub nulls_first: bool,
}

impl SortingColumnOption {
    /// Sorts by the column with this path, in ascending order and with nulls last.
    #[must_use]
    pub fn new<S: Into<String>>(path: impl IntoIterator<Item = S>) -> Self {
        Self {
            path: path.into_iter().map(Into::into).collect(),
            descending: false,
            nulls_first: false,
        }
    }

    /// Selects descending or ascending order.
    #[must_use]
    pub fn descending(self, descending: bool) -> Self {
        Self { descending, ..self }
    }

    /// Selects if nulls precede all values.
    #[must_use]
    pub fn nulls_first(self, nulls_first: bool) -> Self {
        Self {
            nulls_first,
            ..self
        }
    }
}

/// Writer options. The defaults suit most files.
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
    /// The readers the file is written for.
    pub compatibility: Compatibility,
    /// The options for all columns.
    pub columns: ColumnOptions,
    /// The options of some columns. If several entries select the same column, the last one wins.
    pub overrides: Vec<(ColumnSelector, ColumnOptions)>,
    /// The trade-off between size and read time. If set, pages that hardly shrink are stored without the codec, even a
    /// codec that you requested. Otherwise, this only happens with the default codec.
    pub prefer: Option<Prefer>,
    /// The collector recording why columns are stored as they are.
    pub explanation: Option<Explanation>,
    /// The data page version, or `None` to let `compatibility` decide.
    pub data_page_version: Option<DataPageVersion>,
    /// The format version declared in the footer, 1 or 2. The default is 1. Readers ignore it.
    pub format_version: i32,
    /// The sizes of content-defined pages. By default, pages end at a number of rows or bytes.
    ///
    /// If rows are inserted, changed or deleted, only the pages around them change, and all others hold the same values
    /// as before. Deduplicating stores profit from this. If you set `page_rows` or `page_bytes`, pages also end at
    /// these limits. They end with their row group too, and when the dictionary overflows. Pages of equal values have
    /// equal bytes in PLAIN, but pages of dictionary indices also depend on the dictionary's order.
    ///
    /// Note that row groups encoded column by column do not continue the previous row group's hash.
    pub content_defined_chunking: Option<ContentDefinedChunking>,
    /// True if offset indexes are written, along with column indexes for columns with page bounds. If all column chunks
    /// have a single page, the file has neither, because the indexes would repeat the chunk metadata.
    pub page_index: bool,
    /// True if pages have checksums.
    pub crc: bool,
    /// The maximum number of rows per row group.
    pub row_group_rows: usize,
    /// The approximate stored size of a row group in bytes.
    pub row_group_bytes: usize,
    /// The writer's memory limit in bytes. If the writer has reserved more after some rows, the row group ends early.
    ///
    /// Columns receive rows in slices of at most a sixteenth of the limit, but of at least 1024 rows. The memory can
    /// therefore exceed the limit by what one slice adds. It can also exceed the limit by the footer, which does not
    /// shrink when a row group ends, and by the batches of the last slices. In practice, a limit below 16 MiB was
    /// exceeded by up to 40 percent for a few slices, while columns were ending pages.
    pub memory_bytes: usize,
    /// The columns to sort rows by, most significant first. If empty, the rows keep their order. Equal rows keep their
    /// order in any case. Floats are sorted like their bounds: for [`Modern`](Compatibility::Modern) readers, this is
    /// the IEEE 754 total order. Otherwise, both zeros are equal, and all NaNs are equal and greater than all numbers.
    /// If the caller ends row groups, each row group is sorted separately. The file declares its order.
    ///
    /// Nothing is written to the file before the last row has arrived. Rows beyond `sort_memory_bytes` are spilled to
    /// temporary files. These are unnamed if the system supports that, and encrypted if the output is encrypted.
    pub sort_by: Vec<SortingColumnOption>,
    /// The memory limit for sorting, in bytes. Further rows are spilled to temporary files, with at most 65 of them
    /// open at once. The rows' Arrow dictionaries stay in memory and count towards this limit. It is an error if they
    /// exceed half of it, or 16 MiB if that is more.
    pub sort_memory_bytes: usize,
    /// The folder for the sort's temporary files. If `None`, it is the output file's folder, or the system's temporary
    /// folder if the output is not a file.
    pub sort_folder: Option<PathBuf>,
    /// The columns that the caller has sorted the rows by, most significant first. If the writer sorts the rows,
    /// `sort_by` takes their place.
    pub sorting_columns: Vec<SortingColumnOption>,
    /// The handling of rows that are not sorted by `sorting_columns`.
    pub unsorted_rows: UnsortedRows,
    /// Pairs added to the file's metadata unchanged. Keys can repeat. The pairs take precedence over the Arrow schema's
    /// metadata.
    pub key_value_metadata: Vec<KeyValue>,
    /// True if out-of-range values are written unchanged: decimals with more digits than their type allows, and times
    /// of day below zero or from 24:00 on. Arrow arrays and Parquet files can contain such values, but by default they
    /// are an error. Values that do not fit the physical type are always an error.
    pub allow_out_of_range: bool,
    /// The program writing the file, by convention in the form `application version x (build y)`.
    pub created_by: String,
    /// The number of encoding threads, including the caller's. 0 means one thread per core.
    pub threads: usize,
    /// The program's own threads. If `None`, all readers and writers in the process share one thread pool.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// The program's way to end the write early, for example on Ctrl-C. See [`Interrupt`].
    pub interrupt: Option<Arc<dyn Interrupt>>,
    /// True if the writer is allowed to configure the GNU/Linux C library to keep freed memory for the next row group.
    /// Otherwise, each row group can take a page fault for every 4 KiB. The setting applies to the whole process and is
    /// permanent.
    pub tune_allocator: bool,
    /// The Arrow type mapping.
    pub schema: WriteSchemaOptions,
    /// The source of encryption keys. If `None`, nothing is encrypted. With encryption, pages have version 1 unless you
    /// request another, because writers disagree about encrypting version 2.
    pub encryption: Option<Arc<dyn Encryption>>,
    /// Extension types deciding how fields are stored. They take precedence over the library's own.
    pub extensions: Vec<Arc<dyn ExtensionType>>,
    /// Factories for additional column statistics. If several support the same column, the first one is used.
    pub column_statistics: Vec<Arc<dyn ColumnStatisticsFactory>>,
}

/// The library's name in written files.
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

    /// Adds an extension type. It takes precedence over the library's own.
    #[must_use]
    pub fn extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Adds a factory for additional column statistics.
    #[must_use]
    pub fn column_statistics(mut self, factory: impl ColumnStatisticsFactory + 'static) -> Self {
        self.column_statistics.push(Arc::new(factory));
        self
    }

    /// Sets a Parquet schema to follow, for example that of the file the columns came from. See
    /// [`WriteSchemaOptions::parquet_schema`].
    #[must_use]
    pub fn parquet_schema(mut self, schema: ParquetSchema) -> Self {
        self.schema.parquet_schema = Some(schema);
        self
    }

    /// Sets the Arrow type mapping. If a [Parquet schema](Self::parquet_schema) was set before, it is kept unless
    /// `schema` has its own.
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

    /// Sets options for all columns. Note that, unlike a read, a write has no column selection. Options set before are
    /// kept unless `columns` sets them too.
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

    /// Sets the options of the columns below a path. Dots separate the path's parts, and `*` is a wildcard for any
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

    /// Sets the options of the selected columns.
    #[must_use]
    pub fn column_override(mut self, selector: ColumnSelector, options: ColumnOptions) -> Self {
        self.overrides.push((selector, options));
        self
    }
}

herringbone_format::setters! { WriteOptions {
    /// Sets the readers to write the file for.
    compatibility: Compatibility;
    /// Sets the trade-off between size and read time.
    prefer: Prefer => Some;
    /// Sets the collector recording why columns are stored as they are.
    explanation: Explanation => Some;
    /// Sets the data page version.
    data_page_version: DataPageVersion => Some;
    /// Sets the format version declared in the footer.
    format_version: i32;
    /// Switches to content-defined pages with these sizes.
    content_defined_chunking: ContentDefinedChunking => Some;
    /// Switches page indexes on or off.
    page_index: bool;
    /// Switches page checksums on or off.
    crc: bool;
    /// Sets the maximum number of rows in a row group.
    row_group_rows: usize;
    /// Sets the approximate row group size in bytes.
    row_group_bytes: usize;
    /// Limits the memory reserved by the writer, in bytes.
    memory_bytes: usize;
    /// Sets the columns to sort rows by.
    sort_by: Vec<SortingColumnOption>;
    /// Limits the memory for sorting, in bytes.
    sort_memory_bytes: usize;
    /// Sets the folder for the sort's temporary files.
    sort_folder: PathBuf => Some;
    /// Declares the columns that the caller has sorted the rows by.
    sorting_columns: Vec<SortingColumnOption>;
    /// Sets the handling of unsorted rows.
    unsorted_rows: UnsortedRows;
    /// Sets the name of the program writing the file.
    created_by: String;
    /// Sets the number of encoding threads. 0 means one thread per core.
    threads: usize;
    /// Encodes on the program's own threads instead of the process's shared pool.
    spawn: Arc<dyn Spawn> => Some;
    /// Sets the program's way to end a write early.
    interrupt: Arc<dyn Interrupt> => Some;
    /// Allows or forbids the writer to tune the allocator for the whole process.
    tune_allocator: bool;
    /// Allows or forbids out-of-range values.
    allow_out_of_range: bool;
    /// Sets the source of encryption keys.
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
