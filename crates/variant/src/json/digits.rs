//! Prints numbers as decimal digits.

use std::fmt::Write as _;

use crate::decimal::{Decimal, MAX_DECIMAL_DIGITS};

/// Appends an integer.
#[inline]
pub(super) fn push_integer(out: &mut String, value: i64) {
    push_digits(out, value < 0, value.unsigned_abs(), 0);
}

/// Appends a decimal with `scale` digits after the point.
pub(super) fn push_decimal(out: &mut String, value: Decimal) {
    match u64::try_from(value.unscaled.unsigned_abs()) {
        Ok(digits) if value.scale <= MAX_DECIMAL_DIGITS => {
            push_digits(out, value.unscaled < 0, digits, value.scale.into());
        }
        _ => _ = write!(out, "{value}"),
    }
}

/// Appends a number with its point before the last `scale` digits. `scale` is at most 38.
#[inline]
fn push_digits(out: &mut String, is_negative: bool, number: u64, scale: usize) {
    // A 64-bit number has at most 20 digits, so the longest text has 38 digits after the point and
    // one before it.
    let mut digits = [b'0'; MAX_DECIMAL_DIGITS as usize + 1];
    let (mut rest, mut len) = (number, 0);
    for digit in digits.iter_mut().rev() {
        *digit += (rest % 10) as u8;
        rest /= 10;
        len += 1;
        if rest == 0 {
            break;
        }
    }
    let start = digits.len() - len.max(scale + 1);
    let digits = digits.get(start..).unwrap_or_default();
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if is_negative {
        out.push('-');
    }
    push_ascii(out, whole);
    if scale > 0 {
        out.push('.');
        push_ascii(out, fraction);
    }
}

#[inline]
fn push_ascii(out: &mut String, digits: &[u8]) {
    out.push_str(std::str::from_utf8(digits).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_rust_prints() {
        for value in [0, 7, -7, 10, 99, 100, -1_234_567_890, i64::MAX, i64::MIN] {
            let mut out = String::new();
            push_integer(&mut out, value);
            assert_eq!(out, value.to_string());
            for scale in [0, 1, 2, 9, 18, 19, 20, 38, 39, 255] {
                let decimal = Decimal::new(value.into(), scale);
                let mut out = String::new();
                push_decimal(&mut out, decimal);
                assert_eq!(out, decimal.to_string(), "scale {scale}");
            }
        }
        let wide = Decimal::new(i128::MIN, 38);
        let mut out = String::new();
        push_decimal(&mut out, wide);
        assert_eq!(out, wide.to_string());
    }
}
