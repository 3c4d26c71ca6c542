//! The nodes of the schema, and key-value pairs.

use crate::{ConvertedType, LogicalType, Repetition, Type};

/// One node of the schema tree; the tree is stored as a list, depth first.
///
/// Nothing here is checked against the other elements: `num_children` may be negative or absurd.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SchemaElement {
    /// The physical type of a leaf; absent on a group.
    pub type_: Option<Type>,
    /// Bytes a value of a FIXED_LEN_BYTE_ARRAY.
    pub type_length: Option<i32>,
    /// How often the field occurs in its parent; absent on the root.
    pub repetition_type: Option<Repetition>,
    /// The field's name.
    pub name: String,
    /// How many fields a group has; absent on a leaf.
    pub num_children: Option<i32>,
    /// The older annotation.
    pub converted_type: Option<ConvertedType>,
    /// Digits right of the point, for [`ConvertedType::Decimal`].
    pub scale: Option<i32>,
    /// Digits in all, for [`ConvertedType::Decimal`].
    pub precision: Option<i32>,
    /// The field's id in the original schema.
    pub field_id: Option<i32>,
    /// The annotation; wins over `converted_type`.
    pub logical_type: Option<LogicalType>,
}

/// A key and its value, from the writer for its readers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyValue {
    /// The key.
    pub key: String,
    /// The value; bytes that are not UTF-8 were replaced by U+FFFD.
    pub value: Option<String>,
}
