//! `--where`: which rows are wanted, in the words of SQL.

use std::str::FromStr;

use herringbone::filter::{Column, Literal, Predicate, col_at};
use herringbone_arrow::buffer::i256;
use sqlparser::ast::{BinaryOperator, DataType, Expr, Ident, UnaryOperator, Value};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::Parser;
use sqlparser::tokenizer::Token;

use super::operand::Operand;

/// A condition that is longer is refused: what stands in one another is taken apart by functions in one another.
const MOST_BYTES: usize = 8 << 10;

/// What follows `--where`.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    strict: Predicate,
    /// The same where variants that break the rules of shredding are taken.
    lenient: Predicate,
}

impl Condition {
    pub(crate) fn predicate(&self, is_lenient: bool) -> &Predicate {
        match is_lenient {
            true => &self.lenient,
            false => &self.strict,
        }
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.len() > MOST_BYTES {
            return Err(format!("a condition has {MOST_BYTES} bytes at most"));
        }
        let mut parser = Parser::new(&GenericDialect)
            .try_with_sql(text)
            .map_err(|error| error.to_string())?;
        let expression = parser.parse_expr().map_err(|error| error.to_string())?;
        match parser.peek_token().token {
            Token::EOF => Ok(Self {
                strict: predicate(&expression, false)?,
                lenient: predicate(&expression, true)?,
            }),
            more => Err(format!("`{more}` behind the condition")),
        }
    }
}

fn predicate(expression: &Expr, is_lenient: bool) -> Result<Predicate, String> {
    let negated_if = |predicate: Predicate, negated: bool| match negated {
        true => predicate.not(),
        false => predicate,
    };
    let operand = |expression| operand(expression, is_lenient);
    match expression {
        Expr::Nested(inner) => predicate(inner, is_lenient),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => Ok(predicate(expr, is_lenient)?.not()),
        Expr::BinaryOp { left, op, right } => binary(left, op, right, is_lenient),
        Expr::IsNull(inner) => Ok(operand(inner)?.test(Column::is_null)),
        Expr::IsNotNull(inner) => Ok(operand(inner)?.test(Column::is_not_null)),
        Expr::IsTrue(inner) => Ok(operand(inner)?.typed()?.test(|it| it.eq(true))),
        Expr::IsFalse(inner) => Ok(operand(inner)?.typed()?.test(|it| it.eq(false))),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let (low, high) = (literal(low)?, literal(high)?);
            let between = operand(expr)?.typed()?;
            let between = between.test(move |it| it.between(low.clone(), high.clone()));
            Ok(negated_if(between, *negated))
        }
        Expr::InList {
            expr,
            list,
            negated,
        } => {
            let values = list.iter().map(literal).collect::<Result<Vec<_>, _>>()?;
            let is_in = operand(expr)?
                .typed()?
                .test(move |it| it.is_in(values.clone()));
            Ok(negated_if(is_in, *negated))
        }
        Expr::Like {
            negated,
            any: false,
            expr,
            pattern,
            escape_char: None,
        } => match literal(pattern)? {
            Literal::Text(pattern) => {
                let like = operand(expr)?
                    .typed()?
                    .test(move |it| it.like(pattern.clone()));
                Ok(negated_if(like, *negated))
            }
            _ => Err(format!("`{pattern}` is no pattern of like: that is text")),
        },
        Expr::AnyOp {
            left,
            compare_op,
            right,
            ..
        } => each(left, compare_op, right, "any", Column::any),
        Expr::AllOp {
            left,
            compare_op,
            right,
        } => each(left, compare_op, right, "all", Column::all),
        // A column of booleans is a condition by itself.
        it if is_operand(it) => Ok(operand(it)?.typed()?.test(|it| it.eq(true))),
        other => Err(not_understood(other)),
    }
}

fn binary(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    is_lenient: bool,
) -> Result<Predicate, String> {
    let operand = |expression| operand(expression, is_lenient);
    if let BinaryOperator::And | BinaryOperator::Or = op {
        return chain(left, op, right, is_lenient);
    }
    let (operand, literal, is_turned) = match is_operand(left) {
        true => (operand(left)?, literal(right)?, false),
        // 5 < a is a > 5.
        false => (operand(right)?, literal(left)?, true),
    };
    let compare = comparison(op, is_turned)
        .ok_or_else(|| format!("`{left} {op} {right}` is not understood: {UNDERSTOOD}"))?;
    let operand = operand.typed()?;
    Ok(operand.test(move |column| compare(column, literal.clone())))
}

