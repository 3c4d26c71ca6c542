//! Decides whether one predicate implies another, that is, whether any row selected by the first is also selected by
//! the second.

use std::cmp::Ordering;
use std::sync::Arc;

use super::predicate::{Column, Comparison, Expression, Test};
use super::{Literal, Predicate};

/// The maximum nesting depth for finding implications, so that the recursion stays within a small stack.
const MAX_DEPTH: usize = 64;

impl Predicate {
    /// Returns true if, judging by their form, `other` selects every row selected by this predicate.
    ///
    /// The form shows this for equal parts, for their combinations with `and` and `or`, and for comparisons of a column
    /// with literals of the same kind. Texts are only compared for equality, because their order depends on the
    /// column's type. Otherwise this returns false, even if the implication happens to hold for a file's rows.
    ///
    /// ```
    /// use herringbone::filter::col;
    ///
    /// let above = |least: i64| col("score").ge(least);
    /// assert!(above(7).implies(&above(5)));
    /// assert!(above(5).and(col("year").eq(2024)).implies(&above(5)));
    /// assert!(!above(3).implies(&above(5)));
    /// ```
    #[must_use]
    pub fn implies(&self, other: &Self) -> bool {
        implies(&self.0, &other.0, MAX_DEPTH)
    }
}

fn implies(this: &Expression, other: &Expression, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    if is_same(this, other, depth) {
        return true;
    }
    match (this, other) {
        (_, Expression::And(parts)) => parts.iter().all(|part| implies(this, part, depth)),
        (Expression::Or(parts), _) => parts.iter().all(|part| implies(part, other, depth)),
        (Expression::And(parts), _) if parts.iter().any(|part| implies(part, other, depth)) => true,
        (_, Expression::Or(parts)) => parts.iter().any(|part| implies(this, part, depth)),
        (
            Expression::Test {
                column,
                test,
                is_ieee,
            },
            _,
        ) => match other {
            Expression::Test {
                column: other_column,
                test: other_test,
                is_ieee: other_ieee,
            } => {
                let is_comparable = is_same_column(column, other_column) && is_ieee == other_ieee;
                is_comparable && test_implies(test, other_test)
            }
            // Only `is null` selects nulls, so any other test implies `not is null`.
            Expression::Not(negated) => match &**negated {
                Expression::Test {
                    column: other_column,
                    test: Test::IsNull,
                    ..
                } => {
                    let is_flat = column.quantifier.is_none();
                    is_flat && is_same_column(column, other_column) && !matches!(test, Test::IsNull)
                }
                _ => false,
            },
            _ => false,
        },
        _ => false,
    }
}

/// Returns true if both have the same form. Custom predicates are only the same if they're the same object.
fn is_same(this: &Expression, other: &Expression, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let all_same = |these: &[Expression], others: &[Expression]| {
        let mut pairs = these.iter().zip(others);
        these.len() == others.len() && pairs.all(|(a, b)| is_same(a, b, depth))
    };
    match (this, other) {
        (
            Expression::Test {
                column,
                test,
                is_ieee,
            },
            Expression::Test {
                column: other_column,
                test: other_test,
                is_ieee: other_ieee,
            },
        ) => is_same_column(column, other_column) && is_ieee == other_ieee && test == other_test,
        (Expression::And(these), Expression::And(others))
        | (Expression::Or(these), Expression::Or(others)) => all_same(these, others),
        (Expression::Not(this), Expression::Not(other)) => is_same(this, other, depth),
        (Expression::Rows(this), Expression::Rows(other)) => Arc::ptr_eq(this, other),
        _ => false,
    }
}

fn is_same_column(this: &Column, other: &Column) -> bool {
    this.path == other.path && this.quantifier == other.quantifier
}

/// Returns true if any value passing `this` also passes `other`.
fn test_implies(this: &Test, other: &Test) -> bool {
    match (this, other) {
        (Test::In(values), _) => values.iter().all(|value| passes(value, other)),
        (Test::Compare(Comparison::Equal, value), _) => passes(value, other),
        (_, Test::Compare(comparison, bound)) => is_within(this, *comparison, bound),
        (_, Test::Between(low, high)) => {
            is_within(this, Comparison::GreaterOrEqual, low)
                && is_within(this, Comparison::LessOrEqual, high)
        }
        _ => false,
    }
}

/// Returns true if a value passes a test. We don't decide `<` and `>` here, because rounding to the column's type might
/// turn a value next to a bound into the bound itself.
fn passes(value: &Literal, test: &Test) -> bool {
    let compares =
        |is_kept: fn(Ordering) -> bool, bound: &Literal| order(value, bound).is_some_and(is_kept);
    match test {
        Test::Compare(Comparison::Equal, bound) => compares(Ordering::is_eq, bound),
        Test::Compare(Comparison::LessOrEqual, bound) => compares(Ordering::is_le, bound),
        Test::Compare(Comparison::GreaterOrEqual, bound) => compares(Ordering::is_ge, bound),
        Test::Between(low, high) => {
            compares(Ordering::is_ge, low) && compares(Ordering::is_le, high)
        }
        Test::In(values) => values.iter().any(|other| compares(Ordering::is_eq, other)),
        _ => false,
    }
}

