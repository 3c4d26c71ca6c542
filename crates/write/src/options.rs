//! What to write, and how.

use std::path::PathBuf;
use std::sync::Arc;

use herringbone_format::modular_encryption::Encryption;
use herringbone_format::{Encoding, KeyValue, Type};
use herringbone_pipeline::Spawn;
use herringbone_schema::{ParquetSchema, WriteSchemaOptions};

use super::column_statistics::ColumnStatisticsFactory;
use super::explanation::Explanation;
use super::selector::ColumnSelector;
use herringbone_core::compression::Compression;
use herringbone_core::extension::ExtensionType;

/// Which readers a file is for: which encodings a column chunk may have, of which the one is taken that a sample of its
/// values speaks for.
///
/// | | `Widest` | `Modern` | `Newest` |
/// |---|---|---|---|
/// | data pages | version 1 | version 2, or 1 where levels are smaller so | as `Modern` |
/// | all but booleans | dictionaries, PLAIN | dictionaries, PLAIN | dictionaries, PLAIN |
/// | integers | | DELTA_BINARY_PACKED | and BYTE_STREAM_SPLIT |
/// | floating point numbers | | BYTE_STREAM_SPLIT | and ALP |
/// | byte arrays | | DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY | as `Modern` |
/// | byte arrays of a fixed length | | | DELTA_BYTE_ARRAY, BYTE_STREAM_SPLIT |
/// | booleans | PLAIN | PLAIN, RLE | as `Modern` |
/// | order of floating point bounds | that of the type | IEEE 754 total order | as `Modern` |
///
/// Who reads them; other versions than those in the first column were not tried:
///
/// | | checked | not checked, by what their projects say |
/// |---|---|---|
/// | `Widest` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 3.5.9, 4.0.0 to 4.3 | every reader of the last ten years |
/// | `Modern` | pyarrow 26.0, DuckDB 2.0, polars 2.1, Spark 4.3 | parquet-java 1.12 (1.18 to make use of bounds of floating point numbers), pyarrow 15, arrow-rs 50, DuckDB 1.2, polars 1.0 |
/// | `Newest` without ALP | pyarrow 26.0, polars 2.1, Spark 4.3 | arrow-rs 53, parquet-java 1.15, DuckDB |
/// | `Newest` with ALP | none of those four | |
///
/// Spark before 4.3 refuses BYTE_STREAM_SPLIT where it reads columns as vectors, as it does by default. **Spark 4.0.0 reads wrong
/// values** from pages in DELTA_LENGTH_BYTE_ARRAY, whoever wrote them; 4.0.5, 4.1.4 and 4.2.1 do not.
///
/// Readers that do not know the total order pass over those bounds. A reader that does not know an encoding fails at the
/// first page that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compatibility {
    /// Every reader of the last ten years.
    #[default]
    Widest,
    /// Smaller files, for readers of the last two years.
    Modern,
    /// All that the format has today, ALP included, for readers that are known to have it.
    Newest,
}

/// What matters more where one has to be weighed against the other: the bytes of a file, or the time of every read.
///
/// Times are estimated by a table of what decoding costs, never by a clock, so the same values become the same bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Prefer {
    /// The fewest bytes.
    Size,
    /// Bytes, as long as they come from storage at some 50 MB/s.
    #[default]
    Balanced,
    /// The least time to read, from storage of some 500 MB/s.
    Reading,
}

/// The version of data pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataPageVersion {
    /// Levels and values are compressed together.
    V1,
    /// Levels are stored uncompressed, and values as well where compression does not shrink them.
    V2,
}

/// Which bounds and counts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatisticsLevel {
    /// Counts of nulls only.
    Counts,
    /// And bounds of column chunks.
    Chunk,
    /// And bounds of pages, in a column index.
    Page,
}

/// What becomes of a row group whose rows are not sorted by the
/// [sorting columns](WriteOptions::sorting_columns).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsortedRows {
    /// Nobody looks: the caller knows that there is none.
    #[default]
    Unchecked,
    /// An error that names the first row out of order. The rows of the whole file have to be sorted,
    /// but for row groups that the caller ends.
    Error,
    /// It does not name the sorting columns. The others do.
    Undeclared,
}

/// The bloom filter of a column.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BloomFilterOptions {
    /// The share of absent values that the filter does not recognise as such, between 0 and 1.
    pub false_positives: f64,
    /// Distinct values in a row group to make room for; counted where `None`.
    pub distinct_values: Option<u64>,
    /// Bytes of a filter, at most.
    pub max_bytes: usize,
}

