//! `org.apache.spark.sql.parquet.row.metadata`: the Spark schema. Spark shows its columns, whatever the file contains.
//!
//! ```text
//! {"type":"struct","fields":[{"name":"id","type":"long","nullable":true,"metadata":{}},
//!                            {"name":"l","type":{"type":"array","elementType":"string","containsNull":true},…}]}
//! map  {"type":"map","keyType":…,"valueType":…,"valueContainsNull":true}     udt  {"type":"udt","sqlType":…}
//! ```

use std::collections::HashSet;

use herringbone_arrow::schema::{DataType, Field, Fields, Schema};
use herringbone_text::json::JsonValue;

use super::{array_mut, by_name, member_mut, name};
use crate::columns::{Columns, Similarity};

/// Removes any columns and fields missing from the new file. Returns false if the remaining ones do not match the new
/// file.
pub(super) fn adapt(value: &mut JsonValue, new: &Schema, columns: &Columns<'_>) -> bool {
    let is_other = |field: &Field| columns.similarity(field.name()) == Similarity::Other;
    !new.fields().iter().any(|field| is_other(field)) && fields(value, new.fields())
}

/// Removes any struct fields missing from the Arrow struct. Returns false if the remaining ones do not match.
fn fields(value: &mut JsonValue, new: &Fields) -> bool {
    let (Some(described), Some(new)) = (array_mut(value, "fields"), by_name(new)) else {
        return false;
    };
    let mut names = HashSet::new();
    let mut are_true = true;
    described.retain_mut(|described| {
        let Some(field) = name(described).and_then(|name| new.get(name)) else {
            return false;
        };
        are_true &= names.insert(field.name()) && is_described(described, field);
        true
    });
    are_true && names.len() == new.len()
}

/// Adapts a field's description.
fn is_described(description: &mut JsonValue, field: &Field) -> bool {
    allow_null(description, "nullable", field);
    member_mut(description, "type").is_some_and(|member| data_type(member, field.data_type()))
}

/// Makes a description nullable if the Arrow field is nullable.
fn allow_null(description: &mut JsonValue, key: &str, field: &Field) {
    if let (true, Some(nullable)) = (field.is_nullable(), member_mut(description, key)) {
        *nullable = JsonValue::Boolean(true);
    }
}

/// Adapts a type to an Arrow type, or returns false if the two do not match.
fn data_type(described: &mut JsonValue, new: &DataType) -> bool {
    use DataType as T;
    let kind = match described {
        JsonValue::Text(name) => Some(name.clone()),
        JsonValue::Object(_) => described
            .get("type")
            .and_then(JsonValue::as_text)
            .map(str::to_owned),
        _ => None,
    };
    let is_simple = described.as_text().is_some();
    match (kind.as_deref(), new) {
        (_, T::Dictionary(_, values)) => data_type(described, values),
        (_, T::RunEndEncoded(_, values)) => data_type(described, values.data_type()),
        (Some(name), _) if is_simple => name == "variant" || !new.is_nested(),
        (Some("struct"), T::Struct(new)) => fields(described, new),
        (
            Some("array"),
            T::List(element)
            | T::LargeList(element)
            | T::ListView(element)
            | T::LargeListView(element)
            | T::FixedSizeList(element, _),
        ) => {
            allow_null(described, "containsNull", element);
            member_mut(described, "elementType")
                .is_some_and(|member| data_type(member, element.data_type()))
        }
        (Some("map"), T::Map(entries, _)) => {
            let T::Struct(entries) = entries.data_type() else {
                return false;
            };
            let (Some(key), Some(value)) = (entries.first(), entries.get(1)) else {
                return false;
            };
            allow_null(described, "valueContainsNull", value);
            member_mut(described, "keyType")
                .is_some_and(|member| data_type(member, key.data_type()))
                && member_mut(described, "valueType")
                    .is_some_and(|member| data_type(member, value.data_type()))
        }
        // A user-defined class requires all of its fields, so its stored type must not change.
        (Some("udt"), _) => described.get("sqlType").is_some_and(|stored| {
            let mut adapted = stored.clone();
            data_type(&mut adapted, new) && adapted == *stored
        }),
        _ => false,
    }
}
