//! Encodes exact numbers as bytes with the same order as the numbers.
//!
//! ```text
//! class │ exponent, 2 bytes │ decimal digits without zeros at either end
//! ```
//!
//! Equal integers, decimals and floating-point numbers have equal bytes. For negative numbers, we
//! invert all bits of the exponent and the digits, so that a greater magnitude sorts first. A byte
//! after the digits makes the number with fewer digits the larger one. Negative zero is less than
//! zero, and all NaNs are the same number.

/// A number as bytes.
pub(super) type Number = Vec<u8>;

const MINUS_INFINITY: u8 = 0;
const NEGATIVE: u8 = 1;
const MINUS_ZERO: u8 = 2;
const ZERO: u8 = 3;
const POSITIVE: u8 = 4;
const INFINITY: u8 = 5;
const NAN: u8 = 6;

/// The byte that follows the inverted digits of a negative number.
const END: u8 = 0xff;

/// The exponent bias, which is the stored exponent of numbers from 0.1 to 1. It keeps stored
/// exponents positive.
const BIAS: i32 = 0x4000;

/// Converts an integer.
pub(super) fn of_integer(value: i128) -> Number {
    of_text(&value.to_string(), 0)
}

/// Converts a decimal. Its unscaled value is the text of an integer, and the last `scale` of its
/// digits follow the decimal point.
pub(super) fn of_decimal(unscaled: &str, scale: i8) -> Number {
    of_text(unscaled, i32::from(scale))
}

/// Converts a floating-point number exactly. This can take up to 1,074 digits after the decimal
/// point.
pub(super) fn of_float(value: f64) -> Number {
    if value.is_nan() {
        return vec![NAN];
    }
    if value.is_infinite() {
        return vec![if value > 0.0 {
            INFINITY
        } else {
            MINUS_INFINITY
        }];
    }
    if value == 0.0 {
        return vec![if value.is_sign_negative() {
            MINUS_ZERO
        } else {
            ZERO
        }];
    }
    // The value is mantissa × 2^exponent. Each halving adds one digit after the decimal point, so
    // this many digits are exact.
    let bits = value.to_bits();
    let biased = (bits >> 52 & 0x7ff) as i32;
    let (mantissa, exponent) = match (bits & ((1 << 52) - 1), biased) {
        (fraction, 0) => (fraction, -1074),
        (fraction, _) => (fraction | 1 << 52, biased - 1075),
    };
    let exponent = exponent + mantissa.trailing_zeros() as i32;
    let digits = usize::try_from(-exponent).unwrap_or(0);
    of_text(&format!("{value:.digits$}"), 0)
}

/// Converts a number from text with an optional decimal point, additionally shifting the point left
/// by `scale` digits.
fn of_text(text: &str, scale: i32) -> Number {
    let (is_negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.bytes().chain(fraction.bytes());
    let leading = digits.clone().take_while(|digit| *digit == b'0').count();
    let mut digits: Vec<u8> = digits.skip(leading).collect();
    let zeros = digits.iter().rev().take_while(|digit| **digit == b'0');
    digits.truncate(digits.len() - zeros.count());
    if digits.is_empty() {
        return vec![ZERO];
    }
    let exponent = BIAS + whole.len() as i32 - leading as i32 - scale;
    let mut number = vec![POSITIVE];
    number.extend((exponent as u16).to_be_bytes());
    number.extend(digits);
    if is_negative {
        number.iter_mut().for_each(|byte| *byte = !*byte);
        number.push(END);
        if let Some(class) = number.first_mut() {
            *class = NEGATIVE;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_in_order() {
        let in_order = [
            of_float(f64::NEG_INFINITY),
            of_float(f64::MIN),
            of_integer(i128::from(i64::MIN)),
            of_integer(-123),
            of_decimal("-1225", 1),
            of_integer(-12),
            of_decimal("-1", 1),
            of_float(-f64::MIN_POSITIVE),
            of_float(-0.0),
            of_integer(0),
            of_float(5e-324),
            of_float(1e-300),
            of_decimal("1", 1),
            // The double nearest to a tenth is slightly above it:
            // 0.1000000000000000055511151231257827….
            of_float(0.1),
            // The float nearest to a tenth is 0.100000001490116….
            of_float(f64::from(0.1_f32)),
            of_decimal("99", 2),
            of_integer(1),
            of_decimal("101", 2),
            of_integer(12),
            of_decimal("1225", 1),
            of_integer(123),
            of_float(9_007_199_254_740_992.0),
            of_integer(9_007_199_254_740_993),
            of_float(f64::MAX),
            of_float(f64::INFINITY),
            of_float(f64::NAN),
        ];
        for pair in in_order.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn equal_numbers_are_equal() {
        for (a, b) in [
            (of_integer(1), of_float(1.0)),
            (of_integer(-100), of_decimal("-1000", 1)),
            (of_decimal("150", 2), of_decimal("1500", 3)),
            (of_decimal("15", -1), of_integer(150)),
            (of_float(0.25), of_decimal("250", 3)),
            (of_float(-2.5), of_decimal("-25", 1)),
            (of_integer(0), of_decimal("0", 3)),
            (of_float(2f64.powi(70)), of_integer(1 << 70)),
            (of_float(-f64::NAN), of_float(f64::NAN)),
        ] {
            assert_eq!(a, b);
        }
    }
}
