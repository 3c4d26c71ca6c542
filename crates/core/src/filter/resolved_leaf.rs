//! Columns of a wanted schema that a predicate can name.

use herringbone_arrow::schema::DataType;

use crate::cast::Constant;

/// A column of a wanted schema, or a field of its structs, that is one leaf of the file or a constant.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedLeaf {
    /// The wanted names that lead to it, through structs only.
    pub(crate) path: Vec<String>,
    pub(crate) source: LeafSource,
    /// The wanted type.
    pub(crate) data_type: DataType,
}

/// The origin of the values of a field without fields of its own.
#[derive(Debug, Clone)]
pub(crate) enum LeafSource {
    /// The leaf of the file with this ordinal.
    Leaf(usize),
    /// One value for all rows.
    Constant(Constant),
}
