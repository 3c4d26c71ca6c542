//! The filter of the read of one file.

use std::sync::Arc;

use arrow::datatypes::Schema;
use datafusion_common::{Result, ScalarValue};
use datafusion_physical_expr::expressions::{DynamicFilterTracking, Literal};
use datafusion_physical_expr::simplifier::PhysicalExprSimplifier;
use datafusion_physical_expr::utils::{reassign_expr_columns, split_conjunction};
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use herringbone::filter::Predicate;

use super::closure::{Closure, ClosureContext};
use super::translate::{exact, implied};

/// The filters of a scan, for one file.
pub(crate) enum FileFilter {
    /// No row is selected.
    Nothing,
    /// All rows are selected.
    Everything,
    /// The conjuncts.
    Of(Vec<Arc<dyn PhysicalExpr>>),
}

impl FileFilter {
    /// Splits a predicate over the columns of a file. Conjuncts whose value is known are left out.
    ///
    /// # Errors
    /// The errors of the simplifier.
    pub(crate) fn new(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let simplifier = PhysicalExprSimplifier::new(schema);
        let mut conjuncts = Vec::new();
        for conjunct in split_conjunction(predicate) {
            let tracking = DynamicFilterTracking::classify(conjunct);
            // The simplifier could replace a dynamic filter by its current value.
            let conjunct = match tracking.contains_dynamic_filter() {
                true => conjunct.clone(),
                false => simplifier.simplify(conjunct.clone())?,
            };
            match conjunct.downcast_ref::<Literal>().map(Literal::value) {
                Some(ScalarValue::Boolean(Some(true))) => {}
                Some(ScalarValue::Boolean(_) | ScalarValue::Null) => return Ok(Self::Nothing),
                _ => conjuncts.push(conjunct),
            }
        }
        Ok(match conjuncts.is_empty() {
            true => Self::Everything,
            false => Self::Of(conjuncts),
        })
    }
}

/// Translates conjuncts. Predicates of the library are tested first, because they are cheaper. Closures see only the rows
/// that they select.
///
/// # Errors
/// Plan if a conjunct has a column outside of the read.
pub(crate) fn translate(
    conjuncts: &[Arc<dyn PhysicalExpr>],
    context: &ClosureContext<'_>,
) -> Result<Option<Predicate>> {
    let (mut own, mut closures) = (Vec::new(), Vec::new());
    for conjunct in conjuncts {
        let conjunct = reassign_expr_columns(conjunct.clone(), context.schema)?;
        match exact(conjunct.as_ref(), context.schema).filter(|_| context.evaluates) {
            Some(predicate) => own.push(predicate),
            None => {
                let implied = implied(conjunct.as_ref(), context.schema, context.stored);
                let closure = Closure::new(conjunct, implied, context);
                closures.push(Predicate::rows(closure));
            }
        }
    }
    Ok(own.into_iter().chain(closures).reduce(Predicate::and))
}
