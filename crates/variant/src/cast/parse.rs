//! Parses strings as text of other types.

use std::borrow::Cow;
use std::str::FromStr;

use herringbone_format::uuid;

use super::{PrimitiveType, Scalar, cast};
use crate::json::{decimal_of, is_number};
use crate::temporal::{Unit, parse_date, parse_time, parse_timestamp};
use crate::text::parse_base64;
use crate::value::Value;

/// Parses `text` as a value of type `wanted`.
pub(super) fn parse<'a>(text: &str, wanted: PrimitiveType) -> Option<Scalar<'a>> {
    use PrimitiveType as T;
    match wanted {
        T::Boolean if text.eq_ignore_ascii_case("true") => Some(Scalar::Boolean(true)),
        T::Boolean if text.eq_ignore_ascii_case("false") => Some(Scalar::Boolean(false)),
        T::Boolean => None,
        T::Int8 | T::Int16 | T::Int32 | T::Int64 | T::Decimal { .. } => {
            cast(&Value::Decimal16(decimal_of(text)?), wanted)
        }
        T::Float => float(text, f32::is_finite).map(Scalar::Float),
        T::Double => float(text, f64::is_finite).map(Scalar::Double),
        T::Date => parse_date(text).map(Scalar::Date),
        T::Time => parse_time(text).map(Scalar::Time),
        T::Timestamp { nanos, utc } => {
            let unit = if nanos { Unit::Nanos } else { Unit::Micros };
            let (value, has_zone) = parse_timestamp(text, unit)?;
            (has_zone == utc).then_some(Scalar::Timestamp(value))
        }
        T::Binary => parse_base64(text).map(|bytes| Scalar::Binary(Cow::Owned(bytes))),
        T::Uuid => uuid::parse(text).map(Scalar::Uuid),
        T::String => Some(Scalar::String(Cow::Owned(text.to_owned()))),
    }
}

/// Parses a JSON number in range, or one of the texts `NaN`, `Infinity` and `-Infinity`.
fn float<F: FromStr + Copy>(text: &str, is_finite: impl Fn(F) -> bool) -> Option<F> {
    let is_named = matches!(text, "NaN" | "Infinity" | "-Infinity");
    let value = text.parse().ok()?;
    (is_named || is_number(text) && is_finite(value)).then_some(value)
}
