//! Turns filters, which are nested Python tuples, into predicates.
//!
//! ```text
//! ("and", [filter, …])  ("or", [filter, …])  ("not", filter)  ("sql", text)  ("total", filter)  ("eq", path, value)
//! ("condition", Condition)  ("one_of", path, column)
//! ```
//!
//! A value is a Python object, or one of our columns with a single row. Several values are an
//! iterable or a column. `one_of` is unknown for a null, as in polars and SQL.
//!
//! NaN compares as in IEEE 754, like in pyarrow. But in SQL and in a total order, it equals itself
//! and is above all numbers, like in the command and in polars.

use herringbone::filter::{Column, Literal, Predicate, col_at};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::error::{Failure, Result, argument};
use crate::expression::Condition;
use crate::literal::{literal, literals};

/// The largest depth of a filter, because filters are processed recursively.
const MAX_DEPTH: usize = 200;

/// A function that turns a column's name into the parts of its path.
pub(crate) type Resolve<'a> = &'a dyn Fn(&str) -> Vec<String>;

/// Returns a filter's predicate.
pub(crate) fn predicate(filter: &Bound<'_, PyAny>, resolve: Resolve<'_>) -> Result<Predicate> {
    Tree {
        resolve,
        is_ieee: true,
        is_negated: false,
    }
    .predicate(filter, 0)
}

/// Returns a filter as text and fails if the filter cannot be understood.
#[pyfunction]
pub(crate) fn check_filter(filter: &Bound<'_, PyAny>) -> Result<String> {
    let resolve = |name: &str| vec![name.to_owned()];
    Ok(predicate(filter, &resolve)?.to_string())
}

struct Tree<'a> {
    resolve: Resolve<'a>,
    /// True if NaN compares as in IEEE 754.
    is_ieee: bool,
    /// True below a negation, because null and false differ there.
    is_negated: bool,
}

impl Tree<'_> {
    fn predicate(&self, filter: &Bound<'_, PyAny>, depth: usize) -> Result<Predicate> {
        if depth > MAX_DEPTH {
            return Err(argument(format!(
                "the filter is nested more than {MAX_DEPTH} levels deep"
            )));
        }
        let filter = filter.cast::<PyTuple>().map_err(PyErr::from)?;
        let operation: String = filter.get_item(0)?.extract()?;
        match operation.as_str() {
            "and" => self.chain(&filter.get_item(1)?, depth, Predicate::and),
            "or" => self.chain(&filter.get_item(1)?, depth, Predicate::or),
            "not" => {
                let tree = Tree {
                    is_negated: true,
                    ..*self
                };
                Ok(tree.predicate(&filter.get_item(1)?, depth + 1)?.not())
            }
            "total" => {
                let tree = Tree {
                    is_ieee: false,
                    ..*self
                };
                tree.predicate(&filter.get_item(1)?, depth + 1)
            }
            "condition" => {
                let condition = filter.get_item(1)?;
                let condition = condition.cast::<Condition>().map_err(PyErr::from)?;
                Ok(condition.get().0.clone())
            }
            "sql" => {
                let text: String = filter.get_item(1)?.extract()?;
                herringbone_cli::condition(&text).map_err(argument)
            }
            _ => {
                let column = col_at(self.path(&filter.get_item(1)?)?);
                let operand = filter.get_item(2).ok();
                if operation == "in" {
                    return is_in(column, needed(operand.as_ref())?, self.is_negated);
                }
                if operation == "one_of" {
                    let values = literals(needed(operand.as_ref())?)?;
                    let values = values.into_iter().filter(|value| *value != Literal::Null);
                    return Ok(column.is_in(values));
                }
                let test = test(&operation, column, operand.as_ref())?;
                Ok(if self.is_ieee {
                    test.with_ieee_floats()
                } else {
                    test
                })
            }
        }
    }

    fn chain(
        &self,
        parts: &Bound<'_, PyAny>,
        depth: usize,
        join: fn(Predicate, Predicate) -> Predicate,
    ) -> Result<Predicate> {
        let mut all: Option<Predicate> = None;
        for part in parts.try_iter()? {
            let part = self.predicate(&part?, depth + 1)?;
            all = Some(match all {
                Some(all) => join(all, part),
                None => part,
            });
        }
        all.ok_or_else(|| argument("the filter has no conditions"))
    }

    /// Returns the parts of a path, which is one name with dots, or a tuple of parts.
    fn path(&self, path: &Bound<'_, PyAny>) -> Result<Vec<String>> {
        match path.cast::<PyString>() {
            Ok(name) => Ok((self.resolve)(&name.to_string())),
            Err(_) => Ok(path.extract()?),
        }
    }
}

/// Returns the test of a single column.
fn test(operation: &str, column: Column, operand: Option<&Bound<'_, PyAny>>) -> Result<Predicate> {
    let compare: fn(Column, Literal) -> Predicate = match operation {
        "eq" => Column::eq,
        "ne" => Column::ne,
        "lt" => Column::lt,
        "le" => Column::le,
        "gt" => Column::gt,
        "ge" => Column::ge,
        "is_null" => return Ok(column.is_null()),
        "is_valid" => return Ok(column.is_not_null()),
        "is_nan" => return Ok(column.is_nan()),
        "like" => return Ok(column.like(needed(operand)?.extract::<String>()?)),
        "starts_with" => return Ok(column.starts_with(needed(operand)?.extract::<String>()?)),
        other => return Err(PyValueError::new_err(format!("unknown operation {other:?}")).into()),
    };
    Ok(compare(column, literal(needed(operand)?)?))
}

fn needed<'a, 'py>(operand: Option<&'a Bound<'py, PyAny>>) -> Result<&'a Bound<'py, PyAny>> {
    operand.ok_or_else(|| Failure::from(PyTypeError::new_err("the condition has no value")))
}

/// Tests for a list of values. As in pyarrow, nulls and NaN only count as found if the list has
/// them.
fn is_in(column: Column, values: &Bound<'_, PyAny>, is_negated: bool) -> Result<Predicate> {
    let (nulls, values): (Vec<_>, Vec<_>) = literals(values)?
        .into_iter()
        .partition(|literal| *literal == Literal::Null);
    let has_null = !nulls.is_empty();
    let found = column.clone().is_in(values);
    Ok(match has_null {
        true => found.or(column.is_null()),
        false if is_negated => found.and(column.is_not_null()),
        false => found,
    })
}
