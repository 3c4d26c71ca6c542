//! Projecting a file's fields.
//!
//! We first turn a request into marks on the Parquet schema's nodes, with each chosen field marking
//! its whole subtree. Then we prune the Arrow field tree to the marked nodes.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::Field;
use herringbone_format::{Error, Remedy, Result};

use crate::nested::list_type;
use crate::path::Paths;
use crate::{ListLayout, Node, NodeKind, ParquetSchema, Projection};

/// Returns one flag per Parquet schema node, true if the projection includes it, or `None` if it
/// includes all nodes. `omittable` is true for each node that callers can leave out of a path.
pub(crate) fn marks(
    schema: &ParquetSchema,
    omittable: &[bool],
    projection: &Projection,
) -> Result<Option<Vec<bool>>> {
    let nodes = schema.nodes();
    let mut marks = vec![false; nodes.len()];
    let mut mark = |node: usize| marks[node..nodes[node].end].fill(true);
    match projection {
        Projection::All => return Ok(None),
        Projection::Names(names) => {
            let paths = Paths::new(schema, omittable);
            for name in names {
                mark(paths.find(&[name])?);
            }
        }
        Projection::Paths(columns) => {
            let paths = Paths::new(schema, omittable);
            for parts in columns {
                mark(paths.find(parts)?);
            }
        }
        Projection::Leaves(leaves) => {
            for &leaf in leaves {
                let Some(leaf) = schema.leaves().get(leaf) else {
                    return Err(Error::argument(format!(
                        "there is no leaf {leaf}: the file has {} columns",
                        schema.leaves().len()
                    )));
                };
                mark(leaf.node);
            }
        }
        Projection::FieldIds(ids) => {
            let by_id = field_ids(schema);
            for id in ids {
                match by_id.get(id).map(Vec::as_slice) {
                    Some(&[node]) => mark(node),
                    Some(several) => {
                        return Err(Error::argument(format!(
                            "{} columns have the field id {id}",
                            several.len()
                        ))
                        .with_remedy(Remedy::ChooseLeaves));
                    }
                    None => {
                        return Err(Error::argument(format!("no column has the field id {id}")));
                    }
                }
            }
        }
    }
    Ok(Some(marks))
}

fn field_ids(schema: &ParquetSchema) -> HashMap<i32, Vec<usize>> {
    let mut by_id: HashMap<i32, Vec<usize>> = HashMap::new();
    for (ordinal, node) in schema.nodes().iter().enumerate().skip(1) {
        if let Some(id) = node.element.field_id {
            by_id.entry(id).or_default().push(ordinal);
        }
    }
    by_id
}

/// Returns the pruned field, or `None` if nothing remains.
pub(crate) fn prune(node: &Node, marks: &[bool], lists: ListLayout) -> Option<Node> {
    let kind = match &node.kind {
        NodeKind::Leaf { .. } => return marks[node.schema_node].then(|| node.clone()),
        NodeKind::Struct(fields) if fields.is_empty() => {
            return marks[node.schema_node].then(|| node.clone());
        }
        NodeKind::Struct(fields) => {
            let fields: Vec<Node> = fields
                .iter()
                .filter_map(|field| prune(field, marks, lists))
                .collect();
            if fields.is_empty() {
                return None;
            }
            NodeKind::Struct(fields)
        }
        NodeKind::List {
            rep_level,
            element_def,
            child,
        } => {
            let child = prune(child, marks, lists)?;
            // A list without a column has no length, so nothing remains of it.
            child.first_leaf()?;
            NodeKind::List {
                rep_level: *rep_level,
                element_def: *element_def,
                child: Box::new(child),
            }
        }
        NodeKind::Map { .. } => return prune_map(node, marks, lists),
    };
    Some(rebuilt(node, kind))
}

/// Prunes a map. The keys stay as long as any part of the values remains, but if only the keys
/// remain, they become a list.
fn prune_map(node: &Node, marks: &[bool], lists: ListLayout) -> Option<Node> {
    let NodeKind::Map {
        rep_level,
        element_def,
        entries,
    } = &node.kind
    else {
        return None;
    };
    let NodeKind::Struct(fields) = &entries.kind else {
        return None;
    };
    let [key, value] = fields.as_slice() else {
        return None;
    };
    let pruned = match prune(value, marks, lists) {
        Some(value) => {
            let entries = rebuilt(entries, NodeKind::Struct(vec![key.clone(), value]));
            let kind = NodeKind::Map {
                rep_level: *rep_level,
                element_def: *element_def,
                entries: Box::new(entries),
            };
            rebuilt(node, kind)
        }
        None => {
            let mut key = prune(key, marks, lists)?;
            // Outside a map, keys called OPTIONAL by the file can be null.
            if key.nullable {
                key.field = Arc::new(Field::clone(&key.field).with_nullable(true));
            }
            let data_type = list_type(lists, key.field.clone());
            let kind = NodeKind::List {
                rep_level: *rep_level,
                element_def: *element_def,
                child: Box::new(key),
            };
            let mut list = Node {
                kind,
                ..node.clone()
            };
            list.set_decoded_type(data_type);
            list
        }
    };
    pruned.first_leaf().map(|_| pruned)
}

/// Returns the node with other fields below it.
fn rebuilt(node: &Node, kind: NodeKind) -> Node {
    let mut node = Node {
        kind,
        ..node.clone()
    };
    node.rebuild_data_type();
    node
}
