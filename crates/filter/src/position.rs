//! Locates a literal among the values of an Arrow type.
//!
//! The values of all types except byte arrays are ordered by a whole number, called their *key*. Integers, dates, times
//! and decimals are their own keys. A floating-point number's key consists of its bits, rearranged so that keys sort
//! like the numbers: −0 is 0, and NaN is a single value above all others.

use herringbone_arrow::array::types::{ArrowPrimitiveType, Float16Type};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, Field, TimeUnit};
use herringbone_format::{Error, Result, uuid};
use herringbone_kernels::range_compare::float_key;
use herringbone_schema::{LOGICAL_TYPE_KEY, ParquetSchema};

use super::literal::Literal;
use super::moment::{self, DAY};

/// A literal's position among a type's keys. The literal is either exactly at `key` or between `key` and the next key.
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

    /// Returns the position of `numerator / denominator`. The denominator must be positive.
    fn quotient(numerator: i128, denominator: i64) -> Self {
        let denominator = i128::from(denominator);
        Self {
            key: i256::from_i128(numerator.div_euclid(denominator)),
            is_exact: numerator.rem_euclid(denominator) == 0,
        }
    }

    /// Returns a position above or below all keys.
    fn beyond(is_above: bool) -> Self {
        Self {
            key: if is_above { i256::MAX } else { i256::MIN },
            is_exact: false,
        }
    }
}

/// Returns the number with a key. Both zeros share a key, which gives 0.
pub(super) fn float_of_key(key: i64) -> f64 {
    let bits = key ^ ((key >> 63).cast_unsigned() >> 1).cast_signed();
    f64::from_bits(bits.cast_unsigned())
}

/// Returns the position of `literal`, which must not be null, among values of `data_type`.
///
/// # Errors
/// Fails with `Argument` if the two cannot be compared.
pub(super) fn position(literal: &Literal, data_type: &DataType) -> Result<Position> {
    use Literal as L;
    let found = match data_type {
        DataType::Boolean => match literal {
            L::Boolean(value) => Some(Position::exact(*value)),
            _ => None,
        },
        DataType::Float16 | DataType::Float32 | DataType::Float64 => float(literal, data_type),
        DataType::Date32 => date(literal),
        DataType::Date64 => match literal {
            // These are days, stored in milliseconds.
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
        DataType::Duration(unit) => match literal {
            L::Duration(nanos) => Some(Position::quotient(*nanos, nanos_of(*unit))),
            _ => number(literal, 0),
        },
        other if other.is_integer() => number(literal, 0),
        _ => None,
    };
    found.ok_or_else(|| not_comparable(literal, data_type))
}

/// The meaning of text literals for a column of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextForm {
    /// Text stands for its own bytes.
    Itself,
    /// Text is a UUID in hexadecimal digits.
    Uuid,
    /// Text is not allowed, because it cannot be compared with geometries.
    Geometry,
}

impl TextForm {
    /// Returns the form for the values of a file's leaf.
    pub(super) fn of_leaf(schema: &ParquetSchema, leaf: usize) -> Self {
        match (schema.is_uuid(leaf), schema.is_geospatial(leaf)) {
            (true, _) => Self::Uuid,
            (_, true) => Self::Geometry,
            _ => Self::Itself,
        }
    }

    /// Returns the form for the values of an array with this field.
    pub(super) fn of_field(field: &Field) -> Self {
        match field.extension_type_name() {
            Some("arrow.uuid") => Self::Uuid,
            Some("geoarrow.wkb") => Self::Geometry,
            Some(_) => Self::Itself,
            None => {
                let annotation = field.metadata().get(LOGICAL_TYPE_KEY);
                let is_geometry =
                    |it: &String| it.starts_with("GEOMETRY") || it.starts_with("GEOGRAPHY");
                match annotation.is_some_and(is_geometry) {
                    true => Self::Geometry,
                    false => Self::Itself,
                }
            }
        }
    }
}

/// Returns a literal's bytes for a text or binary column.
///
/// # Errors
/// Fails with `Argument` if the literal cannot be converted to bytes, or if its byte count differs from the fixed size
/// of the column's values.
pub(super) fn bytes(literal: &Literal, data_type: &DataType, form: TextForm) -> Result<Vec<u8>> {
    let bytes = match (literal, form) {
        (Literal::Bytes(bytes), _) => bytes.clone(),
        (Literal::Text(text), TextForm::Itself) => text.as_bytes().to_vec(),
        (Literal::Text(text), TextForm::Uuid) => match uuid::parse(text) {
            Some(uuid) => uuid.to_vec(),
            None => return Err(no_uuid(literal)),
        },
        (Literal::Text(_), TextForm::Geometry) => return Err(no_geometry(literal)),
        _ => return Err(not_comparable(literal, data_type)),
    };
    match data_type {
        DataType::FixedSizeBinary(length) if usize::try_from(*length) != Ok(bytes.len()) => {
            Err(wrong_length(literal, bytes.len(), *length))
        }
        _ => Ok(bytes),
    }
}