impl BloomFilterOptions {
    /// A filter for so many false positives.
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

/// How columns are written. What is `None` is left to the options of more columns, and in the end to
/// [`WriteOptions::compatibility`].
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ColumnOptions {
    /// How pages are compressed; ZSTD level 1 by default, SNAPPY where the feature `zstd` is off, and not at all where that
    /// saves too little: see [`Prefer`].
    pub compression: Option<Compression>,
    /// The encoding of values that are not in a dictionary; chosen by a sample of them by default. An error where it does not serve the
    /// column's type. RLE_DICTIONARY stands for `dictionary(true)`.
    pub encoding: Option<Encoding>,
    /// Whether values go to a dictionary as long as its indices take fewer bytes than PLAIN values. By default they go where a
    /// sample says so, and no encoding is asked for.
    pub dictionary: Option<bool>,
    /// Bytes of a dictionary, at most; 1 MiB by default. What is a dictionary in Arrow, and fits, is
    /// written whole: with the values that no slot has, in its order. One whose order means something
    /// is written whole in any case.
    pub dictionary_bytes: Option<usize>,
    /// Which bounds are written; those of pages by default.
    pub statistics: Option<StatisticsLevel>,
    /// Bytes of strings and binary values in bounds, at most; 64 by default.
    pub truncate_bounds: Option<usize>,
    /// Whether to write a bloom filter; not by default.
    pub bloom_filter: Option<BloomFilterOptions>,
    /// Bytes of the values of a page, roughly; 1 MiB by default.
    pub page_bytes: Option<usize>,
    /// Rows of a page, at most; 32 768 by default.
    pub page_rows: Option<usize>,
}

/// Declares setters that can be chained, one a field.
macro_rules! setters {
    ($on:ident { $($(#[$doc:meta])* $name:ident: $type:ty $(=> $wrap:ident)?;)* }) => {
        impl $on {$(
            $(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $name: $type) -> Self {
                self.$name = setters!(@value $name $($wrap)?);
                self
            }
        )*}
    };
    (@value $name:ident $wrap:ident) => { $wrap($name) };
    (@value $name:ident) => { $name };
}

setters! { ColumnOptions {
    /// Chooses how pages are compressed.
    compression: Compression => Some;
    /// Chooses the encoding of values outside of a dictionary.
    encoding: Encoding => Some;
    /// Switches dictionaries on or off.
    dictionary: bool => Some;
    /// Bounds the bytes of a dictionary.
    dictionary_bytes: usize => Some;
    /// Chooses which bounds are written.
    statistics: StatisticsLevel => Some;
    /// Bounds the bytes of bounds.
    truncate_bounds: usize => Some;
    /// Writes a bloom filter.
    bloom_filter: BloomFilterOptions => Some;
    /// Sets the bytes of a page.
    page_bytes: usize => Some;
    /// Sets the rows of a page.
    page_rows: usize => Some;
}}

impl ColumnOptions {
    /// Nothing chosen.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What `other` chooses, and what `self` chooses where `other` does not.
    pub(crate) fn overridden_by(&self, other: &Self) -> Self {
        Self {
            compression: other.compression.or(self.compression),
            encoding: other.encoding.or(self.encoding),
            dictionary: other.dictionary.or(match other.encoding {
                // An encoding of one's own wins over a dictionary asked for further out.
                Some(_) => None,
                None => self.dictionary,
            }),
            dictionary_bytes: other.dictionary_bytes.or(self.dictionary_bytes),
            statistics: other.statistics.or(self.statistics),
            truncate_bounds: other.truncate_bounds.or(self.truncate_bounds),
            bloom_filter: other.bloom_filter.or(self.bloom_filter),
            page_bytes: other.page_bytes.or(self.page_bytes),
            page_rows: other.page_rows.or(self.page_rows),
        }
    }
}

/// A column that rows are sorted by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortingColumnOption {
    /// The path of the column, as parts.
    pub path: Vec<String>,
    /// Whether values descend.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

/// What to write, and how. The default suits most files.
///
/// ```
/// use herringbone_core::compression::Compression;
/// use herringbone_write::{ColumnOptions, WriteOptions};
///
/// let options = WriteOptions::new()
///     .compression(Compression::Snappy)
///     .column("id", ColumnOptions::new().dictionary(false));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Which readers the file is for.
    pub compatibility: Compatibility,
    /// How all columns are written.
    pub columns: ColumnOptions,
    /// How some columns are written; of several that are meant, the last one counts.
    pub overrides: Vec<(ColumnSelector, ColumnOptions)>,
    /// What matters more, bytes or the time of reading. Where it is `Some`, pages that hardly shrink are stored without the
    /// codec even if one was asked for; else only where the codec is the default one.
    pub prefer: Option<Prefer>,
    /// What is told why columns are stored as they are.
    pub explanation: Option<Explanation>,
    /// The version of data pages; that of `compatibility` where `None`.
    pub data_page_version: Option<DataPageVersion>,
    /// Whether offset indexes are written, and column indexes of columns with bounds of pages. A file that has but one page
    /// in each column chunk has none: they would repeat the metadata of the chunks.
    pub page_index: bool,
    /// Whether pages carry a checksum.
    pub crc: bool,
    /// Rows of a row group, at most.
    pub row_group_rows: usize,
    /// Bytes of a row group in the file, roughly.
    pub row_group_bytes: usize,
    /// Bytes that the writer may hold; where it holds more after some rows, the row group ends early.
    ///
    /// Rows come to the columns in slices of at most a sixteenth of that, but of 1024 rows at least;
    /// what one of them adds may be held beyond it. So may the footer, which no row group makes
    /// smaller, and the batches that the last slices are of.
    pub memory_bytes: usize,
    /// What the writer sorts rows by, most significant first; empty where they stay as they come. Rows that
    /// are equal stay in their order. Floats are sorted as their bounds are: in the total order of IEEE 754 for
    /// [`Modern`](Compatibility::Modern) readers; otherwise both zeros are equal, and NaNs, which are equal
    /// too, greater than all numbers. Rows of row groups that the caller ends are
    /// sorted each for themselves. The file says that it is sorted.
    ///
    /// Nothing is written to the file before its last row came. What does not fit into
    /// `sort_memory_bytes` waits in temporary files, without a name where the system allows that, and
    /// encrypted where the file is to be.
    pub sort_by: Vec<SortingColumnOption>,
    /// Bytes of the rows that are sorted in memory; where there are more, they go to temporary files, of which 65 are open at
    /// most. The dictionaries of Arrow that these rows have stay in memory, and count: more than half of it, or than 16 MiB if
    /// that is more, is an error.
    pub sort_memory_bytes: usize,
    /// Where the temporary files of a sort are; where `None`, beside the file, or where the system has
    /// such files if the output is none.
    pub sort_folder: Option<PathBuf>,
    /// What the caller says that rows are sorted by, most significant first; for rows that the writer
    /// sorts, `sort_by` says so.
    pub sorting_columns: Vec<SortingColumnOption>,
    /// What becomes of rows that are not sorted by `sorting_columns`.
    pub unsorted_rows: UnsortedRows,
    /// Added to the metadata of the file, as they are: keys may repeat. They win over the metadata
    /// of the Arrow schema.
    pub key_value_metadata: Vec<KeyValue>,
    /// Whether decimals with more digits than their type has, and times of day from 24:00 on or below zero, are written as
    /// they are; they are an error by default. Arrow arrays may hold such values, as may Parquet files. Those that the
    /// physical type cannot hold stay an error.
    pub allow_out_of_range: bool,
    /// Which program writes the file, by custom as `application version x (build y)`.
    pub created_by: String,
    /// Threads that encode, the caller's included; 0 stands for one a core.
    pub threads: usize,
    /// A program's own threads; those of a pool that all readers and writers of the process share if `None`.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// Whether the writer may have the C library of GNU/Linux keep freed memory for the next row group. That is a setting
    /// of the whole process, which stays. Without it, each row group may take a page fault for
    /// every 4 KiB.
    pub tune_allocator: bool,
    /// What becomes of Arrow types.
    pub schema: WriteSchemaOptions,
    /// Who has the keys that the file is encrypted with; nothing is encrypted where `None`. Pages are of version 1
    /// then, unless another is asked for: writers disagree about how version 2 is encrypted.
    pub encryption: Option<Arc<dyn Encryption>>,
    /// Extension types that are asked how fields are stored, before those of the library.
    pub extensions: Vec<Arc<dyn ExtensionType>>,
    /// What makes further statistics of columns; of several the first one counts that has something to
    /// say of a column.
    pub column_statistics: Vec<Arc<dyn ColumnStatisticsFactory>>,
}

/// What the library calls itself in the files it writes.
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
            tune_allocator: true,
            schema: WriteSchemaOptions::default(),
            encryption: None,
            extensions: Vec::new(),
            column_statistics: Vec::new(),
        }
    }
}

