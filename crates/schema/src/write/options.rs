//! Options for choosing among several Parquet types for an Arrow type.

use crate::ParquetSchema;

/// The handling of structs without fields. This needs a choice, because Parquet has no empty
/// groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum EmptyStructs {
    /// Fails with an error that names the column.
    #[default]
    Error,
    /// Writes a group with one column of nulls, named
    /// [`EMPTY_STRUCT_CHILD`](crate::EMPTY_STRUCT_CHILD). It is read back as a struct with a field
    /// of that name.
    UnknownLeaf,
}

/// The policy for writing the Arrow schema to the file, under
/// [`ARROW_SCHEMA_KEY`](crate::ARROW_SCHEMA_KEY).
///
/// Note that list views, runs and most dictionary types make other readers fail, although they
/// could read the columns in their stored form. Therefore, these types only appear under
/// [`EXACT_SCHEMA_KEY`](crate::EXACT_SCHEMA_KEY).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum HintPolicy {
    /// Writes the schema if the file alone would not produce the same fields, or if it has JSON,
    /// since some readers only recognize JSON from the hint. The hint then has all fields, because
    /// other readers match them by position.
    #[default]
    Needed,
    /// Always writes the schema.
    All,
    /// Never writes the schema. Any properties that Parquet cannot express are lost.
    None,
}

/// The stored form of `Date64`, that is, of dates in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Date64 {
    /// DATE, in days. A date that is not a whole day is an error.
    #[default]
    Date,
    /// Integers without an annotation. Other readers treat these as plain numbers.
    Int64,
}

/// Options for mapping an Arrow schema to Parquet types.
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::arrow::array::{ArrayRef, RecordBatch, TimestampNanosecondArray};
/// use herringbone::format::Type;
/// use herringbone::schema::WriteSchemaOptions;
/// use herringbone::{ParquetFile, WriteOptions, Writer};
///
/// let times: ArrayRef = Arc::new(TimestampNanosecondArray::from(vec![0, 1_000]));
/// let batch = RecordBatch::try_from_iter([("time", times)])?;
/// // For readers that know no other timestamps of nanoseconds.
/// let schema = WriteSchemaOptions::new().int96_timestamps(true).root_name("spark_schema");
/// let mut file = Vec::new();
/// let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new().schema(schema))?;
/// writer.write(&batch)?;
/// writer.finish()?;
///
/// let file = ParquetFile::from_bytes(file)?;
/// let nodes = file.parquet_schema().nodes();
/// assert_eq!(nodes[0].element.name, "spark_schema");
/// assert_eq!(nodes[1].element.type_, Some(Type::Int96));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WriteSchemaOptions {
    /// True to write even decimals of up to 18 digits as FIXED_LEN_BYTE_ARRAY, instead of INT32 and
    /// INT64.
    pub decimals_as_fixed: bool,
    /// True to write timestamps as INT96, deprecated by the format. This takes precedence over
    /// `flba12_timestamps`.
    pub int96_timestamps: bool,
    /// True to write timestamps as 96-bit counts in a FIXED_LEN_BYTE_ARRAY(12). Few readers know
    /// these, and some refuse the whole file.
    pub flba12_timestamps: bool,
    /// The handling of structs without fields, an error by default.
    pub empty_structs: EmptyStructs,
    /// The policy for writing the Arrow schema to the file.
    pub arrow_schema_hint: HintPolicy,
    /// The root group's name.
    pub root_name: String,
    /// True if times of day are counted from midnight in UTC. This only applies to fields without
    /// [`ADJUSTED_TO_UTC_KEY`](crate::ADJUSTED_TO_UTC_KEY) in their metadata.
    pub times_adjusted_to_utc: bool,
    /// The stored form of `Date64`.
    pub date64: Date64,
    /// The Parquet schema to follow, for example the schema of the original file.
    ///
    /// Use this to preserve the parts of a Parquet schema that Arrow cannot express: ENUM and BSON,
    /// unknown annotations, INT96, IDs and older list and map forms. A field takes the form of this
    /// schema's field with the same name, if that form is read as the field's Arrow type.
    /// Otherwise, the other options apply, and
    /// [`WriteMapping::warnings`](crate::WriteMapping::warnings) describes the difference.
    ///
    /// Requests in the Arrow fields' metadata override the schema. A field is OPTIONAL if either
    /// the Arrow field or this schema's field is.
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

impl WriteSchemaOptions {
    /// Returns the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { WriteSchemaOptions {
    /// Selects whether decimals of up to 18 digits are written as fixed-length bytes too.
    decimals_as_fixed: bool;
    /// Selects whether timestamps are written as INT96.
    int96_timestamps: bool;
    /// Selects whether timestamps are written as 96-bit counts in 12 bytes.
    flba12_timestamps: bool;
    /// Sets the handling of structs without fields.
    empty_structs: EmptyStructs;
    /// Sets the policy for writing the Arrow schema.
    arrow_schema_hint: HintPolicy;
    /// Sets the root group's name.
    root_name: impl Into<String> => Into::into;
    /// Selects whether times of day are counted from midnight in UTC.
    times_adjusted_to_utc: bool;
    /// Sets the stored form of `Date64`.
    date64: Date64;
    /// Sets the Parquet schema to follow.
    parquet_schema: ParquetSchema => Some;
}}
