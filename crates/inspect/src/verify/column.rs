//! The properties of a column in all row groups.

use herringbone_core::statistics::BoundsBuilder;
use herringbone_format::{ColumnOrder, FileMetadata, Repetition, Type};
use herringbone_schema::{ColumnOrderKind, Leaf, ParquetSchema};

use super::decimals::Digits;
use super::values::Allowed;

/// A leaf of the schema, and the order of its values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) leaf: Leaf,
    /// The ordinal of the leaf.
    pub(super) ordinal: usize,
    pub(super) path: Vec<String>,
    /// The order of `min_value` and `max_value`; undefined if the file does not name a known one.
    pub(super) order: ColumnOrderKind,
    /// The order of the annotation, used for the older `min` and `max`.
    pub(super) natural_order: ColumnOrderKind,
    /// True if NaNs are ordered, too, and have bounds.
    pub(super) total_order: bool,
    pub(super) is_text: bool,
    /// The maximum digits, for decimals.
    pub(super) digits: Option<Digits>,
    /// The allowed values, if not all are allowed.
    pub(super) allowed: Option<Allowed>,
    /// The definition levels that represent a null key of a map.
    pub(super) null_keys: Vec<u8>,
    /// The lowest definition level of a slot, which may be null.
    pub(super) slot_def: u8,
}

impl Column {
    /// Returns the column of a leaf of the schema.
    pub(super) fn new(metadata: &FileMetadata, schema: &ParquetSchema, leaf: usize) -> Self {
        let natural_order = schema.order(leaf);
        let named = metadata.column_orders().and_then(|orders| orders.get(leaf));
        let order = match (named, natural_order) {
            // INT96 was unordered until an order of its own was specified.
            (Some(ColumnOrder::TypeDefined), ColumnOrderKind::Int96) => ColumnOrderKind::Undefined,
            (Some(ColumnOrder::TypeDefined), order)
            | (Some(ColumnOrder::Int96Timestamp), order @ ColumnOrderKind::Int96) => order,
            (Some(ColumnOrder::Ieee754Total), order) if order.is_float() => order,
            _ => ColumnOrderKind::Undefined,
        };
        let path = schema.path(leaf).into_iter().map(str::to_owned).collect();
        Self {
            ordinal: leaf,
            path,
            order,
            natural_order,
            total_order: named == Some(&ColumnOrder::Ieee754Total),
            is_text: schema.is_text(leaf),
            digits: Digits::of(schema.element(leaf))
                .filter(|_| !leaf_of(schema, leaf).annotation_ignored),
            allowed: Allowed::of(schema, leaf),
            null_keys: schema.null_key_levels(leaf),
            slot_def: slot_def(schema, leaf),
            leaf: *leaf_of(schema, leaf),
        }
    }

    /// Returns empty bounds in the order of the column.
    pub(super) fn bounds(&self) -> BoundsBuilder {
        // Uses the natural order even if bounds are undefined, because the builder also counts NaNs.
        BoundsBuilder::new(self.natural_order, self.leaf.physical_type)
    }

    pub(super) fn is_byte_array(&self) -> bool {
        self.leaf.physical_type == Type::ByteArray
    }
}

#[allow(
    clippy::indexing_slicing,
    reason = "leaves are counted by the same schema"
)]
pub(super) fn leaf_of(schema: &ParquetSchema, leaf: usize) -> &Leaf {
    &schema.leaves()[leaf]
}

/// Returns the definition level of an element of the innermost list around a leaf; 0 without lists.
fn slot_def(schema: &ParquetSchema, leaf: usize) -> u8 {
    let mut ordinal = leaf_of(schema, leaf).node;
    while let Some(node) = schema.nodes().get(ordinal).filter(|_| ordinal != 0) {
        if node.repetition() == Repetition::Repeated {
            return node.def_level;
        }
        ordinal = node.parent;
    }
    0
}
