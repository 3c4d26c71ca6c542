//! Parses decimal numbers of any size from text.

use herringbone_arrow::buffer::i256;

/// The reason if a number is out of range.
pub(crate) const RANGE: &str = "it is out of range";
/// The reason if a number has too many digits.
pub(crate) const DIGITS: &str = "it has too many digits for the type";
/// The reason if a number has a fraction.
pub(crate) const FRACTION: &str = "it has a fraction";

/// The parts of a number such as `-12.50e3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number<'t> {
    pub negative: bool,
    /// The digits before the point.
    pub whole: &'t str,
    /// The digits after the point.
    fraction: &'t str,
    /// The exponent, clamped to a million, since no type has values beyond that.
    exponent: i64,
    /// True if there is neither a point nor an exponent.
    pub is_integer: bool,
}

impl<'t> Number<'t> {
    /// Parses `[+-] digits [. digits] [e [+-] digits]`. One side of the point can be empty.
    pub(crate) fn of(text: &'t str) -> Option<Self> {
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
            None => (unsigned, None),
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) || whole.len() + fraction.len() == 0 {
            return None;
        }
        let exponent = match exponent {
            None => 0,
            Some(text) => {
                let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
                if digits.is_empty() || !all_digits(digits) {
                    return None;
                }
                let size = digits.parse().unwrap_or(1_000_000).min(1_000_000_i64);
                if text.starts_with('-') { -size } else { size }
            }
        };
        Some(Self {
            negative: text.starts_with('-'),
            whole,
            fraction,
            exponent,
            is_integer: mantissa.len() == unsigned.len() && !mantissa.contains('.'),
        })
    }

    /// Returns true for a negative zero, which integers and decimals cannot represent.
    pub(crate) fn is_minus_zero(&self) -> bool {
        self.negative && self.digits().all(|digit| digit == b'0')
    }

    /// Returns the number of digits on both sides of the point.
    pub(crate) fn len(&self) -> usize {
        self.whole.len() + self.fraction.len()
    }

    fn digits(&self) -> impl Iterator<Item = u8> {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    /// Returns the number times ten to the power of `scale`.
    ///
    /// # Errors
    /// Fails with the reason why the result is not an integer of 256 bits.
    pub(crate) fn scaled(&self, scale: i64) -> Result<i256, &'static str> {
        let kept = self.whole.len() as i64 + self.exponent + scale;
        let mut sum = Sum::default();
        let mut count = 0;
        for digit in self.digits() {
            if count < kept {
                sum.push(digit - b'0')?;
            } else if digit != b'0' {
                return Err(if scale > 0 { DIGITS } else { FRACTION });
            }
            count += 1;
        }
        while count < kept && !sum.is_zero() {
            sum.push(0)?;
            count += 1;
        }
        let size = sum.value();
        Ok(if self.negative {
            size.wrapping_neg()
        } else {
            size
        })
    }

    /// Returns the significant digits, without leading and trailing zeros, and the first digit's
    /// power of ten.
    pub(crate) fn significant(&self) -> (String, i64) {
        let digits: String = self.digits().map(char::from).collect();
        let stripped = digits.trim_start_matches('0');
        let zeros = digits.len() - stripped.len();
        let power = self.whole.len() as i64 + self.exponent - zeros as i64 - 1;
        (stripped.trim_end_matches('0').to_owned(), power)
    }

    /// Returns true if `value`, the nearest float, keeps all of the number's digits. To check this,
    /// we print the float with as many digits as the number has, and also with just enough to be
    /// unique, and compare.
    pub(crate) fn is_exact_as(&self, value: f64) -> bool {
        if self.len() <= 15 && value.is_normal() {
            return true;
        }
        let (digits, power) = self.significant();
        if digits.is_empty() {
            return value == 0.0;
        }
        // No Float64 has more than 767 significant digits, so a number with 800 can't be exact.
        let (true, true) = (digits.len() < 800, value.is_finite()) else {
            return false;
        };
        let same = |shown: String| {
            let shown = shown.trim_start_matches('-');
            let Some((mantissa, exponent)) = shown.split_once('e') else {
                return false;
            };
            let mantissa = mantissa.replace('.', "");
            mantissa.trim_end_matches('0') == digits && exponent.parse() == Ok(power)
        };
        let precision = digits.len() - 1;
        same(format!("{value:e}")) || same(format!("{value:.precision$e}"))
    }
}

