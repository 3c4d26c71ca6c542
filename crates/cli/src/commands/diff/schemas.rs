//! The differences between two schemas, one per column or field.

use std::collections::{HashMap, VecDeque};

use herringbone_arrow::schema::{DataType, Field, SchemaRef};

/// Returns the path of each column and field, with its type. Arrow layouts and the names of list items and map
/// entries are left out, because Parquet files of equal columns may have any.
pub(crate) fn columns(schema: &SchemaRef) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for field in schema.fields() {
        push(field, field.name(), &mut all);
    }
    all
}

fn push(field: &Field, path: &str, all: &mut Vec<(String, String)>) {
    all.push((path.to_owned(), type_of(field)));
    match plain(field.data_type()) {
        DataType::Struct(fields) => {
            for field in fields {
                push(field, &format!("{path}.{}", field.name()), all);
            }
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => push(item, &format!("{path}.element"), all),
        DataType::Map(entries, _) => {
            if let DataType::Struct(fields) = entries.data_type() {
                for (field, name) in fields.iter().zip(["key", "value"]) {
                    push(field, &format!("{path}.{name}"), all);
                }
            }
        }
        _ => {}
    }
}

/// Returns the type of values without dictionaries and run ends.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        other => other,
    }
}

fn type_of(field: &Field) -> String {
    use DataType as T;
    let name = match plain(field.data_type()) {
        T::Struct(_) => "Struct".to_owned(),
        T::List(_) | T::LargeList(_) | T::ListView(_) | T::LargeListView(_) => "List".to_owned(),
        T::FixedSizeList(_, size) => format!("FixedSizeList({size})"),
        T::Map(..) => "Map".to_owned(),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => T::Utf8.to_string(),
        T::Binary | T::LargeBinary | T::BinaryView => T::Binary.to_string(),
        other => other.to_string(),
    };
    let extension = field.extension_type_name();
    let extension = extension.map_or_else(String::new, |name| format!(" ({name})"));
    match field.is_nullable() {
        true => name + &extension,
        false => format!("{name} not null{extension}"),
    }
}

/// Returns the changes from one schema to another. Of several columns of one name, the first belongs to the first.
pub(crate) fn changes(a: &[(String, String)], b: &[(String, String)]) -> Vec<String> {
    let mut places_in_b: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, (path, _)) in b.iter().enumerate() {
        places_in_b.entry(path).or_default().push_back(at);
    }
    let mut changes = Vec::new();
    let mut is_added = vec![true; b.len()];
    for (path, before) in a {
        let at = places_in_b
            .get_mut(path.as_str())
            .and_then(VecDeque::pop_front);
        let Some((at, (_, after))) = at.and_then(|at| Some(at).zip(b.get(at))) else {
            changes.push(format!("{path}: {before} missing"));
            continue;
        };
        if let Some(is_added) = is_added.get_mut(at) {
            *is_added = false;
        }
        if after != before {
            changes.push(format!("{path}: {before} → {after}"));
        }
    }
    let added = b.iter().zip(is_added).filter(|(_, is_added)| *is_added);
    changes.extend(added.map(|((path, after), _)| format!("{path}: {after} added")));
    let paths = |all: &[(String, String)]| all.iter().map(|(path, _)| path.clone()).collect();
    let (order_a, order_b): (Vec<String>, Vec<String>) = (paths(a), paths(b));
    if changes.is_empty() && order_a != order_b {
        changes.push("the order of the columns".to_owned());
    }
    changes
}
