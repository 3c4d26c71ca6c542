//! The differences between two schemas, one per column or field.

use std::collections::{HashMap, HashSet};

use herringbone_arrow::schema::{DataType, Field, Fields, SchemaRef};

/// Returns the path of each column and field, with its type.
pub(crate) fn columns(schema: &SchemaRef) -> Vec<(String, String)> {
    let mut all = Vec::new();
    push(schema.fields(), "", &mut all);
    all
}

fn push(fields: &Fields, before: &str, all: &mut Vec<(String, String)>) {
    for field in fields {
        let path = format!("{before}{}", field.name());
        all.push((path.clone(), type_of(field)));
        match field.data_type() {
            DataType::Struct(fields) => push(fields, &format!("{path}."), all),
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::Map(item, _) => {
                push(&Fields::from(vec![item.clone()]), &format!("{path}."), all);
            }
            _ => {}
        }
    }
}

fn type_of(field: &Field) -> String {
    let name = match field.data_type() {
        DataType::Struct(_) => "Struct".to_owned(),
        DataType::List(_) => "List".to_owned(),
        DataType::LargeList(_) => "LargeList".to_owned(),
        DataType::FixedSizeList(_, size) => format!("FixedSizeList({size})"),
        DataType::Map(..) => "Map".to_owned(),
        other => other.to_string(),
    };
    let extension = field.extension_type_name();
    let extension = extension.map_or_else(String::new, |name| format!(" ({name})"));
    match field.is_nullable() {
        true => name + &extension,
        false => format!("{name} not null{extension}"),
    }
}

/// Returns the changes from one schema to another.
pub(crate) fn changes(a: &[(String, String)], b: &[(String, String)]) -> Vec<String> {
    let of_b: HashMap<&str, &str> = b.iter().map(|(path, it)| (&**path, &**it)).collect();
    let of_a: HashSet<&str> = a.iter().map(|(path, _)| &**path).collect();
    let mut changes = Vec::new();
    for (path, before) in a {
        match of_b.get(path.as_str()) {
            None => changes.push(format!("{path}: {before} missing")),
            Some(after) if after != before => changes.push(format!("{path}: {before} → {after}")),
            Some(_) => {}
        }
    }
    for (path, after) in b {
        if !of_a.contains(path.as_str()) {
            changes.push(format!("{path}: {after} added"));
        }
    }
    let paths = |all: &[(String, String)]| all.iter().map(|(path, _)| path.clone()).collect();
    let (order_a, order_b): (Vec<String>, Vec<String>) = (paths(a), paths(b));
    if changes.is_empty() && order_a != order_b {
        changes.push("the order of the columns".to_owned());
    }
    changes
}