/// Accumulates digits into a number.
#[derive(Default)]
struct Sum {
    small: u128,
    /// The wide sum, used once the number outgrows `small`.
    large: Option<i256>,
}

impl Sum {
    fn push(&mut self, digit: u8) -> Result<(), &'static str> {
        let next = |large: i256| {
            let tens = large.checked_mul(i256::from_i128(10))?;
            tens.checked_add(i256::from_i128(digit.into()))
        };
        match self.large {
            Some(large) => self.large = Some(next(large).ok_or(RANGE)?),
            None => match self
                .small
                .checked_mul(10)
                .and_then(|value| value.checked_add(digit.into()))
            {
                Some(small) => self.small = small,
                None => self.large = Some(next(self.value()).ok_or(RANGE)?),
            },
        }
        Ok(())
    }

    fn is_zero(&self) -> bool {
        self.small == 0
    }

    fn value(&self) -> i256 {
        self.large
            .unwrap_or_else(|| i256::from_parts(self.small, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(text: &str, scale: i64) -> String {
        match Number::of(text).map(|number| number.scaled(scale)) {
            None => "none".into(),
            Some(Ok(value)) => value.to_string(),
            Some(Err(why)) => why.into(),
        }
    }

    #[test]
    fn numbers_are_exact() {
        for (text, scale, expected) in [
            ("12", 0, "12"),
            ("-0", 0, "0"),
            ("+7", 0, "7"),
            ("007", 0, "7"),
            ("1.0", 0, "1"),
            ("1.5", 0, FRACTION),
            ("1.50", 1, "15"),
            ("1.999", 2, DIGITS),
            (".5", 2, "50"),
            ("5.", 0, "5"),
            ("12e3", 0, "12000"),
            ("12000", -3, "12"),
            ("12500", -3, FRACTION),
            ("1e-3", 3, "1"),
            ("1e-999999999999", 3, DIGITS),
            ("1e999999999999", 0, RANGE),
            ("0e999999999999", 0, "0"),
            ("", 0, "none"),
            (".", 0, "none"),
            ("1e", 0, "none"),
            ("1e+", 0, "none"),
            ("--1", 0, "none"),
            ("1 ", 0, "none"),
            ("0x1", 0, "none"),
            ("inf", 0, "none"),
            (
                "-340282366920938463463374607431768211456",
                0,
                "-340282366920938463463374607431768211456",
            ),
        ] {
            assert_eq!(scaled(text, scale), expected, "{text}");
        }
        assert_eq!(scaled(&"9".repeat(76), 0), "9".repeat(76));
        assert_eq!(scaled(&"9".repeat(78), 0), RANGE);
    }

    #[test]
    fn floats_have_all_digits_or_not() {
        for (text, is_exact) in [
            ("0.1", true),
            ("0.10000000000000000000", true),
            // The exact value of the float 0.1, and a number with a different last digit.
            (
                "0.1000000000000000055511151231257827021181583404541015625",
                true,
            ),
            (
                "0.1000000000000000055511151231257827021181583404541015626",
                false,
            ),
            ("9007199254740992", true),
            ("9007199254740993", false),
            ("18446744073709551615", false),
            ("18446744073709551616", true),
            ("5e-324", true),
            ("1e-400", false),
            ("1e500", false),
            ("0e500", true),
            ("1.7976931348623157e308", true),
            ("0.1234567890123456789", false),
        ] {
            let number = Number::of(text).unwrap();
            assert_eq!(
                number.is_exact_as(text.parse().unwrap()),
                is_exact,
                "{text}"
            );
        }
        let mut bits = 1_u64;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let value = f64::from_bits(bits);
            if value.is_finite() {
                let text = format!("{value:?}");
                assert!(Number::of(&text).unwrap().is_exact_as(value), "{text}");
            }
        }
    }
}
