//! Where a literal lies among the values of an Arrow type.
//!
//! Values of all types but byte arrays are ordered by a whole number, their *key*: integers, dates, times and
//! decimals by themselves, floating-point numbers by their bits, turned so that they ascend: −0 is 0, and NaN is
//! one value above all others.

use herringbone_arrow::array::types::{ArrowPrimitiveType, Float16Type};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_format::{Error, Result};
use herringbone_kernels::between::float_key;

use super::literal::Literal;
use super::moment::{self, DAY};

/// A literal among the keys of a type: `key` itself, or between it and the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) key: i256,
    pub(super) is_exact: bool,
}

impl Position {
    fn exact(key: impl Into<i128>) -> Self {
        Self {
            key: i256::from_i128(key.into()),
            is_exact: true,
        }
    }

    /// `numerator / denominator`, which is positive.
    fn quotient(numerator: i128, denominator: i64) -> Self {
        let denominator = i128::from(denominator);
        Self {
            key: i256::from_i128(numerator.div_euclid(denominator)),
            is_exact: numerator.rem_euclid(denominator) == 0,
        }
    }

    /// Above or below all keys.
    fn beyond(is_above: bool) -> Self {
        Self {
            key: if is_above { i256::MAX } else { i256::MIN },
            is_exact: false,
        }
    }
}

/// The number that has a key; of the two zeros, 0.
pub(super) fn float_of_key(key: i64) -> f64 {
    let bits = key ^ ((key >> 63).cast_unsigned() >> 1).cast_signed();
    f64::from_bits(bits.cast_unsigned())
}

/// Where `literal`, which is not null, lies among values of `data_type`.
///
/// # Errors
/// Argument where the two cannot be compared.
pub(super) fn position(literal: &Literal, data_type: &DataType) -> Result<Position> {
    use Literal as L;
    let found = match data_type {
        DataType::Boolean => match literal {
            L::Boolean(value) => Some(Position::exact(*value)),
            _ => None,
        },
        DataType::Float16 | DataType::Float32 | DataType::Float64 => {
            float(literal).map(|value| Position::exact(float_key(nearest(value, data_type))))
        }
        DataType::Date32 => date(literal),
        DataType::Date64 => match literal {
            // Days, in milliseconds.
            _ if date(literal).is_none() => None,
            _ => timestamp(literal, None).map(|nanos| Position::quotient(nanos, 1_000_000)),
        },
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let nanos = match literal {
                L::Time(nanos) => Some(*nanos),
                L::Text(text) => moment::time(text),
                _ => None,
            };
            nanos.map(|nanos| Position::quotient(nanos.into(), nanos_of(*unit)))
        }
        DataType::Timestamp(unit, zone) => timestamp(literal, Some(zone.is_some()))
            .map(|nanos| Position::quotient(nanos, nanos_of(*unit))),
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale) => number(literal, i32::from(*scale)),
        other if other.is_integer() || matches!(other, DataType::Duration(_)) => number(literal, 0),
        _ => None,
    };
    found.ok_or_else(|| not_comparable(literal, data_type))
}

/// The bytes of a literal, for a column of text or bytes.
///
/// # Errors
/// Argument where it has none.
pub(super) fn bytes(literal: &Literal, data_type: &DataType) -> Result<Vec<u8>> {
    match literal {
        Literal::Text(text) => Ok(text.as_bytes().to_vec()),
        Literal::Bytes(bytes) => Ok(bytes.clone()),
        _ => Err(not_comparable(literal, data_type)),
    }
}

#[cold]
fn not_comparable(literal: &Literal, data_type: &DataType) -> Error {
    Error::argument(format!(
        "{literal} is {}, and cannot be compared with values of {data_type}",
        literal.kind()
    ))
}

