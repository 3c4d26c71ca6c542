//! `parquet.avro.schema`: the Avro schema. An Avro reader requires each of its fields without a default.
//!
//! ```text
//! {"type":"record","name":"r","fields":[{"name":"id","type":"long"},{"name":"s","type":["null","string"]}]}
//! ```

use herringbone_arrow::schema::Schema;
use herringbone_text::json::JsonValue;

use super::{array_mut, by_name, name};
use crate::columns::{Columns, Similarity};

/// Removes any columns missing from the new file. Returns false if that is not enough, because nested fields are
/// missing too, column types differ, or the rest refers to a removed type.
pub(super) fn adapt(value: &mut JsonValue, new: &Schema, columns: &Columns<'_>) -> bool {
    let is_same = |name: &str| columns.similarity(name) == Similarity::Same;
    if !new.fields().iter().all(|field| is_same(field.name())) {
        return false;
    }
    let (Some(described), Some(new)) = (array_mut(value, "fields"), by_name(new.fields())) else {
        return false;
    };
    let is_kept = |field: &JsonValue| name(field).is_some_and(|name| new.contains_key(name));
    let mut left_out = described.iter().filter(|described| !is_kept(described));
    if left_out.any(|left_out| defines_name(left_out.get("type"))) {
        return false;
    }
    described.retain(is_kept);
    // Comparing the counts suffices, since names are unique in Avro.
    described.len() == new.len()
}

/// Returns true if a type defines a name, since other fields might refer to it.
fn defines_name(described: Option<&JsonValue>) -> bool {
    match described {
        Some(JsonValue::Array(union)) => union.iter().any(|branch| defines_name(Some(branch))),
        Some(JsonValue::Object(object)) => {
            object.get("name").is_some()
                || ["type", "items", "values"]
                    .iter()
                    .any(|key| defines_name(object.get(key)))
        }
        _ => false,
    }
}
