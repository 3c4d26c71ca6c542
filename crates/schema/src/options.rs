//! Options for choosing Arrow layouts and columns.

use herringbone_arrow::schema::{SchemaRef, TimeUnit};
use herringbone_format::setters::texts;

/// The Arrow layout of strings and binary values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ByteLayout {
    /// 32-bit offsets (`Utf8`, `Binary`), unless the file's Arrow schema has another layout.
    #[default]
    Offsets,
    /// 64-bit offsets: `LargeUtf8`, `LargeBinary`.
    LargeOffsets,
    /// Views: `Utf8View`, `BinaryView`.
    Views,
}

/// The Arrow layout of lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ListLayout {
    /// 32-bit offsets (`List`), unless the file's Arrow schema has another layout.
    #[default]
    Offsets,
    /// 64-bit offsets: `LargeList`.
    LargeOffsets,
    /// Offsets and sizes: `ListView`.
    Views,
}

/// The strings and binary values to read as dictionary arrays.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::arrow::schema::DataType;
/// use herringbone::schema::DictionaryOutput;
/// use herringbone::{ParquetFile, SchemaOptions};
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let name = DictionaryOutput::Columns(vec![vec!["name".to_owned()]]);
/// let schema = file.arrow_schema(&SchemaOptions::new().dictionary(name))?;
/// let name = schema.field_with_name("name")?.data_type();
/// assert!(matches!(name, DataType::Dictionary(_, values) if **values == DataType::Utf8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum DictionaryOutput {
    /// No column.
    Never,
    /// Only columns that are dictionaries in the file's Arrow schema.
    #[default]
    Hinted,
    /// All BYTE_ARRAY columns with strings or binary values.
    Always,
    /// Only the given columns, if they contain strings or binary values or are dictionaries in the
    /// file's Arrow schema. Paths have the form of [`Projection::Paths`].
    Columns(Vec<Vec<String>>),
}

/// The handling of INT96 or 96-bit timestamps that overflow the Arrow unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Int96Overflow {
    /// The read fails.
    #[default]
    Error,
    /// The value becomes null, even in columns without nulls in the file, so their fields are
    /// nullable then. Map keys cannot be nullable, so such a value is still an error there.
    Null,
    /// The value silently wraps around, as in most readers.
    Wrap,
    /// All INT96 columns use the finest unit that can represent all their values exactly, instead
    /// of `int96_unit`. If there is no such unit, the read fails. Note that finding the unit takes
    /// an extra read of all these values beforehand.
    ///
    /// Planning without the file's bytes fails if there are INT96 columns, since their values
    /// cannot be read. In this case, find the unit first. 96-bit timestamps other than INT96 fail
    /// as with `Error`.
    CoarserUnit,
}

/// Options for mapping a file's columns to Arrow types.
///
/// A file can contain the Arrow schema that it was written from. That schema decides all properties
/// that Parquet cannot express, such as time zone names, dictionaries, runs, and large and view
/// layouts. Any non-default choice here overrides the file's schema.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::arrow::schema::DataType;
/// use herringbone::schema::{ByteLayout, SchemaOptions};
/// use herringbone::{ParquetFile, ReadOptions};
///
/// let mut schema = SchemaOptions::default();
/// schema.strings = ByteLayout::Views;
/// schema.smallest_decimals = true;
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let plan = file.plan(&ReadOptions::new().schema(schema))?;
/// assert_eq!(plan.schema().field_with_name("name")?.data_type(), &DataType::Utf8View);
/// assert_eq!(plan.schema().field_with_name("price")?.data_type(), &DataType::Decimal32(9, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaOptions {
    /// The layout of strings and binary values.
    pub strings: ByteLayout,
    /// The layout of lists.
    pub lists: ListLayout,
    /// The columns to read as dictionary arrays.
    pub dictionary: DictionaryOutput,
    /// True to read decimals of up to 9 digits as `Decimal32` and up to 18 digits as `Decimal64`,
    /// instead of `Decimal128`.
    pub smallest_decimals: bool,
    /// The unit of INT96 timestamps. The default is nanoseconds, covering the years 1677 to 2262.
    pub int96_unit: TimeUnit,
    /// The handling of INT96 timestamps that overflow the unit.
    pub int96_overflow: Int96Overflow,
    /// True to read INT96 columns as their raw 12 bytes, `FixedSizeBinary`.
    pub int96_as_bytes: bool,
    /// True to read ENUM columns as binary values instead of strings.
    pub enum_as_binary: bool,
    /// True to use the Arrow schema in the file's metadata.
    pub use_arrow_schema: bool,
    /// Columns and maps to read without their annotation. Paths have the form of
    /// [`Projection::Paths`]. A column is read as its physical type. For example, text is read as
    /// binary values, and an INTERVAL as `FixedSizeBinary(12)`. A map is read as a list of structs
    /// of key and value, and keys can be null then.
    ///
    /// Use this to read values that the annotation does not allow, or that Arrow's type cannot
    /// represent. For example, the parts of an INTERVAL can be 2^31 or more in Parquet, but not in
    /// Arrow.
    pub ignore_annotations: Vec<Vec<String>>,
    /// An Arrow schema to use instead of the one in the file's metadata, for example a schema
    /// shared by several files. Fields nullable in this schema are nullable, whatever the file
    /// declares. Otherwise, it decides the same properties as the schema in the metadata would.
    /// Parts that do not fit the file are ignored with a warning, so check the batches' schema.
    pub arrow_schema: Option<SchemaRef>,
}