impl WriteOptions {
    /// Rows of a row group, unless chosen otherwise.
    pub const DEFAULT_ROW_GROUP_ROWS: usize = 1 << 20;
    /// Bytes of a row group, unless chosen otherwise.
    pub const DEFAULT_ROW_GROUP_BYTES: usize = 128 << 20;
    /// Bytes that the writer holds at most, unless chosen otherwise.
    pub const DEFAULT_MEMORY_BYTES: usize = 512 << 20;
    /// Bytes of rows that are sorted in memory, unless chosen otherwise.
    pub const DEFAULT_SORT_MEMORY_BYTES: usize = 1 << 30;

    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an extension type.
    #[must_use]
    pub fn extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Adds what makes further statistics of columns.
    #[must_use]
    pub fn column_statistics(mut self, factory: impl ColumnStatisticsFactory + 'static) -> Self {
        self.column_statistics.push(Arc::new(factory));
        self
    }

    /// Follows a Parquet schema, such as that of the file that the columns come from: see
    /// [`WriteSchemaOptions::parquet_schema`].
    #[must_use]
    pub fn parquet_schema(mut self, schema: ParquetSchema) -> Self {
        self.schema.parquet_schema = Some(schema);
        self
    }

    /// Chooses what becomes of Arrow types. A [Parquet schema](Self::parquet_schema) that was chosen before stays, unless
    /// `schema` has one.
    #[must_use]
    pub fn schema(mut self, mut schema: WriteSchemaOptions) -> Self {
        schema.parquet_schema = schema.parquet_schema.or(self.schema.parquet_schema);
        self.schema = schema;
        self
    }