#[cold]
fn no_uuid(literal: &Literal) -> Error {
    Error::argument(format!(
        "the column holds UUIDs, but {} is not a UUID; write 32 hexadecimal digits, as in \
         '00112233-4455-6677-8899-aabbccddeeff'",
        literal.shown()
    ))
}

#[cold]
fn no_geometry(literal: &Literal) -> Error {
    Error::argument(format!(
        "cannot compare geometries with the text {}; filter by a bounding box, or compare their \
         bytes (well-known binary) with x'0101…'",
        literal.shown()
    ))
}

#[cold]
fn wrong_length(literal: &Literal, found: usize, expected: i32) -> Error {
    Error::argument(format!(
        "{} has {found} {}, but each value of the column has {expected}; write bytes as x'00ff', \
         two hexadecimal digits per byte",
        literal.shown(),
        if found == 1 { "byte" } else { "bytes" }
    ))
}

#[cold]
fn not_comparable(literal: &Literal, data_type: &DataType) -> Error {
    // A column on its own is only a condition if it's boolean, so we show how to compare it.
    let advice = match literal {
        Literal::Boolean(true) => "; compare the column with a value, as in `c > 5`",
        _ => "",
    };
    Error::argument(format!(
        "cannot compare {data_type} with {}, which is {}{advice}",
        literal.shown(),
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

/// Returns the nanoseconds since 1970. A literal without a zone is assumed to be in UTC if the column is. A UTC literal
/// cannot be compared with a local time column.
fn timestamp(literal: &Literal, column_is_utc: Option<bool>) -> Option<i128> {
    let (nanos, is_utc) = match literal {
        Literal::Timestamp { nanos, is_utc } => (*nanos, *is_utc),
        Literal::Date(days) => (i128::from(*days) * i128::from(DAY), false),
        Literal::Text(text) => moment::timestamp(text)?,
        _ => return None,
    };
    (!is_utc || column_is_utc != Some(false)).then_some(nanos)
}

/// Returns the position of a number among floating-point numbers. The number is rounded to the nearest value, just as
/// if it were stored in the column. If it's too large for the type or too close to 0, it equals none of the type's
/// values.
fn float(literal: &Literal, data_type: &DataType) -> Option<Position> {
    let (value, is_zero, is_infinite) = match literal {
        Literal::Float(value) => (*value, *value == 0.0, value.is_infinite()),
        Literal::Integer(value) => (*value as f64, *value == 0, false),
        Literal::Text(text) => {
            let value = special(text)?;
            (value, false, value.is_infinite())
        }
        // We parse the decimal as text, because that only rounds once.
        Literal::Decimal { unscaled, scale } => {
            let text = format!("{unscaled}e{}", -i64::from(*scale));
            (text.parse().ok()?, *unscaled == i256::ZERO, false)
        }
        _ => return None,
    };
    let nearest = nearest(value, data_type);
    let is_exact = nearest.is_infinite() == is_infinite && (nearest == 0.0) == is_zero;
    // An overflowing number lies below +∞ or above −∞, and an underflowing number lies on its own side of 0.
    let is_below = !is_exact && nearest.is_infinite() == value.is_sign_positive();
    let key = float_key(nearest) - i64::from(is_below);
    Some(Position {
        key: i256::from_i128(key.into()),
        is_exact,
    })
}

/// Parses NaN or an infinity by name, rejecting any other numbers.
fn special(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    (!value.is_finite() && text.ends_with(char::is_alphabetic)).then_some(value)
}

/// Returns the nearest number of a type, that is, the value such a column would store for the literal.
fn nearest(value: f64, data_type: &DataType) -> f64 {
    match data_type {
        DataType::Float16 => <Float16Type as ArrowPrimitiveType>::Native::from_f64(value).to_f64(),
        DataType::Float32 => f64::from(value as f32),
        _ => value,
    }
}

/// Returns the position of a number among the multiples of 10^-`scale`.
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
            // These are the shortest digits that identify the number.
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

/// Returns the position of `unscaled` × 10^-`from` among the multiples of 10^-`to`.
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
        // The number is smaller than one step.
        None => Position {
            key: i256::from_i128(if is_negative { -1 } else { 0 }),
            is_exact: false,
        },
    }
}
