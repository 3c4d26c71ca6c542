//! Fields of a table that may be null because those of another file may be.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};

/// Returns the first fields, nullable if they are so in either list. Fields without a counterpart stay as they are.
pub(super) fn in_either(fields: &Fields, others: &Fields) -> Fields {
    let wider = |field: &FieldRef| match others.find(field.name()) {
        Some((_, other)) => wider(field, Some(other)),
        None => field.clone(),
    };
    fields.iter().map(wider).collect()
}

/// Returns a field in which everything is nullable: itself, fields of structs and elements of lists.
pub(super) fn all(field: &FieldRef) -> FieldRef {
    wider(field, None)
}

/// Returns a field, nullable if it or another one is so. Without another, everything is nullable. Values of extension
/// types are whole.
fn wider(field: &FieldRef, other: Option<&FieldRef>) -> FieldRef {
    let is_nullable = field.is_nullable() || other.is_none_or(|it| it.is_nullable());
    let wide = Field::clone(field).with_nullable(is_nullable);
    if field.extension_type_name().is_some() {
        return Arc::new(wide);
    }
    let other = other.map(|it| it.data_type());
    let data_type = match (field.data_type(), other) {
        (DataType::Struct(fields), Some(DataType::Struct(others))) => {
            DataType::Struct(in_either(fields, others))
        }
        (DataType::Struct(fields), None) => DataType::Struct(fields.iter().map(all).collect()),
        (DataType::List(item), Some(DataType::List(other) | DataType::LargeList(other))) => {
            DataType::List(wider(item, Some(other)))
        }
        (DataType::List(item), None) => DataType::List(all(item)),
        (DataType::LargeList(item), Some(DataType::List(other) | DataType::LargeList(other))) => {
            DataType::LargeList(wider(item, Some(other)))
        }
        (DataType::LargeList(item), None) => DataType::LargeList(all(item)),
        (same, _) => same.clone(),
    };
    Arc::new(wide.with_data_type(data_type))
}
