//! Parquet schemas, and how they correspond to Arrow schemas.
//!
//! A [`ParquetSchema`] is a tree. Its inner nodes are groups, and its leaves are the file's
//! columns, counted depth first. In most functions of the expert layer, a column is named by its
//! leaf ordinal:
//!
//! ```
//! use herringbone::ParquetFile;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let leaf = file.parquet_schema().leaf_at(["id"]).expect("the file has this column");
//! assert_eq!(file.parquet_schema().column_path(leaf), "id");
//! # Ok(())
//! # }
//! ```
//!
//! Reads map a file's schema to Arrow with [`SchemaOptions`], and writes map the batches' schema to
//! Parquet with [`WriteSchemaOptions`]. If the mapping is all you need, use [`to_arrow`] and
//! [`from_arrow`].

use herringbone_arrow::schema::{Schema, SchemaRef};
use herringbone_format::{KeyValue, Result};

pub use herringbone_schema::{
    ADJUSTED_TO_UTC_KEY, ARROW_SCHEMA_KEY, ByteLayout, ColumnOrderKind, Date64, DictionaryOutput,
    EMPTY_STRUCT_CHILD, EXACT_SCHEMA_KEY, EmptyStructs, FIELD_ID_KEY, HintPolicy, Int96Overflow,
    LOGICAL_TYPE_KEY, Leaf, ListLayout, NodeBuilder, ParquetSchema, Projection, SchemaNode,
    SchemaOptions, WriteLeaf, WriteSchemaOptions,
};

/// Returns the Arrow schema of a read with these options. `key_values` is the file's key-value
/// metadata, which can contain an Arrow schema. The second part of the result lists any ignored
/// parts of that schema.
///
/// ```
/// use herringbone::SchemaOptions;
/// use herringbone::arrow::schema::DataType;
/// use herringbone::schema::{ByteLayout, ParquetSchema, to_arrow};
///
/// let schema = "message m { required int64 id; optional binary name (STRING); }";
/// let schema: ParquetSchema = schema.parse()?;
/// let (arrow, warnings) = to_arrow(&schema, &[], &SchemaOptions::new())?;
/// assert_eq!(arrow.field(0).data_type(), &DataType::Int64);
/// assert_eq!(arrow.field(1).data_type(), &DataType::Utf8);
/// assert!(warnings.is_empty());
///
/// let views = SchemaOptions::new().strings(ByteLayout::Views);
/// let (arrow, _) = to_arrow(&schema, &[], &views)?;
/// assert_eq!(arrow.field(1).data_type(), &DataType::Utf8View);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with [Unsupported](crate::ErrorKind::Unsupported) if the schema has no Arrow equivalent,
/// and with [Corrupt](crate::ErrorKind::Corrupt) if it contradicts itself.
pub fn to_arrow(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
) -> Result<(SchemaRef, Vec<String>)> {
    let mapping = herringbone_schema::to_arrow(schema, key_values, options)?;
    Ok((mapping.schema, mapping.warnings))
}

/// Returns the Parquet schema for batches of this schema. The second part of the result lists the
/// differences from [`WriteSchemaOptions::parquet_schema`].
///
/// ```
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone::schema::{WriteSchemaOptions, from_arrow};
///
/// let schema = Schema::new(vec![Field::new("name", DataType::Utf8, true)]);
/// let (schema, _) = from_arrow(&schema, &WriteSchemaOptions::default())?;
/// assert!(schema.to_string().contains("optional binary name (STRING)"));
/// # Ok::<(), herringbone::Error>(())
/// ```
///
/// # Errors
/// Fails with [Unsupported](crate::ErrorKind::Unsupported) if a type has no Parquet equivalent, and
/// with [Argument](crate::ErrorKind::Argument) if the options contradict the schema.
pub fn from_arrow(
    schema: &Schema,
    options: &WriteSchemaOptions,
) -> Result<(ParquetSchema, Vec<String>)> {
    let mapping = herringbone_schema::from_arrow(schema, options)?;
    Ok((mapping.schema, mapping.warnings))
}
