//! The properties of a column that are the same in all row groups.

use herringbone_core::statistics::BoundsBuilder;
use herringbone_format::{ColumnOrder, FileMetadata, Repetition, Type};
use herringbone_schema::{ColumnOrderKind, Leaf, ParquetSchema};

use super::decimals::Digits;
use super::values::Allowed;

/// A leaf of the schema with everything needed to check its values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) leaf: Leaf,
    /// The leaf's ordinal.
    pub(super) ordinal: usize,
    pub(super) path: Vec<String>,
    /// The order of `min_value` and `max_value`, undefined unless the file names a known order.
    pub(super) order: ColumnOrderKind,
    /// The order implied by the annotation, used by the older `min` and `max`.
    pub(super) natural_order: ColumnOrderKind,
    /// True if the order includes NaNs, so that they have bounds too.
    pub(super) total_order: bool,
    pub(super) is_text: bool,
    /// The digit limit for decimals.
    pub(super) digits: Option<Digits>,
    /// The allowed values, if they are restricted.
    pub(super) allowed: Option<Allowed>,
    /// The definition levels that mean a null key in a map.
    pub(super) null_keys: Vec<u8>,
    /// The lowest definition level with a slot for a value, null or not.
    pub(super) slot_def: u8,
}

impl Column {
    /// Creates the column for a leaf of the schema.
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

    /// Returns empty bounds in the column's order.
    pub(super) fn bounds(&self) -> BoundsBuilder {
        // We need the natural order even for undefined bounds, since the builder also counts NaNs.
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

/// Returns the lowest definition level for an element in the leaf's innermost list, or 0 without
/// lists.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's levels: each optional or repeated node from the root on adds one.
    #[test]
    fn the_innermost_list_has_the_slots() {
        let text = "message m {
            required int32 a;
            optional group b { optional int32 c; }
            optional group d (LIST) { repeated group list { optional int32 element; } }
            repeated group e { optional group f { repeated int32 g; optional int32 h; } }
        }";
        let schema: ParquetSchema = text.parse().unwrap();
        let slots: Vec<u8> = (0..5).map(|leaf| slot_def(&schema, leaf)).collect();
        assert_eq!(slots, [0, 0, 2, 3, 1]);
    }
}
