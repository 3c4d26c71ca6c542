//! Parses JSON numbers with all their digits.

use herringbone_format::{Error, Result};
use herringbone_text::json::JsonNumber;

use super::{Fractions, JsonOptions, LargeNumbers};
use crate::builder::VariantBuilder;
use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};

/// Returns true if `text` is a JSON number.
pub(crate) fn is_number(text: &str) -> bool {
    JsonNumber::parse(text).is_some()
}

/// Parses `text` as a decimal. Returns `None` if it isn't a number, has an exponent, or has too
/// many digits.
pub(crate) fn decimal_of(text: &str) -> Option<Decimal> {
    let number = JsonNumber::parse(text).filter(|number| number.exponent.is_empty())?;
    match is_negative_zero(&number) {
        true => Some(Decimal::new(0, 0)),
        false => decimal(&number),
    }
}

/// Appends a number in the type that `options` select.
pub(super) fn push(
    number: &JsonNumber<'_>,
    builder: &mut VariantBuilder,
    options: &JsonOptions,
) -> Result<()> {
    let as_double = !number.fraction.is_empty() && options.fractions == Fractions::Double;
    if !number.exponent.is_empty() || as_double {
        return push_double(number, builder);
    }
    if number.fraction.is_empty()
        && let Some(integer) = integer(number)
    {
        return builder.push_int(integer);
    }
    match decimal(number) {
        Some(decimal) => builder.push_decimal(decimal),
        None if is_negative_zero(number) => push_double(number, builder),
        None if options.large_numbers == LargeNumbers::Double => push_double(number, builder),
        None => Err(too_large(number)),
    }
}

/// Returns the number as a 64-bit integer, if it fits.
#[inline]
fn integer(number: &JsonNumber<'_>) -> Option<i64> {
    if number.whole.len() <= 18 {
        let digits = number.whole.bytes();
        let value = digits.fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        return match (number.is_negative, value) {
            (true, 0) => None,
            (true, value) => Some(-value),
            (false, value) => Some(value),
        };
    }
    number.text.parse().ok()
}

/// Returns a decimal with the digits as written, except that we drop trailing zeros if there are
/// too many digits.
fn decimal(number: &JsonNumber<'_>) -> Option<Decimal> {
    if is_negative_zero(number) {
        return None;
    }
    let most = usize::from(MAX_DECIMAL_DIGITS);
    let mut fraction = number.fraction;
    if number.whole.len() + fraction.len() > most {
        fraction = fraction.trim_end_matches('0');
    }
    let whole = number.whole.trim_start_matches('0');
    if whole.len() > most || fraction.len() > most {
        return None;
    }
    let mut unscaled = 0_i128;
    for digit in whole.bytes().chain(fraction.bytes()) {
        let digit = i128::from(digit - b'0');
        unscaled = unscaled.checked_mul(10)?.checked_add(digit)?;
    }
    let unscaled = if number.is_negative {
        -unscaled
    } else {
        unscaled
    };
    let decimal = Decimal::new(unscaled, fraction.len() as u8);
    decimal.is_valid().then_some(decimal)
}

fn is_negative_zero(number: &JsonNumber<'_>) -> bool {
    let zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
    number.is_negative && zero(number.whole) && zero(number.fraction)
}

fn push_double(number: &JsonNumber<'_>, builder: &mut VariantBuilder) -> Result<()> {
    match number.text.parse::<f64>() {
        Ok(value) if value.is_finite() => builder.push(value),
        _ => Err(Error::argument(format!(
            "the JSON number {} is beyond the range of doubles",
            shortened(number.text)
        ))),
    }
}

#[cold]
fn too_large(number: &JsonNumber<'_>) -> Error {
    Error::argument(format!(
        "the JSON number {} has more than {MAX_DECIMAL_DIGITS} digits; \
         `LargeNumbers::Double` takes the nearest double",
        shortened(number.text)
    ))
}

/// Returns the beginning of a number, so that a message stays short.
fn shortened(text: &str) -> &str {
    text.get(..80).unwrap_or(text)
}
