//! `--where`: selects rows by a condition in SQL.

use std::fmt::Display;
use std::str::FromStr;
use std::thread;

use herringbone::filter::{Column, Literal, Predicate, col_at};
use herringbone_arrow::buffer::i256;
use sqlparser::ast::{
    BinaryOperator, DataType, Expr, Function, FunctionArguments, Ident, UnaryOperator, Value,
};
use sqlparser::dialect::GenericDialect;
use sqlparser::parser::{Parser, ParserError};
use sqlparser::tokenizer::Token;

use super::operand::Operand;
use crate::failure::shortened;
use crate::load::hex;

/// The maximum length of a condition in bytes. Nested parts are processed recursively.
const MAX_BYTES: usize = 8 << 10;

/// The maximum number of digits of a number, the same as for decimals.
const MAX_DIGITS: usize = 76;

/// The value of `--where`.
#[derive(Debug, Clone)]
pub(crate) struct Condition {
    strict: Predicate,
    /// The predicate that accepts variants in violation of the shredding rules.
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
        if text.len() > MAX_BYTES {
            let bytes = text.len();
            return Err(format!(
                "the condition has {bytes} bytes, but at most {MAX_BYTES} are allowed"
            ));
        }
        let mut parser = Parser::new(&GenericDialect)
            .try_with_sql(text)
            .map_err(|error| unparsed(&error))?;
        let expression = parser.parse_expr().map_err(|error| unparsed(&error))?;
        match parser.peek_token().token {
            Token::EOF => Ok(Self {
                strict: predicate(&expression, false)?,
                lenient: predicate(&expression, true)?,
            }),
            more => Err(format!(
                "unexpected {} after the end of the condition",
                shown(&more)
            )),
        }
    }
}

/// Returns the reason why a text is not an SQL expression.
fn unparsed(error: &ParserError) -> String {
    match error {
        ParserError::RecursionLimitExceeded => {
            "the condition is nested too deeply; about 50 levels are allowed".to_owned()
        }
        ParserError::ParserError(message) if message.ends_with("found: EOF") => {
            format!("the condition is not complete ({message})")
        }
        ParserError::ParserError(message) => {
            format!("{message}; write the name of a column that is a word of SQL in \"quotes\"")
        }
        ParserError::TokenizerError(message) => message.clone(),
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
        Expr::IsTrue(inner) => Ok(operand(inner)?.typed()?.test(|it| is_known(it, true))),
        Expr::IsFalse(inner) => Ok(operand(inner)?.typed()?.test(|it| is_known(it, false))),
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
            _ => Err(format!(
                "`like` needs a pattern in quotes, such as 'ab%', but found {}",
                shown(pattern)
            )),
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
        // A boolean column is a condition by itself.
        it if is_operand(it) => Ok(operand(it)?.typed()?.test(|it| it.eq(true))),
        other => Err(not_understood(other)),
    }
}

/// Returns the test for one of the two booleans. For a null, it is false rather than unknown.
fn is_known(column: Column, value: bool) -> Predicate {
    column.clone().eq(value).and(column.is_not_null())
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
    let (operand, literal, is_turned) = match (is_operand(left), is_operand(right)) {
        (true, _) => (operand(left)?, literal(right)?, false),
        // 5 < a is a > 5.
        (false, true) => (operand(right)?, literal(left)?, true),
        // The other side, which is not a literal, was meant as a column.
        (false, false) => match literal(left) {
            Ok(literal) => (operand(right)?, literal, true),
            Err(_) => (operand(left)?, literal(right)?, false),
        },
    };
    let compare = comparison(op, is_turned).ok_or_else(|| {
        let whole = shown(&format!("{left} {op} {right}"));
        format!("{whole} is not understood: {UNDERSTOOD}")
    })?;
    let operand = operand.typed()?;
    Ok(operand.test(move |column| compare(column, literal.clone())))
}

