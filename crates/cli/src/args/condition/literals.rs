//! Parses the literals in a condition.

use herringbone::filter::Literal;
use herringbone_arrow::buffer::i256;
use herringbone_interchange::read::hex;
use herringbone_interchange::shortened;
use sqlparser::ast::{DataType, Expr, UnaryOperator, Value};

use super::parts::shown;

/// The maximum number of digits in a number, which is also the limit for decimals.
const MAX_DIGITS: usize = 76;

pub(in crate::args) fn literal(expression: &Expr) -> Result<Literal, String> {
    let no_literal = || match expression {
        Expr::Identifier(name) if name.quote_style == Some('"') => format!(
            "{} in double quotes is a column; write text in single quotes",
            shown(name)
        ),
        Expr::Identifier(name) => format!(
            "expected a literal, found {}; text stands in single quotes, as in '{}', and `herringbone sql` compares two \
             columns",
            shown(name),
            shortened(&name.value)
        ),
        _ => format!(
            "expected a literal, found {}; literals are numbers of at most 76 digits, 'text', \
             x'00ff', true, false, null, NaN and Infinity",
            shown(expression)
        ),
    };
    match expression {
        Expr::Nested(inner) => literal(inner),
        // NaN and the infinities look like column names to the parser, but they're numbers unless
        // quoted.
        Expr::Identifier(name) if name.quote_style.is_none() => {
            special(&name.value).ok_or_else(no_literal)
        }
        Expr::Cast {
            expr, data_type, ..
        } if is_float(data_type) => match literal(expr)? {
            Literal::Text(text) => special(&text).ok_or_else(no_literal),
            _ => Err(no_literal()),
        },
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
        // Dates and similar literals stay text here, since parsing them depends on the column's
        // type.
        Expr::TypedString(typed)
            if matches!(
                typed.data_type,
                DataType::Date | DataType::Time(..) | DataType::Timestamp(..)
            ) =>
        {
            value(&typed.value.value).ok_or_else(no_literal)
        }
        Expr::TypedString(typed) if is_float(&typed.data_type) => match value(&typed.value.value) {
            Some(Literal::Text(text)) => special(&text).ok_or_else(no_literal),
            _ => Err(no_literal()),
        },
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

/// Parses a number exactly, so that 0.1 is a tenth and 1e400 isn't infinite.
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

/// Returns NaN or an infinity if `name` is one of their names.
fn special(name: &str) -> Option<Literal> {
    let value: f64 = name.parse().ok()?;
    let is_name = !value.is_finite() && name.ends_with(char::is_alphabetic);
    is_name.then_some(Literal::Float(value))
}

fn is_float(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Double(_)
            | DataType::DoublePrecision
            | DataType::Float(_)
            | DataType::Float4
            | DataType::Float8
            | DataType::Real
    )
}
