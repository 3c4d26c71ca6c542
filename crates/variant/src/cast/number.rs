//! Casts numbers to other types, without loss.

use std::ops::RangeInclusive;

use super::Scalar;
use crate::decimal::{Decimal, power_of_ten};
use crate::value::Value;

/// Casts to an integer within `range`.
pub(super) fn int<'a>(value: &Value<'_>, range: RangeInclusive<i64>) -> Option<Scalar<'a>> {
    let number = match *value {
        Value::Int8(number) => number.into(),
        Value::Int16(number) => number.into(),
        Value::Int32(number) => number.into(),
        Value::Int64(number) => number,
        _ => i64::try_from(exact(value)?.rescaled(0)?.unscaled).ok()?,
    };
    range.contains(&number).then_some(Scalar::Int(number))
}

/// Casts to a decimal with at most `precision` digits, `scale` of them after the point.
pub(super) fn decimal(value: &Value<'_>, precision: u8, scale: u8) -> Option<Decimal> {
    let decimal = exact(value)?.rescaled(scale)?;
    (decimal.digits() <= precision.into()).then_some(decimal)
}

/// Casts to a double. A decimal with a fraction becomes the nearest double.
pub(super) fn double(value: &Value<'_>) -> Option<f64> {
    match *value {
        Value::Double(value) => Some(value),
        Value::Float(value) => Some(value.into()),
        _ => {
            let decimal = value.to_decimal()?;
            let double = nearest_double(decimal);
            let whole = decimal.normalized();
            (whole.scale > 0 || exact_double(double) == Some(whole)).then_some(double)
        }
    }
}

/// Casts to a float. A decimal with a fraction becomes the nearest float.
pub(super) fn float(value: &Value<'_>) -> Option<f32> {
    match *value {
        Value::Float(value) => Some(value),
        Value::Double(value) => {
            let float = value as f32;
            (f64::from(float) == value || value.is_nan()).then_some(float)
        }
        _ => {
            let decimal = value.to_decimal()?;
            let float: f32 = decimal.to_string().parse().ok()?;
            let whole = decimal.normalized();
            let is_exact = whole.scale > 0 || exact_double(float.into()) == Some(whole);
            is_exact.then_some(float)
        }
    }
}

/// Returns a number of any type as a decimal, if a decimal can hold it without loss.
fn exact(value: &Value<'_>) -> Option<Decimal> {
    match *value {
        Value::Double(value) => exact_double(value),
        Value::Float(value) => exact_double(value.into()),
        _ => value.to_decimal(),
    }
}

/// The exponent of the largest power of ten that a double can represent exactly.
const EXACT_POWER: u8 = 22;
/// A double can represent every integer up to this one exactly.
const EXACT_INTEGER: u128 = 1 << 53;

fn nearest_double(decimal: Decimal) -> f64 {
    // Both operands are exact as doubles here, so the division rounds only once, to the nearest
    // double.
    if decimal.scale <= EXACT_POWER
        && decimal.unscaled.unsigned_abs() <= EXACT_INTEGER
        && let Some(power) = power_of_ten(decimal.scale)
    {
        return decimal.unscaled as f64 / power as f64;
    }
    // A decimal's text always parses as a double, so the NaN is never used.
    decimal.to_string().parse().unwrap_or(f64::NAN)
}

/// Returns a double as a decimal, if that takes at most 38 digits.
///
/// A double is an odd integer times a power of two. A negative power has an exact decimal form too,
/// because 2^-n equals 5^n over 10^n.
pub(super) fn exact_double(value: f64) -> Option<Decimal> {
    if !value.is_finite() {
        return None;
    }
    if value == 0.0 {
        return Some(Decimal::new(0, 0));
    }
    let bits = value.to_bits();
    let exponent = (bits >> 52 & 0x7FF) as i32;
    let fraction = (bits & ((1 << 52) - 1)) as i128;
    let (integer, exponent) = match exponent {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    };
    let zeros = integer.trailing_zeros();
    let (integer, exponent) = (integer >> zeros, exponent + zeros as i32);
    let signed = if value < 0.0 { -integer } else { integer };
    let decimal = match u32::try_from(exponent) {
        Ok(exponent) => {
            let power = 2_i128.checked_pow(exponent)?;
            Decimal::new(signed.checked_mul(power)?, 0)
        }
        Err(_) => {
            let scale = exponent.unsigned_abs();
            let power = 5_i128.checked_pow(scale)?;
            Decimal::new(signed.checked_mul(power)?, u8::try_from(scale).ok()?)
        }
    };
    decimal.is_valid().then_some(decimal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_decimals_exactly() {
        for (value, expected) in [
            (0.0, Some((0, 0))),
            (-0.0, Some((0, 0))),
            (1.0, Some((1, 0))),
            (-2.5, Some((-25, 1))),
            (0.0625, Some((625, 4))),
            (1e15, Some((1_000_000_000_000_000, 0))),
            (2_f64.powi(100), Some((1 << 100, 0))),
            // The double nearest to 0.1 has 55 digits.
            (0.1, None),
            (1e300, None),
            (5e-324, None),
            (f64::INFINITY, None),
            (f64::NAN, None),
        ] {
            let expected = expected.map(|(unscaled, scale)| Decimal::new(unscaled, scale));
            assert_eq!(exact_double(value), expected, "{value}");
        }
    }

    #[test]
    fn nearest_doubles() {
        for (unscaled, scale, expected) in [
            (11, 1, 1.1),
            (-123_456_789, 4, -12_345.678_9),
            (1, 38, 1e-38),
            (10_i128.pow(37) + 1, 37, 1.0),
            (9_007_199_254_740_993, 0, 9_007_199_254_740_992.0),
        ] {
            assert_eq!(nearest_double(Decimal::new(unscaled, scale)), expected);
        }
    }
}