/// Returns the comparison of a column with a literal. If `is_turned` is set, the literal is on the left.
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

/// Compares a literal with any or all values of a column below a list.
fn each(
    left: &Expr,
    op: &BinaryOperator,
    right: &Expr,
    word: &str,
    each: fn(Column) -> Column,
) -> Result<Predicate, String> {
    let (literal, column) = (literal(left)?, column(right)?);
    let compare = comparison(op, true).ok_or_else(|| {
        let whole = shown(&format!("{left} {op} {word}({right})"));
        format!("{whole} is not understood: {UNDERSTOOD}")
    })?;
    Ok(compare(each(col_at(column)), literal))
}

/// Converts a chain of conditions joined by the same operator, which may be very long. `left` contains all of them
/// but the last.
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

const UNDERSTOOD: &str = "compare columns, or values of variants by variant_get(column, '$.path', \
                          'type'), with literals by = <> < <= > >=, between, in, like, is null and \
                          is not null; compare literals with the elements of a list by 5 = \
                          any(column) or 5 < all(column); combine conditions by and, or and not";

fn not_understood(expression: &Expr) -> String {
    format!("{} is not understood: {UNDERSTOOD}", shown(expression))
}

/// Returns a part of a condition for use in errors.
pub(super) fn shown(part: &(impl Display + Sync)) -> String {
    /// The stack size in bytes. It is enough for a condition of operators alone, whose formatting recurses for each
    /// operator.
    const STACK_BYTES: usize = 128 << 20;
    let text = thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK_BYTES);
        let thread = thread.spawn_scoped(scope, || part.to_string());
        thread.ok()?.join().ok()
    });
    match text {
        Some(text) => format!("`{}`", shortened(&text)),
        None => "a part of the condition".to_owned(),
    }
}

fn is_operand(expression: &Expr) -> bool {
    match expression {
        Expr::Nested(inner) => is_operand(inner),
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Function(_) => true,
        _ => false,
    }
}

fn operand(expression: &Expr, is_lenient: bool) -> Result<Operand, String> {
    match expression {
        Expr::Nested(inner) => operand(inner, is_lenient),
        Expr::Function(function) if !is_bare(function) => {
            Operand::of_function(function, is_lenient)
        }
        other => column(other).map(Operand::Column),
    }
}

/// Returns true if an SQL function has no parentheses, such as `user`. It is then the name of a column.
fn is_bare(function: &Function) -> bool {
    function.args == FunctionArguments::None
}

/// Returns the path of a column.
pub(super) fn column(expression: &Expr) -> Result<Vec<String>, String> {
    let parts: &[Ident] = match expression {
        Expr::Identifier(name) => std::slice::from_ref(name),
        Expr::CompoundIdentifier(names) => names,
        Expr::Nested(inner) => return column(inner),
        Expr::Function(function) if is_bare(function) => {
            return Ok(vec![function.name.to_string()]);
        }
        other => {
            return Err(format!("expected a column, found {}", shown(other)));
        }
    };
    Ok(parts.iter().map(|part| part.value.clone()).collect())
}

pub(super) fn literal(expression: &Expr) -> Result<Literal, String> {
    let no_literal = || match expression {
        Expr::Identifier(name) if name.quote_style == Some('"') => format!(
            "{} in double quotes is a column; write text in single quotes",
            shown(name)
        ),
        _ => format!(
            "expected a literal, found {}; literals are numbers of at most 76 digits, 'text', \
             x'00ff', true, false and null",
            shown(expression)
        ),
    };
    match expression {
        Expr::Nested(inner) => literal(inner),
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => match literal(expr)? {
            Literal::Integer(value) => Ok(Literal::Integer(-value)),
            Literal::Decimal { unscaled, scale } => Ok(Literal::Decimal {
                unscaled: unscaled.wrapping_neg(),
                scale,
            }),
            _ => Err(no_literal()),
        },
        // Dates and similar literals are text, which is converted to the type of the column.
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
        Value::HexStringLiteral(digits) => Literal::Bytes(hex(digits)?),
        Value::Number(text, _) => number(text)?,
        _ => return None,
    })
}