fn nanos_of(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn date(literal: &Literal) -> Option<Position> {
    match literal {
        Literal::Date(days) => Some(Position::exact(*days)),
        Literal::Text(text) => match moment::date(text) {
            Some(days) => Some(Position::exact(days)),
            None => moment::timestamp(text).map(|(nanos, _)| Position::quotient(nanos, DAY)),
        },
        Literal::Timestamp { nanos, .. } => Some(Position::quotient(*nanos, DAY)),
        _ => None,
    }
}

/// Nanoseconds since 1970, for a column whose values are or are not in UTC. A moment without a zone is taken for one in
/// UTC; the reverse cannot be known.
fn timestamp(literal: &Literal, column_is_utc: Option<bool>) -> Option<i128> {
    let (nanos, is_utc) = match literal {
        Literal::Timestamp { nanos, is_utc } => (*nanos, *is_utc),
        Literal::Date(days) => (i128::from(*days) * i128::from(DAY), false),
        Literal::Text(text) => moment::timestamp(text)?,
        _ => return None,
    };
    (!is_utc || column_is_utc != Some(false)).then_some(nanos)
}

/// A number as one of floating point.
fn float(literal: &Literal) -> Option<f64> {
    match literal {
        Literal::Float(value) => Some(*value),
        Literal::Integer(value) => Some(*value as f64),
        // Through text, which rounds once.
        Literal::Decimal { unscaled, scale } => {
            format!("{unscaled}e{}", -i64::from(*scale)).parse().ok()
        }
        _ => None,
    }
}

/// The nearest number of a type: what a column of it would have for the literal.
fn nearest(value: f64, data_type: &DataType) -> f64 {
    match data_type {
        DataType::Float16 => <Float16Type as ArrowPrimitiveType>::Native::from_f64(value).to_f64(),
        DataType::Float32 => f64::from(value as f32),
        _ => value,
    }
}

/// A number among whole numbers of 10^-`scale`.
fn number(literal: &Literal, scale: i32) -> Option<Position> {
    match literal {
        Literal::Integer(value) => Some(scaled(i256::from_i128(*value), 0, scale)),
        Literal::Decimal {
            unscaled,
            scale: own,
        } => Some(scaled(*unscaled, *own, scale)),
        Literal::Float(value) if value.is_nan() => Some(Position::beyond(true)),
        Literal::Float(value) if value.is_infinite() => Some(Position::beyond(*value > 0.0)),
        Literal::Float(value) => {
            // The shortest digits that mean this number.
            let text = format!("{value:e}");
            let (digits, exponent) = text.split_once('e')?;
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let unscaled = format!("{whole}{fraction}").parse::<i128>().ok()?;
            let own = i32::try_from(fraction.len()).ok()? - exponent.parse::<i32>().ok()?;
            Some(scaled(i256::from_i128(unscaled), own, scale))
        }
        _ => None,
    }
}

/// `unscaled` × 10^-`from` in whole numbers of 10^-`to`.
fn scaled(unscaled: i256, from: i32, to: i32) -> Position {
    let ten = i256::from_i128(10);
    let (is_negative, is_zero) = (unscaled < i256::ZERO, unscaled == i256::ZERO);
    let power = ten.checked_pow(to.abs_diff(from));
    match power {
        _ if is_zero => Position::exact(0),
        Some(power) if to >= from => match unscaled.checked_mul(power) {
            Some(key) => Position {
                key,
                is_exact: true,
            },
            None => Position::beyond(!is_negative),
        },
        None if to >= from => Position::beyond(!is_negative),
        Some(power) => {
            let quotient = unscaled.wrapping_div(power);
            let is_exact = quotient.wrapping_mul(power) == unscaled;
            let below = i256::from_i128(i128::from(is_negative && !is_exact));
            Position {
                key: quotient.wrapping_sub(below),
                is_exact,
            }
        }
        // Less than any step.
        None => Position {
            key: i256::from_i128(if is_negative { -1 } else { 0 }),
            is_exact: false,
        },
    }
}