/// How a column is compared with a literal; the other way round where it `is_turned`.
fn comparison(op: &BinaryOperator, is_turned: bool) -> Option<fn(Column, Literal) -> Predicate> {
    Some(match (op, is_turned) {
        (BinaryOperator::Eq, _) => Column::eq,
        (BinaryOperator::NotEq, _) => Column::ne,
        (BinaryOperator::Lt, false) | (BinaryOperator::Gt, true) => Column::lt,
        (BinaryOperator::LtEq, false) | (BinaryOperator::GtEq, true) => Column::le,
        (BinaryOperator::Gt, false) | (BinaryOperator::Lt, true) => Column::gt,
        (BinaryOperator::GtEq, false) | (BinaryOperator::LtEq, true) => Column::ge,
        _ => return None,
    })
}

/// A literal, compared with any or all values of a column below a list.
fn each(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    word: &str,
    each: fn(Column) -> Column,
) -> Result<Predicate, String> {
    let (literal, column) = (literal(left)?, column(right)?);
    let compare = comparison(op, true)
        .ok_or_else(|| format!("`{left} {op} {word}({right})` is not understood: {UNDERSTOOD}"))?;
    Ok(compare(each(col_at(column)), literal))
}

/// Conditions with the same word between them, of which there may be very many: `left` is all of them but the last.
fn chain(
    mut left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    is_lenient: bool,
) -> Result<Predicate, String> {
    let mut parts = vec![right];
    while let Expr::BinaryOp {
        left: first,
        op: other,
        right,
    } = left
        && other == op
    {
        parts.push(right);
        left = first;
    }
    let mut all = predicate(left, is_lenient)?;
    for part in parts.into_iter().rev() {
        let part = predicate(part, is_lenient)?;
        all = match op {
            BinaryOperator::And => all.and(part),
            _ => all.or(part),
        };
    }
    Ok(all)
}

const UNDERSTOOD: &str = "columns, and values of variants by variant_get(column, '$.path', 'type'), are compared with literals by = <> < <= > >=, between, in, like, is null and is \
                          not null; literals with values below a list by 5 = any(column) or 5 < all(column); conditions are combined by and, or and not";

fn not_understood(expression: &Expr) -> String {
    format!("`{expression}` is not understood: {UNDERSTOOD}")
}

fn is_operand(expression: &Expr) -> bool {
    matches!(
        expression,
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_)
    )
}

fn operand(expression: &Expr, is_lenient: bool) -> Result<Operand, String> {
    match expression {
        Expr::Nested(inner) => operand(inner, is_lenient),
        Expr::Function(function) => Operand::of_function(function, is_lenient),
        other => column(other).map(Operand::Column),
    }
}

/// The path of a column.
pub(super) fn column(expression: &Expr) -> Result<Vec<String>, String> {
    let parts: &[Ident] = match expression {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(names) => names,
        Expr::Nested(inner) => return column(inner),
        other => return Err(format!("`{other}` stands where a column is expected")),
    };
    Ok(parts.iter().map(|part| part.value.clone()).collect())
}