/// Returns true if all values passing a test also pass the comparison with `bound`. For the reason given at [`passes`],
/// `<` only follows from `<`.
fn is_within(test: &Test, comparison: Comparison, bound: &Literal) -> bool {
    use Comparison::{Greater, GreaterOrEqual, Less, LessOrEqual};
    match (test, comparison) {
        (Test::Compare(Greater, low), Greater | GreaterOrEqual)
        | (Test::Compare(GreaterOrEqual, low) | Test::Between(low, _), GreaterOrEqual) => {
            order(low, bound).is_some_and(Ordering::is_ge)
        }
        (Test::Compare(Less, high), Less | LessOrEqual)
        | (Test::Compare(LessOrEqual, high) | Test::Between(_, high), LessOrEqual) => {
            order(high, bound).is_some_and(Ordering::is_le)
        }
        _ => false,
    }
}

/// Compares two literals of one kind, or returns `None` if their order depends on the column's type.
fn order(this: &Literal, other: &Literal) -> Option<Ordering> {
    match (this, other) {
        (Literal::Boolean(a), Literal::Boolean(b)) => Some(a.cmp(b)),
        (Literal::Integer(a), Literal::Integer(b)) => Some(a.cmp(b)),
        (Literal::Float(a), Literal::Float(b)) => a.partial_cmp(b),
        (Literal::Date(a), Literal::Date(b)) => Some(a.cmp(b)),
        (Literal::Time(a), Literal::Time(b)) => Some(a.cmp(b)),
        (
            Literal::Decimal {
                unscaled: a,
                scale: of_a,
            },
            Literal::Decimal {
                unscaled: b,
                scale: of_b,
            },
        ) if of_a == of_b => Some(a.cmp(b)),
        (
            Literal::Timestamp {
                nanos: a,
                is_utc: of_a,
            },
            Literal::Timestamp {
                nanos: b,
                is_utc: of_b,
            },
        ) if of_a == of_b => Some(a.cmp(b)),
        (Literal::Duration(a), Literal::Duration(b)) => Some(a.cmp(b)),
        (Literal::Null, _) => None,
        _ => (this == other).then_some(Ordering::Equal),
    }
}

#[cfg(test)]
mod tests {
    use crate::col;

    #[test]
    fn forms_that_show_it_and_forms_that_do_not() {
        let (a, b) = (|| col("a"), || col("b"));
        let yes = [
            (a().ge(7), a().ge(5)),
            (a().gt(5), a().ge(5)),
            (a().gt(5), a().gt(5)),
            (a().lt(3), a().le(3)),
            (a().le(3), a().le(4)),
            (a().eq(4), a().between(4, 5)),
            (a().between(2, 3), a().ge(2)),
            (a().between(2, 3), a().between(1, 3)),
            (a().is_in([1, 2]), a().is_in([3, 2, 1])),
            (a().is_in([1, 2]), a().le(2)),
            (a().eq("x"), a().is_in(["y", "x"])),
            (a().eq("x"), a().is_not_null()),
            (a().ge(1.5), a().ge(1.0)),
            (a().ge(7).and(b().eq(1)), a().ge(5)),
            (a().ge(7).and(b().eq(1)), b().eq(1).and(a().ge(5))),
            (a().ge(7).or(a().eq(6)), a().ge(5)),
            (a().ge(7), b().eq(1).or(a().ge(5))),
            (a().ge(7).not(), a().ge(7).not()),
            (a().like("x%"), a().like("x%")),
            (a().is_null(), a().is_null()),
        ];
        for (this, other) in yes {
            assert!(this.implies(&other), "{this} implies {other}");
        }
        let no = [
            (a().ge(3), a().ge(5)),
            (a().ge(5), a().gt(5)),
            // A column with few digits might round 6 to 5.
            (a().ge(6), a().gt(5)),
            (a().eq(6), a().gt(5)),
            (b().ge(7), a().ge(5)),
            (a().ge(7), a().ge(5.0)),
            (a().ge(7), a().le(9)),
            (a().ge("y"), a().ge("x")),
            (a().ge(f64::NAN), a().ge(1.0)),
            (a().ge(7).or(b().eq(6)), a().ge(5)),
            (a().ge(7), a().ge(5).and(b().eq(1))),
            (a().is_in([1, 6]), a().is_in([1, 2])),
            (a().is_null(), a().is_not_null()),
            (a().like("x%"), a().like("xy%")),
            (a().ge(7).not(), a().ge(5).not()),
        ];
        for (this, other) in no {
            assert!(!this.implies(&other), "{this} does not imply {other}");
        }
    }

    #[test]
    fn deep_predicates_are_not_followed_to_their_end() {
        let deep = || (0..10_000).fold(col("a").ge(5), |all, _| all.not());
        assert!(!deep().implies(&deep()));
    }
}