/// Parses a number with all of its digits, so that 0.1 is exactly a tenth, and 1e400 is not infinite.
fn number(text: &str) -> Option<Literal> {
    if let Ok(integer) = text.parse() {
        return Some(Literal::Integer(integer));
    }
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.len() > MAX_DIGITS {
        return None;
    }
    Some(Literal::Decimal {
        unscaled: match digits {
            "" => i256::ZERO,
            digits => digits.parse().ok()?,
        },
        scale: i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?,
    })
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
            ("x = 1e3", "x = 1e3"),
            ("x = 1E400", "x = 1e400"),
            ("x = -2.50e-1", "x = -250e-3"),
            (
                "x = 1234567890123456789012345678901234567890123456789012345678901234567890123456",
                "x = 1234567890123456789012345678901234567890123456789012345678901234567890123456",
            ),
            (
                "-170141183460469231731687303715884105729 < x",
                "x > -170141183460469231731687303715884105729",
            ),
            ("(a) = (5)", "a = 5"),
            (
                "user = 'x' and current_date < '2024-01-01'",
                "(user = 'x' and current_date < '2024-01-01')",
            ),
            ("a is true", "(a = true and not a is null)"),
            ("x is not true or not (y is false)", ""),
            ("b = x'00ff'", "b = x'00ff'"),
            ("n = null", "n = null"),
            ("5 < any(a.b)", "any(a.b) > 5"),
            ("'x' = all(tags)", "all(tags) = 'x'"),
            ("'x' <> any(tags)", "not all(tags) = 'x'"),
            (
                "variant_get(v, '$.a.b', 'int') > 5",
                "variant_get(v, '$.a.b', 'int') > 5",
            ),
            (
                "10.5 >= variant_get(s.v, 'a[0]', 'decimal(4, 2)')",
                "variant_get(s.v, '$.a[0]', 'decimal(4, 2)') <= 105e-1",
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
            ("a = \"b\"", "`\"b\"` in double quotes is a column"),
            ("a >", "EOF"),
            ("a > 5 b", "after the end of the condition"),
            ("a + 1 > 5", "expected a column, found `a + 1`"),
            ("a + 1 = 2", "expected a column, found `a + 1`"),
            ("2 = a + 1", "expected a column, found `a + 1`"),
            ("a > b", "expected a literal"),
            ("f(a)", "type'), found `f(a)`"),
            ("interval = 1", "a word of SQL in \"quotes\""),
            ("variant_get(v) = 1", "a column, a path and a type"),
            (
                "variant_get(v, '$.a', 'int', 1) = 1",
                "a column, a path and a type",
            ),
            ("variant_get(v, '$.a') = 1", "needs a type"),
            (
                "variant_get(v, '$.a', 'uint64') = 1",
                "unknown type `uint64` of variants; use one of: boolean,",
            ),
            ("variant_get(v, '$a', 'int') = 1", "the variant path `$a`"),
            ("variant_get(v, a, 'int') = 1", "expected a literal"),
            (
                "a like 5",
                "`like` needs a pattern in quotes, such as 'ab%', but found `5`",
            ),
            ("a < any(b)", "expected a literal"),
            ("5 < any(1)", "expected a column"),
            ("1 = 1", "expected a column"),
            ("a = x'0'", "expected a literal"),
            (
                "a = 12345678901234567890123456789012345678901234567890123456789012345678901234567",
                "numbers of at most 76 digits",
            ),
            ("a = 1e9999999999", "expected a literal"),
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
        let error = read(&longer).unwrap_err();
        assert!(
            error.contains("has 180005 bytes, but at most 8192 are allowed"),
            "{error}"
        );
        assert!(error.len() < 100, "{error}");
    }
}
