//! The whole mapping between Parquet schemas and Arrow schemas, without data or I/O.
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
//! A [`ParquetSchema`] is the tree of the file with the levels of each node. It can be parsed from text, or
//! built from [`NodeBuilder`]s. An [`ArrowMapping`] is the corresponding Arrow schema as a tree of [`Node`]s.
//! Each node is an Arrow field together with the definition and repetition levels that determine its validity
//! and its offsets.

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
    Date64, EMPTY_STRUCT_CHILD, EmptyStructs, HintPolicy, WriteConversion, WriteKind, WriteLeaf,
    WriteMapping, WriteNode, WriteSchemaOptions, asked_logical_type, from_arrow,
    from_arrow_extended,
};

/// Field metadata key: the field's ID in the Parquet file.
pub const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// Field metadata key: the logical type of a field for which Arrow has no type, as
/// [`LogicalType`](herringbone_format::LogicalType) prints it.
pub const LOGICAL_TYPE_KEY: &str = "PARQUET:logical_type";

/// Field metadata key: `true` on times of day that are counted from midnight in UTC.
pub const ADJUSTED_TO_UTC_KEY: &str = "adjusted_to_utc";

/// Key-value metadata key of the file: the Arrow schema that was written, in IPC form and base64.
pub const ARROW_SCHEMA_KEY: &str = "ARROW:schema";

/// Key-value metadata key of the file: the complete Arrow schema. Herringbone's own files have it if the schema
/// contains types that other readers do not expect in [`ARROW_SCHEMA_KEY`].
pub const EXACT_SCHEMA_KEY: &str = "herringbone:schema";
