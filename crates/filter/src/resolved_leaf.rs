//! The columns of a wanted schema that a predicate can name.

use herringbone_arrow::schema::DataType;

use herringbone_core::cast::Constant;

/// A column of a wanted schema, or a field of its structs, that is one leaf of the file or a constant.
#[derive(Debug, Clone)]
pub struct ResolvedLeaf {
    /// The wanted names on the path to the column, which leads through structs only.
    pub path: Vec<String>,
    /// The origin of the column's values.
    pub source: LeafSource,
    /// The wanted type of the column.
    pub data_type: DataType,
}

/// The origin of a field's values, if the field has no fields of its own.
#[derive(Debug, Clone)]
pub enum LeafSource {
    /// The leaf of the file with this ordinal.
    Leaf(usize),
    /// One value for all rows.
    Constant(Constant),
}
