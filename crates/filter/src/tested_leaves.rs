//! Finds the columns used by a predicate.

use std::sync::Arc;

use herringbone_format::{Error, Result};
use herringbone_schema::ParquetSchema;

use super::predicate::{Column, Expression};
use super::{Predicate, RowPredicate};
use herringbone_core::extension::ExtensionColumnOption;

/// Returns the leaves used by a predicate, in ascending order.
///
/// # Errors
/// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if there is no such column, or if it lies below a
/// list and the predicate specifies neither any nor all of its values.
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

/// Returns the custom predicates within a predicate.
fn row_predicates(predicate: &Predicate) -> impl Iterator<Item = &Arc<dyn RowPredicate>> {
    let parts = predicate.0.parts().into_iter();
    parts.filter_map(|part| match part {
        Expression::Rows(predicate) => Some(predicate),
        _ => None,
    })
}

/// Returns the columns requested from extension types by custom predicates.
pub fn extension_columns(predicate: &Predicate) -> Vec<ExtensionColumnOption> {
    let columns =
        row_predicates(predicate).map(|row_predicates| row_predicates.extension_columns());
    columns.flatten().collect()
}

/// Returns true if a predicate looks at arrays itself. If so, the arrays must have the types specified in the options.
pub fn has_row_predicate(predicate: &Predicate) -> bool {
    predicate.0.has_rows()
}

/// Returns true if the leaf at `parts` is the field at `path` or lies below it.
fn is_below(parts: &[&str], path: &[String]) -> bool {
    path.len() <= parts.len() && parts.iter().zip(path).all(|(a, b)| a == b)
}

/// Returns the leaf at a path. The path may omit groups that only form a list or a map.
pub(super) fn leaf_at(schema: &ParquetSchema, column: &Column) -> Result<usize> {
    let path = &column.path;
    let mut leaves = 0..schema.leaves().len();
    let found = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()));
    let leaf = match found {
        Some(leaf) => leaf,
        None => leaf_of_node(schema, schema.node_at(path)?, column)?,
    };
    let is_below_list = is_in_list(schema, leaf);
    let name = || path.join(".");
    let error = match (is_below_list, column.quantifier) {
        (true, None) => format!(
            "`{0}` is in a list: test any({0}) if one element has to match, or all({0}) if every \
             element has to",
            name()
        ),
        (false, Some(_)) => format!("`{}` is not in a list: test it without any or all", name()),
        _ => return Ok(leaf),
    };
    Err(Error::argument(error).in_column(schema.column_path(leaf)))
}

/// Returns true if a leaf is in a list or map.
fn is_in_list(schema: &ParquetSchema, leaf: usize) -> bool {
    let leaf = schema.leaves().get(leaf);
    leaf.is_some_and(|leaf| leaf.max_rep_level > 0)
}

/// Returns the leaf at a node. A group with a single leaf is accepted too if it's tested with `any` or `all`, or if the
/// leaf is in a list.
fn leaf_of_node(schema: &ParquetSchema, node: usize, column: &Column) -> Result<usize> {
    let group = schema.nodes().get(node);
    let leaves = group.map_or(0..0, |group| group.leaves.clone());
    let is_group = group.is_none_or(|group| group.is_group());
    let may_be_alone = column.quantifier.is_some() || is_in_list(schema, leaves.start);
    if !is_group || (may_be_alone && leaves.len() == 1) {
        return Ok(leaves.start);
    }
    let path = column.path.join(".");
    Err(Error::argument(match leaves.is_empty() {
        true => format!("`{path}` is a group without columns, so it does not have values to test"),
        false => format!(
            "`{path}` is a group; test one of its columns, such as `{}`",
            schema.column_path(leaves.start)
        ),
    }))
}
