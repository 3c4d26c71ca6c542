//! Compares texts with whole numbers by value, for columns whose texts are all known, such as partition columns.

use super::predicate::{Comparison, Expression, Test};
use super::{Literal, Predicate};

impl Predicate {
    /// Compares a text column with whole numbers by its texts' numeric values. `texts` are all of the column's texts,
    /// so that a comparison can become a test for the matching texts.
    ///
    /// The predicate stays unchanged if any text is not a whole number in decimal digits.
    ///
    /// ```
    /// use herringbone_filter::col;
    ///
    /// let months = ["01", "02", "10"];
    /// let predicate = col("month").ge(2).with_numbers_of_texts("month", &months);
    /// assert_eq!(predicate.to_string(), "month in ('02', '10')");
    /// ```
    #[must_use]
    pub fn with_numbers_of_texts(mut self, column: &str, texts: &[&str]) -> Self {
        let number = |text: &&'_ str| Some((whole_number(text)?, (*text).to_owned()));
        let Some(numbers) = texts.iter().map(number).collect::<Option<Vec<_>>>() else {
            return self;
        };
        let mut expressions = vec![&mut self.0];
        while let Some(expression) = expressions.pop() {
            match expression {
                Expression::Test {
                    column: tested,
                    test,
                    ..
                } => {
                    if tested.quantifier.is_none() && tested.path == [column] {
                        by_number(test, &numbers);
                    }
                }
                Expression::Not(inner) => expressions.push(inner),
                Expression::And(parts) | Expression::Or(parts) => expressions.extend(parts),
                Expression::Rows(_) => {}
            }
        }
        self
    }
}

/// Parses decimal digits, optionally with a minus sign, as a number.
fn whole_number(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

/// Replaces a test of whole numbers with a test for the matching texts.
fn by_number(test: &mut Test, numbers: &[(i128, String)]) {
    let passing = |passes: &dyn Fn(i128) -> bool| -> Vec<Literal> {
        let passing = numbers.iter().filter(|(number, _)| passes(*number));
        passing.map(|(_, text)| text.clone().into()).collect()
    };
    let texts = match test {
        Test::Compare(comparison, Literal::Integer(value)) => {
            let (comparison, value) = (*comparison, *value);
            passing(&|number| match comparison {
                Comparison::Equal => number == value,
                Comparison::Less => number < value,
                Comparison::LessOrEqual => number <= value,
                Comparison::Greater => number > value,
                Comparison::GreaterOrEqual => number >= value,
            })
        }
        Test::Between(Literal::Integer(low), Literal::Integer(high)) => {
            let range = *low..=*high;
            passing(&|number| range.contains(&number))
        }
        Test::In(literals) => {
            let is_integer = |literal: &&Literal| matches!(literal, Literal::Integer(_));
            let (integers, mut others): (Vec<_>, Vec<_>) = std::mem::take(literals)
                .into_iter()
                .partition(|literal| is_integer(&literal));
            others.extend(passing(&|number| {
                integers.contains(&Literal::Integer(number))
            }));
            others
        }
        _ => return,
    };
    *test = Test::In(texts);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::col;

    fn of(predicate: Predicate, texts: &[&str]) -> String {
        predicate.with_numbers_of_texts("m", texts).to_string()
    }

    #[test]
    fn texts_are_compared_by_their_numbers() {
        let texts = ["01", "003", "-2", "12"];
        for (predicate, expected) in [
            (col("m").eq(3), "m in ('003')"),
            (col("m").ne(3), "not m in ('003')"),
            (col("m").lt(3), "m in ('01', '-2')"),
            (col("m").le(3), "m in ('01', '003', '-2')"),
            (col("m").gt(3), "m in ('12')"),
            (col("m").ge(3), "m in ('003', '12')"),
            (col("m").between(-2, 1), "m in ('01', '-2')"),
            (col("m").eq(7), "m in ()"),
            (
                col("m").is_in([Literal::Null, 12.into(), "003".into()]),
                "m in (null, '003', '12')",
            ),
            (
                col("m").eq("3").or(col("m").eq(12).not()),
                "(m = '3' or not m in ('12'))",
            ),
            (col("m").eq(3.0), "m = 3"),
            (col("n").eq(3).and(col("m.n").eq(3)), "(n = 3 and m.n = 3)"),
            (col("m").is_null(), "m is null"),
        ] {
            assert_eq!(of(predicate, &texts), expected);
        }
    }

    #[test]
    fn other_texts_are_not_compared_by_number() {
        for text in [
            "",
            "-",
            "+1",
            "1.0",
            "1e3",
            "٣",
            " 1",
            "1_0",
            &"9".repeat(40),
        ] {
            assert_eq!(of(col("m").eq(1), &["1", text]), "m = 1", "{text}");
        }
    }
}
