//! What a caller chooses: Arrow layouts, and which columns.

use herringbone_arrow::schema::{SchemaRef, TimeUnit};

/// How strings and binary values lie in Arrow arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ByteLayout {
    /// 32-bit offsets (`Utf8`, `Binary`), unless the file's Arrow schema says otherwise.
    #[default]
    Offsets,
    /// 64-bit offsets: `LargeUtf8`, `LargeBinary`.
    LargeOffsets,
    /// Views: `Utf8View`, `BinaryView`.
    Views,
}

/// How lists lie in Arrow arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ListLayout {
    /// 32-bit offsets (`List`), unless the file's Arrow schema says otherwise.
    #[default]
    Offsets,
    /// 64-bit offsets: `LargeList`.
    LargeOffsets,
    /// Offsets and sizes: `ListView`.
    Views,
}

/// Which strings and binary values come out as dictionary arrays.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum DictionaryOutput {
    /// None.
    Never,
    /// What the file's Arrow schema says was a dictionary when it was written.
    #[default]
    Hinted,
    /// All BYTE_ARRAY columns of strings and binary values.
    Always,
    /// Of these columns, those of strings and binary values and those that the file's Arrow schema
    /// says were dictionaries; no others. Paths as in [`Projection::Paths`].
    Columns(Vec<Vec<String>>),
}

/// What becomes of an INT96 or 96-bit timestamp that the Arrow unit cannot hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Int96Overflow {
    /// The read fails.
    #[default]
    Error,
    /// The value becomes null, also in columns that have no nulls in the file: their fields are
    /// nullable then. The keys of maps are not; there it is an error.
    Null,
    /// The value wraps around silently, as most readers do.
    Wrap,
    /// All INT96 columns of the read take the finest unit that holds each of their values with all its
    /// digits, instead of `int96_unit`; the read fails if there is none. All of these values are read
    /// before the read begins. A plan that is made without the bytes of the file cannot read them: it
    /// fails if it has INT96 columns, and the unit must be found first. 96-bit timestamps that are not
    /// INT96 fail as with `Error`.
    CoarserUnit,
}

/// What Arrow types a file's columns become.
///
/// Where the file carries the Arrow schema it was written from, that schema decides what Parquet
/// has no word for (time zone names, dictionaries, runs, large and view layouts, …). A choice here that is
/// not the default wins over it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaOptions {
    /// The layout of strings and binary values.
    pub strings: ByteLayout,
    /// The layout of lists.
    pub lists: ListLayout,
    /// Which columns become dictionary arrays.
    pub dictionary: DictionaryOutput,
    /// Decimals of up to 9 digits as `Decimal32`, up to 18 as `Decimal64`, instead of `Decimal128`.
    pub smallest_decimals: bool,
    /// The unit of INT96 timestamps. Nanoseconds by default, which reach from 1677 to 2262.
    pub int96_unit: TimeUnit,
    /// What becomes of INT96 timestamps that the unit cannot hold.
    pub int96_overflow: Int96Overflow,
    /// INT96 columns as their 12 bytes, `FixedSizeBinary`, whatever these mean.
    pub int96_as_bytes: bool,
    /// ENUM columns as binary values instead of strings.
    pub enum_as_binary: bool,
    /// Whether the Arrow schema in the file's metadata is looked at.
    pub use_arrow_schema: bool,
    /// Columns and maps whose annotation is ignored; paths as in [`Projection::Paths`]. A column is
    /// read as its physical type: text as binary values, an INTERVAL as `FixedSizeBinary(12)`. A map
    /// is read as a list of its entries: structs of key and value, where a key may be null.
    ///
    /// This is for values that the annotation does not allow, and for those that Arrow's type cannot
    /// hold though the format can: parts of an INTERVAL from 2^31 on.
    pub ignore_annotations: Vec<Vec<String>>,
    /// An Arrow schema to look at instead of that in the file's metadata, such as one that several
    /// files shall share. A field that is nullable in it is nullable, whatever the file says; of
    /// the rest it decides what that in the metadata would. What does not fit the file is ignored
    /// with a warning, so look at the schema of the batches.
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

/// Which columns to read. Whatever the order of the request, columns come in the file's order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Projection {
    /// All of them.
    #[default]
    All,
    /// Top-level fields with all that is in them.
    Names(Vec<String>),
    /// Fields at any depth with all that is in them, each as the parts of its path.
    ///
    /// The groups that Parquet wraps around the elements of lists and the entries of maps may be
    /// named or left out: both `["a", "list", "element", "b"]`, the path in the file, and
    /// `["a", "b"]` are the field `b` of the structs in the list `a`.
    Paths(Vec<Vec<String>>),
    /// Columns by their ordinals among all columns of the file.
    Leaves(Vec<usize>),
    /// Fields at any depth with all that is in them, by the id that the file gives them.
    FieldIds(Vec<i32>),
}
