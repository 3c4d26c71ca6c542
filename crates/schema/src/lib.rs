//! The whole mapping between Parquet schemas and Arrow schemas, without data or I/O.
//!
//! A Parquet schema is a tree of fields, whose leaves are the file's columns. Each leaf has a
//! physical type, such as INT32, and may have an annotation, such as DATE. Structs, lists and nulls
//! do not have columns of their own. Instead, two levels per slot of a leaf record which of its
//! ancestors are present, and which list continues. In an Arrow schema, structs, lists, maps and
//! nullable fields are types.
//!
//! A [`ParquetSchema`] is the file's tree with the levels of each node. An [`ArrowMapping`] is the
//! corresponding Arrow schema as a tree of [`Node`]s. A node is an Arrow field together with the
//! definition and repetition levels that determine its validity and its offsets. Some Arrow types
//! do not exist in Parquet, for example dictionaries and timestamps with a zone's name. Therefore,
//! a writer embeds the Arrow schema in the file, under [`ARROW_SCHEMA_KEY`], and a reader restores
//! these types. You can change the mapping with [`SchemaOptions`] and [`WriteSchemaOptions`].
//!
//! ```text
//! elements of the footer ──► ParquetSchema ──► to_arrow ──► ArrowMapping ──► project ──► ArrowMapping
//!                            tree, levels      + ARROW:schema   Arrow fields,
//!                                              + options        levels of each
//!
//! Arrow schema ──► from_arrow ──► WriteMapping: elements, ARROW:schema, levels, storage of each column
//!                  + options
//! ```
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use herringbone::ParquetFile;
//! use herringbone::arrow::schema::DataType;
//! use herringbone::schema::{SchemaOptions, to_arrow};
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let schema = file.parquet_schema();
//! let key_values = file.metadata().key_value_metadata();
//! let (arrow_schema, _) = to_arrow(schema, key_values, &SchemaOptions::default())?;
//! let name = arrow_schema.field_with_name("name")?;
//! assert_eq!((name.data_type(), name.is_nullable()), (&DataType::Utf8, true));
//! // The strings of the list `tags`: the list, its elements and each string may be missing.
//! let leaf = &schema.leaves()[6];
//! assert_eq!((schema.column_path(6).as_str(), leaf.max_def_level), ("tags.list.element", 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod parquet_schema;
mod annotate;
mod message;
mod builder;
mod resolved_type;
mod group_form;
mod options;
mod order;
mod wrapper;
mod node;
mod leaf_type;
mod nested;
mod hint;
mod path;
mod ignored;
mod dictionary;
mod projection;
mod extension;
mod mapping;
mod warnings;
mod write;
#[cfg(test)]
mod tests;

pub use builder::NodeBuilder;
pub use extension::column::{ColumnStorage, ExtensionColumn};
pub use extension::{
    AnnotatedField, ExtensionField, ExtensionMapping, ExtensionRequest, FILE_EXTENSION_NAME,
    NullColumns, ReadExtensions, StoredField, VARIANT_EXTENSION_NAME,
};
pub use mapping::{ArrowMapping, to_arrow, to_arrow_extended, to_arrow_projected};
pub use node::{Conversion, Node, NodeKind};
pub use options::{
    ByteLayout, DictionaryOutput, Int96Overflow, ListLayout, Projection, SchemaOptions,
};
pub use order::ColumnOrderKind;
pub use parquet_schema::{Leaf, ParquetSchema, SchemaNode};
pub use wrapper::ArrowWrapper;
pub use write::{
    Date64, EmptyStructs, HintPolicy, WriteConversion, WriteKind, WriteLeaf, WriteMapping,
    WriteNode, WriteSchemaOptions, asked_logical_type, from_arrow, from_arrow_extended,
};

/// The name of the placeholder column that a struct without fields has.
pub const EMPTY_STRUCT_CHILD: &str = "_empty";

/// The key of a field's metadata under which the field's ID in the Parquet file is.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// The key of a field's metadata under which the logical type is if Arrow has no type for it, in
/// the form that [`LogicalType`](herringbone_format::LogicalType) prints.
pub const LOGICAL_TYPE_KEY: &str = "PARQUET:logical_type";

/// The key of a field's metadata that has the value `true` for times of day that are counted from
/// midnight in UTC.
pub const ADJUSTED_TO_UTC_KEY: &str = "adjusted_to_utc";

/// The key of the file's key-value metadata under which the written Arrow schema is, in IPC form
/// and base64.
pub const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// The key of the file's key-value metadata under which the complete Arrow schema is. Herringbone
/// writes it only if the schema contains types that other readers do not expect in
/// [`ARROW_SCHEMA_KEY`].
pub const EXACT_SCHEMA_KEY: &str = "herringbone:schema";
