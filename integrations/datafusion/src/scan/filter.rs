//! The filter for the read of one file.

use std::sync::Arc;

use arrow::datatypes::{DataType, Schema};
use datafusion_common::tree_node::TreeNode;
use datafusion_common::{Result, ScalarValue};
use datafusion_physical_expr::expressions::{CastExpr, DynamicFilterTracking, Literal};
use datafusion_physical_expr::simplifier::PhysicalExprSimplifier;
use datafusion_physical_expr::utils::{reassign_expr_columns, split_conjunction};
use datafusion_physical_expr_common::physical_expr::PhysicalExpr;
use herringbone::filter::Predicate;

use super::closure::{Closure, ClosureContext};
use super::translate::{exact, implied};

/// A scan's filters, for one file.
pub(crate) enum FileFilter {
    /// No row is selected.
    Nothing,
    /// All rows are selected.
    Everything,
    /// The conjuncts that rows must satisfy.
    Of(Vec<Arc<dyn PhysicalExpr>>),
}

impl FileFilter {
    /// Splits a predicate over a file's columns and leaves out conjuncts whose value is known.
    ///
    /// # Errors
    /// Returns the simplifier's errors.
    pub(crate) fn new(predicate: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<Self> {
        let simplifier = PhysicalExprSimplifier::new(schema);
        let mut conjuncts = Vec::new();
        for conjunct in split_conjunction(predicate) {
            let tracking = DynamicFilterTracking::classify(conjunct);
            // We do not simplify a dynamic filter, because the simplifier could replace it by its
            // current value.
            let is_final = tracking.contains_dynamic_filter() || rounds(conjunct, schema)?;
            let conjunct = match is_final {
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

/// Returns true if an expression casts a number to a type with fewer decimal places. The engine's
/// simplifier replaces such a comparison by one without the cast, which selects other rows, and its
/// pruning does the same with bounds.
fn rounds(expr: &Arc<dyn PhysicalExpr>, schema: &Schema) -> Result<bool> {
    expr.exists(|expr| {
        let Some(cast) = expr.downcast_ref::<CastExpr>() else {
            return Ok(false);
        };
        let places = (
            decimal_places(&cast.expr().data_type(schema)?),
            decimal_places(cast.cast_type()),
        );
        Ok(matches!(places, (Some(from), Some(to)) if to < from))
    })
}

/// Returns the number of decimal places that an exact number has.
fn decimal_places(data_type: &DataType) -> Option<i8> {
    match data_type {
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => Some(*scale),
        data_type => data_type.is_integer().then_some(0),
    }
}

/// Translates conjuncts. We test the library's own predicates first, because they are cheaper, so
/// that closures only see the rows that those select.
///
/// # Errors
/// Fails with Plan if a conjunct has a column that is not part of the read.
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
                let rounds = rounds(&conjunct, context.schema)?;
                let context = ClosureContext {
                    bounds: context.bounds.filter(|_| !rounds),
                    ..*context
                };
                let closure = Closure::new(conjunct, implied, &context);
                closures.push(Predicate::rows(closure));
            }
        }
    }
    Ok(own.into_iter().chain(closures).reduce(Predicate::and))
}
