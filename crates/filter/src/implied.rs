//! Implied predicates, used to test cheaper columns before the predicates' own columns.

use herringbone_format::Result;
use herringbone_schema::ParquetSchema;

use super::Predicate;
use super::predicate::Expression;

/// Returns a predicate that is true wherever all `operands` are true. Custom predicates that
/// [request it](super::RowPredicate::tests_implied) are replaced by their implied predicates, which test other columns.
/// Returns `None` if nothing was replaced.
///
/// # Errors
/// Returns the errors of the custom predicates.
pub fn implied_first(operands: &[Predicate], schema: &ParquetSchema) -> Result<Option<Predicate>> {
    let operands = operands.iter().map(|operand| operand.0.clone());
    let mut replaced = false;
    let implied = implied(&Expression::And(operands.collect()), schema, &mut replaced)?;
    Ok(implied.filter(|_| replaced).map(Predicate))
}

/// Returns an expression's implied predicate, or `None` if it implies nothing.
fn implied(
    expression: &Expression,
    schema: &ParquetSchema,
    replaced: &mut bool,
) -> Result<Option<Expression>> {
    Ok(match expression {
        Expression::Test { .. } => Some(expression.clone()),
        Expression::Rows(predicate) => {
            let implied = match predicate.tests_implied() {
                true => predicate.implied(schema)?,
                false => None,
            };
            *replaced |= implied.is_some();
            implied.map(|implied| implied.0)
        }
        // The negation of a custom predicate implies nothing, because the predicate can be false where its implied
        // predicate is true.
        Expression::Not(_) => (!expression.has_rows()).then(|| expression.clone()),
        Expression::And(parts) => {
            let parts = parts
                .iter()
                .filter_map(|part| implied(part, schema, replaced).transpose());
            let parts = parts.collect::<Result<Vec<_>>>()?;
            (!parts.is_empty()).then_some(Expression::And(parts))
        }
        Expression::Or(parts) => {
            let parts = parts.iter().map(|part| implied(part, schema, replaced));
            let parts = parts.collect::<Result<Option<Vec<_>>>>()?;
            parts.map(Expression::Or)
        }
    })
}
