//! Verdicts on rows with only some known columns, for example the partition columns of files.

use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::Result;

use super::array_test::ArrayTest;
use super::leaf_test::Asked;
use super::predicate::Expression;
use super::{Predicate, Verdict};

/// Returns a verdict for each row of `known`, which only has some of the rows' columns. Tests of any other column are
/// undecided, and so are custom predicates.
///
/// # Errors
/// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if a literal cannot be compared with the values of
/// a known column.
pub fn verdicts_of_known(predicate: &Predicate, known: &RecordBatch) -> Result<Vec<Verdict>> {
    verdicts(&predicate.0, false, known)
}

fn verdicts(
    expression: &Expression,
    is_negated: bool,
    known: &RecordBatch,
) -> Result<Vec<Verdict>> {
    let all = |verdict| vec![verdict; known.num_rows()];
    let combined = |parts: &[Expression], start, combine: fn(Verdict, Verdict) -> Verdict| {
        let mut together = all(start);
        for part in parts {
            let part_verdicts = verdicts(part, is_negated, known)?;
            for (known, more) in together.iter_mut().zip(part_verdicts) {
                *known = combine(*known, more);
            }
        }
        Ok(together)
    };
    match expression {
        Expression::Not(inner) => verdicts(inner, !is_negated, known),
        Expression::And(parts) if is_negated => combined(parts, Verdict::None, Verdict::max),
        Expression::Or(parts) if is_negated => combined(parts, Verdict::All, Verdict::min),
        Expression::And(parts) => combined(parts, Verdict::All, Verdict::min),
        Expression::Or(parts) => combined(parts, Verdict::None, Verdict::max),
        Expression::Rows(_) => Ok(all(Verdict::Some)),
        Expression::Test {
            column,
            test,
            is_ieee,
        } => {
            let first = column.path.first();
            if first.is_none_or(|name| known.column_by_name(name).is_none()) {
                return Ok(all(Verdict::Some));
            }
            let asked = Asked::new(column, test, is_negated, *is_ieee);
            let bits = ArrayTest::new(&known.schema(), &column.path, asked)
                .and_then(|test| test.evaluate(known))
                .map_err(|error| error.in_column(column.path.join(".")))?;
            Ok(of_bits(&bits))
        }
    }
}

