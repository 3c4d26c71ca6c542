//! The columns of a wanted schema available to predicates.

use herringbone_arrow::schema::DataType;

use herringbone_core::cast::Constant;

/// A column of a wanted schema, or a field of its structs, resolved to a file leaf or a constant.
#[derive(Debug, Clone)]
pub struct ResolvedLeaf {
    /// The wanted names on the path to the column. The path only leads through structs.
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
