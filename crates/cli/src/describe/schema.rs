//! Describes schema elements and logical types.

use herringbone::format::{LogicalType, SchemaElement};
use herringbone::schema::ParquetSchema;
use serde_json::Value;

use super::Object;

/// Returns a leaf's physical type and its annotation, such as `BYTE_ARRAY STRING`.
pub(crate) fn type_of(element: &SchemaElement) -> String {
    let physical = element
        .type_
        .map(|type_| type_.to_string())
        .unwrap_or_default();
    match (&element.logical_type, element.converted_type) {
        (Some(logical), _) => format!("{physical} {logical}"),
        (None, Some(converted)) => format!("{physical} {converted}"),
        (None, None) => physical,
    }
}

/// Describes a schema element with the field names of `parquet.thrift`.
pub(crate) fn element(element: &SchemaElement) -> Object {
    Object::new()
        .with("name", element.name.as_str())
        .some(
            "repetition_type",
            element
                .repetition_type
                .map(|repetition_type| repetition_type.to_string()),
        )
        .some("type", element.type_.map(|type_| type_.to_string()))
        .some("type_length", element.type_length)
        .some("num_children", element.num_children)
        .some(
            "converted_type",
            element
                .converted_type
                .map(|converted_type| converted_type.to_string()),
        )
        .some("scale", element.scale)
        .some("precision", element.precision)
        .some("field_id", element.field_id)
        .some(
            "logical_type",
            element.logical_type.as_ref().map(logical_type),
        )
}

/// Describes a logical type by its name, as `type`, and its parameters.
fn logical_type(logical: &LogicalType) -> Value {
    let named = |name: &str| Object::new().with("type", name);
    match logical {
        LogicalType::Decimal { scale, precision } => named("DECIMAL")
            .with("precision", *precision)
            .with("scale", *scale),
        LogicalType::Time {
            is_adjusted_to_utc,
            unit,
        } => named("TIME")
            .with("is_adjusted_to_utc", *is_adjusted_to_utc)
            .name("unit", unit),
        LogicalType::Timestamp {
            is_adjusted_to_utc,
            unit,
        } => named("TIMESTAMP")
            .with("is_adjusted_to_utc", *is_adjusted_to_utc)
            .name("unit", unit),
        LogicalType::Integer {
            bit_width,
            is_signed,
        } => named("INTEGER")
            .with("bit_width", *bit_width)
            .with("is_signed", *is_signed),
        LogicalType::Variant {
            specification_version,
        } => named("VARIANT").some("specification_version", *specification_version),
        LogicalType::Geometry { crs } => named("GEOMETRY").some("crs", crs.as_deref()),
        LogicalType::Geography { crs, algorithm } => {
            named("GEOGRAPHY").some("crs", crs.as_deref()).some(
                "algorithm",
                algorithm.map(|algorithm| algorithm.to_string()),
            )
        }
        LogicalType::Unrecognized { field_id, .. } => {
            named("UNRECOGNIZED").with("field_id", *field_id)
        }
        other => named(&other.to_string()),
    }
    .into()
}

/// Describes the schema as a tree. Each node has its maximum levels, and each group has its
/// `fields` too.
pub(crate) fn tree(schema: &ParquetSchema) -> Value {
    let nodes = schema.nodes();
    let mut open: Vec<(usize, Object, Vec<Value>)> = Vec::new();
    let mut done = Value::Null;
    for (ordinal, node) in nodes.iter().enumerate() {
        let object = element(&node.element)
            .with("max_definition_level", node.def_level)
            .with("max_repetition_level", node.rep_level);
        open.push((node.end, object, Vec::new()));
        // Nodes are in depth-first order, so a node ends after its last descendant.
        while let Some((_, object, fields)) = open.pop_if(|(end, ..)| *end == ordinal + 1) {
            let is_leaf = nodes.get(ordinal).is_some_and(|node| !node.is_group());
            let value: Value = if is_leaf && fields.is_empty() {
                object.into()
            } else {
                object.with("fields", fields).into()
            };
            match open.last_mut() {
                Some((.., siblings)) => siblings.push(value),
                None => done = value,
            }
        }
    }
    done
}