impl Default for SchemaOptions {
    fn default() -> Self {
        Self {
            strings: ByteLayout::Offsets,
            lists: ListLayout::Offsets,
            dictionary: DictionaryOutput::Hinted,
            smallest_decimals: false,
            int96_unit: TimeUnit::Nanosecond,
            int96_overflow: Int96Overflow::Error,
            int96_as_bytes: false,
            enum_as_binary: false,
            use_arrow_schema: true,
            ignore_annotations: Vec::new(),
            arrow_schema: None,
        }
    }
}

impl SchemaOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { SchemaOptions {
    /// Sets the layout of strings and binary values.
    strings: ByteLayout;
    /// Sets the layout of lists.
    lists: ListLayout;
    /// Selects the columns to read as dictionary arrays.
    dictionary: DictionaryOutput;
    /// Selects whether decimals are read as the narrowest type for their digits.
    smallest_decimals: bool;
    /// Sets the unit of INT96 timestamps.
    int96_unit: TimeUnit;
    /// Sets the handling of INT96 timestamps that overflow the unit.
    int96_overflow: Int96Overflow;
    /// Selects whether INT96 columns are read as their raw 12 bytes.
    int96_as_bytes: bool;
    /// Selects whether ENUM columns are read as binary values.
    enum_as_binary: bool;
    /// Selects whether the Arrow schema in the file's metadata is used.
    use_arrow_schema: bool;
    /// Sets the Arrow schema to use instead of the one in the file's metadata.
    arrow_schema: SchemaRef => Some;
}}

impl SchemaOptions {
    /// Sets the paths of the columns and maps to read without their annotation.
    #[must_use]
    pub fn ignore_annotations<S: Into<String>>(
        mut self,
        paths: impl IntoIterator<Item = impl IntoIterator<Item = S>>,
    ) -> Self {
        self.ignore_annotations = paths.into_iter().map(texts).collect();
        self
    }
}

/// The columns to read. They are returned in the file's order, regardless of the order requested.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{ParquetFile, Projection, ReadOptions};
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let names = |projection| -> herringbone::Result<Vec<String>> {
///     let plan = file.plan(&ReadOptions::new().projection(projection))?;
///     Ok(plan.schema().fields().iter().map(|field| field.name().clone()).collect())
/// };
/// assert_eq!(names(Projection::Names(vec!["name".into(), "id".into()]))?, ["id", "name"]);
/// // Only the field `country` of the struct `origin`.
/// let country = vec!["origin".into(), "country".into()];
/// assert_eq!(names(Projection::Paths(vec![country]))?, ["origin"]);
/// assert_eq!(names(Projection::Leaves(vec![0, 8]))?, ["id", "origin"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Projection {
    /// All columns.
    #[default]
    All,
    /// Top-level fields with everything below them.
    Names(Vec<String>),
    /// Fields at any depth with everything below them, each given as its path's parts.
    ///
    /// You may name or leave out the groups that Parquet wraps around list elements and map
    /// entries. For example, if `a` is a list of structs with a field `b`, both the file's own path
    /// `["a", "list", "element", "b"]` and `["a", "b"]` select that field.
    Paths(Vec<Vec<String>>),
    /// Columns by their ordinals among all the file's columns.
    Leaves(Vec<usize>),
    /// Fields at any depth with everything below them, by their field IDs in the file.
    FieldIds(Vec<i32>),
}