fn of_bits(bits: &BooleanBuffer) -> Vec<Verdict> {
    let bit_verdict = |is_selected| match is_selected {
        true => Verdict::All,
        false => Verdict::None,
    };
    bits.iter().map(bit_verdict).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone_arrow::array::types::Int8Type;
    use herringbone_arrow::array::{
        ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
        DurationMillisecondArray, Float64Array, Int64Array, StringArray, TimestampMicrosecondArray,
    };
    use herringbone_format::ErrorKind;

    use super::*;
    use crate::col;

    fn of(predicate: &Predicate) -> Vec<Verdict> {
        let years: ArrayRef = Arc::new(Int64Array::from(vec![Some(2023), Some(2024), None]));
        let codes: ArrayRef = Arc::new(StringArray::from(vec!["01", "2A", "01"]));
        let known = RecordBatch::try_from_iter_with_nullable([
            ("year", years, true),
            ("code", codes, false),
        ]);
        verdicts_of_known(predicate, &known.unwrap()).unwrap()
    }

    #[test]
    fn known_columns_decide_and_others_do_not() {
        use Verdict::{All, None, Some};
        assert_eq!(of(&col("year").eq(2024)), [None, All, None]);
        // As in SQL, a comparison with a null is never true.
        assert_eq!(of(&col("year").ne(2024)), [All, None, None]);
        assert_eq!(of(&col("year").is_null()), [None, None, All]);
        assert_eq!(of(&col("code").eq("01")), [All, None, All]);
        assert_eq!(of(&col("x").gt(1)), [Some; 3]);
        let and = col("year").ge(2024).and(col("x").gt(1));
        assert_eq!(of(&and), [None, Some, None]);
        let or = col("year").ge(2024).or(col("x").gt(1));
        assert_eq!(of(&or), [Some, All, Some]);
        assert_eq!(of(&and.clone().not()), [All, Some, Some]);
        assert_eq!(of(&or.not()), [Some, None, None]);
        assert_eq!(of(&and.and(col("code").eq("x"))), [None; 3]);
    }

    #[test]
    fn a_literal_of_another_type_is_an_error() {
        let codes: ArrayRef = Arc::new(StringArray::from(vec!["01"]));
        let known = RecordBatch::try_from_iter([("code", codes)]).unwrap();
        let error = verdicts_of_known(&col("code").eq(1), &known).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
    }

    /// Returns all predicates of two levels, and all predicates of three levels whose second part is a single test.
    fn predicates() -> Vec<Predicate> {
        let tests = [
            col("year").eq(2024),
            col("year").is_null(),
            col("code").ne("01"),
            col("x").gt(1),
            col("x").is_null(),
        ];
        let mut all: Vec<_> = tests.to_vec();
        all.extend(tests.iter().map(|test| test.clone().not()));
        for _ in 0..2 {
            let first = all.clone();
            for (one, other) in first
                .iter()
                .flat_map(|one| tests.iter().map(move |test| (one, test)))
            {
                all.push(one.clone().and(other.clone()));
                all.push(one.clone().or(other.clone()).not());
            }
        }
        all
    }

    /// A verdict on some columns holds for all values of the others.
    #[test]
    fn verdicts_agree_with_those_on_all_columns() {
        let xs = [None, Some(1), Some(2)];
        let whole = |x: Option<i64>| {
            let years: ArrayRef = Arc::new(Int64Array::from(vec![Some(2023), Some(2024), None]));
            let codes: ArrayRef = Arc::new(StringArray::from(vec!["01", "2A", "01"]));
            let x: ArrayRef = Arc::new(Int64Array::from(vec![x; 3]));
            let columns = [
                ("year", years, true),
                ("code", codes, false),
                ("x", x, true),
            ];
            RecordBatch::try_from_iter_with_nullable(columns).unwrap()
        };
        let whole = xs.map(whole);
        let mut counts = [0; 3];
        for predicate in predicates() {
            let x_verdicts = whole
                .each_ref()
                .map(|batch| verdicts_of_known(&predicate, batch).unwrap());
            for (row, verdict) in of(&predicate).into_iter().enumerate() {
                let selected = x_verdicts
                    .iter()
                    .filter(|it| it[row] == Verdict::All)
                    .count();
                assert!(x_verdicts.iter().all(|it| it[row] != Verdict::Some));
                match verdict {
                    Verdict::All => assert_eq!(selected, 3, "{predicate}"),
                    Verdict::None => assert_eq!(selected, 0, "{predicate}"),
                    Verdict::Some => {}
                }
                counts[verdict as usize] += 1;
            }
        }
        assert!(counts.iter().all(|count| *count > 300), "{counts:?}");
    }

    #[test]
    fn values_of_all_types_are_compared() {
        use Verdict::{All, None};
        let of = |array: ArrayRef, predicate: Predicate| {
            let known = RecordBatch::try_from_iter_with_nullable([("p", array, true)]).unwrap();
            verdicts_of_known(&predicate, &known).unwrap()
        };
        let p = || col("p");
        let days: ArrayRef = Arc::new(Date32Array::from(vec![19_723, 19_724]));
        assert_eq!(of(days, p().gt("2024-01-01")), [None, All]);
        let times = TimestampMicrosecondArray::from(vec![0, 1_000_000]).with_timezone("UTC");
        assert_eq!(
            of(Arc::new(times), p().lt("1970-01-01T00:00:01Z")),
            [All, None]
        );
        let durations: ArrayRef = Arc::new(DurationMillisecondArray::from(vec![5, 6]));
        let micros = |micros: i128| crate::Literal::Duration(micros * 1_000);
        assert_eq!(of(durations.clone(), p().eq(micros(5_000))), [All, None]);
        assert_eq!(of(durations.clone(), p().gt(micros(5_001))), [None, All]);
        let beyond = crate::Literal::Duration(i128::MAX);
        assert_eq!(of(durations.clone(), p().lt(beyond)), [All, All]);
        // A number is in the column's unit.
        assert_eq!(of(durations, p().eq(6)), [None, All]);
        let prices = Decimal128Array::from(vec![150, 200]).with_precision_and_scale(5, 2);
        assert_eq!(of(Arc::new(prices.unwrap()), p().eq(2)), [None, All]);
        let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
        assert_eq!(of(flags, p().eq(true)), [All, None]);
        let texts: DictionaryArray<Int8Type> = [Some("a/b"), Option::None].into_iter().collect();
        let texts: ArrayRef = Arc::new(texts);
        assert_eq!(of(texts.clone(), p().like("a/%")), [All, None]);
        assert_eq!(of(texts, p().is_in(["x"]).not()), [All, None]);
        let floats: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, 1.0]));
        // In the total order, NaN is the greatest; by IEEE 754, it equals nothing.
        assert_eq!(of(floats.clone(), p().ge(1.0)), [All, All]);
        assert_eq!(of(floats, p().ge(1.0).with_ieee_floats()), [None, All]);
    }
}
