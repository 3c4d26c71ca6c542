//! What a caller chooses: which of several Parquet types an Arrow type becomes.

use crate::ParquetSchema;

/// What to do with a struct that has no fields, as Parquet has no group without fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmptyStructs {
    /// An error that names the column.
    #[default]
    Error,
    /// A group with one column of nulls, named [`EMPTY_STRUCT_CHILD`](crate::EMPTY_STRUCT_CHILD).
    /// It is read back as a struct with a field of that name.
    UnknownLeaf,
}

/// Whether the Arrow schema goes into the file, under
/// [`ARROW_SCHEMA_KEY`](crate::ARROW_SCHEMA_KEY).
///
/// Types that other readers fail on, though they read the columns as they are stored, are in
/// [`EXACT_SCHEMA_KEY`](crate::EXACT_SCHEMA_KEY) alone: list views, runs, dictionaries of most types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HintPolicy {
    /// Where the file alone would not give the same fields back. Then all fields are in it, as other
    /// readers find them by place.
    #[default]
    Needed,
    /// Always.
    All,
    /// Never: what Parquet has no word for is lost.
    None,
}

/// How `Date64`, milliseconds since 1970, is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Date64 {
    /// As DATE, which counts days: a date that is no whole day is an error when it is written.
    #[default]
    Date,
    /// As integers without annotation, which other readers take for numbers.
    Int64,
}

/// What Parquet types the columns of an Arrow schema become.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteSchemaOptions {
    /// Decimals of up to 18 digits as FIXED_LEN_BYTE_ARRAY too, instead of INT32 and INT64.
    pub decimals_as_fixed: bool,
    /// Timestamps as INT96, which the format has deprecated; wins over `flba12_timestamps`.
    pub int96_timestamps: bool,
    /// Timestamps as 96-bit counts in a FIXED_LEN_BYTE_ARRAY(12). Few readers know them, and some
    /// refuse the whole file.
    pub flba12_timestamps: bool,
    /// What to do with structs that have no fields.
    pub empty_structs: EmptyStructs,
    /// Whether the Arrow schema goes into the file.
    pub arrow_schema_hint: HintPolicy,
    /// The name of the root group.
    pub root_name: String,
    /// Whether times of day are counted from midnight in UTC, for fields whose metadata do not say
    /// so under [`ADJUSTED_TO_UTC_KEY`](crate::ADJUSTED_TO_UTC_KEY).
    pub times_adjusted_to_utc: bool,
    /// How `Date64` is stored.
    pub date64: Date64,
    /// The Parquet schema to follow, such as that of the file that the columns come from.
    ///
    /// Arrow has no word for much of it: ENUM and BSON, annotations that are not known, INT96, ids
    /// and older forms of lists and maps. A field is written in the form that the field of the same
    /// name has here if it would be read as the Arrow type from there, and as the other options say
    /// if not; [`WriteMapping::warnings`](crate::WriteMapping::warnings) has the difference then.
    /// What metadata of Arrow fields ask for wins. Where either is nullable, the field is OPTIONAL.
    pub parquet_schema: Option<ParquetSchema>,
}

impl Default for WriteSchemaOptions {
    fn default() -> Self {
        Self {
            decimals_as_fixed: false,
            int96_timestamps: false,
            flba12_timestamps: false,
            empty_structs: EmptyStructs::Error,
            arrow_schema_hint: HintPolicy::Needed,
            root_name: "schema".to_owned(),
            times_adjusted_to_utc: false,
            date64: Date64::Date,
            parquet_schema: None,
        }
    }
}
