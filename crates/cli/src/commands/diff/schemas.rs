//! Finds the differences between two schemas, with one entry per column or field.

use std::collections::{HashMap, VecDeque};

use herringbone_arrow::schema::{DataType, Field, SchemaRef};

use crate::base::type_name::{exact_type_name, type_name};

/// A column or one of its fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Column {
    path: String,
    /// The type's name for people, which leaves out units.
    name: String,
    /// The type's name with units, used to compare types.
    exact_name: String,
}

/// Returns a schema's columns and their fields. We leave out Arrow layouts and the names of list
/// items and map entries, since these can differ between files with equal columns.
pub(crate) fn columns(schema: &SchemaRef) -> Vec<Column> {
    let mut all = Vec::new();
    for field in schema.fields() {
        push(field, field.name(), &mut all);
    }
    all
}

fn push(field: &Field, path: &str, all: &mut Vec<Column>) {
    let null = match field.is_nullable() {
        true => "",
        false => " not null",
    };
    all.push(Column {
        path: path.to_owned(),
        name: type_name(field) + null,
        exact_name: exact_type_name(field) + null,
    });
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

/// Returns the value type inside dictionaries and run ends.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        other => other,
    }
}

/// Returns the changes from one schema to another. Columns with a repeated name are paired in
/// order, first with first and so on.
pub(crate) fn changes(a: &[Column], b: &[Column]) -> Vec<String> {
    let mut places_in_b: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for (at, column) in b.iter().enumerate() {
        places_in_b.entry(&column.path).or_default().push_back(at);
    }
    let mut changes = Vec::new();
    let mut is_added = vec![true; b.len()];
    for before in a {
        let at = places_in_b
            .get_mut(before.path.as_str())
            .and_then(VecDeque::pop_front);
        let Some((at, after)) = at.and_then(|at| Some(at).zip(b.get(at))) else {
            changes.push(format!("{}: {} missing", before.path, before.name));
            continue;
        };
        if let Some(is_added) = is_added.get_mut(at) {
            *is_added = false;
        }
        if after.exact_name != before.exact_name {
            let (old, new) = match after.name == before.name {
                true => (&before.exact_name, &after.exact_name),
                false => (&before.name, &after.name),
            };
            changes.push(format!("{}: {old} → {new}", before.path));
        }
    }
    let added = b.iter().zip(is_added).filter(|(_, is_added)| *is_added);
    changes.extend(added.map(|(column, _)| format!("{}: {} added", column.path, column.name)));
    let order =
        |all: &[Column]| -> Vec<String> { all.iter().map(|column| column.path.clone()).collect() };
    if changes.is_empty() && order(a) != order(b) {
        changes.push("the order of the columns".to_owned());
    }
    changes
}
