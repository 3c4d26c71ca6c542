//! Columns of a wanted schema that a predicate can name.

use herringbone_arrow::schema::DataType;

use herringbone_core::cast::Constant;

/// A column of a wanted schema, or a field of its structs, that is one leaf of the file or a constant.
#[derive(Debug, Clone)]
pub struct ResolvedLeaf {
    /// The path of wanted names to the column, through structs only.
    pub path: Vec<String>,
    /// The origin of the values.
    pub source: LeafSource,
    /// The wanted type.
    pub data_type: DataType,
}

/// The origin of the values of a field without fields of its own.
#[derive(Debug, Clone)]
pub enum LeafSource {
    /// The leaf of the file with this ordinal.
    Leaf(usize),
    /// One value for all rows.
    Constant(Constant),
}
