//! The mapping between Parquet schemas and Arrow schemas, without data or I/O.
//!
//! A Parquet schema is a tree of fields, with the file's columns as leaves. Each leaf has a
//! physical type, such as INT32, and can have an annotation, such as DATE. Structs, lists and nulls
//! do not have columns of their own. Instead, two levels per slot of a leaf record which of its
//! ancestors are present, and which list continues. In an Arrow schema, structs, lists, maps and
//! nullable fields are types.
//!
//! A [`ParquetSchema`] is the file's tree with each node's levels. An [`ArrowMapping`] is the
//! corresponding Arrow schema as a tree of [`Node`]s. A node is an Arrow field together with the
//! definition and repetition levels that determine its validity and offsets. Some Arrow types do
//! not exist in Parquet, for example dictionaries and timestamps with a named zone. To preserve
//! these, a writer embeds the Arrow schema in the file, under [`ARROW_SCHEMA_KEY`], and a reader
//! restores the types from there. You can change the mapping with [`SchemaOptions`] and
//! [`WriteSchemaOptions`].
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

/// The name of the placeholder column in a struct without fields.
pub const EMPTY_STRUCT_CHILD: &str = "_empty";

/// The field metadata key for the field's ID in the Parquet file.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// The field metadata key for a logical type without an Arrow type. The value has the display form
/// of [`LogicalType`](herringbone_format::LogicalType).
pub const LOGICAL_TYPE_KEY: &str = "PARQUET:logical_type";

/// The field metadata key for times of day. The value is `true` if these are counted from midnight
/// in UTC.
pub const ADJUSTED_TO_UTC_KEY: &str = "adjusted_to_utc";

/// The file metadata key for the written Arrow schema, as a base64 IPC message.
pub const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// The file metadata key for the complete Arrow schema. Herringbone only writes it if the schema
/// contains types that other readers do not expect in [`ARROW_SCHEMA_KEY`].
pub const EXACT_SCHEMA_KEY: &str = "herringbone:schema";
