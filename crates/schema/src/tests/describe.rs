//! Arrow fields and their levels as short text.

use herringbone_arrow::schema::{DataType, Field};

use crate::{ArrowMapping, Node, NodeKind};

/// Prints `name: type`, ` not null` if the field is not nullable, and `{key=value}` for each pair of metadata.
pub(crate) fn describe(mapping: &ArrowMapping) -> String {
    let schema = &mapping.schema;
    let nodes: Vec<_> = mapping.fields.iter().map(|node| &node.field).collect();
    assert_eq!(nodes, schema.fields().iter().collect::<Vec<_>>());
    for node in &mapping.fields {
        check(node);
    }
    let fields: Vec<String> = schema.fields().iter().map(|f| field(f)).collect();
    fields.join("; ")
}

fn field(field: &Field) -> String {
    let mut text = format!("{}: {}", field.name(), data_type(field.data_type()));
    if !field.is_nullable() {
        text += " not null";
    }
    let mut metadata: Vec<_> = field.metadata().iter().collect();
    metadata.sort();
    for (key, value) in metadata {
        text += &format!(" {{{key}={value}}}");
    }
    text
}

fn data_type(data_type: &DataType) -> String {
    let list = |name: &str, child: &Field| format!("{name}<{}>", field(child));
    match data_type {
        DataType::List(child) => list("List", child),
        DataType::LargeList(child) => list("LargeList", child),
        DataType::ListView(child) => list("ListView", child),
        DataType::LargeListView(child) => list("LargeListView", child),
        DataType::FixedSizeList(child, size) => list(&format!("FixedSizeList({size})"), child),
        DataType::Struct(fields) => {
            let fields: Vec<String> = fields.iter().map(|f| field(f)).collect();
            format!("Struct<{}>", fields.join(", "))
        }
        DataType::Map(entries, sorted) => {
            let sorted = if *sorted { "sorted " } else { "" };
            format!("Map<{sorted}{}>", field(entries))
        }
        DataType::Dictionary(key, value) => format!("Dictionary<{key}, {value}>"),
        DataType::Timestamp(unit, Some(zone)) => format!("Timestamp({unit}, {zone})"),
        leaf => leaf.to_string(),
    }
}

/// Checks that each node's field has the fields of the nodes below it.
fn check(node: &Node) {
    match (&node.kind, node.field.data_type()) {
        (NodeKind::Leaf { .. }, data_type) => {
            assert!(!data_type.is_nested() || is_dictionary(data_type))
        }
        (NodeKind::Struct(nodes), DataType::Struct(fields)) => {
            let node_fields: Vec<_> = nodes.iter().map(|node| &node.field).collect();
            assert_eq!(node_fields, fields.iter().collect::<Vec<_>>());
            nodes.iter().for_each(check);
        }
        (
            NodeKind::List { child, .. },
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _),
        ) => {
            assert_eq!(&child.field, field);
            check(child);
        }
        (NodeKind::Map { entries, .. }, DataType::Map(field, _)) => {
            assert_eq!(&entries.field, field);
            check(entries);
        }
        (kind, data_type) => panic!("{kind:?} for {data_type}"),
    }
}

fn is_dictionary(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(..))
}

/// Prints a field's levels: `def_level`, and `?` if the file can contain nulls. In brackets,
/// `rep_level/element_def` and the child of a list or map follow, or the fields of a struct.
pub(crate) fn levels(node: &Node) -> String {
    let nullable = if node.nullable { "?" } else { "" };
    let below = match &node.kind {
        NodeKind::Leaf { leaf, .. } => format!(" #{leaf}"),
        NodeKind::Struct(nodes) => {
            let nodes: Vec<String> = nodes.iter().map(levels).collect();
            format!("({})", nodes.join(", "))
        }
        NodeKind::List {
            rep_level,
            element_def,
            child,
        } => format!("[{rep_level}/{element_def} {}]", levels(child)),
        NodeKind::Map {
            rep_level,
            element_def,
            entries,
        } => format!("{{{rep_level}/{element_def} {}}}", levels(entries)),
    };
    format!("{}{nullable}{below}", node.def_level)
}
