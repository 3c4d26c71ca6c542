//! What a predicate looks at.

use std::sync::Arc;

use herringbone_format::{Error, Result};
use herringbone_schema::ParquetSchema;

use super::predicate::{Column, Expression};
use super::{Predicate, RowPredicate};
use herringbone_core::extension::ExtensionColumnOption;

/// The leaves that a predicate looks at, ascending.
///
/// # Errors
/// Argument where there is no such column, or it lies below a list and it is not said whether any or all of its values are meant.
pub fn tested_leaves(predicate: &Predicate, schema: &ParquetSchema) -> Result<Vec<usize>> {
    let mut leaves = Vec::new();
    for part in predicate.0.parts() {
        match part {
            Expression::Test { column, .. } => leaves.push(leaf_at(schema, column)?),
            Expression::Rows(predicate) => {
                for path in predicate.columns() {
                    let before = leaves.len();
                    let all = 0..schema.leaves().len();
                    leaves.extend(all.filter(|leaf| is_below(&schema.path(*leaf), &path)));
                    if leaves.len() == before {
                        let path = path.join(".");
                        return Err(Error::argument(format!("there is no column `{path}`")));
                    }
                }
            }
            Expression::And(_) | Expression::Or(_) | Expression::Not(_) => {}
        }
    }
    leaves.sort_unstable();
    leaves.dedup();
    Ok(leaves)
}

/// The predicates of one's own in a predicate.
fn row_predicates(predicate: &Predicate) -> impl Iterator<Item = &Arc<dyn RowPredicate>> {
    let parts = predicate.0.parts().into_iter();
    parts.filter_map(|part| match part {
        Expression::Rows(predicate) => Some(predicate),
        _ => None,
    })
}

/// The columns that predicates of one's own have extension types make.
pub fn extension_columns(predicate: &Predicate) -> Vec<ExtensionColumnOption> {
    let columns = row_predicates(predicate).map(|it| it.extension_columns());
    columns.flatten().collect()
}

/// Returns true if a predicate looks at arrays by itself, so that they must have the types that the options ask for.
pub fn has_row_predicate(predicate: &Predicate) -> bool {
    predicate.0.has_rows()
}

/// Whether the leaf at `parts` is the field at `path`, or a part of it.
fn is_below(parts: &[&str], path: &[String]) -> bool {
    path.len() <= parts.len() && parts.iter().zip(path).all(|(a, b)| a == b)
}

/// The leaf at a path, in which the groups that only make a list or a map may be left out.
pub(super) fn leaf_at(schema: &ParquetSchema, column: &Column) -> Result<usize> {
    let path = &column.path;
    let mut leaves = 0..schema.leaves().len();
    let found = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()));
    let leaf = match found {
        Some(leaf) => leaf,
        None => leaf_of_node(schema, schema.node_at(path)?, column)?,
    };
    let is_below_list = schema
        .leaves()
        .get(leaf)
        .is_some_and(|it| it.max_rep_level > 0);
    let error = match (is_below_list, column.each) {
        (true, None) => {
            "a row may have several of its values, which lie below a list: say any or all of it"
        }
        (false, Some(_)) => {
            "a row has one value of it, not any or all: it does not lie below a list"
        }
        _ => return Ok(leaf),
    };
    Err(Error::argument(error).in_column(schema.column_path(leaf)))
}

/// The leaf that a node is, or the only one below it if that lies below a list.
fn leaf_of_node(schema: &ParquetSchema, node: usize, column: &Column) -> Result<usize> {
    let group = schema.nodes().get(node);
    let leaves = group.map_or(0..0, |it| it.leaves.clone());
    let is_group = group.is_none_or(|it| it.is_group());
    if !is_group || (column.each.is_some() && leaves.len() == 1) {
        return Ok(leaves.start);
    }
    let path = column.path.join(".");
    Err(Error::argument(match leaves.is_empty() {
        true => format!("`{path}` is a group without columns, and has no values to test"),
        false => format!(
            "`{path}` is a group: test one of its columns, such as `{}`",
            schema.column_path(leaves.start)
        ),
    }))
}
