//! What a predicate looks at.

use std::sync::Arc;

use herringbone_format::{Error, Result};
use herringbone_schema::ParquetSchema;

use super::predicate::{Column, Expression};
use super::{Predicate, RowPredicate};
use crate::read::ExtensionColumnOption;

/// The leaves that a predicate looks at, ascending.
///
/// # Errors
/// Argument where there is no such column, or it lies below a list and it is not said whether any or all of its values are meant.
pub(crate) fn tested_leaves(predicate: &Predicate, schema: &ParquetSchema) -> Result<Vec<usize>> {
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
pub(crate) fn extension_columns(predicate: &Predicate) -> Vec<ExtensionColumnOption> {
    let columns = row_predicates(predicate).map(|it| it.extension_columns());
    columns.flatten().collect()
}

/// Whether a predicate looks at arrays by itself, so that they have to be what the options say.
pub(crate) fn has_row_predicate(predicate: &Predicate) -> bool {
    row_predicates(predicate).next().is_some()
}

/// Whether the leaf at `parts` is the field at `path`, or a part of it.
fn is_below(parts: &[&str], path: &[String]) -> bool {
    path.len() <= parts.len() && parts.iter().zip(path).all(|(a, b)| a == b)
}

/// The leaf at a path.
pub(super) fn leaf_at(schema: &ParquetSchema, column: &Column) -> Result<usize> {
    let path = &column.path;
    let mut leaves = 0..schema.leaves().len();
    let found = leaves.find(|leaf| schema.path(*leaf).iter().eq(path.iter()));
    let found = found.or_else(|| {
        column.each?;
        // The only one below a list.
        let leaves = 0..schema.leaves().len();
        let mut below = leaves.filter(|leaf| is_below(&schema.path(*leaf), path));
        let only = below.next();
        only.filter(|_| below.next().is_none())
    });
    let leaf = found.ok_or_else(|| {
        let mut leaves = 0..schema.leaves().len();
        let is_group = leaves.any(|leaf| is_below(&schema.path(leaf), path));
        let path = path.join(".");
        Error::argument(match is_group {
            true => format!("`{path}` is a group, of which one column can be tested"),
            false => format!("there is no column `{path}`"),
        })
    })?;
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