pub(super) fn literal(expression: &Expr) -> Result<Literal, String> {
    let no_literal = || format!("`{expression}` stands where a literal is expected");
    match expression {
        Expr::Nested(inner) => literal(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match literal(expr)? {
            Literal::Integer(value) => Ok(Literal::Integer(-value)),
            Literal::Float(value) => Ok(Literal::Float(-value)),
            Literal::Decimal { unscaled, scale } => Ok(Literal::Decimal {
                unscaled: unscaled.wrapping_neg(),
                scale,
            }),
            _ => Err(no_literal()),
        },
        // Dates and the like are text, which becomes what the column is.
        Expr::TypedString(typed)
            if matches!(
                typed.data_type,
                DataType::Date | DataType::Time(..) | DataType::Timestamp(..)
            ) =>
        {
            value(&typed.value.value).ok_or_else(no_literal)
        }
        Expr::Value(found) => value(&found.value).ok_or_else(no_literal),
        _ => Err(no_literal()),
    }
}

fn value(value: &Value) -> Option<Literal> {
    Some(match value {
        Value::Null => Literal::Null,
        Value::Boolean(value) => Literal::Boolean(*value),
        Value::SingleQuotedString(text) => Literal::Text(text.clone()),
        Value::HexStringLiteral(digits) => Literal::Bytes(bytes(digits)?),
        Value::Number(text, _) if text.contains(['e', 'E']) => Literal::Float(text.parse().ok()?),
        Value::Number(text, _) => match text.split_once('.') {
            None => Literal::Integer(text.parse().ok()?),
            // As many digits as there are, so that 0.1 is a tenth.
            Some((whole, fraction)) => Literal::Decimal {
                unscaled: format!("{whole}{fraction}").parse::<i256>().ok()?,
                scale: i32::try_from(fraction.len()).ok()?,
            },
        },
        _ => return None,
    })
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    rest.is_empty().then(|| pairs.iter().map(byte).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Condition>().map(|it| it.strict.to_string())
    }

    #[test]
    fn conditions_of_sql() {
        for (text, expected) in [
            ("a > 5", "a > 5"),
            ("5 >= a", "a <= 5"),
            ("a <> -5", "not a = -5"),
            ("b.c in ('x', 'y''s')", "b.c in ('x', 'y''s')"),
            ("not d is null", "not d is null"),
            ("\"odd name\" = 1.50", "odd name = 150e-2"),
            (
                "e like 'ab%' or e not like '_'",
                "(e like 'ab%' or not e like '_')",
            ),
            (
                "a between 1 and 2 and b",
                "(a between 1 and 2 and b = true)",
            ),
            ("day = date '2024-01-02'", "day = '2024-01-02'"),
            (
                "t < timestamp '2024-01-02 03:04:05'",
                "t < '2024-01-02 03:04:05'",
            ),
            ("x = 1e3", "x = 1000"),
            ("x is not true or not (y is false)", ""),
            ("b = x'00ff'", "b = 2 bytes"),
            ("n = null", "n = null"),
            ("5 < any(a.b)", "any(a.b) > 5"),
            ("'x' = all(tags)", "all(tags) = 'x'"),
            ("'x' <> any(tags)", "not all(tags) = 'x'"),
            (
                "variant_get(v, '$.a.b', 'int') > 5",
                "variant_get(v, '$.a.b', Int32) > 5",
            ),
            (
                "10.5 >= variant_get(s.v, 'a[0]', 'decimal(4, 2)')",
                "variant_get(s.v, '$.a[0]', Decimal { precision: 4, scale: 2 }) <= 105e-1",
            ),
            (
                "variant_get(v, '$.a') is not null",
                "not variant_get(v, '$.a') is null",
            ),
        ] {
            match read(text) {
                Ok(found) => assert_eq!(found, expected, "{text}"),
                Err(error) => assert!(expected.is_empty(), "{text}: {error}"),
            }
        }
    }

    #[test]
    fn what_is_no_condition_is_refused() {
        for (text, message) in [
            ("", "EOF"),
            ("a >", "EOF"),
            ("a > 5 b", "behind the condition"),
            ("a + 1 > 5", "a column is expected"),
            ("a > b", "a literal is expected"),
            ("f(a)", "`f(a)` is not understood"),
            ("variant_get(v) = 1", "a column, a path and a type"),
            (
                "variant_get(v, '$.a', 'int', 1) = 1",
                "a column, a path and a type",
            ),
            ("variant_get(v, '$.a') = 1", "needs the type"),
            (
                "variant_get(v, '$.a', 'uint64') = 1",
                "there is no type `uint64` among variants",
            ),
            ("variant_get(v, '$a', 'int') = 1", "the variant path `$a`"),
            ("variant_get(v, a, 'int') = 1", "a literal is expected"),
            ("a like 5", "that is text"),
            ("a < any(b)", "a literal is expected"),
            ("5 < any(1)", "a column is expected"),
            ("1 = 1", "a column is expected"),
            ("a = x'0'", "a literal is expected"),
            ("exists (select 1)", "is not understood"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
        let deep = format!("{}a{} = 1", "(".repeat(5000), ")".repeat(5000));
        assert!(read(&deep).is_err());
        let long = format!("a = 1{}", " or a = 1".repeat(900));
        assert!(read(&long).is_ok());
        let longer = format!("a = 1{}", " or a = 1".repeat(20_000));
        assert!(read(&longer).unwrap_err().contains("bytes at most"));
    }
}
