//! `pandas`: the columns' pandas types, and the columns forming the index.
//!
//! ```text
//! {"index_columns":["k"],"columns":[{"name":"a","field_name":"a","pandas_type":"int64","numpy_type":"int64",
//!                                    "metadata":null},…],…}
//! index_columns of a range   [{"kind":"range","name":null,"start":0,"stop":3,"step":1}]
//! ```

use std::collections::HashSet;

use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};
use herringbone_text::json::{JsonObject, JsonValue};

use super::{array_mut, by_name};
use crate::columns::{Columns, Similarity};

/// The outcome of [`adapt`].
pub(super) struct Told {
    /// True if the metadata can be kept.
    pub(super) is_true: bool,
    /// True if a non-default index is lost.
    pub(super) loses_index: bool,
}

/// Removes any columns missing from the new file, and describes columns that are new or have another type.
///
/// A range index counts one file's rows, so the new file gets the default index unless it `keeps_rows`. Columns
/// `with_gaps` are null in some files' rows.
pub(super) fn adapt(
    value: &mut JsonValue,
    new: &Schema,
    columns: &Columns<'_>,
    (keeps_rows, with_gaps): (bool, &HashSet<&str>),
) -> Told {
    let Some(fields) = by_name(new.fields()) else {
        return Told {
            is_true: false,
            loses_index: false,
        };
    };
    let mut described: HashSet<&str> = HashSet::new();
    let is_true = array_mut(value, "columns").is_some_and(|entries| {
        entries.retain_mut(|entry| {
            let Some(field) = field_name(entry).and_then(|name| fields.get(name)) else {
                return false;
            };
            let is_other = columns.similarity(field.name()) == Similarity::Other;
            let has_gaps = with_gaps.contains(field.name().as_str());
            // If the rows change, we describe a categorical column anew, since the number of categories belonged to one
            // file.
            if is_other || has_gaps || (!keeps_rows && is_categorical(entry)) {
                let name = entry.get("name").filter(|name| name.as_text().is_some());
                let file_name = || JsonValue::Text(field.name().clone());
                let name = name.cloned().unwrap_or_else(file_name);
                describe(entry, field, has_gaps, name);
            }
            described.insert(field.name())
        });
        for field in new.fields() {
            if !described.contains(field.name().as_str()) {
                let mut entry = JsonValue::Object(JsonObject::default());
                let has_gaps = with_gaps.contains(field.name().as_str());
                let name = JsonValue::Text(field.name().clone());
                describe(&mut entry, field, has_gaps, name);
                entries.push(entry);
            }
        }
        true
    });
    let mut loses_index = false;
    if let Some(index) = array_mut(value, "index_columns") {
        index.retain(|column| match column {
            // A column can't be part of the index if some rows have no value in it.
            JsonValue::Text(name) if with_gaps.contains(name.as_str()) => {
                loses_index = true;
                false
            }
            JsonValue::Text(name) => fields.contains_key(name.as_str()),
            range if keeps_rows => range.get("kind").is_some(),
            range => {
                loses_index |= !is_default_range(range);
                false
            }
        });
    }
    Told {
        is_true,
        loses_index,
    }
}

/// Returns a column's name in the file.
fn field_name(entry: &JsonValue) -> Option<&str> {
    let name = entry.get("field_name").or_else(|| entry.get("name"))?;
    name.as_text()
}

fn is_categorical(entry: &JsonValue) -> bool {
    entry.get("pandas_type").and_then(JsonValue::as_text) == Some("categorical")
}

/// Returns true for an unnamed index counting rows from 0, like pandas' default index.
fn is_default_range(range: &JsonValue) -> bool {
    let is_number = |key: &str, number: &str| matches!(range.get(key), Some(JsonValue::Number(it)) if it == number);
    matches!(range.get("name"), None | Some(JsonValue::Null))
        && is_number("start", "0")
        && is_number("step", "1")
}

/// Describes a column by its Arrow type.
fn describe(entry: &mut JsonValue, field: &Field, has_gaps: bool, name: JsonValue) {
    let (pandas_type, mut numpy_type, metadata) = types(field.data_type());
    if has_gaps {
        numpy_type = with_nulls(numpy_type);
    }
    let text = |text: &str| JsonValue::Text(text.to_owned());
    let member = |key: &str, value| (key.to_owned(), value);
    *entry = JsonValue::Object(JsonObject {
        members: vec![
            member("name", name),
            member("field_name", text(field.name())),
            member("pandas_type", text(pandas_type)),
            member("numpy_type", text(&numpy_type)),
            member("metadata", metadata),
        ],
    });
}

/// Returns a type's pandas and numpy names, plus the additional metadata that pandas needs.
fn types(data_type: &DataType) -> (&'static str, String, JsonValue) {
    use DataType as T;
    let same = |name: &'static str| (name, name.to_owned(), JsonValue::Null);
    let object = |name: &'static str| (name, "object".to_owned(), JsonValue::Null);
    match data_type {
        T::Boolean => same("bool"),
        T::Int8 => same("int8"),
        T::Int16 => same("int16"),
        T::Int32 => same("int32"),
        T::Int64 => same("int64"),
        T::UInt8 => same("uint8"),
        T::UInt16 => same("uint16"),
        T::UInt32 => same("uint32"),
        T::UInt64 => same("uint64"),
        T::Float16 => same("float16"),
        T::Float32 => same("float32"),
        T::Float64 => same("float64"),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => object("unicode"),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => object("bytes"),
        T::Date32 | T::Date64 => object("date"),
        T::Timestamp(unit, None) => ("datetime", datetime(*unit), JsonValue::Null),
        T::Timestamp(unit, Some(zone)) => {
            let zone = JsonValue::Text(zone.to_string());
            let members = vec![("timezone".to_owned(), zone)];
            let metadata = JsonValue::Object(JsonObject { members });
            ("datetimetz", datetime(*unit), metadata)
        }
        T::Dictionary(_, values) => types(values),
        T::RunEndEncoded(_, values) => types(values.data_type()),
        _ => object("object"),
    }
}

/// Returns the nullable pandas type to use in place of a numpy type without nulls.
fn with_nulls(numpy_type: String) -> String {
    if numpy_type == "bool" {
        return "boolean".to_owned();
    }
    match numpy_type.strip_prefix("uint") {
        Some(bits) => format!("UInt{bits}"),
        None => numpy_type.replace("int", "Int"),
    }
}

fn datetime(unit: TimeUnit) -> String {
    let unit = match unit {
        TimeUnit::Second => "s",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Microsecond => "us",
        TimeUnit::Nanosecond => "ns",
    };
    format!("datetime64[{unit}]")
}
