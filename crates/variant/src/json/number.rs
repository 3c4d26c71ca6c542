//! Numbers of JSON, with all their digits.

use herringbone_format::{Error, Result};

use super::{Fractions, JsonOptions, LargeNumbers};
use crate::builder::VariantBuilder;
use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};

/// A number of JSON in its parts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    text: &'a str,
    negative: bool,
    /// Digits before the point.
    whole: &'a str,
    /// Digits behind the point.
    fraction: &'a str,
    has_exponent: bool,
}

/// The number at the start of `text`, or `None` if it is none.
pub(super) fn scan(text: &str) -> Option<Number<'_>> {
    let bytes = text.as_bytes();
    let digits_from = |start: usize| {
        let rest = bytes.get(start..).unwrap_or_default();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        start + digits
    };
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut end = digits_from(start);
    let whole = text.get(start..end)?;
    if whole.is_empty() || (whole.len() > 1 && whole.starts_with('0')) {
        return None;
    }
    let mut fraction = "";
    if bytes.get(end) == Some(&b'.') {
        let start = end + 1;
        end = digits_from(start);
        fraction = text.get(start..end).filter(|digits| !digits.is_empty())?;
    }
    let has_exponent = matches!(bytes.get(end), Some(b'e' | b'E'));
    if has_exponent {
        let signed = matches!(bytes.get(end + 1), Some(b'+' | b'-'));
        let start = end + 1 + usize::from(signed);
        end = digits_from(start);
        if end == start {
            return None;
        }
    }
    Some(Number {
        text: text.get(..end)?,
        negative,
        whole,
        fraction,
        has_exponent,
    })
}

/// Whether `text` is a number of JSON.
pub(crate) fn is_number(text: &str) -> bool {
    scan(text).is_some_and(|number| number.len() == text.len())
}

/// The decimal that `text` is, without an exponent; `None` if it is none or has too many digits.
pub(crate) fn decimal_of(text: &str) -> Option<Decimal> {
    let number = scan(text).filter(|number| number.len() == text.len() && !number.has_exponent)?;
    if number.is_negative_zero() {
        return Some(Decimal::new(0, 0));
    }
    number.decimal()
}

impl Number<'_> {
    /// Bytes of its text.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    pub(super) fn push(&self, builder: &mut VariantBuilder, options: &JsonOptions) -> Result<()> {
        let as_double = !self.fraction.is_empty() && options.fractions == Fractions::Double;
        if self.has_exponent || as_double {
            return self.push_double(builder);
        }
        if self.fraction.is_empty()
            && let Some(integer) = self.integer()
        {
            return builder.push_int(integer);
        }
        match self.decimal() {
            Some(decimal) => builder.push_decimal(decimal),
            None if self.is_negative_zero() => self.push_double(builder),
            None if options.large_numbers == LargeNumbers::Double => self.push_double(builder),
            None => Err(self.too_large()),
        }
    }

    /// An integer of 64 bits.
    #[inline]
    fn integer(&self) -> Option<i64> {
        if self.whole.len() <= 18 {
            let digits = self.whole.bytes();
            let number = digits.fold(0, |number, digit| number * 10 + i64::from(digit - b'0'));
            return match (self.negative, number) {
                (true, 0) => None,
                (true, number) => Some(-number),
                (false, number) => Some(number),
            };
        }
        self.text.parse().ok()
    }

    /// The digits as they are written; without zeros at the end where they are too many.
    fn decimal(&self) -> Option<Decimal> {
        if self.is_negative_zero() {
            return None;
        }
        let most = usize::from(MAX_DECIMAL_DIGITS);
        let mut fraction = self.fraction;
        if self.whole.len() + fraction.len() > most {
            fraction = fraction.trim_end_matches('0');
        }
        let whole = self.whole.trim_start_matches('0');
        if whole.len() > most || fraction.len() > most {
            return None;
        }
        let mut unscaled = 0_i128;
        for digit in whole.bytes().chain(fraction.bytes()) {
            let digit = i128::from(digit - b'0');
            unscaled = unscaled.checked_mul(10)?.checked_add(digit)?;
        }
        let unscaled = if self.negative { -unscaled } else { unscaled };
        let decimal = Decimal::new(unscaled, fraction.len() as u8);
        decimal.is_valid().then_some(decimal)
    }

    fn is_negative_zero(&self) -> bool {
        let zero = |digits: &str| digits.bytes().all(|digit| digit == b'0');
        self.negative && zero(self.whole) && zero(self.fraction)
    }

    fn push_double(&self, builder: &mut VariantBuilder) -> Result<()> {
        match self.text.parse::<f64>() {
            Ok(number) if number.is_finite() => builder.push(number),
            _ => Err(Error::argument(format!(
                "the JSON number {} is beyond the range of doubles",
                shortened(self.text)
            ))),
        }
    }

    #[cold]
    fn too_large(&self) -> Error {
        Error::argument(format!(
            "the JSON number {} has more than {MAX_DECIMAL_DIGITS} digits; \
             `LargeNumbers::Double` takes the nearest double",
            shortened(self.text)
        ))
    }
}

/// The beginning of a number, for a message.
fn shortened(text: &str) -> &str {
    text.get(..80).unwrap_or(text)
}
