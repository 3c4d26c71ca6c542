//! Widening dictionary keys to fit the file's values.
//!
//! Each written array has its own dictionary, with keys just wide enough for it. But the file has
//! one dictionary per column chunk, with the values of all these arrays. If the file's Arrow schema
//! has too narrow keys for that dictionary, readers trusting the schema fail.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

use super::{WriteKind, WriteNode};

/// Returns the fields, with wider keys if needed. `values` has the number of values to distinguish
/// for each column, and `nodes` are the same fields as written.
pub(super) fn widened(fields: &Fields, nodes: &[WriteNode], values: &[u64]) -> Fields {
    let fields = fields.iter().zip(nodes);
    fields
        .map(|(field, node)| of_field(field, node, values))
        .collect()
}

fn of_field(field: &FieldRef, node: &WriteNode, values: &[u64]) -> FieldRef {
    let data_type = of_type(field.data_type(), node, values);
    match data_type == *field.data_type() {
        true => field.clone(),
        false => Arc::new(Field::clone(field).with_data_type(data_type)),
    }
}

fn of_type(of: &DataType, node: &WriteNode, values: &[u64]) -> DataType {
    use DataType as T;
    let child = |field: &FieldRef, node: &WriteNode| of_field(field, node, values);
    match (of, &node.kind) {
        (T::Dictionary(key, value), WriteKind::Leaf { leaf }) => {
            let most = values.get(*leaf).copied().unwrap_or(0);
            let value = of_type(value, node, values);
            T::Dictionary(Box::new(key_for(key, most)), Box::new(value))
        }
        (T::RunEndEncoded(ends, value), WriteKind::Leaf { .. }) => {
            T::RunEndEncoded(ends.clone(), child(value, node))
        }
        // Only this library makes dictionaries of groups, and it ends arrays early if keys are
        // narrow. So these keys can stay as they are.
        (T::Dictionary(key, value), WriteKind::Dictionary(inner)) => {
            T::Dictionary(key.clone(), Box::new(of_type(value, inner, values)))
        }
        (T::RunEndEncoded(ends, value), WriteKind::RunEnd(inner)) => {
            T::RunEndEncoded(ends.clone(), child(value, inner))
        }
        (T::Struct(fields), WriteKind::Struct(nodes)) if !fields.is_empty() => {
            T::Struct(widened(fields, nodes, values))
        }
        (T::List(field), WriteKind::List { child: node, .. }) => T::List(child(field, node)),
        (T::LargeList(field), WriteKind::List { child: node, .. }) => {
            T::LargeList(child(field, node))
        }
        (T::ListView(field), WriteKind::List { child: node, .. }) => {
            T::ListView(child(field, node))
        }
        (T::LargeListView(field), WriteKind::List { child: node, .. }) => {
            T::LargeListView(child(field, node))
        }
        (T::FixedSizeList(field, size), WriteKind::List { child: node, .. }) => {
            T::FixedSizeList(child(field, node), *size)
        }
        (T::Map(field, sorted), WriteKind::Map { entries, .. }) => {
            T::Map(child(field, entries), *sorted)
        }
        (other, _) => other.clone(),
    }
}

/// Returns the narrowest key type that can distinguish `values` values and is at least as wide as
/// `key`. Keys of 32 bits or more are always wide enough for a column chunk.
fn key_for(key: &DataType, values: u64) -> DataType {
    let wider = match key {
        DataType::Int8 if values > 1 << 7 => DataType::Int16,
        DataType::UInt8 if values > 1 << 8 => DataType::UInt16,
        DataType::Int16 if values > 1 << 15 => DataType::Int32,
        DataType::UInt16 if values > 1 << 16 => DataType::UInt32,
        wide_enough => return wide_enough.clone(),
    };
    key_for(&wider, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_as_wide_as_values_need() {
        use DataType::*;
        for (key, values, expected) in [
            (Int8, 0, Int8),
            (Int8, 128, Int8),
            (Int8, 129, Int16),
            (Int8, 32_768, Int16),
            (Int8, 32_769, Int32),
            (UInt8, 256, UInt8),
            (UInt8, 257, UInt16),
            (UInt8, 65_537, UInt32),
            (Int16, 32_769, Int32),
            (UInt16, 65_537, UInt32),
            (Int32, u64::MAX, Int32),
            (UInt32, u64::MAX, UInt32),
            (Int64, u64::MAX, Int64),
        ] {
            assert_eq!(key_for(&key, values), expected, "{key} {values}");
        }
    }
}
