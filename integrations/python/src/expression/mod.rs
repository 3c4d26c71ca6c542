//! Translates pyarrow's expressions into predicates.
//!
//! pyarrow pickles an expression as an Arrow IPC file. The metadata of its schema lists the
//! expression's parts in order, as pairs of a kind and a text. The only record batch has the
//! literals and the options of calls, one per column:
//!
//! ```text
//! a == 5   call: equal   field_ref: a   literal: 0   end: equal        column 0: 5
//! ```
//!
//! The size of such a file is proportional to the number of parts, and so is our time.

mod comparable;
mod conditions;
mod parts;

use herringbone::filter::Predicate;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use self::conditions::Conditions;
use self::parts::Parts;
use crate::error::{Failure, Result, guarded};
use crate::schema::Schema;

pyo3::create_exception!(
    herringbone._core,
    NotUnderstood,
    PyValueError,
    "An expression has no form as a filter of ours."
);

fn not_understood(what: impl Into<String>) -> Failure {
    Failure::Python(NotUnderstood::new_err(what.into()))
}

/// A translated condition on a schema's columns.
#[pyclass(module = "herringbone._core", frozen)]
pub(crate) struct Condition(pub(crate) Predicate);

/// Translates a pickled pyarrow expression over the columns of an Arrow schema.
#[pyfunction]
pub(crate) fn pyarrow_condition(file: PyBackedBytes, schema: Schema) -> Result<Condition> {
    guarded(|| {
        let parts = Parts::of_file(file)?;
        let conditions = Conditions::new(schema.into_arrow(), &parts);
        Ok(Condition(conditions.predicate()?))
    })
}

/// Returns the names of the columns in a pickled pyarrow expression.
#[pyfunction]
pub(crate) fn pyarrow_columns(file: PyBackedBytes) -> Result<Vec<String>> {
    guarded(|| Ok(Parts::of_file(file)?.columns()))
}
