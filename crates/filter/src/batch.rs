//! Evaluates predicates on record batches, without a file.

use herringbone_arrow::array::{BooleanArray, RecordBatch};
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};
use herringbone_format::Result;

use super::Predicate;
use super::array_test::ArrayTest;
use super::bound_rows::BoundRows;
use super::leaf_test::Asked;
use super::predicate::{Expression, Test};

impl Predicate {
    /// Evaluates the predicate on each row of a batch. A slot is null if the result is unknown. Such a row is not
    /// selected. Columns are looked up by name.
    ///
    /// # Errors
    /// Fails with [`Unsupported`](herringbone_format::ErrorKind::Unsupported) if a column does not exist, with
    /// [`Argument`](herringbone_format::ErrorKind::Argument) if a literal cannot be compared with its column's values,
    /// and with the errors of custom predicates.
    pub fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray> {
        let wanted = accepted(&self.0, false, batch)?;
        let refused = accepted(&self.0, true, batch)?;
        let known = NullBuffer::new(&wanted | &refused);
        Ok(BooleanArray::new(wanted, Some(known)))
    }

    /// Returns true if the predicate never selects a row with nulls in all tested columns. Note that a custom predicate
    /// can select such rows.
    #[must_use]
    pub fn rejects_nulls(&self) -> bool {
        rejects_nulls(&self.0, false)
    }
}

/// Returns the rows that satisfy an expression, or its negation if `is_negated`.
fn accepted(
    expression: &Expression,
    is_negated: bool,
    batch: &RecordBatch,
) -> Result<BooleanBuffer> {
    let parts = |parts: &[Expression], is_and: bool| {
        let mut all = match is_and {
            true => BooleanBuffer::new_set(batch.num_rows()),
            false => BooleanBuffer::new_unset(batch.num_rows()),
        };
        for part in parts {
            let part = accepted(part, is_negated, batch)?;
            all = if is_and { &all & &part } else { &all | &part };
        }
        Ok(all)
    };
    match expression {
        Expression::Not(inner) => accepted(inner, !is_negated, batch),
        Expression::And(all) => parts(all, !is_negated),
        Expression::Or(all) => parts(all, is_negated),
        Expression::Test {
            column,
            test,
            is_ieee,
        } => {
            let asked = Asked::new(column, test, is_negated, *is_ieee);
            ArrayTest::new(&batch.schema(), &column.path, asked)?.evaluate(batch)
        }
        Expression::Rows(predicate) => {
            let bound = BoundRows::new(predicate.clone(), is_negated);
            bound.with_columns(&batch.schema())?.evaluate(batch, None)
        }
    }
}

fn rejects_nulls(expression: &Expression, is_negated: bool) -> bool {
    let mut parts = match expression {
        Expression::Test { column, test, .. } => {
            // If there is a null in place of a list, the result is unknown.
            return is_negated || column.quantifier.is_some() || !matches!(test, Test::IsNull);
        }
        Expression::Rows(_) => return false,
        Expression::Not(inner) => return rejects_nulls(inner, !is_negated),
        Expression::And(parts) | Expression::Or(parts) => {
            parts.iter().map(|part| rejects_nulls(part, is_negated))
        }
    };
    match matches!(expression, Expression::And(_)) != is_negated {
        true => parts.any(|rejects| rejects),
        false => parts.all(|rejects| rejects),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::Int32Array;

    use super::super::col;
    use super::*;

    #[test]
    fn nulls_are_neither_wanted_nor_refused() {
        let column = Int32Array::from(vec![Some(1), None, Some(3)]);
        let batch = RecordBatch::try_from_iter([("a", Arc::new(column) as _)]).unwrap();
        let of = |predicate: Predicate| {
            let found = predicate.evaluate(&batch).unwrap();
            found.iter().collect::<Vec<_>>()
        };
        assert_eq!(of(col("a").gt(1)), [Some(false), None, Some(true)]);
        assert_eq!(of(col("a").gt(1).not()), [Some(true), None, Some(false)]);
        let is_null = || col("a").is_null();
        assert_eq!(of(is_null()), [Some(false), Some(true), Some(false)]);
        // For a null, `true or unknown` is true.
        assert_eq!(
            of(col("a").gt(1).or(is_null())),
            [Some(false), Some(true), Some(true)]
        );
        assert_eq!(
            of(col("a").gt(1).and(is_null())),
            [Some(false), None, Some(false)]
        );
        assert!(col("b").gt(1).evaluate(&batch).is_err());
        assert!(col("a").gt("x").evaluate(&batch).is_err());
    }

    #[test]
    fn what_wants_no_null() {
        let (has_value, has_null) = (|| col("a").eq(1), || col("a").is_null());
        for (predicate, expected) in [
            (has_value(), true),
            (has_value().not(), true),
            (has_null(), false),
            (has_null().not(), true),
            (has_value().or(has_null()), false),
            (has_value().and(has_null()), true),
            (has_value().and(has_null()).not(), true),
            (has_value().or(has_null().not()).not(), true),
            (has_value().not().and(has_null().not()).not(), false),
        ] {
            assert_eq!(predicate.rejects_nulls(), expected, "{predicate}");
        }
    }
}