    /// Adds pairs to the metadata of the file.
    #[must_use]
    pub fn key_value_metadata(mut self, pairs: Vec<KeyValue>) -> Self {
        self.key_value_metadata.extend(pairs);
        self
    }

    /// Chooses how all columns are written. What was chosen before stays where `columns` chooses nothing.
    #[must_use]
    pub fn columns(mut self, columns: ColumnOptions) -> Self {
        self.columns = self.columns.overridden_by(&columns);
        self
    }

    /// Chooses how all columns are compressed.
    #[must_use]
    pub fn compression(mut self, compression: Compression) -> Self {
        self.columns.compression = Some(compression);
        self
    }

    /// Chooses how the columns below a path are written; its parts are separated by dots, `*` stands
    /// for any characters.
    #[must_use]
    pub fn column(self, pattern: &str, options: ColumnOptions) -> Self {
        self.column_override(ColumnSelector::Pattern(pattern.to_owned()), options)
    }

    /// Chooses how all columns of a physical type are written.
    #[must_use]
    pub fn physical_type(self, physical_type: Type, options: ColumnOptions) -> Self {
        self.column_override(ColumnSelector::PhysicalType(physical_type), options)
    }

    /// Chooses how the selected columns are written.
    #[must_use]
    pub fn column_override(mut self, selector: ColumnSelector, options: ColumnOptions) -> Self {
        self.overrides.push((selector, options));
        self
    }
}

setters! { WriteOptions {
    /// Chooses the readers.
    compatibility: Compatibility;
    /// Says what matters more.
    prefer: Prefer => Some;
    /// Asks why columns are stored as they are.
    explanation: Explanation => Some;
    /// Chooses the version of data pages.
    data_page_version: DataPageVersion => Some;
    /// Switches page indexes on or off.
    page_index: bool;
    /// Switches checksums on or off.
    crc: bool;
    /// Sets the rows of a row group.
    row_group_rows: usize;
    /// Sets the bytes of a row group.
    row_group_bytes: usize;
    /// Bounds the bytes that the writer holds.
    memory_bytes: usize;
    /// Sorts rows.
    sort_by: Vec<SortingColumnOption>;
    /// Bounds the bytes of rows that are sorted in memory.
    sort_memory_bytes: usize;
    /// Chooses where the temporary files of a sort are.
    sort_folder: PathBuf => Some;
    /// Says what rows are sorted by.
    sorting_columns: Vec<SortingColumnOption>;
    /// Says what becomes of rows that are not sorted.
    unsorted_rows: UnsortedRows;
    /// Names the program that writes.
    created_by: String;
    /// Sets the number of threads; 0 stands for one a core.
    threads: usize;
    /// Lends threads of the program.
    spawn: Arc<dyn Spawn> => Some;
    /// Allows or forbids to tune the allocator.
    tune_allocator: bool;
    /// Chooses whether values beyond the range of their type are written.
    allow_out_of_range: bool;
    /// Sets who has the keys that the file is encrypted with.
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
        let pair = |key: &str| KeyValue::new(key, None);
        let mut schema = WriteSchemaOptions::default();
        schema.date64 = Date64::Int64;
        let options = WriteOptions::new()
            .parquet_schema(parquet_schema.clone())
            .schema(schema)
            .key_value_metadata(vec![pair("a")])
            .key_value_metadata(vec![pair("b")]);
        assert_eq!(options.schema.parquet_schema, Some(parquet_schema));
        assert_eq!(options.schema.date64, Date64::Int64);
        assert_eq!(options.key_value_metadata, [pair("a"), pair("b")]);
    }
}
